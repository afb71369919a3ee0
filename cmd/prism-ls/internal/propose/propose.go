// Package propose looks at what a repository has and proposes checks for it, and
// writes them as a configuration in which everything is a comment. It runs nothing,
// and reads a few files of known names in the root itself.
package propose

import (
	"io"
	"os"
	"path/filepath"
)

// Check is a proposal.
type Check struct {
	Name   string
	File   string
	Args   []string
	Parser string
	// From is what it was derived from, for a person.
	From string
}

// maxFile bounds what is read of a file.
const maxFile = 1 << 20

// Root is the directory that is looked at.
type Root struct{ root *os.Root }

// Open opens a workspace root. Close closes it.
func Open(dir string) (*Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Root{root}, nil
}

// Close closes the directory.
func (r *Root) Close() error { return r.root.Close() }

// read returns the beginning of a regular file, or nothing. Links are not followed:
// a file that is named here could lead anywhere.
func (r *Root) read(name string) ([]byte, bool) {
	info, err := r.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	file, err := r.root.Open(name)
	if err != nil {
		return nil, false
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile))
	return text, err == nil
}

func (r *Root) has(name string) bool {
	_, err := r.root.Lstat(filepath.FromSlash(name))
	return err == nil
}

// Checks proposes checks, in a fixed order. Names are all different: those of
// package.json are of a fixed set, the others begin with what they are of.
func (r *Root) Checks() []Check {
	var list []Check
	for _, look := range []func() []Check{r.golang, r.node, r.python, r.rust, r.makefile} {
		list = append(list, look()...)
	}
	return list
}
