package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// Committed is what a transaction did.
type Committed struct {
	// UndoID is what [Workspace.Undo] takes; empty when the change cannot be undone.
	UndoID string
	// Files are the real paths of the files and directories that changed, sorted.
	Files []string
	// Entries counts what was deleted, directories and what they held included.
	Entries int
	// Degraded says why there is no UndoID, in words for a person; "" normally.
	Degraded string
	// SHA256 has the hash of every file's new content, by real path.
	SHA256 map[string]string
}

// Changed is the detail of a [tools.CodeFileChanged] error.
type Changed struct {
	Path string `json:"path"`
	// CurrentSHA256 is the hash of what is there now; empty when nothing is.
	CurrentSHA256 string `json:"currentSha256"`
}

// Tx collects the changes of one transaction. Nothing happens on disk before
// the function it was given to has returned. Its methods see the changes
// collected so far. A Tx is for one goroutine.
type Tx struct {
	w       *Workspace
	ctx     context.Context
	entries map[string]*node // by path as given: the entry itself
	targets map[string]*node // by path as given: what a link there leads to
	nodes   map[string]*node // by real path
	errs    map[string]error // by path as given: why its target cannot be had
	made    map[string]bool  // real paths of directories that a step makes
	spots   []*spot
	steps   []*step
	held    *held
	rmdirs  []*node // directories an undo removes if they are empty
	count   int
	discard bool
}

// node is one directory entry, as the steps collected so far leave it.
type node struct {
	*spot
	given  string
	exists bool
	st     stat
	id     *ident // what the next step finds; nil when nothing
	put    *step  // the step that will write it, if any
	from   *node  // where its bytes are now, when a move is to bring them
	opened *dir   // its directory, when that had to be made first
}

// Transact locks paths against all other transactions, in this process and in
// others, runs fn, and then does what fn asked for, all or nothing. Paths are
// locked in one order everywhere, so that transactions cannot wait for each
// other in a circle; ending ctx ends the wait. When fn fails its error is
// returned and nothing changes. Only the paths given can be used in fn.
//
// Errors: [tools.CodeFileChanged], with a [Changed], when somebody else changed
// a file between the read and the commit; [tools.CodeNoSpace] and
// [tools.CodePermission] from the disk; [tools.CodeStateUnavailable] when
// several files are to change and the state directory cannot hold the journal.
func (w *Workspace) Transact(ctx context.Context, paths []Path, fn func(*Tx) error) (*Committed, error) {
	if err := w.recoverJournals(ctx); err != nil {
		w.log.Warn("workspace: recovery is not finished", "root", w.Root(), "error", err)
	}
	tx, err := w.begin(ctx, paths)
	if err != nil {
		return nil, err
	}
	defer tx.end()
	if err := fn(tx); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, tools.AsError(err)
	}
	if tx.discard || len(tx.steps) == 0 {
		return tx.planned(), nil
	}
	return tx.commit("")
}

// begin finds and locks the paths. What was found is looked up again under the
// locks, because whoever held them may have moved it.
func (w *Workspace) begin(ctx context.Context, paths []Path) (*Tx, error) {
	for range maxRaces {
		first, err := w.gather(ctx, paths)
		if err != nil {
			return nil, err
		}
		locks, err := w.lock(ctx, first.spots)
		if err != nil {
			first.end()
			return nil, err
		}
		second, err := w.gather(ctx, paths)
		if err == nil && first.sameAs(second) {
			// Locks on directories end with the descriptors of the first look.
			second.spots = append(second.spots, first.spots...)
			second.held = locks
			return second, nil
		}
		locks.release()
		first.end()
		if err != nil {
			return nil, err
		}
		second.end()
	}
	return nil, tools.Errorf(tools.CodeFileChanged, "the directories on the way to %s keep changing", paths[0].Rel)
}

func (w *Workspace) gather(ctx context.Context, paths []Path) (*Tx, error) {
	tx := &Tx{
		w: w, ctx: ctx, entries: map[string]*node{}, targets: map[string]*node{}, nodes: map[string]*node{},
		errs: map[string]error{}, made: map[string]bool{},
	}
	for _, p := range paths {
		if err := tx.add(p); err != nil {
			tx.end()
			return nil, err
		}
	}
	return tx, nil
}

func (tx *Tx) add(p Path) error {
	if p.area > 0 {
		return tools.Errorf(tools.CodePermission, "%s lies in a read-only root; only files below %s can be changed", p.Rel, tx.w.Root())
	}
	key := path.Clean(p.sub())
	if tx.entries[key] != nil {
		return nil
	}
	s, err := tx.w.locate(p, false)
	if err != nil {
		return err
	}
	entry := tx.node(s, p.Rel)
	tx.entries[key], tx.targets[key] = entry, entry
	if s.st.mode&fs.ModeSymlink == 0 {
		return nil
	}
	if s, err = tx.w.locate(p, true); err != nil {
		tx.targets[key], tx.errs[key] = nil, err
		return nil
	}
	tx.targets[key] = tx.node(s, p.Rel)
	return nil
}

// node returns the one node of a real path.
func (tx *Tx) node(s *spot, given string) *node {
	tx.spots = append(tx.spots, s)
	if n := tx.nodes[s.real]; n != nil {
		return n
	}
	n := &node{spot: s, given: given, exists: s.exists, st: s.st}
	if s.exists {
		n.id = identOf(&s.st)
	}
	n.from = n
	tx.nodes[s.real] = n
	return n
}

func (tx *Tx) sameAs(other *Tx) bool {
	if len(tx.nodes) != len(other.nodes) {
		return false
	}
	for real, n := range tx.nodes {
		o := other.nodes[real]
		if o == nil || !slices.Equal(n.missing, o.missing) {
			return false
		}
		a, errA := n.parent.self()
		b, errB := o.parent.self()
		if errA != nil || errB != nil || a.dev != b.dev || a.ino != b.ino {
			return false
		}
	}
	return true
}

// end releases locks and descriptors.
func (tx *Tx) end() {
	if tx.held != nil {
		tx.held.release()
	}
	for _, n := range tx.nodes {
		n.opened.close()
		n.opened = nil
	}
	for _, s := range tx.spots {
		s.close()
	}
	tx.spots = nil
}

func notLocked(p Path) error {
	return tools.Errorf(tools.CodeInternal, "%s is not among the paths of this transaction", p.Rel)
}

// entry returns the directory entry that p names, without following a link.
func (tx *Tx) entry(p Path) (*node, error) {
	n := tx.entries[path.Clean(p.sub())]
	if n == nil {
		return nil, notLocked(p)
	}
	return n, nil
}

// target returns the entry that p leads to, links followed.
func (tx *Tx) target(p Path) (*node, error) {
	key := path.Clean(p.sub())
	if err := tx.errs[key]; err != nil {
		return nil, err
	}
	if n := tx.targets[key]; n != nil {
		return n, nil
	}
	return nil, notLocked(p)
}

// Read returns a file's content and remembers its identity, so that the commit
// fails if somebody else changes it. Codes as for [Workspace.ReadFile].
func (tx *Tx) Read(p Path, max int64) (*Content, error) {
	n, err := tx.target(p)
	if err != nil {
		return nil, err
	}
	if !n.exists {
		return nil, tools.Errorf(tools.CodeNotFound, "%s does not exist", p.Rel)
	}
	p.Real = n.real
	if n.put != nil {
		data := n.put.data
		if int64(len(data)) > max {
			return nil, tooLarge(p.Rel, int64(len(data)), max)
		}
		return &Content{Path: p, Data: slices.Clone(data), Mode: n.st.mode, Size: int64(len(data)), SHA256: hashOf(data)}, nil
	}
	if !n.st.mode.IsRegular() {
		return nil, notRegular(p.Rel, n.st.mode)
	}
	for range maxTorn {
		content, err := tx.readOnce(p, n, max)
		if content != nil || err != nil {
			return content, err
		}
	}
	return nil, changedAt(n.from.parent, n.from.name, n.real)
}

// maxTorn is how often a read starts again that somebody wrote into.
const maxTorn = 3

func (tx *Tx) readOnce(p Path, n *node, max int64) (*Content, error) {
	seen := time.Now().UnixNano()
	file, info, err := n.from.spot.open(p.Rel)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := readAll(tx.ctx, file, p.Rel, info.Size(), max)
	if err != nil {
		return nil, err
	}
	ok, err := n.read(p, file, info, ident{Size: int64(len(data)), SHA256: hashOf(data), Seen: seen})
	if !ok || err != nil {
		return nil, err
	}
	return &Content{Path: p, Data: data, Mode: n.st.mode, Size: n.st.size, MTime: info.ModTime(), SHA256: n.id.SHA256}, nil
}

// read notes what a file was that was read from its start to its end; false
// means that somebody wrote into it meanwhile.
func (n *node) read(p Path, file *os.File, info fs.FileInfo, what ident) (bool, error) {
	st, err := statFile(file)
	if err != nil {
		return false, pathError(p.Rel, err)
	}
	if st.size != what.Size || st.mtime != info.ModTime().UnixNano() {
		return false, nil
	}
	id := identOf(&st)
	id.SHA256, id.Seen = what.SHA256, what.Seen
	if n.from != n {
		id.CTime = 0 // a rename comes first, and sets it
	}
	n.id, n.st = id, st
	return true, nil
}

// hash remembers a file's identity like Read, but holds nothing of its content,
// which may be of any size.
func (tx *Tx) hash(p Path, n *node) error {
	for range maxTorn {
		ok, err := tx.hashOnce(p, n)
		if ok || err != nil {
			return err
		}
	}
	return changedAt(n.from.parent, n.from.name, n.real)
}

func (tx *Tx) hashOnce(p Path, n *node) (bool, error) {
	seen := time.Now().UnixNano()
	file, info, err := n.from.spot.open(p.Rel)
	if err != nil {
		return false, err
	}
	defer file.Close()
	h, size, buf := sha256.New(), int64(0), make([]byte, 256<<10)
	for {
		if err := tx.ctx.Err(); err != nil {
			return false, tools.AsError(err)
		}
		got, err := file.Read(buf)
		size += int64(got)
		h.Write(buf[:got])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false, pathError(p.Rel, err)
		}
	}
	return n.read(p, file, info, ident{Size: size, SHA256: hex.EncodeToString(h.Sum(nil)), Seen: seen})
}

// Discard makes this a rehearsal: [Workspace.Transact] checks everything it
// can without touching the disk, reports what would change, and changes nothing.
func (tx *Tx) Discard() { tx.discard = true }

// planned describes the steps without an undo id.
func (tx *Tx) planned() *Committed {
	done := &Committed{Entries: tx.count, SHA256: map[string]string{}}
	files := map[string]bool{}
	for _, s := range tx.steps {
		files[s.node.real] = true
		if s.to != nil {
			files[s.to.real] = true
		}
		if s.Kind == kindPut && s.source == nil {
			if s.New.SHA256 == "" {
				s.New.SHA256 = hashOf(s.data)
			}
			done.SHA256[s.node.real] = s.New.SHA256
		}
	}
	done.Files = slices.Sorted(maps.Keys(files))
	return done
}

// changed is the error of a file that is not what the transaction saw.
func (tx *Tx) changed(n *node) error { return changedAt(n.parent, n.name, n.real) }

func changedAt(d *dir, name, real string) error {
	detail := Changed{Path: real}
	if st, err := d.stat(name); err == nil && st.mode.IsRegular() {
		detail.CurrentSHA256, _ = hashFile(d, name)
	}
	return tools.Errorf(tools.CodeFileChanged, "%s was changed by somebody else in the meantime; read it again", real).WithDetails(detail)
}
