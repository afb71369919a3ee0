package langintel

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// lookPath finds an executable in the PATH of the options' environment, outside
// of the workspace.
func (c *Client) lookPath(name string) (string, bool) {
	found := c.inPath(name)
	if len(found) == 0 {
		return "", false
	}
	return found[0], true
}

// inPath returns the executables of a name in PATH, in order. Entries that are
// relative or lie inside the root are passed over: a repository must not choose
// what runs.
func (c *Client) inPath(name string) []string {
	var out []string
	for _, dir := range filepath.SplitList(lookupEnv(c.opts.Env, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, name := range executables(name) {
			program := filepath.Join(dir, name)
			if runnable(program) && !c.inside(program) {
				out = append(out, program)
			}
		}
	}
	return out
}

// executables are the file names that a program may have on this system.
func executables(name string) []string {
	if runtime.GOOS == "windows" {
		return []string{name + ".exe", name + ".cmd", name + ".bat"}
	}
	return []string{name}
}

func unixModes() bool { return runtime.GOOS != "windows" }

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

// interpreter returns the program that a script finds through env(1), "" for
// anything else: without it the kernel says only that there is no such file.
func interpreter(program string) string {
	file, err := os.Open(program)
	if err != nil {
		return ""
	}
	defer file.Close()
	line, _ := bufio.NewReaderSize(file, 256).ReadSlice('\n') // a longer line is no script's
	line, ok := bytes.CutPrefix(line, []byte("#!"))
	if !ok {
		return ""
	}
	words := strings.Fields(string(line))
	if len(words) > 1 && words[1] == "-S" {
		words = slices.Delete(words, 1, 2)
	}
	if len(words) < 2 || filepath.Base(words[0]) != "env" || strings.ContainsAny(words[1], "=-") {
		return ""
	}
	return words[1]
}

// probes remembers which programs were found to be servers.
type probes struct {
	mu    sync.Mutex
	known map[string]bool
}

// once returns what try answered when it was first asked about a key. Two that
// ask at once may both try.
func (p *probes) once(key string, try func() bool) bool {
	p.mu.Lock()
	known, ok := p.known[key]
	p.mu.Unlock()
	if ok {
		return known
	}
	works := try()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[string]bool{}
	}
	p.known[key] = works
	return works
}

// forget makes the next question about programs look again.
func (c *Client) forget() {
	c.mu.Lock()
	clear(c.found)
	c.mu.Unlock()
	c.tried.mu.Lock()
	defer c.tried.mu.Unlock()
	c.tried.known = nil
}
