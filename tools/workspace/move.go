package workspace

import (
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// Move renames a file, a symbolic link (not what it leads to) or a directory.
// The directory that will hold it must exist. overwrite replaces a file by a
// file, nothing else. Codes: NOT_FOUND, EXISTS, TOOL_INPUT (onto or into
// itself), PATH_ESCAPE (the root itself).
func (tx *Tx) Move(from, to Path, overwrite bool) error {
	f, err := tx.entry(from)
	if err != nil {
		return err
	}
	t, err := tx.entry(to)
	if err != nil {
		return err
	}
	if err := tx.checkMove(f, t, from, to); err != nil {
		return err
	}
	if t.exists {
		if err := checkOverwrite(f, t, to, overwrite); err != nil {
			return err
		}
	}
	if err := tx.untouched(f); err != nil {
		return err
	}
	if err := tx.parents(t, false); err != nil {
		return err
	}
	if t.put != nil {
		tx.unwrite(t)
	}
	if f.put != nil {
		return tx.moveWritten(f, t)
	}
	if t.exists && f.st.ino == t.st.ino && f.st.dev == t.st.dev && f.st.ino != 0 && f.st.nlink > 1 {
		// Two names of one file: rename(2) would do nothing and report success.
		tx.stage(&step{node: f, op: op{Kind: kindDelete, Tomb: raw(tempName()), Old: f.id}, bytes: f.st.size})
		f.exists = false
		return nil
	}
	if f.from == f && f.parent.mountID(".") != t.parent.mountID(".") {
		return tx.moveAcross(f, t)
	}
	tx.stageMove(f, t)
	return nil
}

func (tx *Tx) stageMove(f, t *node) {
	s := &step{node: f, to: t, op: op{Kind: kindMove, ToDir: raw(t.dirReal()), ToName: raw(t.name), Old: f.id}}
	if tx.undelete(t) {
		t.exists = true
	}
	if t.exists {
		s.OldTo, s.Tomb, s.bytes = t.id, raw(tempName()), t.st.size
	}
	tx.stage(s)
	t.exists, t.st, t.from = true, f.st, f.from
	if f.id != nil {
		id := *f.id
		id.CTime = 0 // the rename sets it
		t.id = &id
	}
	f.exists, f.id, f.from = false, nil, f
}

func (tx *Tx) checkMove(f, t *node, from, to Path) error {
	switch {
	case f.name == ".":
		return tools.Errorf(tools.CodePathEscape, "the workspace root itself cannot be moved")
	case f.real == t.real:
		return tools.Errorf(tools.CodeToolInput, "%s and %s are the same path", from.Rel, to.Rel)
	case !f.exists:
		return tools.Errorf(tools.CodeNotFound, "%s does not exist", from.Rel)
	case t.name == ".":
		return tools.Errorf(tools.CodeExists, "the workspace root cannot be replaced")
	case strings.HasPrefix(t.real, f.real+"/"):
		return tools.Errorf(tools.CodeToolInput, "%s lies in %s; a directory cannot be moved into itself", to.Rel, from.Rel)
	case to.slash && !f.st.mode.IsDir():
		return tools.Errorf(tools.CodeToolInput, "%s/ ends in a slash, but %s is not a directory", to.Rel, from.Rel)
	}
	return nil
}

func checkOverwrite(f, t *node, to Path, overwrite bool) error {
	switch {
	case t.st.mode.IsDir():
		return tools.Errorf(tools.CodeExists, "%s is a directory; a move never replaces one", to.Rel)
	case !overwrite:
		return tools.Errorf(tools.CodeExists, "%s exists already; overwrite replaces a file", to.Rel)
	case f.st.mode.IsDir():
		return tools.Errorf(tools.CodeExists, "%s is a file; a directory does not replace it", to.Rel)
	}
	return nil
}

// moveWritten moves a file that the transaction writes: the old file is moved,
// and the new content put at its new place.
func (tx *Tx) moveWritten(f, t *node) error {
	s := f.put
	f.put = nil
	for i, other := range tx.steps {
		if other == s {
			tx.steps = append(tx.steps[:i], tx.steps[i+1:]...)
			break
		}
	}
	again := &step{node: t, data: s.data, like: s.like, bytes: s.bytes}
	again.op = op{Kind: kindPut, Temp: raw(tempName()), Tomb: raw(tempName()), New: s.New}
	if s.Old != nil {
		f.id = s.Old
		tx.stageMove(f, t)
		again.Old = t.id
	} else {
		if t.exists {
			again.Old, again.like, again.bytes = t.id, t.from, t.st.size
		}
		t.exists, t.st = true, f.st
		f.exists, f.id = false, nil
	}
	t.put = tx.stage(again)
	t.id = &ident{Any: true}
	return nil
}

// moveAcross moves between mounts, where rename(2) does not go: a copy is put
// at the new place and the original deleted, in one transaction.
func (tx *Tx) moveAcross(f, t *node) error {
	c := &census{max: int(limitDeleteEntries.Hard), mount: f.parent.mountID(".")}
	if err := c.count(f.parent, f.name, f.given, &f.st); err != nil {
		return err
	}
	put := &step{node: t, source: &source{dir: f.parent, name: f.name, replica: replica{sync: true, copy: true}}}
	put.op = op{Kind: kindPut, Temp: raw(tempName()), Tomb: raw(tempName()), New: &ident{}}
	if t.exists {
		put.Old, put.bytes = t.id, t.st.size
	}
	tx.stage(put)
	tx.stage(&step{node: f, op: op{Kind: kindDelete, Tomb: raw(tempName()), Old: f.id}, bytes: c.bytes})
	t.exists, t.st, t.id, t.from = true, f.st, &ident{Any: true}, f.from
	f.exists = false
	return nil
}
