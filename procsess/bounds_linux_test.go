package procsess_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

func TestSignalIsChecked(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh("sleep 1000")).ID
	for _, sig := range []syscall.Signal{-1, 0, 65, 1 << 20} {
		wantCode(t, b.Signal(b.ctx, me, id, sig), tools.CodeToolInput)
	}
}

// Times that are negative are refused, however small.
func TestTimesAreChecked(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh("sleep 1000")).ID
	little := -time.Millisecond
	for name, err := range map[string]error{
		"lifetime": second(b.Start(b.ctx, me, procsess.Start{Command: "true", Lifetime: little})),
		"ready":    second(b.Start(b.ctx, me, procsess.Start{Command: "true", Ready: &procsess.Ready{Match: "x", Timeout: little}})),
		"quiet":    second(b.Wait(b.ctx, me, id, procsess.Wait{Quiet: little})),
		"wait":     second(b.Wait(b.ctx, me, id, procsess.Wait{Timeout: little})),
		"input":    second(b.Input(b.ctx, me, id, procsess.Type{Wait: little})),
	} {
		if !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An input of the largest size is taken, with what its framing adds.
func TestLargestInput(t *testing.T) {
	b := newBench(t, nil)
	most := int(procsess.InputBytes.Default)
	id := b.start(sh(fmt.Sprintf(`stty raw -echo; printf '\033[?2004h'; echo up; head -c %d | wc -c`, most+12+1))).ID
	b.sees(id, "up")
	_, err := b.Input(b.ctx, me, id, procsess.Type{Paste: strings.Repeat("x", most+1)})
	wantCode(t, err, tools.CodeProcessLimit)
	b.types(id, procsess.Type{Paste: strings.Repeat("x", most)})
	until(t, "room", func() bool {
		typed := b.types(id, procsess.Type{})
		return typed.Queued == 0
	})
	b.types(id, procsess.Type{Keys: []string{"a"}})
	b.sees(id, strconv.Itoa(most+13))
	_, err = b.Input(b.ctx, me, b.start(sh("sleep 1000")).ID, procsess.Type{Keys: slicesOf("a", most+1)})
	wantCode(t, err, tools.CodeProcessLimit)
}

func slicesOf(text string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = text
	}
	return out
}

// A window of any size may be attached, but a terminal has no such.
func TestAttachmentSize(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh("cat")).ID
	a, err := b.Attach(b.ctx, me, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, size := range [][2]int{{0, 0}, {0, 24}, {80, 0}, {-1, -1}, {501, 24}, {80, 201}, {1<<16 + 80, 24}} {
		wantCode(t, a.Resize(b.ctx, size[0], size[1]), tools.CodePTYLimit)
	}
	if info, err := b.Get(b.ctx, me, id); err != nil || info.Columns != 120 || info.Rows != 40 {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestNames(t *testing.T) {
	b := newBench(t, nil)
	for _, name := range []string{"a\x00b", "a\nb", "\x1b[2J", "a\x7f", "a\u009b2Jb", "a\xffb", "a\u2028b", "\u202eb", strings.Repeat("x", 65)} {
		s := sh("true")
		s.Name = name
		_, err := b.Start(b.ctx, me, s)
		if !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%q: %v", name, err)
		}
	}
	s := sh("true")
	s.Name = "größe 漢字 " + strings.Repeat("x", 43)
	if got := b.start(s); got.Name != s.Name {
		t.Errorf("%+v", got)
	}
	// A command is listed within its bound, whatever it is made of.
	for _, word := range []string{strings.Repeat("a\xff", 4<<10), strings.Repeat("é", 3<<10), "x" + strings.Repeat("漢", 2<<10), strings.Repeat("'", 4<<10)} {
		got := b.start(procsess.Start{Command: "true", Args: []string{word}})
		if len(got.Command) > int(procsess.MetadataBytes.Default) || !strings.HasSuffix(got.Command, "…") || strings.HasSuffix(got.Command, "\uFFFD…") && !strings.Contains(word, "\xff") {
			t.Errorf("%d bytes, ends %q", len(got.Command), got.Command[len(got.Command)-10:])
		}
	}
}

// What many lines come to is neither cut nor reordered while nobody reads them.
func TestLinesQueue(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh("stty -echo; echo up; sleep 0.5; cksum; sleep 1000")).ID
	b.sees(id, "up")
	var text strings.Builder
	for i := 0; text.Len() < 60<<10; i++ {
		fmt.Fprintf(&text, "%d %s\n", i, strings.Repeat("x", i%1000))
	}
	typed := b.types(id, procsess.Type{Text: text.String(), EOF: true})
	if typed.Accepted+typed.Queued != text.Len()+1 {
		t.Errorf("%+v of %d", typed, text.Len()+1)
	}
	reference := b.start(procsess.Start{Command: "cksum", Pipe: true}).ID
	b.types(reference, procsess.Type{Text: text.String(), EOF: true})
	b.wait(reference, procsess.Wait{})
	b.sees(id, strings.TrimSpace(b.all(reference, procsess.TextView)))
}

// A program may be named by a path from where it is to run.
func TestRelativeProgram(t *testing.T) {
	b := newBench(t, nil)
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/run.sh", []byte("#!/bin/sh\necho ran\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	id := b.start(procsess.Start{Command: "./run.sh", Dir: dir}).ID
	b.sees(id, "ran")
	_, err := b.Start(b.ctx, me, procsess.Start{Command: "./not.sh", Dir: dir})
	wantCode(t, err, tools.CodeNotFound)
}
