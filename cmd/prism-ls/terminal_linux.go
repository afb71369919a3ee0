package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// openTerminal opens the controlling terminal, if a person could sit there: no
// ancestor of this process may be prism-ls. What prism-ls starts stays below
// its guardian whatever it does (child subreaper, prctl(2)), so the ancestry
// cannot be shed as an environment variable can; a program of its own on a
// pseudo-terminal of prism-ls is below it as well.
func openTerminal() (*terminal, error) {
	if err := notOurs(); err != nil {
		return nil, err
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, tools.Errorf(tools.CodeExecutionDenied, "this needs a person at a terminal, and there is none: %w", err)
	}
	return newTerminal(tty), nil
}

// notOurs returns an error in anything that prism-ls started.
func notOurs() error {
	pid, err := prismAncestor()
	switch {
	case err != nil:
		return tools.Errorf(tools.CodeExecutionDenied, "it cannot be told what started this process: %w", err)
	case pid != 0:
		return tools.Errorf(tools.CodeExecutionDenied, "prism-ls (process %d) started this; a person has to do it in a terminal of their own", pid)
	}
	return nil
}

// roleMark is the start of the last argument of the helpers of tools/child.
const roleMark = "--prism-child-role="

// prismAncestor returns the nearest ancestor that is prism-ls, or 0: the same
// file, or one of its helpers, whose file may have been replaced since.
func prismAncestor() (int, error) {
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		return 0, err
	}
	for pid := os.Getppid(); pid > 1; {
		exe, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
		if err == nil && os.SameFile(exe, self) {
			return pid, nil
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			return 0, err
		}
		args := bytes.Split(bytes.TrimRight(line, "\x00"), []byte{0})
		if bytes.HasPrefix(args[len(args)-1], []byte(roleMark)) {
			return pid, nil
		}
		if pid, err = parentOf(pid); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// parentOf reads the fourth field of proc_pid_stat(5), which comes after a name
// in brackets that may hold anything.
func parentOf(pid int) (int, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	text := string(stat)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0, fmt.Errorf("/proc/%d/stat cannot be read", pid)
	}
	return strconv.Atoi(fields[1])
}
