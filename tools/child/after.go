package child

import "sync"

// afters are functions that run once something has happened.
type afters struct {
	mu   sync.Mutex
	over bool
	list []func()
}

// add runs f on a goroutine of its own when it is time, or now if it was.
func (a *afters) add(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		go f()
		return
	}
	a.list = append(a.list, f)
}

func (a *afters) run() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	for _, f := range a.list {
		go f()
	}
	a.list = nil
}

// AfterEnd has f run, on a goroutine of its own, when the program itself has ended:
// what a goroutine in Wait would do, without one for as long as it runs. Wait
// returns at once then.
func (p *Process) AfterEnd(f func()) { p.afters.add(f) }
