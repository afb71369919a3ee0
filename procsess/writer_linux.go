package procsess

import (
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/tools"
)

// writer gives input to a program without ever waiting for it: what the kernel
// does not take at once is queued, and a goroutine that lives no longer than the
// queue writes it when there is room.
type writer struct {
	file *os.File // non-blocking

	mu      sync.Mutex
	queue   []byte
	closing bool // close the file behind the queue
	closed  bool
	pumping bool
	pump    sync.WaitGroup
}

// put writes p, and then closes the input if last is set, which is how a pipe
// ends. It takes all of p or refuses all of it, which it does where something is
// queued and both together are more than most; accepted is how much the kernel has
// taken already.
func (w *writer) put(p []byte, last bool, most int64) (accepted, queued int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.closing {
		return 0, len(w.queue), tools.Errorf(tools.CodeProcessState, "the input is closed, nothing more can be given")
	}
	if held := int64(len(w.queue)); held > 0 && held+int64(len(p)) > most {
		return 0, len(w.queue), tools.Errorf(tools.CodeProcessLimit, "the program has not read the last %d bytes yet, and %d more are over the limit of %d; wait until it reads", held, len(p), most)
	}
	w.closing = last
	if len(w.queue) == 0 {
		if accepted, err = w.now(p); err != nil {
			return accepted, 0, err
		}
		p = p[accepted:]
	}
	w.queue = append(w.queue, p...)
	w.start()
	return accepted, len(w.queue), nil
}

// end closes the input behind what is queued.
func (w *writer) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closing = true
	if len(w.queue) == 0 {
		w.finish()
	}
}

// drop gives up what is queued, and whatever else comes. The file stays open: a
// terminal's is read from, too.
func (w *writer) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed, w.queue = true, nil
	_ = w.file.SetWriteDeadline(time.Now())
}

// reply puts what a terminal answers by itself before anything else that waits.
func (w *writer) reply(p []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.queue) > 0 {
		return // a program that does not read has not asked for anything lately
	}
	_, _ = w.now(p) // what does not fit is lost, as it is on a wire
}

// now needs mu. It writes what the kernel takes without waiting.
func (w *writer) now(p []byte) (n int, err error) {
	raw, err := w.file.SyscallConn()
	if err != nil {
		return 0, closedInput(err)
	}
	var writeErr error
	err = raw.Write(func(fd uintptr) bool {
		n, writeErr = writeSome(int(fd), p)
		return true
	})
	if err == nil && writeErr != nil && !errors.Is(writeErr, unix.EAGAIN) {
		err = writeErr
	}
	if err != nil {
		return n, closedInput(err)
	}
	return n, nil
}

// writeSome writes until the kernel takes no more.
func writeSome(fd int, p []byte) (n int, err error) {
	for n < len(p) {
		m, err := unix.Write(fd, p[n:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return n, err
		}
		n += m
	}
	return n, nil
}

func closedInput(err error) error {
	return tools.Errorf(tools.CodeProcessState, "nobody reads the input any more: %w", err)
}

// start needs mu. It has the queue written.
func (w *writer) start() {
	if len(w.queue) == 0 {
		w.finish()
		return
	}
	if !w.pumping {
		w.pumping = true
		w.pump.Go(w.run)
	}
}

// finish needs mu. It closes the input where that was asked for.
func (w *writer) finish() {
	if w.closing && !w.closed {
		w.closed = true
		w.file.Close()
	}
}

func (w *writer) run() {
	err := w.write()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.queue, w.pumping = nil, false // nobody will read it
	}
	if len(w.queue) == 0 {
		w.finish()
	}
}

// write returns when the queue is empty, or cannot be written any more. From then
// on somebody else may start anew.
func (w *writer) write() error {
	raw, err := w.file.SyscallConn()
	for err == nil {
		done := false
		var failed error
		err = raw.Write(func(fd uintptr) bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			n, err := writeSome(int(fd), w.queue)
			w.queue = w.queue[n:]
			if done = len(w.queue) == 0; done {
				w.pumping = false
				return true
			}
			if errors.Is(err, unix.EAGAIN) {
				return false
			}
			failed = err
			return true
		})
		if done {
			return nil
		}
		if err == nil {
			err = failed
		}
	}
	return err
}

// waiting is how much the kernel has not taken yet.
func (w *writer) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.queue)
}

// ended reports whether the input was closed.
func (w *writer) ended() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}
