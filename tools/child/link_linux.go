package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// errGone is the end of the other side of a link.
var errGone = errors.New("child: helper process is gone")

// ownerPacket is the size of packets to the owner, which has a link for every
// process it owns; larger ones are boxed.
const ownerPacket = 1 << 10

// link is the owner's end of a conversation with one helper.
type link struct {
	file *os.File
	raw  syscall.RawConn
	// gone is closed when nothing more will be received.
	gone chan struct{}

	mu      sync.Mutex
	next    uint64
	pending map[uint64]chan *message
}

// newLink returns the owner's end and the descriptor of the other one, which
// the caller passes on and closes.
func newLink() (l *link, other int, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, -1, fmt.Errorf("child: socket pair: %w", err)
	}
	if err := unix.SetNonblock(pair[0], true); err != nil {
		unix.Close(pair[0])
		unix.Close(pair[1])
		return nil, -1, err
	}
	file := os.NewFile(uintptr(pair[0]), "child-link")
	raw, err := file.SyscallConn()
	if err != nil {
		file.Close()
		unix.Close(pair[1])
		return nil, -1, err
	}
	return &link{file: file, raw: raw, gone: make(chan struct{}), pending: map[uint64]chan *message{}}, pair[1], nil
}

// serve receives until the end: answers go to whoever asked, the rest to event.
// It is the body of the link's one goroutine.
func (l *link) serve(event func(*message)) {
	defer close(l.gone)
	for {
		m, err := l.receive()
		if errors.Is(err, errMalformed) {
			continue
		}
		if err != nil {
			break
		}
		m.closeFiles() // nobody sends the owner any
		l.mu.Lock()
		answer, asked := l.pending[m.request]
		delete(l.pending, m.request)
		l.mu.Unlock()
		if asked {
			answer <- m
		} else {
			event(m)
		}
	}
	l.file.Close()
}

func (l *link) receive() (m *message, err error) {
	waitErr := l.raw.Read(func(fd uintptr) bool {
		var buffer [ownerPacket]byte
		m, err = receive(int(fd), buffer[:], unix.MSG_DONTWAIT)
		if errors.Is(err, unix.EAGAIN) {
			return false
		}
		if m != nil {
			m.fields.rest = bytes.Clone(m.fields.rest)
		}
		return true
	})
	if waitErr != nil {
		return nil, waitErr
	}
	return m, err
}

func (l *link) send(packet encoder, files []int) error {
	var err error
	// A helper that was stopped must not hold up its owner for ever.
	_ = l.file.SetWriteDeadline(time.Now().Add(requestLimit))
	waitErr := l.raw.Write(func(fd uintptr) bool {
		err = send(int(fd), packet, files, maxPacket, unix.MSG_DONTWAIT)
		return !errors.Is(err, unix.EAGAIN)
	})
	if waitErr != nil || errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
		return errGone
	}
	return err
}

// ask sends a request and returns what brings the answer.
func (l *link) ask(k kind, fill func(*encoder), files []int) (request uint64, answer <-chan *message, err error) {
	c := make(chan *message, 1)
	l.mu.Lock()
	l.next++
	request = l.next
	l.pending[request] = c
	l.mu.Unlock()
	packet := newPacket(k, request)
	if fill != nil {
		fill(&packet)
	}
	if err := l.send(packet, files); err != nil {
		l.forget(request)
		return 0, nil, err
	}
	return request, c, nil
}

func (l *link) forget(request uint64) {
	l.mu.Lock()
	delete(l.pending, request)
	l.mu.Unlock()
}

// request asks and waits for the answer, the end of the link or that of ctx.
func (l *link) request(ctx context.Context, k kind, fill func(*encoder), files []int) (*message, error) {
	request, answer, err := l.ask(k, fill, files)
	if err != nil {
		return nil, err
	}
	select {
	case m := <-answer:
		return m, nil
	case <-l.gone:
		select {
		case m := <-answer: // it came last
			return m, nil
		default:
			return nil, errGone
		}
	case <-ctx.Done():
		l.forget(request)
		return nil, context.Cause(ctx)
	}
}

// requestLimit is when a helper that does not answer counts as stuck; a hunt
// takes up to killLimit.
const requestLimit = killLimit + 2*time.Second

// requestSoon is request with requestLimit.
func (l *link) requestSoon(k kind, fill func(*encoder)) (*message, error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestLimit)
	defer cancel()
	return l.request(ctx, k, fill, nil)
}
