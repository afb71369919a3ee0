package langintel

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// launch is what is run for a server.
type launch struct {
	path string
	args []string
	env  []string
	from string // where it was found, for status: configured, path, installed
}

// detect finds a server's program: in PATH, provided that it does not lie inside
// the root, else in the server directory, where it is installed if need be.
func (c *Client) detect(ctx context.Context, spec *Spec, root string) (launch, error) {
	out := launch{args: spec.Args, env: c.serverEnvironment(spec)}
	if filepath.IsAbs(spec.Program) && !c.inside(spec.Program) {
		out.path, out.from = spec.Program, "configured"
		return out, nil
	}
	if path, ok := c.lookPath(spec.Program); ok {
		out.path, out.from = path, "path"
		return out, nil
	}
	if spec.Install == nil || c.opts.ServerDir == "" {
		return out, tools.Errorf(tools.CodeLSPServer, "%s is not in PATH (what lies inside the workspace is not used); install it, or give prism-ls a server directory", spec.Program)
	}
	path, err := c.installed(ctx, spec)
	out.path, out.from = path, "installed"
	return out, err
}

// available reports whether a server could be started at a project root without
// anything being installed that nobody asked for.
func (c *Client) available(spec *Spec, root string) bool {
	if filepath.IsAbs(spec.Program) {
		return !c.inside(spec.Program)
	}
	if _, ok := c.lookPath(spec.Program); ok {
		return true
	}
	return spec.Install != nil && c.opts.ServerDir != "" && spec.Install.GoPackage != ""
}

// lookPath finds an executable in the PATH of the options' environment. Entries
// that are relative or lie inside the root are passed over: a repository must
// not choose what runs.
func (c *Client) lookPath(name string) (string, bool) {
	names := []string{name}
	if runtime.GOOS == "windows" {
		names = []string{name + ".exe", name + ".cmd", name + ".bat"}
	}
	for _, dir := range filepath.SplitList(lookupEnv(c.opts.Env, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, name := range names {
			path := filepath.Join(dir, name)
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() || (runtime.GOOS != "windows" && info.Mode()&0o111 == 0) {
				continue
			}
			if !c.inside(path) {
				return path, true
			}
		}
	}
	return "", false
}

// inside reports whether a file is in the workspace by any of its names.
func (c *Client) inside(path string) bool {
	names := []string{path}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		names = append(names, real)
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		names = append(names, dir)
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(c.roots, func(root string) bool { return within(root, name) })
	})
}

// within reports whether an absolute path is root or below it.
func within(root, path string) bool {
	rest, ok := strings.CutPrefix(path, root)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(root, string(filepath.Separator)))
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
