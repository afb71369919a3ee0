package daemon

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// maxOwners bounds the number that a client may ask for.
const maxOwners = 1 << 20

// owners names the agents that are connected. A name is the program that has
// started the client and the lowest number that no other client has, so that an
// agent which was started anew is again who it was, and finds its process
// sessions; two agents at a time are never the same. A client whose daemon was
// replaced asks for the name that it had.
type owners struct {
	mu   sync.Mutex
	used map[string]bool
}

// take gives a client its name until leave is called.
func (o *owners) take(program, wished string) (name string, leave func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.used == nil {
		o.used = map[string]bool{}
	}
	for number := 0; ; number++ {
		name = fmt.Sprintf("%s-%d", program, number)
		if number == 0 { // what was wished for comes first, if it can be that client's
			last, ok := strings.CutPrefix(wished, program+"-")
			had, err := strconv.Atoi(last)
			if !ok || err != nil || had < 1 || had > maxOwners {
				continue
			}
			name = fmt.Sprintf("%s-%d", program, had)
		}
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
