package langintel

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// Where a server was found, as status and lists report it.
const (
	fromConfigured = "configured" // the host names the program
	fromLocal      = "local"      // the trusted project brings it
	fromPath       = "path"
	fromInstalled  = "installed" // in the server directory
)

// launch is what is run for a server.
type launch struct {
	path string
	args []string
	env  []string
	from string
}

// detect finds a server's program for a project root, as hosts.md says: first
// what a trusted project itself uses, then PATH outside of the workspace, then
// the server directory, where it is installed if that may be done unasked.
func (c *Client) detect(ctx context.Context, spec *Spec, root string) (launch, error) {
	out := launch{args: spec.Args, env: c.serverEnvironment(spec)}
	if err := c.permitted(spec); err != nil {
		return out, err
	}
	if c.namesTool(spec, root) {
		if program, err := c.goTool(ctx, spec, root); err == nil {
			out.path, out.from = program, fromLocal
			return out, nil
		} else if ctx.Err() != nil {
			return out, tools.AsError(ctx.Err())
		} else {
			c.opts.Logger.Warn("the project's own server cannot be used", "server", spec.Name, "error", err)
		}
	}
	out.path, out.from = c.locate(ctx, spec, root)
	if out.path == "" {
		if !c.installsUnasked(spec) {
			return out, c.missing(spec)
		}
		program, err := c.installed(ctx, spec)
		if err != nil {
			return out, err
		}
		out.path, out.from = program, fromInstalled
	}
	if needs := interpreter(out.path); needs != "" {
		if _, ok := c.lookPath(needs); !ok {
			return out, tools.Errorf(tools.CodeLSPServer, "%s (%s) needs %s, which is not in PATH; install it", spec.Name, out.path, needs)
		}
	}
	return out, nil
}

// permitted refuses a server that cannot be kept from running the workspace's
// code where that is not trusted.
func (c *Client) permitted(spec *Spec) error {
	if spec.RunsCode == "" || c.opts.Trusted {
		return nil
	}
	return tools.Errorf(tools.CodeLSPServer, "%s does not start in a workspace that is not trusted: %s; `prism-ls trust` allows it", spec.Name, spec.RunsCode)
}

// missing says what to do about a server that is nowhere.
func (c *Client) missing(spec *Spec) error {
	if filepath.IsAbs(spec.Program) {
		return tools.Errorf(tools.CodeLSPServer, "%s is no program that may be run: it is missing, or lies inside a workspace that is not trusted", spec.Program)
	}
	return tools.Errorf(tools.CodeLSPServer, "%s is not installed: no %s in PATH (what lies inside the workspace is not used); %s", spec.Name, spec.Program, spec.remedy())
}

// remedy is how a person gets the server.
func (s *Spec) remedy() string {
	switch {
	case s.Install == nil:
		return "install it outside of the workspace"
	case s.Install.byUs():
		return "`prism-ls servers install " + s.Name + "` installs it"
	}
	return s.Install.Hint
}

// byUs reports whether prism-ls can install it, if it is asked to.
func (i *Install) byUs() bool { return i.GoPackage != "" || len(i.NPM) > 0 || len(i.System) > 0 }

// locate returns where a server's program is now, and how it was found; "" when
// it is nowhere. It installs nothing.
func (c *Client) locate(ctx context.Context, spec *Spec, root string) (program, from string) {
	if filepath.IsAbs(spec.Program) {
		if runnable(spec.Program) && (c.opts.Trusted || !c.inside(spec.Program)) {
			return spec.Program, fromConfigured
		}
		return "", ""
	}
	if c.opts.Trusted {
		if program := c.local(spec, root); program != "" {
			return program, fromLocal
		}
	}
	for _, name := range append([]string{spec.Program}, spec.Aliases...) {
		for _, program := range c.inPath(name) {
			if c.works(ctx, spec, root, program) {
				return program, fromPath
			}
		}
	}
	if program := c.installedProgram(spec); program != "" && runnable(program) {
		return program, fromInstalled
	}
	return "", ""
}

// local returns the program that a trusted project brings, looked for from its
// root up to the workspace's.
func (c *Client) local(spec *Spec, root string) string {
	for dir := root; ; dir = path.Dir(dir) {
		for _, rel := range spec.Local {
			for _, name := range executables(filepath.FromSlash(rel)) {
				program := filepath.Join(c.work.Root(), filepath.FromSlash(dir), name)
				if runnable(program) {
					return program
				}
			}
		}
		if dir == "." || dir == "/" {
			return ""
		}
	}
}

// probeTime bounds trying a program out.
const probeTime = 10 * time.Second

// works reports whether a program in PATH is the server: under some names there
// are stand-ins that find, or do not find, the real one. What was found out
// holds for the client's life.
func (c *Client) works(ctx context.Context, spec *Spec, root, program string) bool {
	if len(spec.Probe) == 0 {
		return true
	}
	return c.tried.once(program+"\x00"+root, func() bool {
		ctx, cancel := context.WithTimeout(ctx, probeTime)
		defer cancel()
		result, err := c.owner.Run(ctx, child.Command{
			Path: program, Args: spec.Probe, Env: c.serverEnvironment(spec),
			Dir: filepath.Join(c.work.Root(), filepath.FromSlash(root)),
		}, child.RunOptions{})
		return err == nil && result.Exit.Code == 0
	})
}

// available reports whether a server could be started at a project root without
// anything being installed that nobody asked for.
func (c *Client) available(spec *Spec, root string) bool {
	if c.permitted(spec) != nil {
		return false
	}
	if c.installsUnasked(spec) || c.namesTool(spec, root) {
		return true
	}
	program, _ := c.locate(c.ctx, spec, root)
	return program != ""
}

// runnable reports whether a file can be executed.
func runnable(program string) bool {
	info, err := os.Stat(program)
	return err == nil && info.Mode().IsRegular() && (!unixModes() || info.Mode()&0o111 != 0)
}

// serverEnvironment is the options' environment, with the spec's additions, and
// without PATH entries from inside an untrusted workspace.
func (c *Client) serverEnvironment(spec *Spec) []string {
	env := slices.Clone(c.opts.Env)
	if !c.opts.Trusted {
		dirs := slices.DeleteFunc(filepath.SplitList(lookupEnv(env, "PATH")), func(dir string) bool {
			return !filepath.IsAbs(dir) || c.inside(dir)
		})
		env = setEnv(env, "PATH", strings.Join(dirs, string(filepath.ListSeparator)))
	}
	if spec.Environment != nil {
		for name, value := range spec.Environment(c.opts.Trusted) {
			env = setEnv(env, name, value)
		}
	}
	return env
}

func lookupEnv(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

func setEnv(env []string, name, value string) []string {
	env = slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
	return append(env, name+"="+value)
}
