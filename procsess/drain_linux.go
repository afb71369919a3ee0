package procsess

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// drain takes the output until nobody holds it open any more. The poller waits
// whenever there is nothing to read, and no buffer is held meanwhile.
func (s *local) drain() {
	over, last := false, 0
	read := func(fd uintptr) bool {
		buffer := s.engine.buffers.Get().(*[drainBytes]byte)
		defer s.engine.buffers.Put(buffer)
		n, err := unix.Read(int(fd), buffer[:])
		switch {
		case n > 0:
			last = n
			s.took(buffer[:n])
		case errors.Is(err, unix.EAGAIN):
			return last >= flowBytes && flows(int(fd))
		case !errors.Is(err, unix.EINTR):
			over = true // a terminal ends with EIO, a pipe with nothing
		}
		return true
	}
	raw, err := s.out.SyscallConn()
	for err == nil && !over {
		err = raw.Read(read)
	}
	s.mu.Lock()
	s.eof = true
	s.mu.Unlock()
	s.completed()
	s.log.end()
	s.bell.ring()
	s.knell.ring()
}

// flowBytes is how much a read has to bring for more to be expected at once. For
// less the poller is sooner: it holds no processor that would have to be had back.
const flowBytes = 512

// flows waits a moment for more. Being woken through the runtime's poller takes
// longer than a program that writes without end takes to fill its terminal, and it
// would stand still meanwhile. An idle session has no thread in here.
func flows(fd int) bool {
	polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(polled, 1)
	return n != 0 || err != nil
}

// took files what was read, and answers what the program asks its terminal.
func (s *local) took(p []byte) {
	s.log.append(p)
	s.lastOutput.Store(time.Now().UnixNano())
	if s.master != nil {
		s.mu.Lock()
		replies := s.modes.scan(p, s.columns, s.rows)
		s.mu.Unlock()
		if len(replies) > 0 {
			s.writer.reply(replies)
		}
	}
	s.bell.ring()
}
