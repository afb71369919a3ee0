package procsess_test

import (
	"os"
	"testing"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools/child"
)

func TestMain(m *testing.M) {
	child.Main()
	procsess.Main()
	runRole()
	os.Exit(m.Run())
}
