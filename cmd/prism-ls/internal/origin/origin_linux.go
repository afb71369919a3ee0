package origin

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// roleMark is the start of the last argument of the helpers of tools/child.
const roleMark = "--prism-child-role="

// ancestor returns the nearest ancestor of a process that is prism-ls, or 0: the
// same file, or one of its helpers, whose file may have been replaced since.
func ancestor(process int) (int, error) {
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		return 0, err
	}
	pid, err := parentOf(process)
	if err != nil {
		return 0, err
	}
	for pid > 1 {
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
