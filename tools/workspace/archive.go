package workspace

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// undoRecord is what one transaction left, and what it takes to undo it. It is
// the file "record" in the transaction's directory, beside the originals.
type undoRecord struct {
	Ops  []*op  `json:"ops"`
	Left []left `json:"left"`
}

// left is one entry as the transaction left it.
type left struct {
	Path   raw    `json:"path"`
	Digest string `json:"digest,omitzero"` // empty: nothing is there
}

const recordName = "record"

// hashMoved is up to which size the bytes of a moved file are hashed for the
// check before an undo; beyond it, inode, size and time stand for them.
const hashMoved = 64 << 20

// original is where a step still has what it replaced or took away.
func (r *run) original(s *step) (d *dir, name string, ok bool) {
	if s.Kind == kindMkdir || s.Kind == kindPut && s.Old == nil || s.Kind == kindMove && s.OldTo == nil {
		return nil, "", false
	}
	d, name = r.keeper(s)
	_, err := d.stat(name)
	return d, name, err == nil
}

// archive turns the originals into the undo copy of the transaction. It cannot
// fail the transaction, which has happened: without a copy there is no id, and
// degraded says why.
func (r *run) archive(tx *Tx) {
	if r.degraded != "" {
		return
	}
	total := int64(0)
	for _, s := range r.steps {
		total += s.bytes
	}
	if limit := r.w.limits.undoBytes; total > limit {
		r.degraded = fmt.Sprintf("the originals have %d bytes, and undo copies are kept up to %d", total, limit)
		return
	}
	id, err := r.keep(tx, total)
	if err == nil {
		r.id = id
		return
	}
	if err := r.unkeep(); err != nil {
		r.final = true
		r.w.log.Error("workspace: an original was lost with its undo copy", "root", r.w.Root(), "error", err)
	}
	r.degrade(err)
	r.degraded = "the change cannot be undone: " + r.degraded
}

// unkeep gives up the undo copy; originals that were moved there return to
// their temporary names.
func (r *run) unkeep() error {
	if r.kept == "" {
		return nil
	}
	from, err := openRootDir(r.kept)
	if err != nil {
		return err
	}
	defer from.close()
	for _, s := range r.steps {
		if s.Blob == nil {
			continue
		}
		d, name := r.keeper(s)
		if _, err := d.stat(name); err == nil {
			continue // copied, not moved
		}
		if err := from.rename(s.Blob.Name, d, name, renameReplace); err != nil {
			return err
		}
	}
	kept := r.kept
	r.kept, r.id = "", ""
	return os.RemoveAll(kept)
}

// keeper is the place where the step left its original.
func (r *run) keeper(s *step) (*dir, string) {
	switch {
	case s.Kind == kindMove:
		return r.dir(s.ToDir), string(s.Tomb)
	case s.Kind == kindPut && !s.tombed:
		return r.dir(s.Dir), string(s.Temp)
	}
	return r.dir(s.Dir), string(s.Tomb)
}

// keep makes the undo directory. Nothing of it is flushed: after a power cut
// it may be gone or incomplete, which an undo notices by the digests.
func (r *run) keep(tx *Tx, total int64) (id string, err error) {
	if err := cmp.Or(r.w.store.open(), r.w.store.seam.before("keep", "undo")); err != nil {
		return "", err
	}
	id = fmt.Sprintf("%016x-%s", time.Now().UnixNano(), randomHex(4))
	where := filepath.Join(r.w.store.undo(), id+"."+strconv.FormatInt(total, 10))
	if err := os.Mkdir(where, 0o700); err != nil {
		return "", err
	}
	r.kept = where
	to, err := openRootDir(where)
	if err != nil {
		return "", err
	}
	defer to.close()
	record := undoRecord{}
	for i, s := range r.steps {
		if s.Kind == kindMkdir && !s.done {
			continue
		}
		if err := r.keepOriginal(s, to, strconv.Itoa(i)); err != nil {
			return "", err
		}
		record.Ops = append(record.Ops, &s.op)
	}
	if record.Left, err = r.leftovers(tx); err != nil {
		return "", err
	}
	data, err := json.Marshal(record)
	if err != nil {
		return "", err
	}
	if err := r.w.store.seam.before("keep", recordName); err != nil {
		return "", err
	}
	return id, os.WriteFile(filepath.Join(where, recordName), data, 0o600)
}

// keepOriginal moves the step's original into the undo directory, or copies it
// when that is on another file system.
func (r *run) keepOriginal(s *step, to *dir, name string) error {
	d, from, ok := r.original(s)
	if !ok {
		return nil
	}
	st, err := d.stat(from)
	if err != nil {
		return err
	}
	b := &blob{Name: name}
	s.Blob = b
	known := ""
	if st.mode.IsRegular() {
		if s.Kind != kindMove && s.Old.SHA256 != "" {
			known = "sha256:" + s.Old.SHA256
		}
		if file, err := d.open(from); err == nil {
			b.Attrs = attrsOf(file, &st)
			file.Close()
		}
	}
	err = d.rename(from, to, name, renameReplace)
	if err != nil {
		if err := (&replica{copy: true}).make(d, from, to, name); err != nil {
			return err
		}
		known, err = digest(to, name, true)
		if err != nil {
			return err
		}
	} else if known == "" {
		if known, err = digest(to, name, false); err != nil {
			return err
		}
	}
	b.Digest = known
	return nil
}

// discardOriginals removes the originals that are still in the tree.
func (r *run) discardOriginals() {
	for _, s := range r.steps {
		d, name, ok := r.original(s)
		if !ok {
			continue
		}
		if err := removeTree(d, name); err != nil {
			r.dirty = true
			r.w.log.Error("workspace: a temporary file could not be removed", "root", r.w.Root(), "path", path.Join(string(s.Dir), name), "error", err)
		}
	}
}

// leftovers describes every entry the transaction touched, as it is now.
func (r *run) leftovers(tx *Tx) ([]left, error) {
	seen := map[string]left{}
	add := func(n *node, known string) error {
		l := left{Path: raw(n.real)}
		d := r.dirs[n.dirReal()]
		st, err := d.stat(n.name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case known != "" && st.mode.IsRegular():
			l.Digest = known
		default:
			if l.Digest, err = digest(d, n.name, st.mode.IsRegular() && st.size <= hashMoved); err != nil {
				return err
			}
		}
		seen[n.real] = l
		return nil
	}
	for _, s := range r.steps {
		if s.Kind == kindMkdir {
			continue // removed by an undo if empty by then
		}
		known := ""
		if s.Kind == kindPut && s.New.SHA256 != "" {
			known = "sha256:" + s.New.SHA256
		}
		for _, n := range []*node{s.node, s.to} {
			if n == nil {
				continue
			}
			if err := add(n, known); err != nil {
				return nil, err
			}
		}
	}
	all := make([]left, 0, len(seen))
	for _, l := range seen {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b left) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return all, nil
}

// prune drops the oldest undo copies beyond the limits, but never the newest.
func (w *Workspace) prune(newest string) {
	names := listing(w.store.undo())
	count, bytes := 0, int64(0)
	for _, name := range slices.Backward(names) {
		id, size, _ := strings.Cut(name, ".")
		n, _ := strconv.ParseInt(size, 10, 64)
		count, bytes = count+1, bytes+n
		if id != newest && (count > w.limits.undoTransactions || bytes > w.limits.undoBytes) {
			_ = os.RemoveAll(filepath.Join(w.store.undo(), name))
		}
	}
}
