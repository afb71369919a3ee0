package workspace

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// WriteOptions adjusts [Tx.Write]. The zero value overwrites or creates.
type WriteOptions struct {
	// ExpectSHA256 is the lower-case hex hash the file must have now; else
	// [tools.CodeFileChanged].
	ExpectSHA256 string
	// AllowHardlink writes a file that has other names. They keep the old content.
	AllowHardlink bool
	// CreateParents makes missing directories on the way.
	CreateParents bool
	// MustNotExist refuses an existing file with [tools.CodeExists].
	MustNotExist bool
}

// DeleteOptions adjusts [Tx.Delete]. The zero value deletes a file, a link or
// an empty directory.
type DeleteOptions struct {
	// Recursive deletes a directory with everything in it. Links in it are
	// removed, not followed.
	Recursive bool
	// MaxEntries is how many entries a recursive delete may take, the directory
	// itself included: 1 to 100 000, zero means 10 000. More is
	// [tools.CodeLimit], and nothing is deleted.
	MaxEntries int
}

// step is one change a transaction was asked for.
type step struct {
	op
	node, to *node
	data     []byte
	source   *source     // what to put instead of data
	link     bool        // data is the target of a symbolic link
	like     *node       // whose attributes the new content takes; nil: a new file's
	file     *os.File    // the new content, before it is flushed
	sum      chan string // its hash, when that is being computed
	// executable says whether the file may be run; nil: as like says.
	executable *bool
	done       bool
	tombed     bool  // a put that left its original under Tomb, not Temp
	bytes      int64 // size of the original, for the undo limit
}

// source is an existing file or tree that a step puts somewhere else.
type source struct {
	dir     *dir
	name    string
	attrs   *attrs
	replica replica
}

func (tx *Tx) stage(s *step) *step {
	if s.Dir == "" {
		s.Dir, s.Name = raw(s.node.dirReal()), raw(s.node.name)
	}
	tx.steps = append(tx.steps, s)
	return s
}

// Write replaces a file's content, or creates the file with mode 0666 less the
// umask. Mode, owner and extended attributes of an existing file stay. A
// symbolic link is written through. The data must not change before
// [Workspace.Transact] returns.
//
// Codes: NOT_FOUND (no such directory), NOT_FILE, EXISTS, FILE_CHANGED,
// HARDLINK, PERMISSION (a read-only file), PATH_ESCAPE.
func (tx *Tx) Write(p Path, data []byte, opts *WriteOptions) error {
	if opts == nil {
		opts = &WriteOptions{}
	}
	n, err := tx.target(p)
	if err != nil {
		return err
	}
	if err := tx.checkWrite(p, n, opts); err != nil {
		return err
	}
	if n.put != nil {
		n.put.data, n.put.New = data, &ident{Size: int64(len(data))}
		return nil
	}
	if err := tx.parents(n, opts.CreateParents); err != nil {
		return err
	}
	s := &step{node: n, data: data, bytes: n.st.size}
	s.op = op{Kind: kindPut, Temp: raw(tempName()), Tomb: raw(tempName()), Old: n.id, New: &ident{Size: int64(len(data))}}
	if n.exists || tx.undelete(n) {
		s.Old, s.like, s.bytes = n.id, n.from, n.st.size
	}
	if !n.exists {
		n.exists, n.st = true, stat{mode: 0o666, nlink: 1, size: int64(len(data))}
	}
	n.put = tx.stage(s)
	n.id = &ident{Any: true}
	return nil
}

// undelete drops a delete of the same file earlier in the transaction, which
// the write turns into a replacement.
func (tx *Tx) undelete(n *node) bool {
	for i, s := range tx.steps {
		if s.Kind == kindDelete && s.node == n && !s.Old.Dir {
			tx.steps = slices.Delete(tx.steps, i, i+1)
			tx.count--
			n.id, n.exists = s.Old, true
			return true
		}
	}
	return false
}

func (tx *Tx) checkWrite(p Path, n *node, opts *WriteOptions) error {
	if n.name == "." || n.exists && n.st.mode.IsDir() {
		return notRegular(p.Rel, fs.ModeDir)
	}
	if p.slash {
		return tools.Errorf(tools.CodeNotFile, "%s/ ends in a slash, which names a directory; a file is needed", p.Rel)
	}
	if err := tx.checkHash(p, n, opts.ExpectSHA256); err != nil {
		return err
	}
	if !n.exists {
		return nil
	}
	if opts.MustNotExist {
		return tools.Errorf(tools.CodeExists, "%s exists already", p.Rel)
	}
	if !n.st.mode.IsRegular() {
		return notRegular(p.Rel, n.st.mode)
	}
	if n.st.nlink > 1 && !opts.AllowHardlink {
		return tools.Errorf(tools.CodeHardlink, "%s has %d names (hard links), and the others would keep the old content; allowHardlink permits that", p.Rel, n.st.nlink)
	}
	if n.put == nil && n.id.Any {
		return tools.Errorf(tools.CodeToolInput, "%s is moved here from another file system by the same transaction; write it in a second one", p.Rel)
	}
	if n.put == nil && n.from == n {
		if err := n.parent.writable(n.name); err != nil {
			return pathError(p.Rel, err)
		}
	}
	return nil
}

func (tx *Tx) checkHash(p Path, n *node, want string) error {
	if want == "" {
		return nil
	}
	have := ""
	switch {
	case n.put != nil:
		have = hashOf(n.put.data)
	case n.exists && n.id.SHA256 != "":
		have = n.id.SHA256
	case n.exists && n.st.mode.IsRegular():
		if err := tx.hash(p, n); err != nil {
			return err
		}
		have = n.id.SHA256
	}
	if have == want {
		return nil
	}
	return tools.Errorf(tools.CodeFileChanged, "%s does not have the expected content; read it again", p.Rel).
		WithDetails(Changed{Path: n.real, CurrentSHA256: have})
}

// parents makes sure that the directories of n will exist.
func (tx *Tx) parents(n *node, create bool) error {
	at := n.dirReal()
	for range len(n.missing) - 1 {
		at = path.Dir(at)
	}
	for i, name := range n.missing {
		if i > 0 {
			at = path.Join(at, name)
		}
		if tx.made[at] {
			continue
		}
		if !create {
			return tools.Errorf(tools.CodeNotFound, "the directory %s does not exist", at)
		}
		tx.made[at] = true
		holder := &node{spot: &spot{parent: n.parent, missing: n.missing[:i], name: name, real: at}, given: at}
		tx.nodes[at] = holder
		tx.stage(&step{node: holder, op: op{Kind: kindMkdir}})
	}
	return nil
}

// Mkdir makes a directory with mode 0777 less the umask; the directory that
// holds it must exist or be made by the transaction. Codes: EXISTS, NOT_FOUND.
func (tx *Tx) Mkdir(p Path) error {
	n, err := tx.entry(p)
	if err != nil {
		return err
	}
	if n.name == "." || n.exists || tx.made[n.real] {
		return tools.Errorf(tools.CodeExists, "%s exists already", p.Rel)
	}
	if err := tx.parents(n, false); err != nil {
		return err
	}
	tx.made[n.real] = true
	n.exists, n.st, n.id = true, stat{mode: fs.ModeDir | 0o777}, &ident{Dir: true, Any: true}
	tx.stage(&step{node: n, op: op{Kind: kindMkdir}})
	return nil
}

// Delete removes a file, a symbolic link (not what it leads to), or a
// directory. Codes: NOT_FOUND, NOT_EMPTY (a directory that holds something,
// without Recursive), LIMIT, PERMISSION, PATH_ESCAPE (the root itself).
func (tx *Tx) Delete(p Path, opts *DeleteOptions) error {
	if opts == nil {
		opts = &DeleteOptions{}
	}
	max, err := limitDeleteEntries.Option(int64(opts.MaxEntries))
	if err != nil {
		return err
	}
	n, err := tx.entry(p)
	if err != nil {
		return err
	}
	if n.name == "." {
		return tools.Errorf(tools.CodePathEscape, "the workspace root itself cannot be deleted")
	}
	if !n.exists {
		return tools.Errorf(tools.CodeNotFound, "%s does not exist", p.Rel)
	}
	if err := tx.untouched(n); err != nil {
		return err
	}
	if n.put != nil && tx.unwrite(n) {
		return nil
	}
	c := &census{max: int(max), entries: 0}
	if n.from == n {
		if n.st.mode.IsDir() && !opts.Recursive {
			c.max = 1
		}
		c.mount = n.parent.mountID(".")
		err := c.count(n.parent, n.name, p.Rel, &n.st)
		if err != nil && c.max == 1 && tools.AsError(err).Code == tools.CodeLimit {
			return tools.Errorf(tools.CodeNotEmpty, "%s is a directory that is not empty; recursive deletes it with everything in it", p.Rel)
		}
		if err != nil {
			return err
		}
	} else {
		c.entries = 1
	}
	tx.count += c.entries
	s := tx.stage(&step{node: n, op: op{Kind: kindDelete, Tomb: raw(tempName()), Old: n.id}, bytes: c.bytes})
	s.Old.Dir = n.st.mode.IsDir()
	n.exists, n.from = false, n
	return nil
}

// unwrite takes back a write of a file that did not exist before, and turns
// the write of one that did into its delete. It reports whether that was all.
func (tx *Tx) unwrite(n *node) bool {
	s := n.put
	n.put = nil
	i := slices.Index(tx.steps, s)
	if s.Old == nil {
		tx.steps = slices.Delete(tx.steps, i, i+1)
		n.exists, n.id = false, nil
		return true
	}
	tx.count++
	tx.steps[i] = &step{node: n, op: op{Kind: kindDelete, Dir: s.Dir, Name: s.Name, Tomb: s.Tomb, Old: s.Old}, bytes: s.bytes}
	n.exists = false
	return true
}

// untouched refuses a directory with files that the transaction changes: the
// order of the steps would decide what happens to them.
func (tx *Tx) untouched(n *node) error {
	for _, s := range tx.steps {
		for _, other := range []*node{s.node, s.to} {
			if other != nil && other != n && strings.HasPrefix(other.real, n.real+"/") {
				return tools.Errorf(tools.CodeToolInput, "%s is changed by the same transaction that takes away %s", other.real, n.real)
			}
		}
	}
	return nil
}
