package procsess_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

func TestInput(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(procsess.Start{Command: "bash", Args: []string{"--norc", "--noprofile", "-i"}, Env: map[string]string{"PS1": "$ ", "HISTFILE": ""}}).ID
	b.wait(id, procsess.Wait{Input: true})
	b.sees(id, "$ ")
	b.wait(id, procsess.Wait{Quiet: 50 * time.Millisecond})
	if _, err := b.Output(b.ctx, me, id, procsess.Output{}); err != nil {
		t.Fatal(err)
	}
	typed := b.types(id, procsess.Type{Text: "echo o''ne\n", Wait: 10 * time.Second})
	if typed.Accepted != len("echo o''ne\n") || typed.Queued != 0 || typed.Output == nil || !strings.Contains(string(typed.Output.Data), "\none\n") {
		t.Errorf("%+v, %+v", typed, typed.Output)
	}
	if page, err := b.Output(b.ctx, me, id, procsess.Output{}); err != nil || strings.Contains(string(page.Data), "one") {
		t.Errorf("what the answer brought is read twice: %q, %v", page.Data, err)
	}
	b.types(id, procsess.Type{Text: "echo tw", Keys: []string{"o", "Enter"}})
	b.sees(id, "\ntwo")
	// Output that nobody has read yet is not passed over by an answer.
	b.wait(id, procsess.Wait{Input: true})
	b.types(id, procsess.Type{Text: "echo o''ther\n", Wait: 10 * time.Second})
	if page, err := b.Output(b.ctx, me, id, procsess.Output{}); err != nil || !strings.Contains(string(page.Data), "\ntwo\n") || !strings.Contains(string(page.Data), "\nother\n") {
		t.Errorf("unread output was passed over: %q, %v", page.Data, err)
	}
	b.types(id, procsess.Type{Keys: []string{"up", "up", "enter"}})
	b.wait(id, procsess.Wait{Regex: `(?s)\ntwo.*\ntwo`, Cursor: new(int64)})

	b.wait(id, procsess.Wait{Input: true})
	// Pasted lines do not run before Enter, since bash asked for a frame.
	b.types(id, procsess.Type{Paste: "echo th''ree\necho fo''ur"})
	if got := b.wait(id, procsess.Wait{Match: "\nthree", Cursor: new(int64), Timeout: 300 * time.Millisecond}); got.Reason != procsess.ReasonTimeout {
		t.Errorf("a paste ran by itself: %+v", got)
	}
	b.types(id, procsess.Type{Keys: []string{"enter"}})
	b.sees(id, "\nthree")
	b.sees(id, "\nfour")

	b.types(id, procsess.Type{Text: "sh -c 'echo run''ning; exec sleep 1000'\n"})
	b.sees(id, "\nrunning")
	b.types(id, procsess.Type{Keys: []string{"ctrl-c"}})
	b.types(id, procsess.Type{Text: "echo fi''ve\n"})
	b.sees(id, "\nfive")
	b.wait(id, procsess.Wait{Input: true})
	b.types(id, procsess.Type{EOF: true})
	if got := b.wait(id, procsess.Wait{}); got.Reason != procsess.ReasonExit {
		t.Errorf("%+v", got)
	}
	_, err := b.Input(b.ctx, me, id, procsess.Type{Text: "x"})
	wantCode(t, err, tools.CodeProcessState)
}

func TestEndOfInput(t *testing.T) {
	for name, kind := range kinds() {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			id := b.start(kind(sh("wc -c"))).ID
			b.wait(id, procsess.Wait{Input: true})
			b.types(id, procsess.Type{Text: "four", EOF: true}) // in the middle of a line
			got := b.wait(id, procsess.Wait{})
			if text := b.all(id, procsess.TextView); got.Reason != procsess.ReasonExit || !strings.HasSuffix(text, "4\n") {
				t.Errorf("%+v, %q", got, text)
			}
		})
	}
}

func TestInterruptInRawMode(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh("stty raw -isig; trap 'echo interrupted; exit 9' INT; echo up; while :; do sleep 0.05; done")).ID
	b.sees(id, "up")
	b.types(id, procsess.Type{Keys: []string{"ctrl-c"}})
	if got := b.wait(id, procsess.Wait{}); got.Exit == nil || got.Exit.Code == nil || *got.Exit.Code != 9 {
		t.Errorf("%+v", got)
	}
}

// A program that does not read holds up nobody, and what was taken is told.
func TestBackPressure(t *testing.T) {
	b := newBench(t, nil)
	deaf := map[string]string{}
	for name, kind := range kinds() {
		line := "sleep 1000"
		if name == "terminal" {
			line = "stty raw -echo; echo up; sleep 1000"
		}
		deaf[name] = b.start(kind(sh(line))).ID
	}
	b.sees(deaf["terminal"], "up")
	for name, id := range deaf {
		text := strings.Repeat("x", 60<<10)
		taken := 0
		for {
			typed, err := b.Input(b.ctx, me, id, procsess.Type{Text: text})
			if err != nil {
				wantCode(t, err, tools.CodeProcessLimit)
				break
			}
			if taken += len(text); taken > 10<<20 {
				t.Fatalf("%s: %d bytes were taken for a program that reads nothing", name, taken)
			}
			if typed.Accepted+typed.Queued < len(text) {
				t.Errorf("%s: of %d bytes %d are accepted and %d queued", name, len(text), typed.Accepted, typed.Queued)
			}
		}
	}
	started := time.Now()
	id := b.start(sh("read x; echo got $x")).ID
	b.wait(id, procsess.Wait{Input: true})
	b.types(id, procsess.Type{Text: "it\n"})
	b.sees(id, "got it")
	if took := time.Since(started); took > 10*time.Second {
		t.Errorf("another session took %v beside them", took)
	}
}

// The kernel would cut a long line and say that it took all of it.
func TestLongLine(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh("stty -echo; echo up; head -c 4096 | wc -c")).ID
	b.sees(id, "up")
	_, err := b.Input(b.ctx, me, id, procsess.Type{Text: strings.Repeat("x", 64<<10-1)})
	wantCode(t, err, tools.CodeProcessLimit)
	if !strings.Contains(err.Error(), "4095") {
		t.Errorf("the error does not say what would be right: %v", err)
	}
	b.types(id, procsess.Type{Text: strings.Repeat("x", 2000)})
	_, err = b.Input(b.ctx, me, id, procsess.Type{Text: strings.Repeat("x", 2096) + "\n"})
	wantCode(t, err, tools.CodeProcessLimit)
	b.types(id, procsess.Type{Text: strings.Repeat("x", 2095) + "\n"})
	b.sees(id, "4096")

	// Without lines there is no such bound.
	id = b.start(sh("stty raw -echo; echo up; head -c 65535 | wc -c")).ID
	b.sees(id, "up")
	b.types(id, procsess.Type{Text: strings.Repeat("x", 64<<10-1)})
	b.sees(id, "65535")
}

func TestInputIsChecked(t *testing.T) {
	b := newBench(t, nil)
	terminal, pipes := b.start(sh("cat")).ID, b.start(onPipe(sh("cat"))).ID
	for name, c := range map[string]struct {
		id   string
		what procsess.Type
		code tools.Code
	}{
		"too much":     {terminal, procsess.Type{Text: strings.Repeat("x\n", 32<<10+1)}, tools.CodeProcessLimit},
		"unknown key":  {terminal, procsess.Type{Keys: []string{"entr"}}, tools.CodeToolInput},
		"NUL":          {terminal, procsess.Type{Text: "a\x00"}, tools.CodeToolInput},
		"key on pipes": {pipes, procsess.Type{Keys: []string{"f5"}}, tools.CodeProcessUnsupported},
		"wait":         {pipes, procsess.Type{Wait: -1}, tools.CodeToolInput},
	} {
		_, err := b.Input(b.ctx, me, c.id, c.what)
		if err == nil {
			t.Errorf("%s was taken", name)
			continue
		}
		wantCode(t, err, c.code)
	}
	b.types(pipes, procsess.Type{Text: "a\x00b\n"})
	b.sees(pipes, "b")
	if got := b.all(pipes, procsess.RawView); got != "a\x00b\n" {
		t.Errorf("what was refused came through: %q", got)
	}
}
