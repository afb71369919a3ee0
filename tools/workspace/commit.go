package workspace

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/prism-ls/prism-ls/tools"
)

// run carries out the steps of a transaction.
type run struct {
	w        *Workspace
	steps    []*step
	dirs     map[string]*dir // by real path
	journal  *journal        // several steps
	slot     *slot           // one step
	degraded string
	undoing  string
	open     int    // temporary files waiting for their flush
	id       string // of the undo copy
	kept     string // its directory
	final    bool   // the one step cannot be taken back
	dirty    bool   // an original could not be removed: keep the record for the next opening
}

// commit carries out the steps. undoing names the undo copy that they use up,
// for an undo; then what they replace is not kept.
func (tx *Tx) commit(undoing string) (*Committed, error) {
	r := &run{w: tx.w, steps: tx.steps, dirs: map[string]*dir{}, degraded: tx.held.degraded, undoing: undoing}
	if err := r.record(); err != nil {
		return nil, err
	}
	if err := r.perform(tx); err != nil {
		return nil, r.back(err)
	}
	done := tx.planned()
	if undoing == "" {
		if r.journal != nil {
			r.archive(tx)
		}
		done.UndoID, done.Degraded = r.id, r.degraded
		r.discardOriginals()
		if r.id != "" {
			r.w.prune(r.id)
		}
	} else {
		r.discardOriginals()
		r.removeEmpty(tx.rmdirs)
		if err := tx.w.dropUndo(undoing); err != nil {
			tx.w.log.Warn("workspace: a used undo copy could not be removed", "root", tx.w.Root(), "error", err)
		}
	}
	r.forget()
	return done, nil
}

// weight is how many steps count against "one file": directories made for the
// one file do not.
func (r *run) weight() (steps, mkdirs int) {
	for _, s := range r.steps {
		if s.Kind == kindMkdir {
			mkdirs++
		} else {
			steps++
		}
	}
	return steps, mkdirs
}

// record writes down what is about to happen: a flushed journal for several
// steps, a slot for one, which is atomic by itself.
func (r *run) record() error {
	steps, mkdirs := r.weight()
	single := steps+mkdirs == 1 && r.undoing == ""
	if r.degraded != "" {
		if r.undoing != "" || steps > 1 || steps == 0 && mkdirs > 1 || r.deletesTree() {
			return unavailable(r.degraded)
		}
		return nil
	}
	var err error
	if single {
		if r.slot, err = r.w.store.slot(&r.steps[0].op); err != nil {
			r.degrade(err)
		}
		return nil
	}
	for _, s := range r.steps {
		if s.Kind == kindPut && s.source == nil {
			s.New.SHA256 = hashOf(s.data)
		}
	}
	if r.journal, err = r.w.store.journal(r.journalRecord()); err != nil {
		r.degrade(err)
		if steps != 1 || r.undoing != "" {
			return unavailable(r.degraded)
		}
	}
	return nil
}

func (r *run) journalRecord() journalRecord {
	record := journalRecord{Undo: raw(r.undoing)}
	for _, s := range r.steps {
		record.Ops = append(record.Ops, &s.op)
	}
	return record
}

func (r *run) deletesTree() bool {
	return slices.ContainsFunc(r.steps, func(s *step) bool { return s.Kind == kindDelete && s.Old.Dir })
}

func (r *run) degrade(err error) {
	r.degraded = "the state directory cannot be used: " + err.Error()
	r.w.store.failed()
	r.w.log.Warn("workspace: going on without durable state", "root", r.w.Root(), "error", err)
}

// perform makes directories, then writes and flushes all new content, says what is
// about to change, then renames, then flushes the directories and commits. A crash
// before the first rename leaves directories, which the journal takes back.
func (r *run) perform(tx *Tx) error {
	if err := r.announceDirs(tx); err != nil {
		return err
	}
	for _, s := range r.steps {
		if err := r.reach(s.node); err != nil {
			return err
		}
		if s.Kind == kindMkdir {
			if err := r.mkdir(s); err != nil {
				return err
			}
		}
		if s.to != nil {
			if err := r.reach(s.to); err != nil {
				return err
			}
		}
	}
	if err := r.fillAll(); err != nil {
		return err
	}
	if r.journal != nil && slices.ContainsFunc(r.steps, func(s *step) bool { return s.source != nil || s.link }) {
		// Copies and links are known by their inodes alone, and only now.
		if err := r.journal.write(r.journalRecord()); err != nil {
			return unavailable(err.Error())
		}
	}
	if err := r.announce(tx); err != nil {
		return err
	}
	for _, s := range r.steps {
		if err := r.apply(s); err != nil {
			return err
		}
	}
	if r.journal == nil && r.undoing == "" {
		// Before the flush, which takes it to the disk as well: after a power cut
		// the original is in the undo copy, not under a temporary name.
		r.archive(tx)
	}
	if err := r.flush(); err != nil {
		if !r.final {
			return err
		}
		r.degraded += "; and the directory could not be flushed, so a power cut may bring it back: " + err.Error()
	}
	if r.journal != nil {
		if err := r.journal.commit(); err != nil {
			return tools.Errorf(tools.CodeIO, "the journal could not be closed, so everything was taken back: %w", err)
		}
	}
	return nil
}

// reach makes sure of the node's directory: opened now if the transaction made
// it, and still where the path says otherwise. A directory that somebody moved
// away, perhaps out of the root, is not written to.
func (r *run) reach(n *node) error {
	real := n.dirReal()
	if r.dirs[real] != nil {
		return nil
	}
	existing := real
	for range n.missing {
		existing = path.Dir(existing)
	}
	if !r.w.leadsTo(existing, n.parent) {
		return tools.Errorf(tools.CodeFileChanged, "the directory %s was moved or replaced in the meantime", existing).
			WithDetails(Changed{Path: n.real})
	}
	if len(n.missing) == 0 {
		r.dirs[real] = n.parent
		return nil
	}
	at := n.parent
	for i, name := range n.missing {
		next, err := at.list(name)
		if i > 0 {
			at.close()
		}
		if err != nil {
			return pathError(real, err)
		}
		at = next
	}
	n.opened = at
	r.dirs[real] = at
	return nil
}

// leadsTo reports whether a real path still leads to an open directory.
func (w *Workspace) leadsTo(real string, d *dir) bool {
	now, err := w.openReal(real)
	if err != nil {
		return false
	}
	defer now.close()
	a, errA := now.self()
	b, errB := d.self()
	return errA == nil && errB == nil && a.ino == b.ino && a.dev == b.dev
}

func (r *run) dir(real raw) *dir { return r.dirs[string(real)] }

func (r *run) mkdir(s *step) error {
	err := r.dir(s.Dir).mkdir(string(s.Name), 0o777)
	if errors.Is(err, fs.ErrExist) {
		// Somebody was faster. A directory is a directory, and not ours to take back.
		if st, statErr := r.dir(s.Dir).stat(string(s.Name)); statErr == nil && st.mode.IsDir() {
			return nil
		}
	}
	if err != nil {
		return pathError(s.node.real, err)
	}
	s.done = true
	return nil
}

// flush makes the renames durable.
func (r *run) flush() error {
	for real, d := range r.dirs {
		if err := d.sync(); err != nil {
			return pathError(real, err)
		}
	}
	return nil
}

// back takes everything back after a failure, and returns the failure.
func (r *run) back(failure error) error {
	left := r.unkeep()
	for _, s := range slices.Backward(r.steps) {
		s.settle()
		if !s.done {
			left = errors.Join(left, r.sweep(s))
			continue
		}
		if err := r.w.rollback(&s.op, r.dirs); err != nil {
			left = errors.Join(left, err)
		}
	}
	if left == nil {
		left = r.flush()
	}
	if left == nil {
		r.forget()
		return failure
	}
	r.w.log.Error("workspace: a failed change could not be taken back in full", "root", r.w.Root(), "error", left)
	if r.journal != nil {
		r.journal.leave()
	}
	return tools.Errorf(tools.AsError(failure).Code, "%s; taking it back failed too (%v) and is tried again when the workspace is opened",
		tools.AsError(failure).Message, left)
}

// sweep removes the temporary file of a step that was not taken.
func (r *run) sweep(s *step) error {
	d := r.dir(s.Dir)
	if s.Kind != kindPut || d == nil {
		return nil
	}
	return removeTree(d, string(s.Temp))
}

// forget drops the record of the steps, unless something it names is left.
func (r *run) forget() {
	if r.dirty {
		if r.journal != nil {
			r.journal.leave()
		}
		return
	}
	if r.journal != nil {
		r.journal.drop()
	}
	r.slot.release()
	r.slot = nil
}

// removeEmpty removes directories that an undone transaction had made, the
// last first. One that somebody uses by now stays.
func (r *run) removeEmpty(nodes []*node) {
	for _, n := range nodes {
		if n.parent.rmdir(n.name) == nil {
			_ = n.parent.sync()
		}
	}
}
