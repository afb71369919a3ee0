package daemon

import "testing"

// An agent that comes again is who it was; one whose daemon was replaced has the
// name that it had, whoever is quicker; and nobody has that of another.
func TestOwners(t *testing.T) {
	var o owners
	first, leaveFirst := o.take("claude", "")
	second, _ := o.take("claude", "")
	if first != "claude-1" || second != "claude-2" {
		t.Errorf("%s, %s", first, second)
	}
	leaveFirst()
	if again, _ := o.take("claude", ""); again != first {
		t.Errorf("started anew: %s", again)
	}
	o = owners{}
	if got, _ := o.take("claude", second); got != second {
		t.Errorf("with another daemon: %s", got)
	}
	for _, wished := range []string{second, "codex-7", "claude-0", "claude--1", "claude-x", "claude-99999999999999999999", "cli"} {
		o := owners{used: map[string]bool{second: true}}
		if got, _ := o.take("claude", wished); got != first {
			t.Errorf("asked for %s: %s", wished, got)
		}
	}
}
