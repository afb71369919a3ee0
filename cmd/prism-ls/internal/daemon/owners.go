package daemon

import (
	"fmt"
	"sync"
)

// owners names the agents that are connected. A name is the program that has
// started the client and the lowest number that no other client has, so that an
// agent which was started anew is again who it was, and finds its process
// sessions; two agents at a time are never the same.
type owners struct {
	mu   sync.Mutex
	used map[string]bool
}

// take gives a client its name until leave is called.
func (o *owners) take(program string) (name string, leave func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.used == nil {
		o.used = map[string]bool{}
	}
	for number := 1; ; number++ {
		name = fmt.Sprintf("%s-%d", program, number)
		if o.used[name] {
			continue
		}
		o.used[name] = true
		return name, func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			delete(o.used, name)
		}
	}
}
