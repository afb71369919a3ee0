package langintel

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// installTimeout bounds an installation, downloads included.
const installTimeout = 10 * time.Minute

// installed returns the program of a pinned server in the server directory, and
// installs it first when it is not there. Processes that want the same server
// take turns; the one that comes second finds it done.
func (c *Client) installed(ctx context.Context, spec *Spec) (string, error) {
	name := spec.Name + "@" + spec.Install.Version
	home := filepath.Join(c.opts.ServerDir, name)
	program := filepath.Join(home, spec.Program)
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if c.inside(c.opts.ServerDir) {
		return "", tools.Errorf(tools.CodeLSPServer, "the server directory lies inside the workspace; it must be outside")
	}
	if err := os.MkdirAll(c.opts.ServerDir, 0o700); err != nil {
		return "", tools.AsError(err)
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	unlock, err := lockFile(ctx, filepath.Join(c.opts.ServerDir, "."+name+".lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	c.progress(Progress{Server: spec.Name, Title: "install", Message: fmt.Sprintf("installing %s %s with go install", spec.Name, spec.Install.Version)})
	defer c.progress(Progress{Server: spec.Name, Title: "install", Done: true})
	return program, c.install(ctx, spec, home)
}

// install builds into a directory of its own and renames that, so that home is
// complete whenever it is there.
func (c *Client) install(ctx context.Context, spec *Spec, home string) error {
	goCommand, ok := c.lookPath("go")
	if !ok {
		return tools.Errorf(tools.CodeLSPServer, "%s is not installed, and there is no go command in PATH to install it with", spec.Name)
	}
	staging, err := os.MkdirTemp(c.opts.ServerDir, ".staging-")
	if err != nil {
		return tools.AsError(err)
	}
	defer os.RemoveAll(staging)
	env := c.serverEnvironment(spec)
	for name, value := range map[string]string{
		"GOBIN": staging, "GOTOOLCHAIN": "local", "GOWORK": "off", "GO111MODULE": "on",
		"GOOS": "", "GOARCH": "", "GOPACKAGESDRIVER": "off",
		// Blank, and not empty: an empty variable lets go env's file decide.
		"GOFLAGS": " ",
	} {
		env = setEnv(env, name, value)
	}
	result, err := c.owner.Run(ctx, child.Command{
		Path: goCommand, Dir: staging, Env: env,
		Args: []string{"install", spec.Install.GoPackage + "@v" + spec.Install.Version},
	}, child.RunOptions{})
	if err != nil {
		return tools.Errorf(tools.CodeLSPServer, "installing %s: %w", spec.Name, err)
	}
	if result.Exit.Code != 0 {
		return tools.Errorf(tools.CodeLSPServer, "installing %s %s failed: %s", spec.Name, spec.Install.Version, printable(lastLines(string(result.Stderr), 10), 2000))
	}
	if err := os.Rename(staging, home); err != nil {
		return tools.AsError(err)
	}
	return nil
}
