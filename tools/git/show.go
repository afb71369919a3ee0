package git

import (
	"bytes"
	"context"
	"path"
	"strconv"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// BlobBytes bounds a file that is read from a commit, in bytes.
var BlobBytes = tools.Limit{Name: "maxBytes", Default: 64 << 20, Hard: 64 << 20}

// Blob is a file as a commit has it.
type Blob struct {
	// Commit and OID are the objects of the commit and of the file.
	Commit, OID string
	// Mode is octal: 0100644, 0100755, or 0120000 for a symbolic link, whose Data is
	// where it leads.
	Mode uint32
	Data []byte
}

// Show reads a file of a commit, untouched by filters and conversions. CodeGitRef: there
// is no such commit. CodeNotFound: it has no such path. CodeNotFile: that is a directory
// or a submodule. CodeLimit: it is over BlobBytes.
func (g *Repository) Show(ctx context.Context, ref, file string) (*Blob, error) {
	specs, err := g.pathspecs([]string{file})
	if err != nil {
		return nil, err
	}
	id, err := g.Resolve(ctx, ref)
	if err != nil {
		return nil, err
	}
	if path.Clean(file) == "." {
		return nil, tools.Errorf(tools.CodeNotFile, "%s is a directory at %s", DisplayPath(file), ref)
	}
	out, err := g.run(ctx, append([]string{"ls-tree", "-z", "--long", "--full-tree", id}, specs...), nil)
	if err != nil {
		return nil, err
	}
	entry, ok := findEntry(out.Stdout, g.FromTop(path.Clean(file)))
	switch {
	case !ok:
		return nil, tools.Errorf(tools.CodeNotFound, "%s has no %s", ref, DisplayPath(file))
	case entry.kind == "tree":
		return nil, tools.Errorf(tools.CodeNotFile, "%s is a directory at %s", DisplayPath(file), ref)
	case entry.kind != "blob":
		return nil, tools.Errorf(tools.CodeNotFile, "%s is a submodule at %s, at its commit %s", DisplayPath(file), ref, entry.id)
	case entry.size > BlobBytes.Default:
		return nil, tools.Errorf(tools.CodeLimit, "%s has %d bytes at %s, at most %d are read", DisplayPath(file), entry.size, ref, BlobBytes.Default)
	}
	blob := &Blob{Commit: id, OID: entry.id, Mode: entry.mode}
	out, err = g.run(ctx, []string{"cat-file", "blob", entry.id}, &RunOptions{MaxOutput: max(entry.size, 1)})
	if err != nil {
		return nil, err
	}
	blob.Data = out.Stdout
	return blob, nil
}

// treeEntry is a line of git-ls-tree(1).
type treeEntry struct {
	mode     uint32
	kind, id string
	size     int64
}

func findEntry(list []byte, name string) (entry treeEntry, ok bool) {
	for record := range bytes.SplitSeq(list, []byte{0}) {
		head, at, _ := strings.Cut(string(record), "\t")
		fields := strings.Fields(head)
		if at != name || len(fields) != 4 {
			continue
		}
		size, err := strconv.ParseInt(fields[3], 10, 64)
		if err != nil {
			size = 0 // "-": no file
		}
		return treeEntry{mode(fields[0]), fields[1], fields[2], size}, true
	}
	return entry, false
}
