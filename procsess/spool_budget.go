package procsess

import (
	"slices"
	"sync"
)

// spoolBudget bounds what several logs keep on disk together. Where it is used up,
// the log that ended first loses what it has there. A nil budget has no bound.
type spoolBudget struct {
	mu    sync.Mutex
	limit int64
	used  int64
	ended []*spool // in the order in which they ended
}

// newSpoolBudget makes a budget of that many bytes.
func newSpoolBudget(limit int64) *spoolBudget { return &spoolBudget{limit: limit} }

// reserve takes a chunk for a log, from one that ended if it has to be. No log's
// lock may be held.
func (b *spoolBudget) reserve(s *spool) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.used+chunkBytes > b.limit {
		at := slices.IndexFunc(b.ended, func(other *spool) bool { return other != s })
		if at < 0 {
			return false
		}
		oldest := b.ended[at]
		b.ended = slices.Delete(b.ended, at, at+1)
		b.mu.Unlock()
		freed := oldest.yield()
		b.mu.Lock()
		b.used -= freed
	}
	b.used += chunkBytes
	return true
}

// release gives bytes back. It may be called with a log's lock held: the budget's
// own is never held while a log's is asked for.
func (b *spoolBudget) release(n int64) {
	if b == nil || n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
}

// end puts a log behind those that ended before.
func (b *spoolBudget) end(s *spool) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = append(b.ended, s)
}

// forget takes a log off the list of those that ended.
func (b *spoolBudget) forget(s *spool) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = slices.DeleteFunc(b.ended, func(other *spool) bool { return other == s })
}
