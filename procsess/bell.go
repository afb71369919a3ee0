package procsess

import "sync"

// bell wakes everybody who waits for something to change. Nobody waiting costs
// nothing.
type bell struct {
	mu sync.Mutex
	c  chan struct{}
}

// heard returns what is closed at the next ring. Whoever waits takes it first and
// looks then.
func (b *bell) heard() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.c == nil {
		b.c = make(chan struct{})
	}
	return b.c
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.c != nil {
		close(b.c)
		b.c = nil
	}
}
