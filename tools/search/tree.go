package search

import "github.com/prism-ls/prism-ls/tools"

// kind is what a directory entry is.
type kind uint8

const (
	kindOther kind = iota // device, FIFO, socket
	kindFile
	kindDir
	kindLink
)

func (k kind) String() string {
	switch k {
	case kindFile:
		return "file"
	case kindDir:
		return "directory"
	case kindLink:
		return "symlink"
	}
	return "other"
}

// fate is what the rules say about an entry.
type fate uint8

const (
	visible   fate = iota
	undecided      // git has to be asked whether it is ignored
	ignored
	hidden
	secret
	internal // git's own, or left out by the query's globs: not counted
)

// entry is one name in a directory.
type entry struct {
	name string
	kind kind
	fate fate
	// ready says that the search of a visible file has finished. It is guarded by
	// walk.mu; what the search wrote is published by it.
	ready bool
	skip  skip  // why a visible file was not searched
	size  int64 // bytes read of a searched file
	hits  *hits // nil: none
	child *dir  // of a visible directory above the depth cap, once it is scheduled
}

// dir is a directory that the walker reads or has read.
type dir struct {
	parent *dir
	name   string // as entry.name; "" for the start
	prefix string // path from the workspace root with a final slash, "" for the root
	depth  int64  // of its entries: 1 for those of the start
	fd     int    // -1 when closed
	// users counts the work that still needs fd; guarded by walk.mu.
	users int
	// ready says that entries are there; guarded by walk.mu, like users.
	ready   bool
	entries []entry
	failed  bool // it could not be read
	cut     bool // it has more entries than may be read
	// names are those that git knows in here; nil: no git rules apply.
	names *names
}

func (d *dir) path(e *entry) string { return d.prefix + e.name }

// skip says why a file that the rules let through was not searched.
type skip uint8

const (
	skipNone skip = iota
	skipBinary
	skipOversize
	skipUnreadable
	skipGone // it vanished between the listing and the opening
)

// rules decide an entry's fate without looking into it.
type rules struct {
	includeHidden  bool
	includeIgnored bool
	listSecrets    bool
	exclude        map[string]bool
	// only limits what is visible to a query's own globs; nil is everything.
	only func(path string, k kind) bool
}

// judge is the fate of an entry by its name alone. The order matters for the
// counts: a hidden file that holds credentials counts as secret.
func (r *rules) judge(d *dir, e *entry) fate {
	if e.name == ".git" {
		return internal
	}
	dotted := e.name[0] == '.'
	path := d.path(e)
	if tools.IsSecretPath(path) && !(r.listSecrets && r.includeHidden) {
		return secret
	}
	if dotted && !r.includeHidden {
		return hidden
	}
	if !r.includeIgnored && r.exclude[e.name] {
		return ignored
	}
	if r.only != nil && !r.only(path, e.kind) {
		return internal
	}
	return visible
}
