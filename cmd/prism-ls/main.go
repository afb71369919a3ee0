// Command prism-ls gives a coding agent a workspace's files, language servers,
// terminal sessions and Git checkout, as tools over the Model Context Protocol
// (prism-ls mcp) and over the command line (prism-ls call).
package main

import (
	"os"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools/child"
)

func main() {
	child.Main()
	procsess.Main()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
