package langintel

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"
)

// watcher finds out what changed on disk since the servers were told. Where the
// system notifies it of changes it takes what is queued before each question, and
// looks at everything only now and then, for file systems that do not notify.
// Elsewhere, and where there are more directories than may be watched, it looks
// at the times of all files before a question; that is left out when the last look
// is so recent that looking would take more than a twentieth of the time.
type watcher struct {
	client *Client

	mu   sync.Mutex
	seen map[string]fileID // nil: not looked yet
	// others are what is neither a directory nor a regular file, by their type:
	// symlinks, which are no files of their own, pipes, sockets, devices.
	others map[string]fs.FileMode
	names  []string  // sorted keys of seen; nil: to be made
	notify *notifier // nil: changes are found by looking
	// blind says why there is no notifier.
	blind string
	// touched are the files that were made or changed since the client began.
	touched map[string]bool
	next    time.Time // of the next look at everything
}

const (
	maxWatched = 200_000
	sweepShare = 20
	// longestPause is how long a look may be left out, however long it takes.
	longestPause = 2 * time.Second
	defaultKind  = 7 // create, change and delete (LSP 3.17 §watchKind)
	// notifiedLook is how long changes that no notification tells of may go unseen.
	notifiedLook = 5 * time.Second
)

func newWatcher(c *Client) *watcher { return &watcher{client: c, touched: map[string]bool{}} }

// close gives the notifications back.
func (w *watcher) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.notify != nil {
		_ = w.notify.close() // nothing was written that could be lost
		w.notify = nil
	}
}

// knows reports whether a file was there when the question began, as far as the
// kernel told; false says nothing.
func (w *watcher) knows(rel string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, there := w.seen[rel]
	return there && w.notify != nil
}

// told reports whether the servers were told of a file in the state that an
// identity is of, as far as they want to hear of it.
func (w *watcher) told(rel string, id fileID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	known, there := w.seen[rel]
	return there && known.like(id) && (known.settled || w.notify != nil)
}

// has reports whether the workspace has a file, as last seen.
func (w *watcher) has(ctx context.Context, rel string) bool {
	w.baseline(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	_, there := w.seen[rel]
	return there || w.others[rel]&fs.ModeSymlink != 0
}

// unreadable returns what has the name of a server's file and is something that a
// program may wait for without end when it reads it, "" if nothing is.
func (w *watcher) unreadable(s *Spec) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, rel := range slices.Sorted(maps.Keys(w.others)) {
		if w.others[rel]&fs.ModeSymlink == 0 && s.language(rel) != "" {
			return oneLine(rel, 200)
		}
	}
	return ""
}

// degraded says why changes are found later than they could be, or "".
func (w *watcher) degraded() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.blind
}

// skipped directories hold no sources that a server watches, and may be huge.
func skipped(name string) bool {
	return name == ".git" || name == "node_modules" || name == ".hg" || name == ".svn"
}

// look walks a directory of the workspace, which is watched from then on, and
// calls found for each regular file; w.mu is held.
func (w *watcher) look(ctx context.Context, top string, found func(rel string, id fileID)) {
	root := w.client.work.Root()
	count := 0
	// What cannot be read is not there for the servers either.
	_ = filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil || count >= maxWatched {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			if skipped(d.Name()) && name != root {
				return fs.SkipDir
			}
			w.watchDir(name) // before its entries are read, so that none is missed
			return nil
		}
		rel := filepath.ToSlash(name[min(len(name), len(root)+1):])
		count++
		if !d.Type().IsRegular() {
			w.others[rel] = d.Type()
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		found(rel, identify(info))
		return nil
	})
}

// watchDir has the kernel tell of changes in a directory; w.mu is held.
func (w *watcher) watchDir(dir string) {
	if w.notify == nil {
		return
	}
	if err := w.notify.add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.blind = "changes are found by looking at every file: " + err.Error()
		_ = w.notify.close()
		w.notify = nil
	}
}

// lookAll is what a look at the whole workspace finds; w.mu is held.
func (w *watcher) lookAll(ctx context.Context) map[string]fileID {
	out := make(map[string]fileID, len(w.seen)+64)
	w.others = map[string]fs.FileMode{}
	w.look(ctx, w.client.work.Root(), func(rel string, id fileID) { out[rel] = id })
	return out
}

// baseline notes the state that a starting server will find.
func (w *watcher) baseline(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen != nil {
		return
	}
	var err error
	if w.notify, err = newNotifier(); err != nil {
		w.blind = "changes are found by looking at every file: " + err.Error()
	}
	began := time.Now()
	w.take(w.lookAll(ctx), began)
	if ctx.Err() != nil {
		w.seen = nil // not all of it was seen
	}
}

// take keeps the result of a look that began at a moment; w.mu is held.
func (w *watcher) take(now map[string]fileID, began time.Time) {
	w.seen, w.names = now, nil
	took := time.Since(began)
	pause := min(sweepShare*took, max(longestPause, 4*took))
	if w.notify != nil {
		pause = max(notifiedLook, sweepShare*took)
	}
	w.next = time.Now().Add(pause)
}

// all returns every file, sorted; the caller must not change the list.
func (w *watcher) all(ctx context.Context) []string {
	w.baseline(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.names == nil {
		w.names = slices.Sorted(maps.Keys(w.seen))
	}
	return w.names
}

// change is one file that is not as it was.
type change struct {
	path string
	kind protocol.FileChangeType
}

// sweep finds what others changed and tells the servers.
func (w *watcher) sweep(ctx context.Context) error {
	w.mu.Lock()
	if w.seen == nil {
		w.mu.Unlock()
		return nil
	}
	changes, err := w.find(ctx)
	w.touch(changes)
	w.mu.Unlock()
	if err != nil {
		return err
	}
	return w.client.announce(ctx, changes)
}

// find returns what changed and takes it for known; w.mu is held.
func (w *watcher) find(ctx context.Context) ([]change, error) {
	if w.notify != nil {
		list, complete := w.notify.drain()
		if complete && time.Now().Before(w.next) {
			return w.noticed(ctx, list), nil
		}
	} else if time.Now().Before(w.next) {
		return nil, nil
	}
	began := time.Now()
	now := w.lookAll(ctx)
	if ctx.Err() != nil {
		w.next = time.Time{} // what was drained is found by the next look
		return nil, ctx.Err()
	}
	var changes []change
	for name, id := range now {
		changes = w.judge(changes, name, id)
	}
	for name := range w.seen {
		if _, there := now[name]; !there {
			changes = append(changes, change{name, protocol.FileChangeTypeDeleted})
		}
	}
	w.take(now, began)
	return changes, nil
}

// judge adds a file that is not as it was; w.mu is held. One whose times are too
// young to be trusted counts as changed, unless a notification would have told.
func (w *watcher) judge(changes []change, name string, id fileID) []change {
	old, known := w.seen[name]
	switch {
	case !known:
		return append(changes, change{name, protocol.FileChangeTypeCreated})
	case !old.like(id) || !old.settled && w.notify == nil:
		return append(changes, change{name, protocol.FileChangeTypeChanged})
	}
	return changes
}

// noticed looks at what notifications named; w.mu is held.
func (w *watcher) noticed(ctx context.Context, list []notice) []change {
	var changes []change
	root := w.client.work.Root()
	done := map[string]bool{}
	for _, n := range list {
		if done[n.name] || !within(root, n.name) || skipped(filepath.Base(n.name)) {
			continue
		}
		done[n.name] = true
		rel := filepath.ToSlash(n.name[min(len(n.name), len(root)+1):])
		info, err := os.Lstat(n.name)
		switch {
		case err == nil && info.IsDir():
			w.look(ctx, n.name, func(inner string, id fileID) {
				changes = w.judge(changes, inner, id)
				w.seen[inner] = id
			})
		case err == nil && info.Mode().IsRegular():
			delete(w.others, rel)
			kind := protocol.FileChangeTypeChanged
			if _, known := w.seen[rel]; !known {
				kind = protocol.FileChangeTypeCreated
			}
			changes = append(changes, change{rel, kind})
			w.seen[rel] = identify(info)
		default:
			if delete(w.others, rel); err == nil {
				w.others[rel] = info.Mode().Type()
			}
			changes = w.forget(changes, rel, n.dir)
		}
	}
	return changes
}

// forget adds the deletion of a file, or of everything below what was a directory;
// w.mu is held.
func (w *watcher) forget(changes []change, name string, dir bool) []change {
	if _, known := w.seen[name]; known {
		delete(w.seen, name)
		return append(changes, change{name, protocol.FileChangeTypeDeleted})
	}
	if !dir {
		return changes // it came and went
	}
	for inner := range w.seen {
		if strings.HasPrefix(inner, name+"/") {
			changes = append(changes, change{inner, protocol.FileChangeTypeDeleted})
			delete(w.seen, inner)
		}
	}
	return changes
}

// note records the state of files that were changed through us, and returns the
// changes to announce: those of others too that notifications tell of.
func (w *watcher) note(ctx context.Context, paths []string) []change {
	w.mu.Lock()
	defer w.mu.Unlock()
	var changes []change
	if w.notify != nil {
		list, complete := w.notify.drain()
		list = slices.DeleteFunc(list, func(n notice) bool {
			rel, ok := w.client.relative(n.name)
			return ok && slices.Contains(paths, rel)
		})
		changes = w.noticed(ctx, list)
		if !complete {
			w.next = time.Time{}
		}
	}
	for _, name := range paths {
		_, known := w.seen[name]
		p, err := w.client.work.Resolve(name)
		var info fs.FileInfo
		if err == nil {
			info, err = w.client.work.Lstat(p)
		}
		switch {
		case err != nil:
			changes = w.forget(changes, name, true)
		case info.IsDir():
			w.next = time.Time{} // look into it at the next question
		default:
			kind := protocol.FileChangeTypeCreated
			if known {
				kind = protocol.FileChangeTypeChanged
			}
			changes = append(changes, change{name, kind})
			if w.seen != nil {
				w.seen[name] = identify(info)
			}
		}
	}
	w.touch(changes)
	return changes
}

// touch remembers changes; w.mu is held.
func (w *watcher) touch(changes []change) {
	for _, ch := range changes {
		if ch.kind != protocol.FileChangeTypeChanged {
			w.names = nil
		}
		if ch.kind == protocol.FileChangeTypeDeleted {
			delete(w.touched, ch.path)
		} else if len(w.touched) < maxWatched {
			w.touched[ch.path] = true
		}
	}
}

// changed returns the files that were made or changed since the client began, and
// are there, sorted.
func (w *watcher) changed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.touched))
}
