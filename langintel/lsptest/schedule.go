package lsptest

import (
	"slices"
	"sync"
	"time"
)

// schedule does things when they are due, one after the other.
type schedule struct {
	woken chan struct{} // a place for one reminder to look at list again

	mu   sync.Mutex
	list []due // the next one first
}

type due struct {
	at time.Time
	do func()
}

func (s *schedule) add(at time.Time, do func()) {
	s.mu.Lock()
	s.list = append(s.list, due{at, do})
	slices.SortStableFunc(s.list, func(a, b due) int { return a.at.Compare(b.at) })
	s.mu.Unlock()
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// run works until the process ends.
func (s *schedule) run() {
	for {
		s.mu.Lock()
		wait := time.Hour
		var do func()
		if len(s.list) > 0 {
			if wait = time.Until(s.list[0].at); wait <= 0 {
				do = s.list[0].do
				s.list = s.list[1:]
			}
		}
		s.mu.Unlock()
		if do != nil {
			do()
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-s.woken:
		case <-timer.C:
		}
		timer.Stop()
	}
}
