package check_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/diagnostics"
	"github.com/prism-ls/prism-ls/diagnostics/parse"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/check"
	"github.com/prism-ls/prism-ls/tools/child"
)

func TestMain(m *testing.M) {
	child.Main()
	os.Exit(m.Run())
}

// fixture is a root with an owner of processes.
type fixture struct {
	t     *testing.T
	root  string
	owner *child.Owner
	opts  check.Options
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	owner := child.NewOwner(nil)
	t.Cleanup(func() {
		if err := owner.Close(); err != nil {
			t.Error(err)
		}
	})
	return &fixture{t: t, root: root, owner: owner, opts: check.Options{Owner: owner, Root: root, Environment: os.Environ()}}
}

func (f *fixture) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.root, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) runner(definitions ...check.Definition) *check.Runner {
	f.t.Helper()
	r, err := check.New(definitions, &f.opts)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

// shell is a check that runs a script.
func shell(script string) check.Definition {
	return check.Definition{Name: "c", File: "/bin/sh", Args: []string{"-c", script}}
}

func (f *fixture) run(d check.Definition) *check.Result {
	f.t.Helper()
	result, err := f.runner(d).Run(f.t.Context(), d.Name)
	if err != nil {
		f.t.Fatal(err)
	}
	return result
}

func TestResult(t *testing.T) {
	f := newFixture(t)
	f.write("sub/dir/here", "x")
	d := shell(`echo out; echo err >&2; echo "$WHO $TERM"; ls; exit 3`)
	d.Dir, d.Env = "sub/dir", []string{"WHO=me=you"}
	got := f.run(d)
	if got.ExitCode != 3 || got.Passed() || got.Output != "out\nerr\nme=you dumb\nhere\n" || got.TotalBytes != int64(len(got.Output)) || got.Truncated || got.Duration <= 0 {
		t.Errorf("got %+v", got)
	}
	if got.Diagnostics != nil || got.Sandbox != nil {
		t.Errorf("diagnostics %v, sandbox %v without a parser and a sandbox", got.Diagnostics, got.Sandbox)
	}
	if got := f.run(shell("true")); !got.Passed() || got.Output != "" {
		t.Errorf("got %+v", got)
	}
	if got := f.run(shell("kill -SEGV $$")); got.ExitCode != -1 || got.Passed() || got.Signal == "" {
		t.Errorf("a check that a signal ended: %+v", got)
	}
}

func TestProgramIsFound(t *testing.T) {
	f := newFixture(t)
	f.write("bin/tool", "#!/bin/sh\necho \"root's tool\" $1\n")
	f.write("sub/x", "")
	if got := f.run(check.Definition{Name: "c", File: "bin/tool", Args: []string{"a b"}, Dir: "sub"}); got.Output != "root's tool a b\n" {
		t.Errorf("a path below the root: %q", got.Output)
	}
	f.opts.Environment = []string{"PATH=relative:" + filepath.Join(f.root, "bin") + ":" + os.Getenv("PATH")}
	if got := f.run(check.Definition{Name: "c", File: "tool"}); got.Output != "root's tool\n" {
		t.Errorf("a name on PATH: %q", got.Output)
	}
	// A root that nobody trusts gives no programs, not through a link either.
	f.opts.Exclude = []string{f.root}
	outside := t.TempDir()
	if err := os.Symlink(filepath.Join(f.root, "bin", "tool"), filepath.Join(outside, "linked")); err != nil {
		t.Fatal(err)
	}
	f.opts.Environment = []string{"PATH=" + filepath.Join(f.root, "bin") + ":" + outside}
	for _, name := range []string{"tool", "linked", "no-such-program"} {
		_, err := f.runner(check.Definition{Name: "c", File: name}).Run(t.Context(), "c")
		if !errors.Is(err, tools.CodeNotFound) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.runner(check.Definition{Name: "c", File: "bin/none"}).Run(t.Context(), "c"); !errors.Is(err, tools.CodeNotFound) {
		t.Errorf("a path where nothing is: %v", err)
	}
}

func TestDirectoryIsContained(t *testing.T) {
	f := newFixture(t)
	f.write("file", "x")
	if err := os.Symlink(t.TempDir(), filepath.Join(f.root, "out")); err != nil {
		t.Fatal(err)
	}
	for dir, code := range map[string]tools.Code{"out": tools.CodePathEscape, "none": tools.CodeNotFound, "file": tools.CodeNotFile} {
		d := shell("touch ran")
		d.Dir = dir
		if _, err := f.runner(d).Run(t.Context(), "c"); !errors.Is(err, code) {
			t.Errorf("cwd %s: %v, want %s", dir, err, code)
		}
	}
}

func TestRefusedDefinitions(t *testing.T) {
	f := newFixture(t)
	for what, change := range map[string]func(d *check.Definition){
		"check has the name":   func(d *check.Definition) { d.Name = "Big" },
		"the name \"\"":        func(d *check.Definition) { d.Name = "" },
		"the name \"-x\"":      func(d *check.Definition) { d.Name = "-x" },
		"to 64 characters":     func(d *check.Definition) { d.Name = strings.Repeat("x", 65) },
		"file is missing":      func(d *check.Definition) { d.File = "" },
		"file is \"../x\"":     func(d *check.Definition) { d.File = "../x" },
		"cwd is \"/etc\"":      func(d *check.Definition) { d.Dir = "/etc" },
		"cwd is \"a/../..\"":   func(d *check.Definition) { d.Dir = "a/../.." },
		"timeout is -1s":       func(d *check.Definition) { d.Timeout = -time.Second },
		"timeout is 1h0m1s":    func(d *check.Definition) { d.Timeout = time.Hour + time.Second },
		"NUL":                  func(d *check.Definition) { d.Args = []string{"a\x00"} },
		"must be NAME=value":   func(d *check.Definition) { d.Env = []string{"X"} },
		"LD_PRELOAD":           func(d *check.Definition) { d.Env = []string{"LD_PRELOAD=/x.so"} },
		"did you mean \"gcc\"": func(d *check.Definition) { d.Parser = "gc" },
		"there is no parser":   func(d *check.Definition) { d.Parser = "nothing-like-it" },
		"two checks have the":  func(*check.Definition) {},
	} {
		good := check.Definition{Name: "ok", File: "true"}
		bad := good
		change(&bad)
		_, err := check.New([]check.Definition{good, bad}, &f.opts)
		if !errors.Is(err, tools.CodeToolInput) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestBounds(t *testing.T) {
	f := newFixture(t)
	var nine []check.Definition
	for i := range 9 {
		nine = append(nine, check.Definition{Name: fmt.Sprint("c", i), File: "true"})
	}
	if _, err := check.New(nine, &f.opts); !errors.Is(err, tools.CodeToolInput) {
		t.Errorf("nine checks where eight may be: %v", err)
	}
	f.opts.Names = 9
	if names := f.runner(nine...).Names(); len(names) != 9 || !slices.IsSorted(names) {
		t.Errorf("names are %q", names)
	}
	for _, change := range []func(*check.Options){
		func(o *check.Options) { o.Names = 33 },
		func(o *check.Options) { o.Concurrency = 5 },
		func(o *check.Options) { o.Lines = 100_001 },
		func(o *check.Options) { o.Bytes = 64<<20 + 1 },
		func(o *check.Options) { o.Diagnostics = 10_001 },
		func(o *check.Options) { o.Lines = -1 },
		func(o *check.Options) { o.Owner = nil },
		func(o *check.Options) { o.Root = "relative" },
	} {
		opts := f.opts
		change(&opts)
		if _, err := check.New(nil, &opts); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%+v: %v", opts, err)
		}
	}
}

func TestUnknownName(t *testing.T) {
	f := newFixture(t)
	r := f.runner(check.Definition{Name: "test", File: "true"}, check.Definition{Name: "lint", File: "true"})
	_, err := r.Run(t.Context(), "tests")
	if !errors.Is(err, tools.CodeCheckUnknown) || !strings.Contains(err.Error(), "lint, test") || !strings.Contains(err.Error(), `"test"?`) {
		t.Errorf("got %v", err)
	}
	if _, err := f.runner().Run(t.Context(), "test"); !errors.Is(err, tools.CodeCheckUnknown) {
		t.Errorf("got %v", err)
	}
}

func TestOutputIsBounded(t *testing.T) {
	f := newFixture(t)
	f.opts.Lines, f.opts.Bytes = 3, 1000
	got := f.run(shell("seq 1 5"))
	if got.Output != "3\n4\n5\n" || !got.Truncated || got.TotalBytes != 10 {
		t.Errorf("lines: %+v", got)
	}
	got = f.run(shell("seq 1 3"))
	if got.Output != "1\n2\n3\n" || got.Truncated {
		t.Errorf("exactly the lines: %+v", got)
	}
	got = f.run(shell("for i in $(seq 1 40000); do printf ä; done"))
	if !got.Truncated || got.TotalBytes != 80_000 || got.Output != strings.Repeat("ä", 500) {
		t.Errorf("bytes: %d of %d, truncated %v", len(got.Output), got.TotalBytes, got.Truncated)
	}
	f.opts.Bytes = 999 // within a character
	if got = f.run(shell("for i in $(seq 1 40000); do printf ä; done")); got.Output != strings.Repeat("ä", 499) {
		t.Errorf("a cut within a character leaves %d bytes", len(got.Output))
	}
}

// TestWhatIsLeftRunningEnds: neither the pipe nor a new session keeps it.
func TestWhatIsLeftRunningEnds(t *testing.T) {
	f := newFixture(t)
	d := shell(`setsid sh -c 'echo $$ >pid; exec sleep 400' & while [ ! -s pid ]; do :; done; echo done`)
	if got := f.run(d); got.Output != "done\n" || !got.Passed() {
		t.Errorf("got %+v", got)
	}
	if alive(t, f.root) {
		t.Error("what the check had left in the background still runs")
	}
}

// alive reports whether the process that wrote its number still runs.
func alive(t *testing.T, root string) bool {
	t.Helper()
	pid, err := os.ReadFile(filepath.Join(root, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command("kill", "-0", strings.TrimSpace(string(pid))).Run() == nil
}

func TestTimeoutAndCancel(t *testing.T) {
	f := newFixture(t)
	d := shell(`trap '' TERM; echo $$ >pid; echo partial; while :; do sleep 0.05; done`)
	d.Timeout = 300 * time.Millisecond
	result, err := f.runner(d).Run(t.Context(), "c")
	if !errors.Is(err, tools.CodeTimeout) || result == nil || result.Output != "partial\n" || result.ExitCode != -1 || alive(t, f.root) {
		t.Errorf("timeout: %v, %+v", err, result)
	}
	os.Remove(filepath.Join(f.root, "pid"))
	d.Timeout = 0
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if text, _ := os.ReadFile(filepath.Join(f.root, "pid")); len(text) > 0 {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	result, err = f.runner(d).Run(ctx, "c")
	// On a busy machine it runs before its start is confirmed: then there is no result.
	if !errors.Is(err, tools.CodeAborted) || result != nil && result.ExitCode != -1 || alive(t, f.root) {
		t.Errorf("cancelled: %v, %+v", err, result)
	}
	if _, err := f.runner(d).Run(ctx, "c"); !errors.Is(err, tools.CodeAborted) {
		t.Errorf("cancelled before: %v", err)
	}
}

// TestConcurrency: as many at once as are allowed, and no more; who waits can be
// called off.
func TestConcurrency(t *testing.T) {
	f := newFixture(t)
	f.opts.Concurrency = 2
	d := shell(`echo + >>log; while [ ! -e "go" ]; do sleep 0.01; done; echo - >>log`)
	r := f.runner(d)
	var done sync.WaitGroup
	var failed atomic.Int32
	for range 4 {
		done.Go(func() {
			if result, err := r.Run(t.Context(), "c"); err != nil || !result.Passed() {
				failed.Add(1)
			}
		})
	}
	log := func() string {
		text, _ := os.ReadFile(filepath.Join(f.root, "log"))
		return string(text)
	}
	for deadline := time.Now().Add(time.Minute); log() != "+\n+\n"; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("two never ran: %q", log())
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := r.Run(ctx, "c"); !errors.Is(err, tools.CodeTimeout) {
		t.Errorf("a call that waits for a place: %v", err)
	}
	if log() != "+\n+\n" {
		t.Errorf("more than two ran: %q", log())
	}
	f.write("go", "x")
	done.Wait()
	if failed.Load() != 0 || strings.Count(log(), "-") != 4 {
		t.Errorf("%d failed: %q", failed.Load(), log())
	}
}

func TestSandbox(t *testing.T) {
	f := newFixture(t)
	granted, err := f.owner.Probe(t.Context())
	if err != nil || !granted.FilesystemIsolated {
		if os.Getenv("CI") == "true" {
			t.Fatalf("this system has no sandbox: %v %+v", err, granted)
		}
		t.Skip("this system has no sandbox")
	}
	outside := t.TempDir()
	f.opts.Sandbox = child.Sandbox{Mode: child.Require, WriteRoots: []string{f.root}}
	got := f.run(shell("echo x >inside; echo x >" + outside + "/outside; cat inside"))
	if got.Sandbox == nil || !got.Sandbox.FilesystemIsolated || !strings.HasSuffix(got.Output, "x\n") {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(filepath.Join(outside, "outside")); err == nil {
		t.Error("a confined check wrote outside of the root")
	}
	if got.Sandbox.NetworkIsolated {
		d := shell("true")
		d.Network = true
		if got := f.run(d); got.Sandbox.NetworkIsolated {
			t.Error("a check that may use the network was not given it")
		}
	}
}

func TestHostParser(t *testing.T) {
	f := newFixture(t)
	f.opts.Parsers = map[string]parse.Parser{
		"words": {Parse: func(in *parse.Input) (*parse.Result, error) {
			return &parse.Result{Diagnostics: []diagnostics.Diagnostic{{Producer: in.Producer, Message: string(in.Output), Path: in.Dir}}}, nil
		}},
		"document": {Document: true, Parse: func(in *parse.Input) (*parse.Result, error) {
			return &parse.Result{Diagnostics: []diagnostics.Diagnostic{{Message: string(in.Output)}}, Dropped: 1, Outside: 2}, errors.New("not whole")
		}},
		"panics": {Parse: func(*parse.Input) (*parse.Result, error) { panic("at what it read") }},
	}
	run := func(parser, script string) *check.Result {
		d := shell(script)
		d.Parser = parser
		return f.run(d)
	}
	got := run("words", "echo a; echo b >&2")
	if len(got.Diagnostics) != 1 || got.Diagnostics[0].Message != "a\nb\n" || got.Diagnostics[0].Producer != "c" || got.ParseError != "" {
		t.Errorf("got %+v", got)
	}
	got = run("document", "echo a; echo b >&2")
	if got.Diagnostics[0].Message != "a\n" || !strings.Contains(got.Output, "b\n") || got.ParseError != "not whole; problems over the bounds: 1; problems without a place in the workspace: 2" {
		t.Errorf("got %+v", got)
	}
	if got = run("document", "echo b >&2"); got.Diagnostics[0].Message != "b\n" {
		t.Errorf("a document on standard error: %+v", got)
	}
	if got = run("panics", "exit 2"); got.ExitCode != 2 || !strings.Contains(got.ParseError, "at what it read") {
		t.Errorf("got %+v", got)
	}
	f.opts.Bytes = 10
	if got = run("document", "seq 1 100"); got.Diagnostics != nil || !strings.Contains(got.ParseError, "more than the 10") {
		t.Errorf("a document over the bound: %+v", got)
	}
	if got = run("words", "seq 1 100"); !strings.Contains(got.ParseError, "the last 10 were read") {
		t.Errorf("lines over the bound: %+v", got)
	}
}
