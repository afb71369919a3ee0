package procsess_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

// numbered writes so many lines that a reader can tell each byte's place.
func numbered(lines int) procsess.Start {
	s := procsess.Start{Command: "seq", Args: []string{"-f", "%09.0f\u00e9", "0", strconv.Itoa(lines - 1)}}
	s.NoCRLF = true
	return s
}

const numberedLine = len("000000000é\n")

// place is what the output of numbered has at a cursor.
func place(at int64, size int) string {
	var out strings.Builder
	first := at / int64(numberedLine)
	for n := first; out.Len() < int(at-first*int64(numberedLine))+size; n++ {
		fmt.Fprintf(&out, "%09dé\n", n)
	}
	skip := int(at - first*int64(numberedLine))
	return out.String()[skip : skip+size]
}

// Readers with pages of any size, from anywhere, get each byte once while it is
// written.
func TestReadersOfAStream(t *testing.T) {
	lines := 200_000
	if soak() {
		lines = 5_000_000
	}
	for name, kind := range kinds() {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			s := kind(numbered(lines))
			s.NoCRLF = !s.Pipe
			id := b.start(s).ID
			total := int64(lines * numberedLine)
			var wait sync.WaitGroup
			for reader := range 3 {
				view := []procsess.View{procsess.RawView, procsess.TextView, procsess.RawView}[reader]
				wait.Go(func() {
					random := rand.New(rand.NewPCG(1, uint64(reader)))
					for cursor := int64(0); cursor < total; {
						if reader == 2 { // anywhere in what there is
							info, err := b.Get(b.ctx, me, id)
							if err != nil || info.EOF {
								return
							}
							cursor = random.Int64N(info.Cursor + 1)
						}
						page, err := b.Output(b.ctx, me, id, procsess.Output{Cursor: &cursor, View: view, MaxBytes: 1 + random.IntN(64<<10)})
						if err != nil || page.Lost != 0 || page.Cursor < page.Start || page.Cursor > page.Total || page.Start > cursor {
							t.Errorf("%s from %d: %+v, %v", view, cursor, page, err)
							return
						}
						if want := place(page.Start, int(page.Cursor-page.Start)); string(page.Data) != want {
							t.Errorf("%s from %d to %d: %.60q, want %.60q", view, page.Start, page.Cursor, page.Data, want)
							return
						}
						if page.Start != cursor && reader != 2 {
							t.Errorf("%s: asked for %d, begins at %d", view, cursor, page.Start)
							return
						}
						cursor = page.Cursor
					}
				})
			}
			wait.Wait()
			if got := b.wait(id, procsess.Wait{}); got.Cursor != total {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A cursor at the end is nothing new, one beyond it is refused, and one in front of
// what is kept says how much is gone.
func TestCursorsAtTheBorders(t *testing.T) {
	b := newBench(t, &procsess.Options{StateDir: inMemory})
	s := numbered(400_000)
	id := b.start(s).ID
	total := b.wait(id, procsess.Wait{}).Cursor
	page, err := b.Output(b.ctx, me, id, procsess.Output{Cursor: &total})
	if err != nil || len(page.Data) != 0 || page.Cursor != total || !page.EOF || page.Lost != 0 {
		t.Errorf("%+v, %v", page, err)
	}
	beyond := total + 1
	for _, view := range []procsess.View{procsess.RawView, procsess.TextView} {
		_, err = b.Output(b.ctx, me, id, procsess.Output{Cursor: &beyond, View: view})
		wantCode(t, err, tools.CodeOutOfRange)
	}
	_, err = b.Wait(b.ctx, me, id, procsess.Wait{Match: "x", Cursor: &beyond})
	wantCode(t, err, tools.CodeOutOfRange)
	_, err = b.Attach(b.ctx, me, id, beyond)
	wantCode(t, err, tools.CodeOutOfRange)
	cursor := int64(1 << 20)
	page, err = b.Output(b.ctx, me, id, procsess.Output{Cursor: &cursor, View: procsess.RawView})
	if err != nil || page.Lost == 0 || page.Start != cursor+page.Lost || string(page.Data) != place(page.Start, len(page.Data)) {
		t.Errorf("lost %d of %d to %d, %v", page.Lost, cursor, page.Start, err)
	}
	// Each owner goes on where it was itself.
	if err := b.Share(me, id, "you"); err != nil {
		t.Fatal(err)
	}
	you := procsess.Caller{Owner: "you"}
	first, err := b.Output(b.ctx, you, id, procsess.Output{MaxBytes: 120})
	if err != nil || first.Start != 0 || first.Cursor != 120 {
		t.Errorf("%+v, %v", first, err)
	}
	for _, want := range []int64{page.Cursor, 0} {
		caller := []procsess.Caller{you, me}[btoi(want != 0)]
		if want == 0 {
			want = first.Cursor
		}
		if next, err := b.Output(b.ctx, caller, id, procsess.Output{MaxBytes: 120}); err != nil || next.Start != want {
			t.Errorf("%s: %+v, want %d; %v", caller.Owner, next, want, err)
		}
	}
}

func btoi(is bool) int {
	if is {
		return 1
	}
	return 0
}

// Keys do with an interactive shell's jobs what they do for a person.
func TestJobControl(t *testing.T) {
	b := newBench(t, nil)
	s := procsess.Start{Command: "bash", Args: []string{"--norc", "--noprofile", "-i"}, Env: map[string]string{"PS1": "$ ", "HISTFILE": ""}}
	id := b.start(s).ID
	b.wait(id, procsess.Wait{Input: true})
	b.types(id, procsess.Type{Text: "sh -c 'echo go''ing; exec cat'\n"})
	b.sees(id, "\ngoing")
	b.wait(id, procsess.Wait{Input: true})
	b.types(id, procsess.Type{Keys: []string{"ctrl-z"}})
	b.sees(id, "Stopped")
	b.types(id, procsess.Type{Text: "echo sh''ell\n"})
	b.sees(id, "\nshell")
	typed := b.types(id, procsess.Type{Text: "fg\n"})
	b.wait(id, procsess.Wait{Match: "exec cat", Cursor: &typed.Cursor})
	b.wait(id, procsess.Wait{Input: true}) // else the shell itself reads what follows
	b.types(id, procsess.Type{Text: "to the job\n"})
	if got := b.wait(id, procsess.Wait{Regex: `to the job\nto the job\n`, Cursor: &typed.Cursor, Timeout: 20 * time.Second}); got.Reason != procsess.ReasonMatch {
		t.Errorf("%+v, %q", got, b.all(id, procsess.RawView))
	}
	typed = b.types(id, procsess.Type{Keys: []string{"ctrl-c"}})
	b.wait(id, procsess.Wait{Match: "$ ", Cursor: &typed.Cursor})
	b.types(id, procsess.Type{Text: "echo at the pro''mpt\n"})
	b.sees(id, "\nat the prompt")
	b.types(id, procsess.Type{Text: "kill -STOP $$\n"})
	until(t, "the shell to stop", func() bool { return processState(t, b, id) == "T" })
	if report, err := b.Kill(b.ctx, me, id); err != nil || len(report.Survivors) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

// A program that changes the terminal's mode gets what was typed in the mode it is
// read in, and a password is neither shown nor kept.
func TestModesChange(t *testing.T) {
	b := newBench(t, nil)
	id := b.start(sh(`stty -echo; echo 'Password:'; read -r p; stty echo; echo "${#p} characters"
		stty raw -echo; echo up; head -c 3 | od -An -c; stty sane; read -r line; echo "line $line"`)).ID
	b.sees(id, "Password:")
	if got := b.wait(id, procsess.Wait{Input: true}); got.Reason != procsess.ReasonInput || got.Input.Mode != procsess.PasswordMode || got.Input.State != procsess.BlockedRead {
		t.Errorf("%+v", got)
	}
	b.types(id, procsess.Type{Text: "hunter2\n"})
	b.sees(id, "7 characters")
	b.sees(id, "up")
	if got := b.wait(id, procsess.Wait{Input: true}); got.Input.Mode != procsess.RawMode {
		t.Errorf("%+v", got)
	}
	b.types(id, procsess.Type{Keys: []string{"up"}})
	b.sees(id, "033   [   A")
	b.wait(id, procsess.Wait{Input: true})
	b.types(id, procsess.Type{Text: "plain\n"})
	b.sees(id, "line plain")
	b.wait(id, procsess.Wait{})
	if text := b.all(id, procsess.RawView); strings.Contains(text, "hunter2") {
		t.Errorf("the password is in the output: %q", text)
	}
}

// Pastes and keys take the form that the program asked for.
func TestWhatIsTyped(t *testing.T) {
	b := newBench(t, nil)
	for name, c := range map[string]struct {
		modes string
		what  procsess.Type
		want  string
	}{
		"paste":           {"", procsess.Type{Paste: "a\r\nb\nc"}, "a\rb\rc"},
		"framed":          {`\033[?2004h`, procsess.Type{Paste: "a\r\nb\n"}, "\x1b[200~a\rb\x1b[201~\r"},
		"end of frame":    {`\033[?2004h`, procsess.Type{Paste: "a\x1b[201~rm\u009b201~"}, "\x1b[200~a[201~rm201~\x1b[201~"},
		"frame off again": {`\033[?2004h\033[?2004l`, procsess.Type{Paste: "a"}, "a"},
		"arrows":          {"", procsess.Type{Keys: []string{"up", "left"}}, "\x1b[A\x1b[D"},
		"application":     {`\033[?1h`, procsess.Type{Keys: []string{"up", "left"}}, "\x1bOA\x1bOD"},
		"order":           {"", procsess.Type{Text: "t", Keys: []string{"enter", "ctrl-c"}, Paste: "p", EOF: true}, "t\rp\x04"},
	} {
		t.Run(name, func(t *testing.T) {
			id := b.start(sh(fmt.Sprintf(`trap '' INT; stty raw -echo; printf '%sup\n'; head -c %d | od -An -v -tx1 | tr -d ' \n'`, c.modes, len(c.want)))).ID
			b.sees(id, "up")
			b.types(id, c.what)
			b.wait(id, procsess.Wait{})
			if text := b.all(id, procsess.TextView); !strings.HasSuffix(text, fmt.Sprintf("%x", c.want)) {
				t.Errorf("got %q, want %x", text, c.want)
			}
		})
	}
}

// A kill takes along hundreds of processes, however they ignore it.
func TestManyGrandchildren(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	n := 150
	if soak() {
		n = 500
	}
	s, mark := marked(sh(fmt.Sprintf(`trap '' TERM HUP INT; i=0; while [ $i -lt %d ]; do if [ $((i %% 3)) = 0 ]; then setsid sleep $T & else sleep $T & fi; i=$((i+1)); done; echo up; wait`, n)), "many")
	id := b.start(s).ID
	b.sees(id, "up")
	until(t, "all of them", func() bool { return len(running(t, mark)) >= n })
	report, err := b.Kill(b.ctx, me, id)
	if err != nil || len(report.Survivors) != 0 || len(report.Killed) < n {
		t.Errorf("%d killed, %+v survive, %v", len(report.Killed), report.Survivors, err)
	}
	if left := running(t, mark); len(left) > 0 {
		t.Errorf("%d are left", len(left))
	}
}

// As many sessions as there may be live side by side, each with what is its own.
func TestManySessions(t *testing.T) {
	b := newBench(t, &procsess.Options{Sessions: 64})
	var wait sync.WaitGroup
	for i := range 64 {
		wait.Go(func() {
			s := sh("read -r x; echo got $x; exec cat")
			s.Pipe = i%2 == 0
			id := b.start(s).ID
			b.types(id, procsess.Type{Text: fmt.Sprintf("number %d\n", i)})
			if got := b.wait(id, procsess.Wait{Match: fmt.Sprintf("got number %d\n", i), Cursor: new(int64)}); got.Reason != procsess.ReasonMatch {
				t.Errorf("%d: %+v", i, got)
			}
		})
	}
	wait.Wait()
	_, err := b.Start(b.ctx, me, sh("true"))
	wantCode(t, err, tools.CodeProcessLimit)
	var coded *tools.Error
	if !errors.As(err, &coded) {
		t.Fatal(err)
	}
	if list, ok := coded.Details.([]procsess.Info); !ok || len(list) != 64 {
		t.Errorf("the sessions are not told: %+v", coded.Details)
	}
}

// Another owner is refused whatever a session's state is, and learns nothing of it.
func TestStrangersAfterTheEnd(t *testing.T) {
	b := newBench(t, nil)
	you := procsess.Caller{Owner: "you"}
	ended := b.start(sh("echo secret; exit 3")).ID
	b.wait(ended, procsess.Wait{})
	s, mark := marked(sh("exec sleep $T"), "stranger")
	released := b.start(s).ID
	if err := b.Release(b.ctx, me, released); err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, pid := range pidsOf(t, mark) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}()
	for _, id := range []string{ended, released} {
		for name, err := range map[string]error{
			"get":      second(b.Get(b.ctx, you, id)),
			"output":   second(b.Output(b.ctx, you, id, procsess.Output{})),
			"wait":     second(b.Wait(b.ctx, you, id, procsess.Wait{})),
			"input":    second(b.Input(b.ctx, you, id, procsess.Type{Text: "x"})),
			"attach":   second(b.Attach(b.ctx, you, id, 0)),
			"kill":     second(b.Kill(b.ctx, you, id)),
			"signal":   b.Signal(b.ctx, you, id, syscall.SIGTERM),
			"resize":   b.Resize(b.ctx, you, id, 80, 24),
			"release":  b.Release(b.ctx, you, id),
			"share":    b.Share(you, id, "you"),
			"transfer": b.Transfer(you, id, "you"),
		} {
			if !errors.Is(err, tools.CodeProcessOwnership) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", name, err)
			}
		}
		// The owner hears that it is over.
		for name, err := range map[string]error{
			"input":   second(b.Input(b.ctx, me, id, procsess.Type{Text: "x"})),
			"signal":  b.Signal(b.ctx, me, id, syscall.SIGTERM),
			"resize":  b.Resize(b.ctx, me, id, 80, 24),
			"release": b.Release(b.ctx, me, id),
		} {
			if !errors.Is(err, tools.CodeProcessState) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Output that is no text is kept byte for byte, and every view of it ends.
func TestHostileOutput(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for name, program := range map[string]string{
		"noise":          "import os,sys\nimport random\nrandom.seed(1)\nsys.stdout.buffer.write(random.randbytes(1<<20))",
		"endless escape": "import sys\nsys.stdout.write('\\x1b]0;'+'x'*(1<<20))",
		"parameters":     "import sys\nsys.stdout.write('\\x1b['+'1;'*(1<<19)+'m')",
		"repeats":        "import sys\nsys.stdout.write('\\x1b[999999999b\\x1b[999999999L\\x1b[999999999S'*1000)",
		"half of UTF-8":  "import sys\nsys.stdout.buffer.write(b'\\xf0\\x9f\\x98'*300000)",
		"no newline":     "import sys\nfor i in range(256): sys.stdout.write('x'*65536)",
		"returns":        "import sys\nsys.stdout.write('x'*100+'\\r'*1000000)",
		"queries":        "import sys\nsys.stdout.write('\\x1b[6n\\x1b[5n\\x1b[c'*20000)",
	} {
		t.Run(name, func(t *testing.T) {
			s := procsess.Start{Command: "python3", Args: []string{"-c", program}, NoCRLF: true}
			id := b.start(s).ID
			got := b.wait(id, procsess.Wait{})
			if got.Reason != procsess.ReasonExit || *got.Exit.Code != 0 {
				t.Fatalf("%+v", got)
			}
			if raw := b.all(id, procsess.RawView); int64(len(raw)) != got.Cursor {
				t.Errorf("%d of %d bytes", len(raw), got.Cursor)
			}
			b.all(id, procsess.TextView)
			began := time.Now()
			if page, err := b.Output(b.ctx, me, id, procsess.Output{View: procsess.ScreenView}); err != nil || page.Screen == nil {
				t.Errorf("%+v, %v", page, err)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("the screen took %v", took)
			}
		})
	}
}

// A session outlives its state directory, which only costs it old output.
func TestStateDirectoryGoes(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(dir string) error{
		"removed": os.RemoveAll,
		"a file": func(dir string) error {
			return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			b := newBench(t, &procsess.Options{StateDir: dir})
			before := b.start(sh("read -r go; exec seq 1 1000000")).ID
			b.wait(before, procsess.Wait{Input: true})
			if err := spoil(dir); err != nil {
				t.Fatal(err)
			}
			b.types(before, procsess.Type{Text: "\n"})
			after := b.start(sh("exec seq 1 1000000")).ID
			for _, id := range []string{before, after} {
				got := b.wait(id, procsess.Wait{})
				from := got.Cursor - 100
				if page, err := b.Output(b.ctx, me, id, procsess.Output{Cursor: &from}); err != nil || !strings.HasSuffix(string(page.Data), "999999\n1000000\n") {
					t.Errorf("%+v, %q, %v", got, page.Data, err)
				}
			}
		})
	}
}
