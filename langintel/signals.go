package langintel

import (
	"strings"
	"sync"
)

// signals are what a server said about its own state outside of the protocol.
type signals struct {
	mu    sync.Mutex
	state healthStatus
	heard map[string]int // methods of notifications and refreshes, how often
	moved chan struct{}  // closed at the next one
	await string         // what a message of the log is waited for to hold
	said  bool           // there was one
}

// healthStatus is rust-analyzer's experimental/serverStatus.
type healthStatus struct {
	health    string // ok, warning, error
	message   string
	quiescent bool
}

// maxSignals bounds the methods that are remembered.
const maxSignals = 200

func (s *signals) init() { s.heard, s.moved = map[string]int{}, make(chan struct{}) }

// hear remembers a notification of the server's own.
func (s *signals) hear(method string, params []byte) {
	var status struct {
		Health    string `json:"health"`
		Message   string `json:"message"`
		Quiescent bool   `json:"quiescent"`
	}
	decoded := method == "experimental/serverStatus" && decodeJSON(params, &status) == nil
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.heard) < maxSignals || s.heard[method] > 0 {
		s.heard[method]++
	}
	if decoded {
		s.state = healthStatus{oneLine(status.Health, 20), printable(status.Message, 500), status.Quiescent}
	}
	close(s.moved)
	s.moved = make(chan struct{})
}

func (s *signals) status() (healthStatus, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.moved
}

// seen is how often a message of that method came.
func (s *signals) seen(method string) (int, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard[method], s.moved
}

// log takes a message of the server's log.
func (s *signals) log(message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.await != "" && !s.said && strings.Contains(message, s.await) {
		s.said = true
		close(s.moved)
		s.moved = make(chan struct{})
	}
}

// logged reports whether the awaited message came.
func (s *signals) logged() (bool, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said, s.moved
}
