package builtin_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/policy"
	"github.com/prism-ls/prism-ls/tools/search"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// A Go program makes the tools for one directory, under a policy, and calls
// them. Its main begins with child.Main().
func Example() {
	dir, err := os.MkdirTemp("", "example-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	owner := child.NewOwner(nil)
	defer owner.Close()
	files, err := workspace.Open(dir, &workspace.Options{StateDir: filepath.Join(dir, ".state")})
	if err != nil {
		log.Fatal(err)
	}
	defer files.Close()
	searcher, err := search.New(files, nil)
	if err != nil {
		log.Fatal(err)
	}
	list, err := builtin.Core(&builtin.Deps{Workspace: files, Searcher: searcher, Owner: owner})
	if err != nil {
		log.Fatal(err)
	}
	guarded, err := policy.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	registry, err := tools.NewRegistry(list, &tools.RegistryOptions{Policy: guarded})
	if err != nil {
		log.Fatal(err)
	}
	for _, call := range [][2]string{
		{"write", `{"path": "notes.txt", "content": "milk\nbread\n"}`},
		{"repo_search", `{"query": "bread"}`},
		{"write", `{"path": ".github/workflows/ci.yml", "content": ""}`},
		{"read", `{"path": "../secret"}`},
	} {
		result := registry.Call(context.Background(), call[0], []byte(call[1]), tools.CallOptions{})
		if result.Err != nil {
			fmt.Println(call[0], result.Err.Code)
		} else if call[0] == "repo_search" {
			fmt.Println(result.Content[0].Text)
		}
	}
	// Output:
	// notes.txt-milk
	// notes.txt:2:1:bread
	// write ERR_PRISM_EXECUTION_DENIED
	// read ERR_PRISM_PATH_ESCAPE
}
