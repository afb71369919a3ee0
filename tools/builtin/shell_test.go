package builtin_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
)

func shellMetadata(t testing.TB, result *tools.Result) builtin.ShellMetadata {
	t.Helper()
	var m builtin.ShellMetadata
	if err := json.Unmarshal(result.Metadata, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// busy is how late a loaded machine may be.
const busy = 3 * time.Second

// within fails when a call takes longer than it may.
//
// The margin is for machines that do much else at the same time; a call that
// waits for what it must not wait for takes minutes.
func within(t *testing.T, most time.Duration, what string, do func()) {
	t.Helper()
	start := time.Now()
	do()
	if took := time.Since(start); took > most+busy {
		t.Errorf("%s took %v, at most %v", what, took, most)
	}
}

func TestShellExitCodes(t *testing.T) {
	h := newHost(t, nil)
	for _, c := range []struct{ command, text string }{
		{"true", "(no output)"},
		{"exit 7", "(no output)\n[Command exited with code 7]"},
		{"printf x; exit 1", "x\n[Command exited with code 1]"},
		{"kill -TERM $$", "(no output)\n[Command killed by SIGTERM]"},
		{"no-such-program-here 2>/dev/null", "(no output)\n[Command exited with code 127]"},
	} {
		if text := h.ok("shell", args{"command": c.command}, nil); text != c.text {
			t.Errorf("%s: %q, want %q", c.command, text, c.text)
		}
	}
	result := h.call("shell", args{"command": "kill -KILL $$"})
	if m := shellMetadata(t, result); m.ExitCode != nil || m.Signal != "SIGKILL" || m.ShellCode != 137 {
		t.Errorf("metadata of a killed shell is %s", result.Metadata)
	}
	if !strings.Contains(string(result.Metadata), `"exitCode":null`) {
		t.Errorf("exitCode is not null in %s", result.Metadata)
	}
}

func TestShellOrderOfStreams(t *testing.T) {
	h := newHost(t, nil)
	text := h.ok("shell", args{"command": "for i in 1 2 3; do echo out $i; echo err $i >&2; done"}, nil)
	if want := "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n"; text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

func TestShellDirectory(t *testing.T) {
	h := newHost(t, nil)
	h.write("sub/f", "x")
	if text := h.ok("shell", args{"command": "pwd; ls", "cwd": "sub"}, nil); text != h.path("sub")+"\nf\n" {
		t.Errorf("got %q", text)
	}
	h.fails("shell", args{"command": "true", "cwd": "sub/f"}, tools.CodeNotFile)
	h.fails("shell", args{"command": "true", "cwd": "nowhere"}, tools.CodeNotFound)
	h.fails("shell", args{"command": "true", "cwd": "../"}, tools.CodePathEscape)
	if err := os.Symlink("/", h.path("out")); err != nil {
		t.Fatal(err)
	}
	h.fails("shell", args{"command": "true", "cwd": "out"}, tools.CodePathEscape)
}

func TestShellEnvironment(t *testing.T) {
	h := newHost(t, func(d *builtin.Deps, _ *tools.RegistryOptions) {
		d.Shell.Environment = append(os.Environ(), "MY_TOKEN=secret", "GIT_DIR=/nowhere", "TERM=xterm", "LD_PRELOAD=/x.so", "LC_ALL=C")
		d.Shell.ExtraEnv = map[string]string{"PAGER": "less", "GIT_DIR": "/chosen"}
	})
	text := h.ok("shell", args{"command": `echo "$MY_TOKEN|$GIT_DIR|$TERM|$PAGER|$GIT_PAGER|$GIT_TERMINAL_PROMPT|$LD_PRELOAD|$LC_ALL"`}, nil)
	if want := "|/chosen|dumb|less|cat|0||C\n"; text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

func TestShellChoice(t *testing.T) {
	for _, c := range []struct{ preferred, want string }{
		{"/bin/sh", "sh"}, {"/usr/bin/fish", "bash"}, {"/bin/cat", "bash"}, {"/nowhere/zsh", "bash"}, {"", "bash"},
	} {
		h := newHost(t, func(d *builtin.Deps, _ *tools.RegistryOptions) { d.Shell.Preferred = c.preferred })
		if text := h.ok("shell", args{"command": `basename "$0"`}, nil); text != c.want+"\n" {
			t.Errorf("with SHELL=%s the shell is %q, want %s", c.preferred, text, c.want)
		}
	}
}

// TestShellBackground: what a command leaves behind never holds the call, and
// is named.
func TestShellBackground(t *testing.T) {
	h := newHost(t, nil)
	h.ok("shell", args{"command": "true"}, nil) // the helpers are up
	within(t, 600*time.Millisecond, "a background process with the pipe", func() {
		result := h.call("shell", args{"command": "sleep 301 & echo started"})
		m := shellMetadata(t, result)
		text := textOf(result)
		if result.Err != nil || !strings.HasPrefix(text, "started\n[Killed") || !strings.Contains(text, "proc_start") {
			t.Errorf("got %v %q", result.Err, text)
		}
		if len(m.Detached) != 1 || m.Detached[0].Command != "sleep 301" || m.ExitCode == nil || *m.ExitCode != 0 {
			t.Errorf("metadata is %s", result.Metadata)
		}
	})
	within(t, 300*time.Millisecond, "a background process without the pipe", func() {
		result := h.call("shell", args{"command": "sleep 302 >/dev/null 2>&1 & echo started"})
		if m := shellMetadata(t, result); len(m.Detached) != 1 {
			t.Errorf("metadata is %s", result.Metadata)
		}
	})
	within(t, 1700*time.Millisecond, "a background process that never is silent", func() {
		result := h.call("shell", args{"command": "(while :; do echo x; done) & exit 0"})
		if m := shellMetadata(t, result); result.Err != nil || len(m.Detached) == 0 {
			t.Errorf("got %v %s", result.Err, result.Metadata)
		}
	})
	// What still comes within the silence is part of the output.
	eventually(t, time.Minute, "late output within the silence", func() bool { // a busy machine may be late itself
		return h.ok("shell", args{"command": "(while kill -0 $$ 2>/dev/null; do :; done; echo late) & echo early"}, nil) == "early\nlate\n"
	})
}

func TestShellTimeout(t *testing.T) {
	h := newHost(t, nil)
	h.ok("shell", args{"command": "true"}, nil)
	within(t, 6*time.Second, "a timeout of 2 s", func() {
		result := h.fails("shell", args{"command": "trap '' TERM; echo partial; sleep 303 & wait; sleep 304", "timeout": 2}, tools.CodeTimeout)
		if textOf(result) != "partial\n" || !strings.Contains(string(result.Metadata), `"exitCode":null`) {
			t.Errorf("got %q %s", textOf(result), result.Metadata)
		}
	})
	h.fails("shell", args{"command": "true", "timeout": 0}, tools.CodeToolInput)
}

// TestShellCancel: the work itself stops, not only the call.
func TestShellCancel(t *testing.T) {
	h := newHost(t, nil)
	h.ok("shell", args{"command": "true"}, nil)
	for _, script := range []string{
		"while :; do echo x >>log; done",
		"trap '' TERM INT HUP; while :; do echo x >>log; done",
		"(setsid sh -c 'trap \"\" TERM; while :; do echo x >>log; done' &) ; sleep 305",
	} {
		os.Remove(h.path("log"))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan *tools.Result, 1)
		go func() { done <- h.callAs(ctx, "shell", args{"command": script}, callOptions()) }()
		eventually(t, 10*time.Second, "the command writes", func() bool { return size(h.path("log")) > 0 })
		start := time.Now()
		cancel()
		result := <-done
		took := time.Since(start)
		if result.Err == nil || result.Err.Code != tools.CodeAborted {
			t.Errorf("%s: %v", script, result.Err)
		}
		// The promise is about this moment: the answer may come before it.
		<-time.After(time.Until(start.Add(250 * time.Millisecond)))
		after := size(h.path("log"))
		t.Logf("ended %v after the cancellation", took)
		if took > 250*time.Millisecond+busy {
			t.Errorf("%s: ended %v after the cancellation", script, took)
		}
		h.ok("shell", args{"command": "true"}, nil)
		if grown := size(h.path("log")); grown != after {
			t.Errorf("%s: went on writing 250 ms after the cancellation: %d bytes, then %d", script, after, grown)
		}
	}
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// eventually looks until it holds.
func eventually(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(limit)
	for !holds() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// TestShellSpill: the whole output is kept, readable by its owner alone, only
// when a command ran to its end and not all could be shown.
func TestShellSpill(t *testing.T) {
	dir := t.TempDir()
	h := newHost(t, func(d *builtin.Deps, _ *tools.RegistryOptions) {
		d.Shell.SpillDir, d.Shell.MaxTotalOutputBytes = dir, 4<<20
	})
	spills := func() []string {
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	var m builtin.ShellMetadata
	text := h.ok("shell", args{"command": `printf '\033[31mred\033[0m\n'; seq 1 5000; exit 3`}, &m)
	if files := spills(); len(files) != 1 || files[0] != m.FullOutputPath || !strings.Contains(text, "[truncated by lines]\n[Full output: "+files[0]+"]\n[Command exited with code 3]") {
		t.Fatalf("files %v, path %q, text ends %q", files, m.FullOutputPath, text[max(0, len(text)-200):])
	}
	info, err := os.Stat(m.FullOutputPath)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("spill: %v %v", info.Mode(), err)
	}
	data, err := os.ReadFile(m.FullOutputPath)
	if err != nil || int64(len(data)) != m.TotalOutputBytes || !strings.HasPrefix(string(data), "\x1b[31mred\x1b[0m\n1\n2\n") || !strings.HasSuffix(string(data), "\n5000\n") {
		t.Errorf("spill has %d bytes of %d, error %v", len(data), m.TotalOutputBytes, err)
	}
	if m.Truncation.OutputLines != 2000 || *m.Truncation.TotalLines != 5001 || !strings.HasPrefix(text, "3001\n") {
		t.Errorf("truncation %+v, text begins %.20q", m.Truncation, text)
	}
	os.Remove(m.FullOutputPath)

	h.ok("shell", args{"command": "seq 1 2000"}, nil)
	h.ok("shell", args{"command": `for i in $(seq 1 60000); do printf '\033[0m'; done; echo x`}, nil) // much, but all of it is shown
	h.fails("shell", args{"command": "seq 1 5000; sleep 306", "timeout": 1}, tools.CodeTimeout)
	result := h.fails("shell", args{"command": "yes"}, tools.CodeLimit)
	if m := shellMetadata(t, result); !m.OutputLimitExceeded || m.TotalOutputBytes != 4<<20 || m.FullOutputPath != "" || m.ExitCode != nil {
		t.Errorf("metadata over the cap: %s", result.Metadata)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan *tools.Result, 1)
	go func() {
		done <- h.callAs(ctx, "shell", args{"command": "seq 1 5000; touch ready; sleep 307"}, callOptions())
	}()
	eventually(t, 10*time.Second, "the output is out", func() bool { _, err := os.Stat(h.path("ready")); return err == nil })
	cancel()
	<-done
	if files := spills(); len(files) != 0 {
		t.Errorf("spills were left: %v", files)
	}
}

// TestShellInvalidBytes: U+FFFD takes more room than the byte it stands for; what
// is cut off for it is kept like everything else that is.
func TestShellInvalidBytes(t *testing.T) {
	h := newHost(t, nil)
	var m builtin.ShellMetadata
	text := h.ok("shell", args{"command": `head -c 40000 /dev/zero | tr '\0' '\377'`}, &m)
	data, err := os.ReadFile(m.FullOutputPath)
	if err != nil || len(data) != 40000 || data[0] != 0xff {
		t.Fatalf("%d bytes kept at %q: %v; the text ends %q", len(data), m.FullOutputPath, err, text[len(text)-80:])
	}
	if !m.Truncation.Truncated || m.Truncation.OutputBytes > m.Truncation.MaxBytes || m.TotalOutputBytes != 40000 {
		t.Errorf("%+v", m)
	}
}

// TestShellStorageFails: output that cannot be kept ends the command.
func TestShellStorageFails(t *testing.T) {
	h := newHost(t, func(d *builtin.Deps, _ *tools.RegistryOptions) { d.Shell.SpillDir = filepath.Join(t.TempDir(), "gone") })
	within(t, 5*time.Second, "a command whose output cannot be kept", func() {
		result := h.fails("shell", args{"command": "seq 1 100000; sleep 308"}, tools.CodeNotFound)
		if m := shellMetadata(t, result); !m.OutputStorageFailed {
			t.Errorf("metadata: %s", result.Metadata)
		}
	})
}

// TestShellRedirected: what goes to a file is not output, however much it is.
func TestShellRedirected(t *testing.T) {
	h := newHost(t, func(d *builtin.Deps, _ *tools.RegistryOptions) { d.Shell.MaxTotalOutputBytes = 1 << 20 })
	if text := h.ok("shell", args{"command": "head -c 50000000 /dev/zero >big; wc -c <big"}, nil); strings.TrimSpace(text) != "50000000" {
		t.Errorf("got %q", text)
	}
}

// TestShellBorders: characters and escapes that arrive in pieces, and tails
// that begin within one.
func TestShellBorders(t *testing.T) {
	h := newHost(t, func(d *builtin.Deps, _ *tools.RegistryOptions) { d.Shell.MaxBytes = 100 })
	for _, c := range []struct{ name, command, want string }{
		{"rune in two writes", `printf '\xe2\x82'; sleep 0.03; printf '\xac\n'`, "€\n"},
		{"escape in pieces", `printf 'a\033'; sleep 0.03; printf '[3'; sleep 0.03; printf '1mb\033]0;ti'; sleep 0.03; printf 'tle\007c\n'`, "abc\n"},
		{"8-bit control in UTF-8", `printf 'a\xc2'; sleep 0.03; printf '\x9b1mb\xc2\xa9\n'`, "ab©\n"},
		{"invalid", `printf 'a\xff\xf0\x9f\x98b\n'`, "a\ufffd\ufffdb\n"},
		{"controls", `printf 'a\000\010\177b\tc\r\n'`, `a\x00\x08\x7fb` + "\tc\r\n"},
		{"unended string", `printf 'a\033]0;never ended\nshown\n'`, "a\nshown\n"},
	} {
		if text := h.ok("shell", args{"command": c.command}, nil); text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
	var m builtin.ShellMetadata
	text := h.ok("shell", args{"command": `for i in $(seq 1 60); do printf '€'; done`}, &m)
	if want := strings.Repeat("€", 33) + "\n[truncated by bytes]"; !strings.HasPrefix(text, want) {
		t.Errorf("a long last line: %q", text)
	}
	if m.Truncation.OutputBytes != 99 || *m.Truncation.TotalBytes != 180 {
		t.Errorf("truncation: %+v", m.Truncation)
	}
	if text = h.ok("shell", args{"command": `for i in $(seq 1 9); do echo "line number $i of nine"; done`}, nil); !strings.HasPrefix(text, "line number 6 of nine\n") {
		t.Errorf("whole lines: %q", text)
	}
}

func TestShellInput(t *testing.T) {
	h := newHost(t, nil)
	h.fails("shell", args{"command": "a\x00b"}, tools.CodeToolInput)
	h.fails("shell", args{"command": "# " + strings.Repeat("x", 128<<10)}, tools.CodeToolInput)
	if text := h.ok("shell", args{"command": "# " + strings.Repeat("x", 120<<10)}, nil); text != "(no output)" {
		t.Errorf("got %.80q", text)
	}
	// It has no input to wait for.
	within(t, 3*time.Second, "reading from nothing", func() { h.ok("shell", args{"command": "cat"}, nil) })
}
