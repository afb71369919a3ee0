package daemon

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// starter is the name of the program that started the peer (proc_pid_comm(5)), as
// far as it can stand in a name.
func (p *peer) starter() string {
	parent := "0"
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	for line := range bytes.Lines(status) {
		if number, ok := bytes.CutPrefix(line, []byte("PPid:")); ok && err == nil {
			parent = string(bytes.TrimSpace(number))
		}
	}
	comm, err := os.ReadFile("/proc/" + parent + "/comm")
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return -1
	}, string(comm))
	if err != nil || name == "" {
		return "agent" // it has ended, or is in another namespace
	}
	return name
}
