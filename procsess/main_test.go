package procsess

import (
	"os"
	"testing"

	"github.com/prism-ls/prism-ls/tools/child"
)

func TestMain(m *testing.M) {
	child.Main()
	os.Exit(m.Run())
}
