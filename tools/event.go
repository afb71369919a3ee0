package tools

import (
	"sync"
	"sync/atomic"
)

// EventKind names a lifecycle event.
type EventKind string

// The lifecycle events.
const (
	EventFileChanged EventKind = "file_changed"
	EventPlanChanged EventKind = "plan_changed"
	EventServer      EventKind = "server"
	EventProcess     EventKind = "process"
)

// Event tells a host that something happened. Paths are relative to the root.
type Event struct {
	Kind   EventKind
	Tool   string
	Paths  []string
	Name   string
	Detail string
}

// Events hands events to a host's function on one goroutine. Sending never
// blocks: when the function is slow and the buffer full, events are dropped
// and counted. The nil *Events takes and forgets everything.
type Events struct {
	queue   chan Event
	done    chan struct{}
	dropped atomic.Int64
	mu      sync.RWMutex // guards closed against a send on the closed queue
	closed  bool
}

// NewEvents starts the goroutine; Close ends it. A buffer of zero means 1024.
func NewEvents(deliver func(Event), buffer int) *Events {
	if buffer <= 0 {
		buffer = 1024
	}
	e := &Events{queue: make(chan Event, buffer), done: make(chan struct{})}
	go func() {
		defer close(e.done)
		for event := range e.queue {
			deliver(event)
		}
	}()
	return e
}

// Emit queues an event, or counts it as dropped.
func (e *Events) Emit(event Event) {
	if e == nil {
		return
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		e.dropped.Add(1)
		return
	}
	select {
	case e.queue <- event:
	default:
		e.dropped.Add(1)
	}
}

// Dropped returns how many events were not delivered.
func (e *Events) Dropped() int64 { return e.dropped.Load() }

// Close delivers what is queued and waits for the goroutine.
func (e *Events) Close() {
	if e == nil {
		return
	}
	e.mu.Lock()
	if !e.closed {
		e.closed = true
		close(e.queue)
	}
	e.mu.Unlock()
	<-e.done
}
