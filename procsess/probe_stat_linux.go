package procsess

import (
	"bytes"
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

// taskStat is what is needed of /proc/PID/stat, or a task's (proc_pid_stat(5)).
type taskStat struct {
	state byte
	group int
	tty   int
}

// errStat: the file is not what proc_pid_stat(5) says.
var errStat = errors.New("unexpected form of a stat file")

func readStat(path string) (s taskStat, err error) {
	var buffer [1024]byte
	data, err := readProc(path, buffer[:])
	if err != nil {
		return s, err
	}
	// The name, in parentheses, may hold anything, parentheses included.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	const state, group, tty = 0, 2, 4
	if len(fields) <= tty {
		return s, errStat
	}
	s.state = fields[state][0]
	s.group, err = strconv.Atoi(string(fields[group]))
	if err == nil {
		s.tty, err = strconv.Atoi(string(fields[tty]))
	}
	return s, err
}

// readProc reads a small file of proc(5) at once, cut to the buffer. Package os
// would take several times as long for each.
func readProc(path string, buffer []byte) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, buffer)
	return buffer[:max(n, 0)], err
}
