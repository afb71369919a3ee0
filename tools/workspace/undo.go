package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

var undoIDForm = regexp.MustCompile(`^[0-9a-f]{16}-[0-9a-f]{8}$`)

// Undo takes back a committed transaction and returns the real paths of the
// files it changed. It works once, in any process, as long as every file is as
// the transaction left it; else it is [tools.CodeFileChanged] and nothing
// changes. An unknown, used or dropped id, or a copy that a power cut damaged,
// is [tools.CodeNotFound].
func (w *Workspace) Undo(ctx context.Context, id string) ([]string, error) {
	if !undoIDForm.MatchString(id) {
		return nil, notUndoID(id)
	}
	if err := w.store.open(); err != nil {
		return nil, tools.Errorf(tools.CodeStateUnavailable, "undo copies cannot be reached: %w", err)
	}
	if err := w.recoverJournals(ctx); err != nil {
		return nil, tools.AsError(err)
	}
	where, record, err := w.undoRecord(id)
	if err != nil {
		return nil, err
	}
	var paths []Path
	for _, real := range record.paths() {
		paths = append(paths, Path{Rel: real})
	}
	tx, err := w.begin(ctx, paths)
	if err != nil {
		return nil, err
	}
	defer tx.end()
	if _, err := os.Lstat(where); err != nil {
		return nil, unknownUndo(id)
	}
	if err := tx.asLeft(record.Left); err != nil {
		return nil, err
	}
	from, err := openRootDir(where)
	if err != nil {
		return nil, unknownUndo(id)
	}
	defer from.close()
	if err := tx.stageUndo(record, from); err != nil {
		return nil, err
	}
	done, err := tx.commit(filepath.Base(where))
	if err != nil {
		return nil, err
	}
	return done.Files, nil
}

// UndoPaths returns, sorted, the real paths of all that an undo of id would
// change, directories that it might remove included. It changes nothing. Codes
// are those of [Workspace.Undo].
func (w *Workspace) UndoPaths(id string) ([]string, error) {
	if !undoIDForm.MatchString(id) {
		return nil, notUndoID(id)
	}
	if w.store.base == "" {
		return nil, tools.Errorf(tools.CodeStateUnavailable, "undo copies cannot be reached: %w", errNoStateDir)
	}
	if _, err := os.Stat(w.store.undo()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, tools.Errorf(tools.CodeStateUnavailable, "undo copies cannot be reached: %w", err)
	}
	_, record, err := w.undoRecord(id)
	if err != nil {
		return nil, err
	}
	return record.paths(), nil
}

// paths are the entries that the transaction touched.
func (u *undoRecord) paths() []string {
	var all []string
	for _, l := range u.Left {
		all = append(all, string(l.Path))
	}
	for _, o := range u.Ops {
		if o.Kind == kindMkdir {
			all = append(all, joinRaw(o.Dir, o.Name))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func joinRaw(dir, name raw) string {
	if dir == "." {
		return string(name)
	}
	return string(dir) + "/" + string(name)
}

func notUndoID(id string) error {
	return tools.Errorf(tools.CodeNotFound, "%q is not an undo id of this workspace", id)
}

func unknownUndo(id string) error {
	return tools.Errorf(tools.CodeNotFound, "there is nothing to undo under the id %s: it was undone already, or dropped as one of the oldest", id)
}

func (w *Workspace) undoRecord(id string) (where string, record *undoRecord, err error) {
	for _, name := range listing(w.store.undo()) {
		if strings.HasPrefix(name, id+".") {
			where = filepath.Join(w.store.undo(), name)
		}
	}
	if where == "" {
		return "", nil, unknownUndo(id)
	}
	data, err := os.ReadFile(filepath.Join(where, recordName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, unknownUndo(id)
	}
	if err != nil {
		return "", nil, pathError(where, err)
	}
	record = &undoRecord{}
	if err := json.Unmarshal(data, record); err != nil {
		return "", nil, damagedUndo(id)
	}
	return where, record, nil
}

func damagedUndo(what string) error {
	return tools.Errorf(tools.CodeNotFound, "the undo copy of %s is damaged, probably by a power cut; nothing was changed", what)
}

// asLeft checks that every file is as the transaction left it.
func (tx *Tx) asLeft(all []left) error {
	for _, l := range all {
		n, err := tx.entry(Path{Rel: string(l.Path)})
		if err != nil {
			return err
		}
		if n.real != string(l.Path) || n.exists != (l.Digest != "") {
			return tx.changed(n)
		}
		if !n.exists {
			continue
		}
		now, err := digestLike(n.parent, n.name, l.Digest)
		if err != nil {
			return pathError(n.real, err)
		}
		if now != l.Digest {
			return tx.changed(n)
		}
	}
	return nil
}

// stageUndo stages the opposite of every step, last one first.
func (tx *Tx) stageUndo(record *undoRecord, from *dir) error {
	for _, o := range slices.Backward(record.Ops) {
		n, err := tx.entry(Path{Rel: joinRaw(o.Dir, o.Name)})
		if err != nil {
			return err
		}
		switch o.Kind {
		case kindMkdir:
			tx.undoMkdir(n)
		case kindPut:
			if o.Old == nil {
				tx.stage(&step{node: n, op: op{Kind: kindDelete, Tomb: raw(tempName()), Old: n.idOrAny()}})
				n.exists, n.id = false, nil
				continue
			}
			if err := tx.restore(n, o.Blob, from); err != nil {
				return err
			}
		case kindDelete:
			if err := tx.restore(n, o.Blob, from); err != nil {
				return err
			}
		case kindMove:
			if err := tx.undoMove(o, n, from); err != nil {
				return err
			}
		}
	}
	return nil
}

// idOrAny is what a step may expect to find at a node that exists by then.
func (n *node) idOrAny() *ident {
	if n.id == nil {
		return &ident{Any: true}
	}
	return n.id
}

func (tx *Tx) undoMove(o *op, n *node, from *dir) error {
	t, err := tx.entry(Path{Rel: joinRaw(o.ToDir, o.ToName)})
	if err != nil {
		return err
	}
	if err := tx.parents(n, true); err != nil {
		return err
	}
	tx.stage(&step{node: t, to: n, op: op{Kind: kindMove, ToDir: o.Dir, ToName: o.Name, Old: t.idOrAny()}})
	n.exists, n.id = true, &ident{Any: true}
	t.exists, t.id = false, nil
	if o.OldTo == nil {
		return nil
	}
	return tx.restore(t, o.Blob, from)
}

// undoMkdir removes a directory that the transaction made, if nothing else is
// in it. What the undo itself takes out of it leaves only at the commit, so
// that is when it is tried.
func (tx *Tx) undoMkdir(n *node) {
	tx.rmdirs = append(tx.rmdirs, n)
}

// restore stages putting an original back.
func (tx *Tx) restore(n *node, b *blob, from *dir) error {
	if b == nil {
		return tools.Errorf(tools.CodeNotFound, "the original of %s was not kept; nothing was changed", n.real)
	}
	now, err := digestLike(from, b.Name, b.Digest)
	if err != nil || now != b.Digest {
		return damagedUndo(n.real)
	}
	// Its directory may have been removed since, being empty.
	if err := tx.parents(n, true); err != nil {
		return err
	}
	s := &step{node: n, source: &source{dir: from, name: b.Name, attrs: b.Attrs, replica: replica{sync: true}}}
	s.op = op{Kind: kindPut, Temp: raw(tempName()), Tomb: raw(tempName()), New: &ident{}}
	if n.exists {
		s.Old = n.idOrAny()
	}
	tx.stage(s)
	n.exists, n.id = true, &ident{Any: true}
	return nil
}
