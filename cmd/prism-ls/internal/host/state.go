package host

import (
	"path/filepath"
)

// stateInside returns where the state directory, or a directory in it, lies in
// the root: slash-separated and relative, nothing where it is outside. A root
// that is a home directory is the usual case.
func (h *Host) stateInside(below ...string) []string {
	if h.cfg.StateDir == "" {
		return nil
	}
	dir := h.cfg.StateDir
	if real, err := filepath.EvalSymlinks(dir); err == nil { // else it is not made yet, and leads nowhere else
		dir = real
	}
	rel, err := filepath.Rel(h.cfg.Root, filepath.Join(append([]string{dir}, below...)...))
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	return []string{filepath.ToSlash(rel)}
}
