package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// mostKept is how many files LetGo takes: standard input, output and error.
const mostKept = 3

// LetGo leaves the tree to itself: it outlives the owner, and the guardian, in
// whichever way they end. Files in keep, at most three, stay open for as long as
// anything of the tree lives, and what can be read from them is read and dropped:
// the master of its terminal, so that it gets no SIGHUP; the other ends of its
// pipes, so that it neither blocks nor gets SIGPIPE nor the end of its input. The
// caller closes its own.
//
// Afterwards the process counts as ended here: Wait returns ErrLetGo. ErrFinished:
// nothing is left of the tree, or it is being killed.
func (p *Process) LetGo(keep ...*os.File) error {
	p.fate.Lock()
	defer p.fate.Unlock()
	if p.over() || p.dying {
		return ErrFinished
	}
	if len(keep) > mostKept {
		return fmt.Errorf("child: LetGo keeps at most %d files, not %d", mostKept, len(keep))
	}
	files, err := duplicates(keep)
	defer closeAll(files)
	if err != nil {
		return err
	}
	if err := p.spare(true); err != nil {
		return p.gone(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestLimit)
	defer cancel()
	reply, err := p.lease.request(ctx, kindLetGo, nil, files)
	if err != nil {
		return errors.Join(p.gone(err), p.spare(false))
	}
	if errno := unix.Errno(reply.fields.int()); errno != 0 {
		return errors.Join(ErrFinished, p.spare(false))
	}
	p.lease.letGo(p)
	return nil
}

// spare has the guardian leave this tree alone when it ends, or no longer.
func (p *Process) spare(spared bool) error {
	if p.lease.guardian == nil {
		return nil
	}
	_, err := p.lease.guardian.requestSoon(kindSpare, func(e *encoder) {
		e.int(int64(p.reaper))
		e.bool(spared)
	})
	if errors.Is(err, errGone) && !spared {
		return nil // with it went what it was to be told
	}
	return err
}

// letGo ends the lease: its reaper listens to nobody any more.
func (l *lease) letGo(p *Process) {
	l.mu.Lock()
	if l.process == p {
		l.process = nil
		close(p.empty)
	}
	l.mu.Unlock()
	p.setEnd(Exit{}, ErrLetGo)
	l.file.Close()
}

// duplicates leaves the files' own descriptors as they are: Fd would make them
// blocking under their readers.
func duplicates(files []*os.File) (fds []int, err error) {
	for _, file := range files {
		raw, err := file.SyscallConn()
		if err != nil {
			return fds, err
		}
		var fd int
		var dupErr error
		err = raw.Control(func(original uintptr) {
			fd, dupErr = unix.FcntlInt(original, unix.F_DUPFD_CLOEXEC, 0)
		})
		if err = errors.Join(err, dupErr); err != nil {
			return fds, err
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}

// letGo takes over what the owner had; after the answer nobody is listened to.
func (r *reaper) letGo(m *message) {
	r.mu.Lock()
	errno := unix.ESRCH
	if r.job != nil {
		errno, r.free, r.ending = 0, true, true
		r.kept, m.files = m.files, nil
	}
	r.mu.Unlock()
	reply := newPacket(kindDone, m.request)
	reply.int(int64(errno))
	r.send(reply)
}

// linger keeps a tree that was let go company until nothing is left of it.
func (r *reaper) linger() int {
	var draining sync.WaitGroup
	var files []*os.File
	for _, fd := range r.kept {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err == nil && flags&unix.O_ACCMODE == unix.O_WRONLY {
			defer unix.Close(fd)
			continue
		}
		if slave, err := openPeer(fd); err == nil {
			// A terminal that nobody has open reads as EIO, though it may be opened again.
			defer unix.Close(slave)
		}
		_ = unix.SetNonblock(fd, true)
		file := os.NewFile(uintptr(fd), "let-go")
		files = append(files, file)
		draining.Go(func() { drop(file) })
	}
	for !noChildren() {
		<-r.changed
	}
	for _, file := range files {
		file.Close()
	}
	draining.Wait()
	return 0
}

// drop reads to the end. (io.Copy would make a pipe out of nothing to splice.)
func drop(file io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		if _, err := file.Read(buffer); err != nil {
			return
		}
	}
}

// openPeer opens the other side of a terminal's master (TIOCGPTPEER, ioctl_tty(2)).
func openPeer(master int) (int, error) {
	const flags = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC
	fd, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, flags)
	return int(fd), errnoOrNil(errno)
}
