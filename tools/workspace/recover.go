package workspace

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// recoverWait bounds the wait for other processes' locks during a recovery.
const recoverWait = 10 * time.Second

// recover puts right what processes that are gone left behind: transactions
// under way are taken back, temporary files removed. It follows the records in
// the state directory alone and never searches the tree. Without a state
// directory, or when it cannot be written, there is nothing to do.
func (w *Workspace) recover(ctx context.Context) error {
	if w.store.base == "" {
		return nil
	}
	err := w.recoverJournals(ctx)
	for _, name := range listing(w.store.writers()) {
		err = errors.Join(err, w.recoverWriter(ctx, filepath.Join(w.store.writers(), name)))
	}
	return err
}

func listing(dir string) []string {
	file, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer file.Close()
	names, _ := file.Readdirnames(-1)
	slices.Sort(names)
	return names
}

func (w *Workspace) recoverJournals(ctx context.Context) error {
	if w.store.base == "" {
		return nil
	}
	var err error
	for _, name := range listing(w.store.journals()) {
		err = errors.Join(err, w.recoverJournal(ctx, filepath.Join(w.store.journals(), name)))
	}
	return err
}

func (w *Workspace) recoverJournal(ctx context.Context, file string) error {
	lock, err := lockLeftover(file)
	if lock == nil {
		return err
	}
	defer lock.Close()
	if strings.HasSuffix(file, endNew) {
		return os.Remove(file) // nothing had happened
	}
	record, err := readJournal(lock)
	if err != nil {
		return err
	}
	if record == nil {
		w.log.Error("workspace: a damaged journal is dropped", "file", file)
		return os.Remove(file)
	}
	act := w.rollback
	if strings.HasSuffix(file, endDone) {
		act = w.finish
		if err := w.dropUndo(string(record.Undo)); err != nil {
			return err
		}
	} else {
		slices.Reverse(record.Ops)
		w.log.Info("workspace: taking back a transaction that was interrupted", "root", w.Root(), "steps", len(record.Ops))
	}
	if err := w.settle(ctx, record.Ops, act); err != nil {
		return err
	}
	if err := os.Remove(file); err != nil {
		return err
	}
	return syncPath(filepath.Dir(file))
}

// dropUndo removes an undo copy that was used; its files have another name in
// the tree by now, and would count as hard links.
func (w *Workspace) dropUndo(name string) error {
	if name == "" {
		return nil
	}
	return os.RemoveAll(filepath.Join(w.store.undo(), filepath.Base(name)))
}

func (w *Workspace) recoverWriter(ctx context.Context, file string) error {
	lock, err := lockLeftover(file)
	if lock == nil {
		return err
	}
	defer lock.Close()
	ops, err := readSlots(lock)
	if err != nil {
		return err
	}
	if len(ops) > 0 {
		if err := w.settle(ctx, ops, w.finish); err != nil {
			return err
		}
	}
	return os.Remove(file)
}

// settle applies act to every step, with the locks of all their files held.
func (w *Workspace) settle(ctx context.Context, ops []*op, act func(*op, map[string]*dir) error) error {
	ctx, cancel := context.WithTimeout(ctx, recoverWait)
	defer cancel()
	dirs := map[string]*dir{}
	defer func() {
		for _, d := range dirs {
			d.close()
		}
	}()
	var spots []*spot
	add := func(real, name raw) {
		d := dirs[string(real)]
		if d == nil {
			opened, err := w.openReal(string(real))
			if err != nil {
				return // not made yet, or gone with all it held
			}
			d = opened
			dirs[string(real)] = d
		}
		spots = append(spots, &spot{parent: d, name: string(name), real: path.Join(string(real), string(name))})
	}
	for _, o := range ops {
		add(o.Dir, o.Name)
		if o.Kind == kindMove {
			add(o.ToDir, o.ToName)
		}
	}
	locks, err := w.lock(ctx, spots)
	if err != nil {
		return err
	}
	defer locks.release()
	for _, o := range ops {
		if err := act(o, dirs); err != nil {
			return err
		}
	}
	for _, d := range dirs {
		if err := d.sync(); err != nil {
			return err
		}
	}
	return nil
}
