package procsess_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

// shows waits until a screen has text.
func (b *bench) shows(id, text string) procsess.Page {
	b.tb.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		page, err := b.Output(b.ctx, me, id, procsess.Output{View: procsess.ScreenView})
		if err != nil {
			b.tb.Fatal(err)
		}
		if strings.Contains(string(page.Data), text) {
			return page
		}
		if time.Now().After(deadline) {
			b.tb.Fatalf("%q is not shown: %q", text, page.Data)
		}
		b.wait(id, procsess.Wait{Bytes: 1, Cursor: &page.Cursor, Timeout: time.Second})
	}
}

// An editor is used by its screen and its keys, and the page without a view is the
// screen for as long as it is up.
func TestEditor(t *testing.T) {
	b := newBench(t, nil)
	file := filepath.Join(t.TempDir(), "note.txt")
	if err := os.WriteFile(file, []byte("first line\nsecond line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := procsess.Start{Command: "vim", Args: []string{"-u", "NONE", "-n", file}, Columns: 60, Rows: 12}
	id := b.start(s).ID
	b.shows(id, "second line")
	page, err := b.Output(b.ctx, me, id, procsess.Output{})
	if err != nil || page.View != procsess.ScreenView || page.Screen == nil || !page.Screen.Alternate || page.Screen.Columns != 60 {
		t.Fatalf("%s %+v, %v", page.View, page.Screen, err)
	}
	b.types(id, procsess.Type{Keys: []string{"down", "A"}})
	b.types(id, procsess.Type{Text: " é日本"})
	page = b.shows(id, "second line é日本")
	if page.Screen.CursorRow != 2 || page.Screen.CursorColumn != len("second line")+2+4+1 {
		t.Errorf("the cursor: %+v", page.Screen)
	}
	if err := b.Resize(b.ctx, me, id, 40, 8); err != nil {
		t.Fatal(err)
	}
	b.types(id, procsess.Type{Keys: []string{"escape"}, Text: ""})
	b.types(id, procsess.Type{Text: ":wq"})
	b.shows(id, ":wq")
	b.types(id, procsess.Type{Keys: []string{"enter"}})
	if got := b.wait(id, procsess.Wait{}); got.Exit == nil || got.Exit.Code == nil || *got.Exit.Code != 0 {
		t.Errorf("%+v", got)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "first line\nsecond line é日本\n" {
		t.Errorf("%q, %v", text, err)
	}
	if page, err := b.Output(b.ctx, me, id, procsess.Output{}); err != nil || page.View != procsess.TextView {
		t.Errorf("after the end: %s, %v", page.View, err)
	}
}

// A program that asks where the cursor is gets the answer of a terminal.
func TestCursorQuery(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh(`stty raw -echo; printf 'ab\r\n  \033[6n'; dd bs=1 count=6 2>/dev/null | od -An -c; stty sane; echo done`)).ID
	b.sees(id, "done")
	if got := strings.Join(strings.Fields(b.all(id, procsess.TextView)), ""); !strings.Contains(got, "033[2;3R") {
		t.Errorf("%q", got)
	}
}

func TestScreenNeedsTerminal(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(onPipe(sh("cat"))).ID
	_, err := b.Output(b.ctx, me, id, procsess.Output{View: procsess.ScreenView})
	wantCode(t, err, tools.CodeProcessUnsupported)
}

// TestScreenView: it is what is given while the alternate screen is on, follows
// the terminal's size, and is text again afterwards.
func TestScreenView(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh(`stty -echo; printf 'before\n\033[?1049h\033]0;full\007\033[2;3Hone\033[?25l'; read x; printf '\033[H\033[2Jtwo\033[99;99H!'; read x; printf '\033[?1049l\033[?25hafter\n'; read x`)).ID
	show := func(view procsess.View) procsess.Page {
		t.Helper()
		page, err := b.Output(b.ctx, me, id, procsess.Output{Cursor: new(int64), View: view})
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	b.wait(id, procsess.Wait{Input: true})
	page := show("")
	want := procsess.Screen{Columns: 120, Rows: 40, CursorColumn: 6, CursorRow: 2, CursorHidden: true, Alternate: true, Title: "full"}
	if page.View != procsess.ScreenView || string(page.Data) != "\n  one" || page.Screen == nil || *page.Screen != want {
		t.Errorf("%s %q %+v", page.View, page.Data, page.Screen)
	}
	if page.Cursor != page.Total || page.Lost != 0 || page.Total == 0 || page.EOF {
		t.Errorf("%+v", page)
	}
	if page := show(procsess.TextView); page.View != procsess.TextView || page.Screen != nil || string(page.Data) != "before\none" {
		t.Errorf("%s %q", page.View, page.Data)
	}
	if err := b.Resize(b.ctx, me, id, 10, 5); err != nil {
		t.Fatal(err)
	}
	b.types(id, procsess.Type{Keys: []string{"enter"}})
	b.sees(id, "two")
	b.wait(id, procsess.Wait{Input: true})
	if page := show(""); string(page.Data) != "two\n\n\n\n         !" || page.Screen.Columns != 10 || page.Screen.Rows != 5 {
		t.Errorf("%q %+v", page.Data, page.Screen)
	}
	b.types(id, procsess.Type{Keys: []string{"enter"}})
	b.sees(id, "after")
	if page := show(""); page.View != procsess.TextView {
		t.Errorf("behind the alternate screen: %s", page.View)
	}
	if page := show(procsess.ScreenView); string(page.Data) != "before\nafter" || page.Screen.Alternate || page.Screen.CursorHidden {
		t.Errorf("%q %+v", page.Data, page.Screen)
	}
	pipe := b.start(onPipe(sh("printf '\\033[?1049hx'; cat"))).ID
	b.sees(pipe, "x")
	_, err := b.Output(b.ctx, me, pipe, procsess.Output{Cursor: new(int64), View: procsess.ScreenView})
	wantCode(t, err, tools.CodeProcessUnsupported)
	if page, err := b.Output(b.ctx, me, pipe, procsess.Output{Cursor: new(int64)}); err != nil || page.View != procsess.TextView {
		t.Errorf("on a pipe: %s, %v", page.View, err)
	}
}

// TestCursorIsReported: a program that asks where the cursor is gets the right
// place, whatever was written before.
func TestCursorIsReported(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(procsess.Start{Command: "bash", Args: []string{"--norc", "-c", `printf 'one\ntwo\033[31mdrei\u65e5'; IFS= read -rsd R -p $'\e[6n' at; printf '\nat %s\n' "${at#*[}"`}, Columns: 80, Rows: 24, Env: map[string]string{"LC_ALL": "C.UTF-8"}}).ID
	b.sees(id, "at 2;10\n")
}
