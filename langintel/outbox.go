package langintel

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// directWrite is how long a sender itself waits for a server to take its
// message; what is left after that goes out in the background.
const directWrite = 20 * time.Millisecond

// outbox writes messages to a server in order, and never makes a sender wait
// long for a server that does not read: a sender that waits holds up the
// cancellation of everybody else's requests.
type outbox struct {
	sink  io.WriteCloser
	limit int // bytes that may wait

	mu      sync.Mutex
	queue   []byte // what waits; owned by the background writer while it runs
	running bool
	err     error
	broken  chan struct{} // closed with err
	done    sync.WaitGroup
}

func newOutbox(sink io.WriteCloser, limit int) *outbox {
	return &outbox{sink: sink, limit: limit, broken: make(chan struct{})}
}

// fail ends sending; o.mu is held.
func (o *outbox) fail(err error) {
	if o.err == nil {
		o.err = err
		close(o.broken)
	}
}

// failure is why nothing can be sent any more.
func (o *outbox) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

type deadlineWriter interface{ SetWriteDeadline(time.Time) error }

// write sends one whole message, or takes charge of sending it.
func (o *outbox) write(message []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	if o.running {
		return o.wait(message)
	}
	file, ok := o.sink.(deadlineWriter)
	if !ok || file.SetWriteDeadline(time.Now().Add(directWrite)) != nil {
		return o.wait(message)
	}
	n, err := o.sink.Write(message)
	if err == nil {
		return nil
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		o.fail(err)
		return err
	}
	return o.wait(message[n:])
}

// wait queues bytes and sees to it that someone writes them. o.mu is held.
func (o *outbox) wait(rest []byte) error {
	if len(o.queue)+len(rest) > o.limit {
		o.fail(tools.Errorf(tools.CodeLSPLimit, "the server does not read: %d bytes wait for it", len(o.queue)+len(rest)))
		return o.err
	}
	o.queue = append(o.queue, rest...)
	if !o.running {
		o.running = true
		o.done.Go(o.drain)
	}
	return nil
}

// drain runs until nothing waits.
func (o *outbox) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if file, ok := o.sink.(deadlineWriter); ok {
		_ = file.SetWriteDeadline(time.Time{})
	}
	for len(o.queue) > 0 && o.err == nil {
		batch := o.queue
		o.queue = nil
		o.mu.Unlock()
		_, err := o.sink.Write(batch)
		o.mu.Lock()
		if err != nil {
			o.fail(err)
		}
	}
	o.running = false
}

// close ends writing and waits for the background writer.
func (o *outbox) close() error {
	err := o.sink.Close()
	o.done.Wait()
	return err
}
