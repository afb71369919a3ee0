package langintel

import (
	"bytes"
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// namesTool reports whether a trusted module's go.mod has a server as a tool
// (https://go.dev/ref/mod#go-mod-file-tool).
func (c *Client) namesTool(spec *Spec, root string) bool {
	if !c.opts.Trusted || spec.Install == nil || spec.Install.GoPackage == "" {
		return false
	}
	for dir := root; ; dir = path.Dir(dir) {
		mod, err := os.ReadFile(filepath.Join(c.work.Root(), filepath.FromSlash(dir), "go.mod"))
		if err == nil {
			return hasTool(mod, spec.Install.GoPackage)
		}
		if dir == "." || dir == "/" {
			return false
		}
	}
}

// hasTool reports whether a go.mod has a tool directive for a package.
func hasTool(mod []byte, pkg string) bool {
	block := false
	for line := range bytes.Lines(mod) {
		text, _, _ := strings.Cut(string(line), "//")
		words := strings.Fields(text)
		switch {
		case len(words) == 2 && words[0] == "tool" && words[1] == "(":
			block = true
		case len(words) == 2 && words[0] == "tool" && strings.Trim(words[1], "`\"") == pkg:
			return true
		case len(words) == 1 && words[0] == ")":
			block = false
		case block && len(words) == 1 && strings.Trim(words[0], "`\"") == pkg:
			return true
		}
	}
	return false
}

// goTool returns the program of a server that go.mod names; the go command
// builds it if it has not yet.
func (c *Client) goTool(ctx context.Context, spec *Spec, root string) (string, error) {
	goCommand, ok := c.lookPath("go")
	if !ok {
		return "", tools.Errorf(tools.CodeLSPServer, "there is no go command in PATH")
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	c.progress(Progress{Server: spec.Name, Title: "build", Message: "building the " + spec.Name + " that go.mod names", Percent: -1})
	defer c.progress(Progress{Server: spec.Name, Title: "build", Percent: -1, Done: true})
	result, err := c.owner.Run(ctx, child.Command{
		Path: goCommand, Args: []string{"tool", "-n", spec.Install.GoPackage},
		Dir: filepath.Join(c.work.Root(), filepath.FromSlash(root)), Env: c.serverEnvironment(spec),
	}, child.RunOptions{})
	if err != nil {
		return "", tools.Errorf(tools.CodeLSPServer, "go tool -n %s: %w", spec.Install.GoPackage, err)
	}
	program := strings.TrimSpace(string(result.Stdout))
	if result.Exit.Code != 0 || !runnable(program) {
		return "", tools.Errorf(tools.CodeLSPServer, "go tool -n %s failed: %s", spec.Install.GoPackage, printable(lastLines(string(result.Stderr), 10), 2000))
	}
	return program, nil
}
