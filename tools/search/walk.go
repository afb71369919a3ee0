package search

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// chunkFiles is how many files of one directory a worker searches before it
// tells the others: enough to make the lock cheap, few enough to share a large
// directory.
const chunkFiles = 32

// task is work on a directory: reading it (from is -1), or searching the visible
// files among entries[from:to].
type task struct {
	d        *dir
	from, to int
}

func reading(d *dir) task { return task{d: d, from: -1} }

func (t task) reads() bool { return t.from < 0 }

// walk is one pass of workers over a tree of directories. They take tasks from
// a stack whose top is the first in order, so that what is finished is nearly a
// prefix of the whole; the cursor follows that prefix and decides when to stop.
type walk struct {
	rules    *rules
	maxDepth int64
	maxNames int // of one directory
	// search works on one visible file; nil when only names are wanted.
	search func(w *worker, d *dir, e *entry)
	// adopted are directories without tracked files that git named nevertheless.
	adopted map[*entry]namedDir

	quit atomic.Bool // workers stop at the next file

	mu    sync.Mutex
	more  sync.Cond // a task came, or the last one ended
	stack []task
	busy  int
	at    *cursor
}

// worker is what one goroutine of a walk uses again and again.
type worker struct {
	*walk
	listing *listing
	buf     []byte
}

// run works until the stack is empty or the cursor has seen enough. The end of
// ctx ends it early; the caller looks at ctx.
func (w *walk) run(ctx context.Context, threads int) {
	w.more.L = &w.mu
	w.quit.Store(false)
	stop := context.AfterFunc(ctx, func() { w.quit.Store(true) })
	defer stop()
	if w.advance(); w.at.done {
		return
	}
	var workers sync.WaitGroup
	for range min(threads, runtime.GOMAXPROCS(0)) {
		workers.Go(func() { (&worker{walk: w, listing: newListing()}).loop() })
	}
	workers.Wait()
	for _, left := range w.stack {
		w.release(left.holds())
	}
	w.stack = nil
}

// holds is the directory whose descriptor a task needs: the parent's, to read
// a directory.
func (t task) holds() *dir {
	if t.reads() {
		return t.d.parent
	}
	return t.d
}

func (w *worker) loop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.stack) == 0 && w.busy > 0 && !w.quit.Load() {
			w.more.Wait()
		}
		if len(w.stack) == 0 || w.quit.Load() {
			w.more.Broadcast()
			return
		}
		next := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		w.busy++
		w.mu.Unlock()

		var follow []task
		if next.reads() {
			follow = w.read(next.d)
		} else {
			next.to = w.searchFiles(next)
		}

		w.mu.Lock()
		w.busy--
		w.publish(next, follow)
	}
}

// publish makes a finished task's outcome known; mu is held.
func (w *walk) publish(finished task, follow []task) {
	d := finished.d
	if finished.reads() {
		d.users += len(follow)
		if d.users == 0 {
			closeDir(d)
		}
		d.ready = true
		w.stack = append(w.stack, follow...)
	} else {
		for i := finished.from; i < finished.to; i++ {
			d.entries[i].ready = true
		}
	}
	w.release(finished.holds())
	w.advance()
	if len(follow) > 0 || w.busy == 0 {
		w.more.Broadcast()
	}
}

func (w *walk) advance() {
	if w.at.advance(); w.at.done {
		w.quit.Store(true)
	}
}

// release says that one task less needs d's descriptor; mu is held, or no
// worker runs.
func (w *walk) release(d *dir) {
	if d == nil {
		return
	}
	if d.users--; d.users == 0 {
		closeDir(d)
	}
}

func closeDir(d *dir) {
	if d.fd >= 0 {
		closeFD(d.fd)
		d.fd = -1
	}
}

// read lists a directory, judges its entries, and returns the tasks that
// follow from it, last one first. It works on d alone, without the lock.
func (w *worker) read(d *dir) []task {
	if d.fd < 0 {
		fd, err := openDirAt(d.parent.fd, d.name)
		if err != nil {
			d.failed = !vanished(err)
			return nil
		}
		d.fd = fd
	}
	more, err := w.listing.read(d.fd, w.maxNames)
	d.failed, d.cut = err != nil && !vanished(err), more
	d.entries = w.listing.entries()
	for i := range d.entries {
		e := &d.entries[i]
		if e.fate = w.rules.judge(d, e); e.fate == visible {
			e.fate = d.listed(e)
		}
	}
	w.keepEmpty(d)
	return w.tasks(d, func(e *entry) bool { return e.fate == visible })
}

// listed is what git's names say about an entry that the other rules let
// through.
func (d *dir) listed(e *entry) fate {
	if d.names == nil || e.kind == kindOther || d.names.hasFile(e.name) {
		return visible // git never lists devices, FIFOs and sockets
	}
	if _, ok := d.names.dir(e.name); ok && e.kind == kindDir {
		return visible
	}
	if d.names.complete {
		return ignored
	}
	return undecided
}

// tasks returns the work on the entries that want selects, last one first, and
// gives directories among them their place in the tree.
func (w *walk) tasks(d *dir, want func(*entry) bool) []task {
	var list []task
	for i := range d.entries {
		e := &d.entries[i]
		if !want(e) {
			continue
		}
		switch e.kind {
		case kindDir:
			if d.depth < w.maxDepth {
				e.child = w.enter(d, e)
				list = append(list, reading(e.child))
			}
		case kindFile:
			if w.search == nil {
				e.ready = true
			} else if last := len(list) - 1; last >= 0 && list[last].to == i && list[last].to-list[last].from < chunkFiles {
				list[last].to = i + 1
			} else {
				list = append(list, task{d, i, i + 1})
			}
		default:
			e.ready = true
		}
	}
	slices.Reverse(list)
	return list
}

func (w *walk) enter(d *dir, e *entry) *dir {
	child := &dir{parent: d, name: e.name, prefix: d.prefix + e.name + "/", depth: d.depth + 1, fd: -1}
	named, ok := d.names.dir(e.name)
	if !ok {
		named, ok = w.adopted[e]
	}
	if ok && !named.nested {
		child.names = named.names
	}
	return child
}

// keepEmpty brings back the empty directories among the ignored entries: git
// lists files, and so never names a directory without any.
func (w *worker) keepEmpty(d *dir) {
	for i := range d.entries {
		if e := &d.entries[i]; e.kind == kindDir && e.fate == ignored && d.names != nil && !w.rules.exclude[e.name] {
			if emptyBelow(w.listing, d.fd, e.name, maxEmpty) {
				e.fate = visible
			}
		}
	}
}

// maxEmpty is how deep nested empty directories are recognised as such.
const maxEmpty = 32

// emptyBelow reports whether a directory holds nothing but directories of
// which the same is true.
func emptyBelow(l *listing, parent int, name string, levels int) bool {
	fd, err := openDirAt(parent, name)
	if err != nil {
		return false
	}
	defer closeFD(fd)
	more, err := l.read(fd, maxEmptyNames)
	if err != nil || more || levels == 0 {
		return false
	}
	entries := l.entries()
	for i := range entries {
		if entries[i].kind != kindDir {
			return false
		}
	}
	for i := range entries {
		if !emptyBelow(l, fd, entries[i].name, levels-1) {
			return false
		}
	}
	return true
}

// maxEmptyNames is how many names a directory may have to be looked through.
const maxEmptyNames = 256

// searchFiles returns up to where it came; where it was told to quit, the file
// in the middle of which it was does not count.
func (w *worker) searchFiles(t task) int {
	for i := t.from; i < t.to; i++ {
		if e := &t.d.entries[i]; e.kind == kindFile && e.fate == visible {
			w.search(w, t.d, e)
		}
		if w.quit.Load() {
			return i
		}
	}
	return t.to
}
