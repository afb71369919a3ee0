package procsess_test

import (
	"flag"
	"os"
	"testing"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools/child"
)

func TestMain(m *testing.M) {
	child.Main()
	procsess.Main()
	runRole()
	// Most of these tests wait for programs more than they use a processor.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
