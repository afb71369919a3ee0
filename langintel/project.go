package langintel

import (
	"os"
	"path/filepath"
	"strings"
)

// Project is what a server is started for: the functions of a [Spec] look at it.
type Project struct {
	Root string // absolute
	// Path is Root relative to the workspace; "." is the workspace itself.
	Path string
	// Program is the real path of what runs, symlinks resolved; empty when nothing
	// was found that could.
	Program string
	Trusted bool
	Files   *Files
	// Cache is a directory outside of the workspace for what the server keeps, which
	// need not exist; empty when the host has none.
	Cache string
	// command finds a program in PATH.
	command func(name string) string
	// outside reports whether a path is of no workspace file.
	outside func(path string) bool
}

// Module returns the nearest node_modules/rel beside or above the program, or ""
// when there is none. What lies in the workspace counts only if it is trusted.
func (p Project) Module(rel string) string {
	for dir := filepath.Dir(p.Program); p.Program != ""; dir = filepath.Dir(dir) {
		name := filepath.Join(dir, "node_modules", filepath.FromSlash(rel))
		if _, err := os.Stat(name); err == nil && (p.Trusted || p.outside == nil || p.outside(name)) {
			return name
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return ""
}

// Local returns the nearest node_modules/rel in the project root or a directory
// above it, up to the workspace's, of a trusted workspace; else "".
func (p Project) Local(rel string) string {
	if !p.Trusted {
		return ""
	}
	top := filepath.Clean(strings.TrimSuffix(filepath.Clean(p.Root), filepath.FromSlash(strings.TrimPrefix("/"+p.Path, "/."))))
	for dir := filepath.Clean(p.Root); ; dir = filepath.Dir(dir) {
		name := filepath.Join(dir, "node_modules", filepath.FromSlash(rel))
		if _, err := os.Stat(name); err == nil {
			return name
		}
		if dir == top || dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// Has reports whether the project root has a file of that name.
func (p Project) Has(name string) bool {
	_, err := os.Stat(filepath.Join(p.Root, filepath.FromSlash(name)))
	return err == nil
}

// Command returns the absolute path of a program in the servers' PATH, or "".
// What lies in the workspace does not count.
func (p Project) Command(name string) string {
	if p.command == nil {
		return ""
	}
	return p.command(name)
}
