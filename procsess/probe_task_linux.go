package procsess

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// processLook is what one or several samples of a process gave.
type processLook struct {
	suspect
	tasks int
	// readers are the tasks inside a read of the input, each with what changes as
	// soon as it does anything else.
	readers map[string]string
	// polls: a task waits for the input among other things.
	polls bool
	// works: a task ran, or serves somebody else.
	works, running bool
	// ring: a task waits for an io_uring, which may be reading the input.
	ring bool
	// unreadable: a task's call is not known.
	unreadable bool
}

// merge takes in a later sample: only who still is in the same read is a reader.
func (l *processLook) merge(later *processLook) {
	for task, state := range l.readers {
		if later.readers[task] != state {
			delete(l.readers, task)
		}
	}
	l.add(later)
	l.running = later.running
	l.tasks = later.tasks
}

// add takes in what holds for either.
func (l *processLook) add(other *processLook) {
	l.polls = l.polls || other.polls
	l.works = l.works || other.works
	l.ring = l.ring || other.ring
	l.unreadable = l.unreadable || other.unreadable
}

// look takes one sample of a process.
func (p *probe) look(s suspect) *processLook {
	look := &processLook{suspect: s}
	tasks := procPath(s.pid, "task")
	_ = eachEntry(tasks, func(_ int, name string) bool {
		look.tasks++
		p.lookAtTask(look, &task{path: tasks + "/" + name, suspect: s})
		return true
	})
	return look
}

// task is one thread, by its directory in proc(5).
type task struct {
	suspect
	path string
}

// lookAtTask adds what a task does to the look at its process.
func (p *probe) lookAtTask(look *processLook, t *task) {
	var buffer [256]byte
	line, err := readProc(t.path+"/syscall", buffer[:])
	if err != nil {
		// One that has ended is no riddle.
		stat, gone := readStat(t.path + "/stat")
		look.unreadable = look.unreadable || gone == nil && stat.state != 'Z' && stat.state != 'X'
		return
	}
	c := parseCall(string(line))
	if c.kind == restartCall {
		c.kind = t.restarted()
	}
	if c.running {
		look.running, look.works = true, true
		return
	}
	switch c.kind {
	case otherCall:
		return
	case acceptCall:
		look.works = true
		return
	case unknownCall:
		look.unreadable = true
		return
	}
	// A task that was stopped, or is being traced, still has its call, and is not in
	// it: only sleeping ones wait.
	if stat, err := readStat(t.path + "/stat"); err != nil || stat.state != 'S' {
		return
	}
	switch c.kind {
	case readCall, sendCall:
		fd := int32(c.arguments[0])
		if c.kind == sendCall {
			fd = int32(c.arguments[1])
		}
		if p.isInput(t, int(fd)) {
			if look.readers == nil {
				look.readers = map[string]string{}
			}
			look.readers[t.path] = string(line) + t.ran()
		}
	case ringCall:
		look.ring = look.ring || p.hasInput(t)
	default:
		watched, err := t.watched(&c)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ESRCH) {
			look.unreadable = true
		}
		for _, fd := range watched {
			if p.isInput(t, fd) {
				look.polls = true
			} else if strings.HasPrefix(t.link(fd), "socket:") {
				look.works = true
			}
		}
	}
}

// restarted is the call that a task goes on with after it was stopped: its arguments
// are still there, its number is not. Of those, only poll concerns input; the others
// are sleeps and locks (restart_syscall(2)).
func (t *task) restarted() callKind {
	var buffer [128]byte
	where, err := readProc(t.path+"/wchan", buffer[:])
	if err == nil && strings.Contains(string(where), "poll") {
		return pollCall
	}
	if err != nil || string(where) == "0" {
		return unknownCall
	}
	return otherCall
}

// ran changes whenever the task runs: its time on a processor and how often it got
// one (Documentation/scheduler/sched-stats.rst). It is "" where the kernel does not
// count.
func (t *task) ran() string {
	var buffer [128]byte
	line, _ := readProc(t.path+"/schedstat", buffer[:])
	return string(line)
}

func (t *task) descriptor(fd int) string { return t.path + "/fd/" + strconv.Itoa(fd) }

func (t *task) link(fd int) string {
	var buffer [32]byte
	n, _ := unix.Readlinkat(unix.AT_FDCWD, t.descriptor(fd), buffer[:])
	return string(buffer[:max(n, 0)])
}

func (p *probe) isInput(t *task, fd int) bool {
	return p.input.at(unix.AT_FDCWD, t.descriptor(fd), t.tty)
}

// hasInput reports whether the task has the input open at all.
func (p *probe) hasInput(t *task) (has bool) {
	_ = eachEntry(t.path+"/fd", func(dir int, name string) bool {
		has = p.input.at(dir, name, t.tty)
		return !has
	})
	return has
}

// mostWatched bounds how many descriptors of one call are looked at.
const mostWatched = 1024

// watched are the descriptors that a task waits to read from.
func (t *task) watched(c *call) ([]int, error) {
	switch c.kind {
	case pollCall:
		return t.polled(c.arguments[0], min(c.arguments[1], mostWatched))
	case selectCall:
		return t.selected(c.arguments[1], min(c.arguments[0], mostWatched))
	}
	return t.epolled(int(int32(c.arguments[0])), 2)
}

// memory reads from the task's own. It only waits, so nothing changes meanwhile.
func (t *task) memory(address, size uint64) ([]byte, error) {
	data := make([]byte, size)
	if address == 0 || size == 0 {
		return nil, nil
	}
	local := []unix.Iovec{{Base: &data[0]}}
	local[0].SetLen(len(data))
	remote := []unix.RemoteIovec{{Base: uintptr(address), Len: len(data)}}
	n, err := unix.ProcessVMReadv(t.pid, local, remote, 0)
	return data[:max(n, 0)], err
}

// polled reads an array of struct pollfd (poll(2)).
func (t *task) polled(address, count uint64) (fds []int, err error) {
	const size = 8
	data, err := t.memory(address, count*size)
	for ; len(data) >= size; data = data[size:] {
		fd := int32(binary.NativeEndian.Uint32(data))
		events := binary.NativeEndian.Uint16(data[4:])
		if fd >= 0 && events&(unix.POLLIN|unix.EPOLLRDNORM) != 0 {
			fds = append(fds, int(fd))
		}
	}
	return fds, err
}

// selected reads an fd_set (select(2)), which is made of words of 64 bits.
func (t *task) selected(address, count uint64) (fds []int, err error) {
	const word = 8
	data, err := t.memory(address, (count+63)/64*word)
	for i := 0; len(data) >= word; data = data[word:] {
		bits := binary.NativeEndian.Uint64(data)
		for bit := range 64 {
			if bits&(1<<bit) != 0 && uint64(i+bit) < count {
				fds = append(fds, i+bit)
			}
		}
		i += 64
	}
	return fds, err
}

// epolled reads what an epoll instance watches, and instances that it watches itself
// (proc_pid_fdinfo(5)).
func (t *task) epolled(fd, depth int) (fds []int, err error) {
	data, err := os.ReadFile(t.path + "/fdinfo/" + strconv.Itoa(fd))
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[0] != "tfd:" || len(fds) >= mostWatched {
			continue
		}
		target, err1 := strconv.Atoi(fields[1])
		events, err2 := strconv.ParseUint(fields[3], 16, 32)
		if err1 != nil || err2 != nil || events&(unix.EPOLLIN|unix.EPOLLRDNORM) == 0 {
			continue
		}
		if depth > 1 && strings.HasPrefix(t.link(target), "anon_inode:[eventpoll]") {
			nested, _ := t.epolled(target, depth-1)
			fds = append(fds, nested...)
			continue
		}
		fds = append(fds, target)
	}
	return fds, err
}
