package procsess

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/tools/child"
)

// openFile identifies what a descriptor refers to, in whichever process it is.
type openFile struct {
	device, inode uint64
	// terminal is the number of a terminal's device, 0 for a pipe.
	terminal uint64
}

// Numbers of devices (Linux, Documentation/admin-guide/devices.txt).
const (
	ptsMajor = 136 // Unix98 PTY slaves
	ttyMajor = 5   // /dev/tty is 5:0
)

// terminalFile is the terminal behind a master. It is never opened for that: doing
// so would count as somebody who still has it open.
func terminalFile(master *os.File) (openFile, error) {
	if master == nil {
		return openFile{}, errNotTerminal
	}
	var number uint32
	err := onDescriptor(master, func(fd int) (err error) {
		number, err = unix.IoctlGetUint32(fd, unix.TIOCGPTN)
		return err
	})
	if err != nil {
		return openFile{}, err
	}
	file := openFile{terminal: unix.Mkdev(ptsMajor, number)}
	var st unix.Stat_t
	if unix.Stat("/dev/pts/"+strconv.Itoa(int(number)), &st) == nil && st.Rdev == file.terminal {
		file.device, file.inode = st.Dev, st.Ino
	}
	return file, nil
}

// pipeFile is the pipe that a file is one end of.
func pipeFile(end *os.File) (openFile, error) {
	var st unix.Stat_t
	err := onDescriptor(end, func(fd int) error { return unix.Fstat(fd, &st) })
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFIFO {
		err = unix.ENOTSUP
	}
	return openFile{device: st.Dev, inode: st.Ino}, err
}

// controls reports whether a terminal is the controlling one of a process, by the
// field tty_nr of its stat (proc_pid_stat(5)).
func (f openFile) controls(ttyNumber int) bool {
	return f.terminal != 0 && uint64(uint32(ttyNumber)) == f.terminal
}

// at reports whether a descriptor in an open directory of descriptors refers to f.
// tty is the controlling terminal of the process, for /dev/tty. The link tells pipes
// apart; a terminal's may name anything in another mount namespace.
func (f openFile) at(dir int, name string, ttyNumber int) bool {
	var link [64]byte
	n, err := unix.Readlinkat(dir, name, link[:])
	if err != nil {
		return false
	}
	target := string(link[:n])
	if f.terminal == 0 {
		return target == "pipe:["+strconv.FormatUint(f.inode, 10)+"]"
	}
	if !strings.HasPrefix(target, "/") {
		return false
	}
	// A file of a server that does not answer must not hold us up.
	var st unix.Statx_t
	if unix.Statx(dir, name, unix.AT_STATX_DONT_SYNC, unix.STATX_TYPE|unix.STATX_INO, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR {
		return false
	}
	if st.Rdev_major == ttyMajor && st.Rdev_minor == 0 {
		return f.controls(ttyNumber)
	}
	if unix.Mkdev(st.Rdev_major, st.Rdev_minor) != f.terminal {
		return false
	}
	// Another instance of the file system, a container's, has the same numbers.
	return f.inode == 0 || unix.Mkdev(st.Dev_major, st.Dev_minor) == f.device && st.Ino == f.inode
}

// openersOf names the processes that still have a session's output open: its
// terminal, or the pipes. They are looked for in the session's tree, and only where
// none of those has it among all processes that may be read, since one that was
// there may have been handed to somebody else.
func openersOf(tree []child.Info, output ...openFile) []child.Info {
	var found []child.Info
	for _, info := range tree {
		if hasOpen(info.PID, output) {
			found = append(found, info)
		}
	}
	if len(found) > 0 {
		return found
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err == nil && pid != os.Getpid() && hasOpen(pid, output) {
			found = append(found, child.Describe(pid))
		}
	}
	return found
}

// hasOpen reports whether a process can write one of the files; on a terminal who
// only reads keeps it open as well.
func hasOpen(pid int, output []openFile) (has bool) {
	stat, err := readStat(procPath(pid, "stat"))
	if err != nil {
		return false
	}
	_ = eachDescriptor(pid, func(dir int, name string) bool {
		for _, file := range output {
			if file.at(dir, name, stat.tty) && (file.terminal != 0 || writable(dir, name)) {
				has = true
			}
		}
		return !has
	})
	return has
}

// writable reports whether a descriptor is open for writing: that is what the
// permissions of its link say (proc_pid_fd(5)).
func writable(dir int, name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IWUSR != 0
}
