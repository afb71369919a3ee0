package workspace

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"path"
	"slices"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// Bounds of the wait between two tries for a lock that another process holds.
const (
	lockWaitFirst = 50 * time.Microsecond
	lockWaitMost  = 2 * time.Millisecond
)

// held are the locks of one transaction, in the order they were taken.
type held struct {
	releases []func()
	// degraded says why there are no locks in the state directory; "" otherwise.
	degraded string
}

func (h *held) release() {
	for _, release := range slices.Backward(h.releases) {
		release()
	}
	h.releases = nil
}

// lockKey names a directory entry on this machine: by the directory's device
// and inode and the entry's name, because a rename replaces the file's own
// inode and a path may have several spellings.
func lockKey(s *spot) (uint64, error) {
	self, err := s.parent.self()
	if err != nil {
		return 0, pathError(s.real, err)
	}
	h := sha256.New()
	var id [16]byte
	binary.LittleEndian.PutUint64(id[:8], self.dev)
	binary.LittleEndian.PutUint64(id[8:], self.ino)
	h.Write(id[:])
	if self.ino == 0 { // a system without inode numbers
		h.Write([]byte(s.dirReal()))
	}
	h.Write([]byte(path.Join(append(slices.Clone(s.missing), s.name)...)))
	return binary.LittleEndian.Uint64(h.Sum(nil)) >> 3, nil
}

// lock takes the locks of all spots: first the places in this process's queue
// in the order of the paths, then the locks between processes in the order of
// their keys. Everybody has the same two orders, so nobody waits in a circle.
func (w *Workspace) lock(ctx context.Context, spots []*spot) (*held, error) {
	keys := make(map[uint64]*spot, len(spots))
	for _, s := range spots {
		key, err := lockKey(s)
		if err != nil {
			return nil, err
		}
		keys[key] = s
	}
	order := make([]uint64, 0, len(keys))
	for key := range keys {
		order = append(order, key)
	}
	slices.SortFunc(order, func(a, b uint64) int {
		return cmp.Or(cmp.Compare(keys[a].real, keys[b].real), cmp.Compare(a, b))
	})
	h := &held{}
	for _, key := range order {
		release, err := w.queue.acquire(ctx, key)
		if err != nil {
			h.release()
			return nil, err
		}
		h.releases = append(h.releases, release)
	}
	slices.Sort(order)
	if err := w.lockProcesses(ctx, h, order, spots); err != nil {
		h.release()
		return nil, err
	}
	return h, nil
}

func (w *Workspace) lockProcesses(ctx context.Context, h *held, order []uint64, spots []*spot) error {
	taken := len(h.releases)
	for _, key := range order {
		release, err := w.store.lock(ctx, key)
		if err == nil {
			h.releases = append(h.releases, release)
			continue
		}
		if ctx.Err() != nil {
			return tools.AsError(ctx.Err())
		}
		for _, release := range slices.Backward(h.releases[taken:]) {
			release()
		}
		h.releases = h.releases[:taken]
		h.degraded = err.Error()
		return w.lockDirectories(ctx, spots)
	}
	return nil
}

// lockDirectories stands in for the locks of the state directory: an advisory
// lock on every directory concerned. They end when the spots are closed.
func (w *Workspace) lockDirectories(ctx context.Context, spots []*spot) error {
	type place struct{ dev, ino uint64 }
	dirs := map[place]*dir{}
	for _, s := range spots {
		self, err := s.parent.self()
		if err != nil {
			return pathError(s.real, err)
		}
		dirs[place{self.dev, self.ino}] = s.parent
	}
	order := make([]place, 0, len(dirs))
	for p := range dirs {
		order = append(order, p)
	}
	slices.SortFunc(order, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.dev, b.dev), cmp.Compare(a.ino, b.ino))
	})
	for _, p := range order {
		err := poll(ctx, func() (bool, error) {
			ok, err := dirs[p].tryLock()
			return ok || err != nil, nil // a file system without locks: compare-and-swap alone
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// poll calls try until it reports success or an error, or ctx ends. The kernel
// has no wait for a file lock that a context could end.
func poll(ctx context.Context, try func() (bool, error)) error {
	wait := lockWaitFirst
	var timer *time.Timer
	for {
		ok, err := try()
		if ok || err != nil {
			return err
		}
		if timer == nil {
			timer = time.NewTimer(wait)
			defer timer.Stop()
		} else {
			timer.Reset(wait)
		}
		select {
		case <-timer.C:
		case <-ctx.Done():
			return tools.AsError(ctx.Err())
		}
		wait = min(2*wait, lockWaitMost)
	}
}
