package taskspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// scratch returns the name of a temporary file for this lease, which is not there yet.
// done removes it; what a crash leaves, the next lease's first use does.
func (h *held) scratch(name string) (path string, done func(), err error) {
	dir := filepath.Join(h.m.home(h.space), scratchDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	prefix := fmt.Sprintf("%d-", h.token())
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", nil, err
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), prefix) {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
	path = filepath.Join(dir, prefix+name)
	remove := func() {
		_ = os.Remove(path)
		_ = os.Remove(path + ".lock") // git's, when it was ended
		_ = os.Remove(dir)            // if it is empty
	}
	_ = os.Remove(path)
	return path, remove, nil
}
