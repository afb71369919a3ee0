package wording

import (
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

func TestVisible(t *testing.T) {
	for given, want := range map[string]string{
		"plain text, grüße 世界":    "plain text, grüße 世界",
		"a\u202eb\x1b[2J\nc":      `a\u202eb\u001b[2J\u000ac`,
		"zero\u200bwidth":         `zero\u200bwidth`,
		strings.Repeat("x", 3000): strings.Repeat("x", 2000) + " … (3000 bytes in all)",
	} {
		if got := Visible(given); got != want {
			t.Errorf("%q: %q", given, got)
		}
	}
}

func TestAction(t *testing.T) {
	got := Action(tools.Action{Operation: "shell", Command: "make", Args: []string{"all"}, Paths: []string{"a", "b"}, Env: []string{"X=1"}, Entries: 3}, "no sandbox")
	want := "shell needs your approval (no sandbox).\nCommand: make all\nPath: a\nPath: b\nEnvironment: X=1\nFiles and directories: 3"
	if got != want {
		t.Errorf("%q", got)
	}
	if many := Action(tools.Action{Paths: make([]string, 25)}, ""); !strings.HasSuffix(many, "… and 15 more paths") {
		t.Errorf("%q", many)
	}
}
