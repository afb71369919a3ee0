package workspace

import (
	"errors"
	"io/fs"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// racy is how close to its last change a file may have been read for its times
// to prove nothing: the coarsest clock tick the kernel stamps files with is 10
// ms (CONFIG_HZ=100). racyCoarse is for file systems that count seconds.
const (
	racy       = 20 * time.Millisecond
	racyCoarse = 2100 * time.Millisecond
)

// apply takes one step. What it replaces or takes away is compared with what
// the transaction saw after the rename, when nobody can reach it by its name
// any more; a stranger's file goes back where it was.
func (r *run) apply(s *step) error {
	var err error
	switch s.Kind {
	case kindMkdir:
		return nil
	case kindPut:
		if s.Old == nil {
			err = r.putNew(s)
		} else {
			err = r.replace(s)
		}
	case kindDelete:
		err = r.remove(s)
	case kindMove:
		err = r.move(s)
	}
	if err != nil {
		return pathError(s.node.real, err)
	}
	s.done = true
	return nil
}

func (r *run) changed(s *step) error {
	return changedAt(r.dir(s.Dir), string(s.Name), s.node.real)
}

func (r *run) putNew(s *step) error {
	d := r.dir(s.Dir)
	err := renameNew(d, string(s.Temp), d, string(s.Name))
	if errors.Is(err, fs.ErrExist) {
		return r.changed(s)
	}
	return err
}

// renameNew renames without replacing anything.
func renameNew(d *dir, name string, to *dir, toName string) error {
	err := d.rename(name, to, toName, renameNoReplace)
	if err == nil || !unsupported(err) {
		return err
	}
	// A file system without the flag: a link fails if the name is taken. Only
	// directories, which cannot be linked, keep a gap between look and rename.
	if err := d.link(name, to, toName); err == nil || errors.Is(err, fs.ErrExist) {
		if err == nil {
			err = d.unlink(name)
		}
		return err
	}
	if _, err := to.stat(toName); err == nil {
		return fs.ErrExist
	}
	return d.rename(name, to, toName, renameReplace)
}

// same looks at the entry before anything happens to it.
func (r *run) same(d *dir, name string, want *ident) (bool, error) {
	st, err := d.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return want.matches(&st) && (want.CTime == 0 || want.CTime == st.ctime), nil
}

// verify looks again when the entry is out of everybody's reach, at its bytes
// too when its times cannot be trusted.
func (r *run) verify(d *dir, name string, want *ident) (bool, error) {
	st, err := d.stat(name)
	if err != nil || !want.matches(&st) {
		return false, err
	}
	if want.SHA256 == "" || !want.doubtful() {
		return true, nil
	}
	sum, err := hashFile(d, name)
	return sum == want.SHA256, err
}

// doubtful reports whether the file could have been written after it was read
// without its times showing it.
func (i *ident) doubtful() bool {
	window := racy
	if i.MTime%int64(time.Second) == 0 {
		window = racyCoarse
	}
	return i.Seen-max(i.MTime, i.CTime) < int64(window)
}

func (r *run) replace(s *step) error {
	d, name, temp := r.dir(s.Dir), string(s.Name), string(s.Temp)
	if ok, err := r.same(d, name, s.Old); err != nil || !ok {
		return orChanged(err, func() error { return r.changed(s) })
	}
	err := d.rename(temp, d, name, renameExchange)
	if err != nil && unsupported(err) {
		return r.replaceKept(s)
	}
	if err != nil {
		return err
	}
	ok, err := r.verify(d, temp, s.Old)
	if ok {
		return nil
	}
	if back := d.rename(temp, d, name, renameExchange); back != nil {
		s.done = true // so that the rollback knows
		return back
	}
	return orChanged(err, func() error { return r.changed(s) })
}

func orChanged(err error, changed func() error) error {
	if err != nil {
		return err
	}
	return changed()
}

// replaceKept is replace for a file system that cannot exchange two names: the
// original gets a second name first. A stranger's write between the last look
// and the rename is then seen only if it was made in place.
func (r *run) replaceKept(s *step) error {
	d, name := r.dir(s.Dir), string(s.Name)
	if err := d.link(name, d, string(s.Tomb)); err != nil {
		if !unsupported(err) {
			return err
		}
		return r.replaceMoved(s)
	}
	s.done, s.tombed = true, true
	ok, err := r.verify(d, string(s.Tomb), s.Old)
	if err != nil || !ok {
		return orChanged(err, func() error { return r.changed(s) })
	}
	return d.rename(string(s.Temp), d, name, renameReplace)
}

// replaceMoved is replace for a file system without links as well. With a
// journal the original steps aside; without one the rename has to stay atomic,
// and there is no original left to undo with.
func (r *run) replaceMoved(s *step) error {
	d, name := r.dir(s.Dir), string(s.Name)
	if r.journal == nil {
		r.unkept("this file system can neither exchange names nor link files, so the original was not kept")
		return d.rename(string(s.Temp), d, name, renameReplace)
	}
	s.done, s.tombed = true, true
	if err := d.rename(name, d, string(s.Tomb), renameReplace); err != nil {
		return err
	}
	if ok, err := r.verify(d, string(s.Tomb), s.Old); err != nil || !ok {
		return orChanged(err, func() error { return r.changed(s) })
	}
	return renameNew(d, string(s.Temp), d, name)
}

// unkept notes that the step is final: there is nothing to go back to.
func (r *run) unkept(why string) { r.degraded, r.final = why, true }

func (r *run) remove(s *step) error {
	d, name, tomb := r.dir(s.Dir), string(s.Name), string(s.Tomb)
	if ok, err := r.same(d, name, s.Old); err != nil || !ok {
		return orChanged(err, func() error { return r.changed(s) })
	}
	if err := renameNew(d, name, d, tomb); err != nil {
		return err
	}
	ok, err := r.verify(d, tomb, s.Old)
	if ok {
		return nil
	}
	if back := renameNew(d, tomb, d, name); back != nil {
		s.done = true
		return back
	}
	return orChanged(err, func() error { return r.changed(s) })
}

func (r *run) move(s *step) error {
	from, to := r.dir(s.Dir), r.dir(s.ToDir)
	name, toName := string(s.Name), string(s.ToName)
	if ok, err := r.same(from, name, s.Old); err != nil || !ok {
		return orChanged(err, func() error { return r.changed(s) })
	}
	if s.OldTo != nil {
		if err := r.moveOver(s); err != nil {
			return err
		}
	} else if err := renameNew(from, name, to, toName); errors.Is(err, fs.ErrExist) {
		return tools.Errorf(tools.CodeExists, "%s exists already; somebody just made it", s.to.real)
	} else if err != nil {
		return err
	}
	s.done = true
	ok, err := r.verify(to, toName, s.Old)
	if err != nil || !ok {
		return orChanged(err, func() error { return changedAt(to, toName, s.node.real) })
	}
	return nil
}

// moveOver renames onto an existing file, which gets the tomb's name first.
func (r *run) moveOver(s *step) error {
	from, to := r.dir(s.Dir), r.dir(s.ToDir)
	toName, tomb := string(s.ToName), string(s.Tomb)
	changed := func() error { return changedAt(to, toName, s.to.real) }
	if ok, err := r.same(to, toName, s.OldTo); err != nil || !ok {
		return orChanged(err, changed)
	}
	linkErr := to.link(toName, to, tomb)
	if linkErr != nil && !unsupported(linkErr) {
		return linkErr
	}
	if linkErr == nil {
		s.done = true
		if ok, err := r.verify(to, tomb, s.OldTo); err != nil || !ok {
			return orChanged(err, changed)
		}
	} else if r.journal != nil {
		s.done = true
		if err := to.rename(toName, to, tomb, renameReplace); err != nil {
			return err
		}
	} else {
		r.unkept("this file system cannot link files, so what the move replaced was not kept")
	}
	return from.rename(string(s.Name), to, toName, renameReplace)
}
