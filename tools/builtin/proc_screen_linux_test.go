package builtin_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/builtin"
)

// TestProcVim edits a file by keys, and looks at the screen as a person would.
func TestProcVim(t *testing.T) {
	vim := needs(t, "vim")
	h := newProcHost(t, nil)
	h.write("note.txt", "first line\nsecond line\n")
	id := h.proc(args{"command": vim, "args": []string{"-N", "-u", "NONE", "-i", "NONE", "-n", "note.txt"}, "columns": 80, "rows": 24})
	h.waiting(id)
	page, text := h.output(args{"id": id})
	if page.View != "screen" || page.Screen == nil || !page.Screen.Alternate || page.Screen.Columns != 80 || page.Screen.Rows != 24 {
		t.Fatalf("a full-screen program is shown as %+v", page)
	}
	if !strings.HasPrefix(page.Data, "first line\nsecond line\n~\n") || page.Screen.CursorRow != 1 || page.Screen.CursorColumn != 1 || !strings.Contains(text, "[screen of 80×24, cursor in row 1, column 1]") {
		t.Errorf("screen %q", text)
	}
	h.typed(args{"id": id, "keys": []string{"down", "end"}})
	h.typed(args{"id": id, "text": "a, appended é", "keys": []string{"esc"}, "waitMs": 5000})
	eventually(t, 20*time.Second, "the screen shows it", func() bool {
		page, _ := h.output(args{"id": id, "view": "screen"})
		return strings.HasPrefix(page.Data, "first line\nsecond line, appended é\n~\n")
	})
	h.typed(args{"id": id, "text": ":wq", "keys": []string{"enter"}})
	if m := h.exited(id); m.Exit.Code == nil || *m.Exit.Code != 0 {
		t.Errorf("exit %+v", m.Exit)
	}
	if got := h.content("note.txt"); got != "first line\nsecond line, appended é\n" {
		t.Errorf("the file is %q", got)
	}
}

// TestProcTop: a screen that paints itself anew is one page, not a hundred.
func TestProcTop(t *testing.T) {
	top := needs(t, "top")
	h := newProcHost(t, nil)
	id := h.proc(args{"command": top, "args": []string{"-d", "0.2"}, "columns": 100, "rows": 20})
	var m builtin.ProcWait
	h.ok("proc_wait", args{"id": id, "bytes": 6000, "timeoutSeconds": 60}, &m)
	if m.Reason != "bytes" {
		t.Fatalf("%+v", m)
	}
	page, _ := h.output(args{"id": id, "view": "screen"})
	if !strings.Contains(page.Data, "PID") || !strings.Contains(page.Data, "load average") || strings.Count(page.Data, "\n") > 20 || strings.Contains(page.Data, "\x1b") {
		t.Errorf("screen %q", page.Data)
	}
	h.typed(args{"id": id, "text": "q"})
	h.exited(id)
}
