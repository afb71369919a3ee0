package langintel

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// installTimeout bounds an installation, downloads included.
const installTimeout = 10 * time.Minute

// Unasked says which servers are installed when a question needs them, without
// anybody having asked for that.
type Unasked string

// The values of [Unasked].
const (
	UnaskedGo   Unasked = ""      // those that the go command alone installs and the catalogue marks: gopls
	UnaskedNone Unasked = "never" // none
	UnaskedAll  Unasked = "auto"  // every one that has a pinned Go or npm package
)

// Installed is one finished installation.
type Installed struct {
	Program string
	Version string // "" for a system package, whose version is the system's
	Already bool   // it was there
}

// Install installs a server of the catalogue that a person has asked for, at its
// pinned version; System packages with the system's own client, which needs to be
// root. Unknown names, and servers that prism-ls cannot install, are refused with
// what to do instead. A failed installation leaves nothing.
func (c *Client) Install(ctx context.Context, name string) (Installed, error) {
	spec, err := c.specNamed(name)
	if err != nil {
		return Installed{}, err
	}
	defer c.forget()
	switch {
	case spec.Install == nil || !spec.Install.byUs():
		return Installed{}, tools.Errorf(tools.CodeLSPUnsupported, "prism-ls cannot install %s; %s", spec.Name, spec.remedy())
	case len(spec.Install.System) > 0:
		return c.installSystem(ctx, spec)
	case c.opts.ServerDir == "":
		return Installed{}, tools.Errorf(tools.CodeLSPServer, "there is no server directory to install %s into", spec.Name)
	}
	if program := c.installedProgram(spec); runnable(program) {
		return Installed{Program: program, Version: spec.Install.Version, Already: true}, nil
	}
	program, err := c.installed(ctx, spec)
	return Installed{Program: program, Version: spec.Install.Version}, err
}

// installsUnasked reports whether a server may be installed when it is needed.
func (c *Client) installsUnasked(spec *Spec) bool {
	if spec.Install == nil || c.opts.ServerDir == "" || filepath.IsAbs(spec.Program) {
		return false
	}
	switch c.opts.InstallUnasked {
	case UnaskedNone:
		return false
	case UnaskedAll:
		return spec.Install.GoPackage != "" || len(spec.Install.NPM) > 0
	}
	return spec.Install.Unasked
}

// home is where a server is when it is installed: complete, or not there.
func (c *Client) home(spec *Spec) string {
	return filepath.Join(c.opts.ServerDir, spec.Name+"@"+spec.Install.Version)
}

// installedProgram is where the server directory has a server's program, or
// would have; "" for one that is not installed there.
func (c *Client) installedProgram(spec *Spec) string {
	if spec.Install == nil || c.opts.ServerDir == "" {
		return ""
	}
	return c.programIn(c.home(spec), spec)
}

func (c *Client) programIn(home string, spec *Spec) string {
	names := executables(spec.Program)
	switch {
	case len(spec.Install.NPM) > 0 && len(names) > 1: // npm makes scripts for cmd.exe (npm help folders)
		return filepath.Join(home, "node_modules", ".bin", spec.Program+".cmd")
	case len(spec.Install.NPM) > 0:
		return filepath.Join(home, "node_modules", ".bin", spec.Program)
	case spec.Install.GoPackage != "":
		return filepath.Join(home, names[0])
	}
	return ""
}

// installed returns the program of a pinned server in the server directory, and
// installs it first when it is not there. Processes that want the same server
// take turns; the one that comes second finds it done.
func (c *Client) installed(ctx context.Context, spec *Spec) (string, error) {
	program := c.installedProgram(spec)
	if runnable(program) {
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
	unlock, err := lockFile(ctx, filepath.Join(c.opts.ServerDir, "."+filepath.Base(c.home(spec))+".lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if runnable(program) {
		return program, nil
	}
	c.progress(Progress{Server: spec.Name, Title: "install", Percent: -1, Message: fmt.Sprintf("installing %s %s with %s", spec.Name, spec.Install.Version, spec.Install.client())})
	defer c.progress(Progress{Server: spec.Name, Title: "install", Percent: -1, Done: true})
	return program, c.install(ctx, spec)
}

// client is the program that installs it.
func (i *Install) client() string {
	switch {
	case i.GoPackage != "":
		return "go install"
	case len(i.NPM) > 0:
		return "npm"
	}
	return "apt-get"
}

// install makes a directory of its own and renames that, so that the server's is
// complete whenever it is there. The lock is held: what a crash has left under the
// same name is nobody's.
func (c *Client) install(ctx context.Context, spec *Spec) error {
	staging := filepath.Join(c.opts.ServerDir, ".staging-"+filepath.Base(c.home(spec)))
	if err := removeTree(staging); err != nil {
		return err
	}
	if err := os.Mkdir(staging, 0o700); err != nil {
		return tools.AsError(err)
	}
	defer func() { _ = removeTree(staging) }() // the next installation tries again
	command, err := c.installCommand(spec, staging)
	if err != nil {
		return err
	}
	if err := c.runInstall(ctx, spec, command); err != nil {
		return err
	}
	if !runnable(c.programIn(staging, spec)) {
		return tools.Errorf(tools.CodeLSPServer, "%s %s was installed, but has no program %s", spec.Name, spec.Install.Version, spec.Program)
	}
	if err := removeTree(c.home(spec)); err != nil { // it has no program: somebody took it away
		return err
	}
	if err := os.Rename(staging, c.home(spec)); err != nil {
		return tools.AsError(err)
	}
	return nil
}

// removeTree removes a directory, if it is there.
func removeTree(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return tools.Errorf(tools.AsError(err).Code, "%s is in the way of an installation: %w", dir, err)
	}
	return nil
}

// installCommand is what fills the staging directory. It runs there, where no
// file of the workspace counts.
func (c *Client) installCommand(spec *Spec, staging string) (child.Command, error) {
	name := strings.Fields(spec.Install.client())[0]
	program, ok := c.lookPath(name)
	if !ok {
		return child.Command{}, tools.Errorf(tools.CodeLSPServer, "%s is not installed, and there is no %s in PATH to install it with", spec.Name, name)
	}
	command := child.Command{Path: program, Dir: staging, Env: c.serverEnvironment(spec)}
	if spec.Install.GoPackage == "" {
		// Scripts of packages do not run; what they need of their platform comes as
		// optional dependencies.
		command.Args = append([]string{"install", "--prefix", staging, "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"}, spec.Install.NPM...)
		return command, nil
	}
	command.Args = []string{"install", spec.Install.GoPackage + "@v" + spec.Install.Version}
	for name, value := range map[string]string{
		"GOBIN": staging, "GOTOOLCHAIN": "local", "GOWORK": "off", "GO111MODULE": "on",
		"GOOS": "", "GOARCH": "", "GOPACKAGESDRIVER": "off",
		// Blank, and not empty: an empty variable lets go env's file decide.
		"GOFLAGS": " ",
	} {
		command.Env = setEnv(command.Env, name, value)
	}
	return command, nil
}

func (c *Client) runInstall(ctx context.Context, spec *Spec, command child.Command) error {
	result, err := c.owner.Run(ctx, command, child.RunOptions{})
	if err != nil {
		return tools.Errorf(tools.CodeLSPServer, "installing %s: %w", spec.Name, err)
	}
	if result.Exit.Code != 0 {
		return tools.Errorf(tools.CodeLSPServer, "installing %s %s failed: %s", spec.Name, spec.Install.Version, printable(lastLines(string(result.Stderr), 10), 2000))
	}
	return nil
}

// installSystem installs Debian packages, which only root may.
func (c *Client) installSystem(ctx context.Context, spec *Spec) (Installed, error) {
	if program, from := c.locate(ctx, spec, "."); from == fromPath {
		return Installed{Program: program, Already: true}, nil
	}
	args := append([]string{"install", "-y", "--no-install-recommends"}, spec.Install.System...)
	program, ok := c.lookPath("apt-get")
	if !ok || os.Geteuid() != 0 {
		return Installed{}, tools.Errorf(tools.CodeLSPServer, "%s is a package of the system, which only root may install; run: sudo apt-get %s", spec.Name, strings.Join(args, " "))
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	c.progress(Progress{Server: spec.Name, Title: "install", Percent: -1, Message: "installing " + strings.Join(spec.Install.System, " ") + " with apt-get"})
	defer c.progress(Progress{Server: spec.Name, Title: "install", Percent: -1, Done: true})
	env := setEnv(c.serverEnvironment(spec), "DEBIAN_FRONTEND", "noninteractive")
	if err := c.runInstall(ctx, spec, child.Command{Path: program, Args: args, Dir: "/", Env: env}); err != nil {
		return Installed{}, err
	}
	c.forget()
	found, from := c.locate(ctx, spec, ".")
	if from != fromPath {
		return Installed{}, tools.Errorf(tools.CodeLSPServer, "%s is installed, but there is no %s in PATH", strings.Join(spec.Install.System, " "), path.Base(spec.Program))
	}
	return Installed{Program: found}, nil
}

// specNamed returns a server of the catalogue.
func (c *Client) specNamed(name string) (*Spec, error) {
	names := make([]string, 0, len(c.opts.Servers))
	for i := range c.opts.Servers {
		if c.opts.Servers[i].Name == name {
			return &c.opts.Servers[i], nil
		}
		names = append(names, c.opts.Servers[i].Name)
	}
	return nil, tools.Errorf(tools.CodeToolInput, "no language server is called %q%s", oneLine(name, 80), tools.Nearest(name, names))
}
