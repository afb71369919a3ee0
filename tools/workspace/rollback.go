package workspace

import (
	"errors"
	"io/fs"

	"github.com/prism-ls/prism-ls/tools"
)

// openReal opens a directory by its real path: not one component of it may be
// a link.
func (w *Workspace) openReal(real string) (*dir, error) {
	if real == "." {
		return w.openRoot()
	}
	s, err := w.locate(Path{Rel: real}, false)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if s.real != real || !s.exists || !s.st.mode.IsDir() {
		return nil, fs.ErrNotExist
	}
	return s.parent.list(s.name)
}

func (w *Workspace) openRoot() (*dir, error) {
	d, err := w.areas[0].dir.list(".")
	if err == nil {
		d.seam = w.seam
	}
	return d, err
}

// rollback takes one step back, whether or not it was taken, as far as the
// files are still what the step left. dirs has its directories; a step whose
// directory is missing was not taken, or its files are gone for good.
func (w *Workspace) rollback(o *op, dirs map[string]*dir) error {
	d := dirs[string(o.Dir)]
	if d == nil {
		return nil
	}
	switch o.Kind {
	case kindPut:
		return w.rollbackPut(o, d)
	case kindDelete:
		return w.rollbackDelete(o, d)
	case kindMove:
		return w.rollbackMove(o, d, dirs[string(o.ToDir)])
	case kindMkdir:
		err := d.rmdir(string(o.Name))
		if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) || tools.AsError(err).Code == tools.CodeNotEmpty {
			return nil // never made, or in use by somebody else
		}
		return err
	}
	return nil
}

// lookup is dir.stat with "nothing there" as nil.
func lookup(d *dir, name raw) (*stat, error) {
	if name == "" {
		return nil, nil
	}
	st, err := d.stat(string(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &st, nil
}

func (w *Workspace) rollbackPut(o *op, d *dir) error {
	target, err := lookup(d, o.Name)
	if err != nil {
		return err
	}
	temp, err := lookup(d, o.Temp)
	if err != nil {
		return err
	}
	tomb, err := lookup(d, o.Tomb)
	if err != nil {
		return err
	}
	if o.Old == nil {
		// Done, if the temporary file went to the target's name.
		if target != nil && (temp == nil || temp.ino == target.ino) && w.isNew(o, d, target) {
			if err := removeTree(d, string(o.Name)); err != nil {
				return err
			}
		}
		return removeTree(d, string(o.Temp))
	}
	for _, keeper := range []struct {
		name raw
		st   *stat
	}{{o.Tomb, tomb}, {o.Temp, temp}} {
		if keeper.st == nil || !o.Old.matches(keeper.st) || o.isTemp(keeper.name, keeper.st) {
			continue
		}
		if target != nil && o.Old.sameInode(target) {
			break // not taken yet
		}
		if target == nil || w.isNew(o, d, target) {
			if err := d.rename(string(keeper.name), d, string(o.Name), renameReplace); err != nil {
				return err
			}
			break
		}
		w.log.Warn("workspace: a file was changed after the crash and is left as it is", "path", string(o.Dir)+"/"+string(o.Name))
		break
	}
	return errors.Join(removeTree(d, string(o.Temp)), removeTree(d, string(o.Tomb)))
}

// isTemp reports whether the file is the new content still under its temporary
// name, for steps that do not know what they replace.
func (o *op) isTemp(name raw, st *stat) bool {
	return o.Old.Any && name == o.Temp && o.New != nil && o.New.Ino == st.ino
}

// isNew reports whether the file is what the step put there.
func (w *Workspace) isNew(o *op, d *dir, st *stat) bool {
	if o.New == nil {
		return false
	}
	if o.New.Ino != 0 && st.ino != o.New.Ino {
		return false
	}
	if o.New.SHA256 != "" && st.mode.IsRegular() {
		sum, err := hashFile(d, string(o.Name))
		return err == nil && sum == o.New.SHA256
	}
	return o.New.Ino != 0
}

func (w *Workspace) rollbackDelete(o *op, d *dir) error {
	tomb, err := lookup(d, o.Tomb)
	if err != nil || tomb == nil {
		return err
	}
	err = renameNew(d, string(o.Tomb), d, string(o.Name))
	if errors.Is(err, fs.ErrExist) {
		w.log.Warn("workspace: a file was made again after the crash; the deleted one is dropped", "path", string(o.Dir)+"/"+string(o.Name))
		return removeTree(d, string(o.Tomb))
	}
	return err
}

func (w *Workspace) rollbackMove(o *op, from, to *dir) error {
	if to == nil {
		return nil
	}
	source, err := lookup(from, o.Name)
	if err != nil {
		return err
	}
	moved, err := lookup(to, o.ToName)
	if err != nil {
		return err
	}
	if source == nil && moved != nil && o.Old.sameInode(moved) {
		if err := renameNew(to, string(o.ToName), from, string(o.Name)); err != nil {
			return err
		}
		moved = nil
	}
	tomb, err := lookup(to, o.Tomb)
	if err != nil || tomb == nil {
		return err
	}
	if moved == nil {
		return renameNew(to, string(o.Tomb), to, string(o.ToName))
	}
	return removeTree(to, string(o.Tomb))
}

// finish removes what a step that has happened left under temporary names:
// after a crash of its process, when nobody can undo it any more. A step
// without a journal may have been interrupted right after its rename, before
// it looked at what it had replaced; a stranger's file goes back then.
func (w *Workspace) finish(o *op, dirs map[string]*dir) error {
	d := dirs[string(o.Dir)]
	if o.Kind == kindMove {
		d = dirs[string(o.ToDir)]
	}
	if d == nil {
		return nil
	}
	var left error
	for _, name := range []raw{o.Temp, o.Tomb} {
		st, err := lookup(d, name)
		if err != nil {
			return err
		}
		if st == nil {
			continue
		}
		if o.ours(st) {
			left = errors.Join(left, removeTree(d, string(name)))
			continue
		}
		left = errors.Join(left, w.giveBack(o, d, name))
	}
	return left
}

// ours reports whether a file under a temporary name is the step's own new
// content or the original it knew.
func (o *op) ours(st *stat) bool {
	for _, known := range []*ident{o.Old, o.OldTo} {
		if known != nil && known.matches(st) {
			return true
		}
	}
	if o.Kind != kindPut {
		return false
	}
	return o.New == nil || o.New.Ino == 0 || o.New.Ino == st.ino
}

// giveBack returns a stranger's file, caught by an interrupted rename, to its name.
func (w *Workspace) giveBack(o *op, d *dir, name raw) error {
	home := o.Name
	if o.Kind == kindMove {
		home = o.ToName
	}
	target, err := lookup(d, home)
	if err != nil {
		return err
	}
	if target == nil {
		return renameNew(d, string(name), d, string(home))
	}
	if st, err := lookup(d, name); err == nil && st != nil && st.ino == target.ino && st.ino != 0 {
		return d.unlink(string(name)) // a second name of what is in its place
	}
	if o.Kind == kindPut && o.New != nil && o.New.Ino == target.ino {
		return d.rename(string(name), d, string(o.Name), renameReplace)
	}
	w.log.Warn("workspace: a file of unknown origin is left under a temporary name", "path", string(o.Dir)+"/"+string(name))
	return nil
}
