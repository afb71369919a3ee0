package procsess

import (
	"strconv"
	"strings"
)

// callKind is what a task that is inside of a system call does there, as far as it
// matters for input.
type callKind uint8

const (
	otherCall callKind = iota
	// readCall reads the descriptor in the first argument, sendCall the one in the
	// second.
	readCall
	sendCall
	pollCall
	selectCall
	epollCall
	acceptCall
	ringCall
	// restartCall goes on with another call, after the task was stopped.
	restartCall
	// unknownCall: calls cannot be told apart on this machine.
	unknownCall
)

// call is what /proc/PID/task/TID/syscall says of a task (proc_pid_syscall(5)).
type call struct {
	kind callKind
	// running: the task is not blocked, or was not in that instant.
	running   bool
	arguments [6]uint64
	stack     uint64
	number    int64
}

// parseCall reads a line of a syscall file. Anything else than what the manual
// says is an unknown call.
func parseCall(line string) (c call) {
	fields := strings.Fields(line)
	if len(fields) == 1 && fields[0] == "running" {
		return call{running: true}
	}
	if len(fields) == 3 {
		return call{} // blocked, but not in a system call: a page fault
	}
	if len(fields) != 9 {
		return call{kind: unknownCall}
	}
	number, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return call{kind: unknownCall}
	}
	c = call{number: number, kind: callOf(number)}
	for i, field := range fields[1:8] {
		value, err := strconv.ParseUint(field, 0, 64)
		if err != nil {
			return call{kind: unknownCall}
		}
		if i < len(c.arguments) {
			c.arguments[i] = value
		} else {
			c.stack = value
		}
	}
	// Programs of a 32-bit architecture have other numbers, and are known by where
	// their stack is: 0, our read, goes on with any of theirs.
	if c.stack < 1<<32 {
		c.kind = unknownCall
	}
	return c
}
