package langintel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// notifier hears of changes in directories from the kernel (inotify(7)). It has
// no goroutine: the kernel queues an event before the call that caused it returns,
// so who drains the queue before a question knows of everything that happened
// before the question.
type notifier struct {
	fd   int
	dirs map[int]string // watch → directory, absolute
	most int
}

// mostWatches is how many directories are watched at most. A user's watches are
// counted over all programs, so only a small part of what the system allows is
// taken.
const mostWatches = 8192

const notifyMask = unix.IN_CREATE | unix.IN_MODIFY | unix.IN_DELETE |
	unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

func newNotifier() (*notifier, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	most := mostWatches
	if text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches"); err == nil {
		if all, err := strconv.Atoi(string(bytes.TrimSpace(text))); err == nil {
			most = min(most, all/8)
		}
	}
	return &notifier{fd: fd, dirs: map[int]string{}, most: most}, nil
}

// errTooMany says that no more directories may be watched.
var errTooMany = errors.New("more directories than may be watched")

// add watches a directory; one that is watched under another name has moved.
func (n *notifier) add(dir string) error {
	wd, err := unix.InotifyAddWatch(n.fd, dir, notifyMask)
	switch {
	case errors.Is(err, unix.ENOSPC):
		return errTooMany
	case err != nil:
		return os.NewSyscallError("inotify_add_watch", err)
	}
	n.dirs[wd] = dir
	if len(n.dirs) > n.most {
		return errTooMany
	}
	return nil
}

// notice is one thing that happened to a file or directory, by absolute name.
type notice struct {
	name string
	dir  bool
}

// drain returns what has happened since the last time. complete is false when the
// kernel had to drop something.
func (n *notifier) drain() (list []notice, complete bool) {
	complete = true
	var buffer [64 << 10]byte
	for {
		size, err := unix.Read(n.fd, buffer[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || size <= 0 {
			return list, complete && (err == nil || errors.Is(err, unix.EAGAIN))
		}
		for at := 0; at+unix.SizeofInotifyEvent <= size; {
			head := buffer[at:]
			wd, mask := int(int32(binary.NativeEndian.Uint32(head))), binary.NativeEndian.Uint32(head[4:])
			length := int(binary.NativeEndian.Uint32(head[12:]))
			at += unix.SizeofInotifyEvent + length
			switch {
			case mask&unix.IN_Q_OVERFLOW != 0:
				complete = false
			case mask&unix.IN_IGNORED != 0:
				delete(n.dirs, wd)
			case length > 0:
				name := string(bytes.TrimRight(head[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+length], "\x00"))
				if dir, known := n.dirs[wd]; known {
					list = append(list, notice{filepath.Join(dir, name), mask&unix.IN_ISDIR != 0})
				}
			}
		}
	}
}

func (n *notifier) close() error { return unix.Close(n.fd) }
