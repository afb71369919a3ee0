package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"context"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

func TestMain(m *testing.M) {
	child.Main()
	if role := os.Getenv(roleVariable); role != "" {
		playRole(role)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newRunner(t testing.TB, opts *Options) *Runner {
	t.Helper()
	if opts == nil {
		opts = &Options{}
	}
	if opts.Path == "" {
		path, err := Find(os.Getenv("PATH"))
		must(t, err)
		opts.Path = path
	}
	if opts.Env == nil {
		opts.Env = child.Environment(os.Environ(), nil)
	}
	owner := child.NewOwner(nil)
	t.Cleanup(func() { must(t, owner.Close()) })
	return New(owner, opts)
}

// plain runs git without any of the settings, to set a test up.
func plain(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := plainCommand(dir, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func plainCommand(dir string, args ...string) *exec.Cmd {
	command := exec.Command("git", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_EDITOR=true")
	return command
}

func repository(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	plain(t, root, "init", "-q", "-b", "main")
	write(t, root, "a.txt", "one\n")
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "first")
	return root
}

func write(t testing.TB, root, name, text string) {
	t.Helper()
	full := filepath.Join(root, name)
	must(t, os.MkdirAll(filepath.Dir(full), 0o755))
	must(t, os.WriteFile(full, []byte(text), 0o644))
}

func TestRun(t *testing.T) {
	root := repository(t)
	r := newRunner(t, nil)
	out, err := r.Run(t.Context(), root, []string{"log", "--format=%s"}, nil)
	must(t, err)
	if string(out.Stdout) != "first\n" {
		t.Errorf("log: %q", out.Stdout)
	}
	out, err = r.Run(t.Context(), root, []string{"cat-file", "--batch"}, &RunOptions{Stdin: []byte("HEAD:a.txt\n")})
	must(t, err)
	if !strings.HasSuffix(string(out.Stdout), "\none\n\n") {
		t.Errorf("cat-file: %q", out.Stdout)
	}
	out, err = r.Run(t.Context(), root, []string{"diff", "--quiet", "HEAD"}, &RunOptions{OKCodes: []int{1}})
	if err != nil || out.ExitCode != 0 {
		t.Errorf("diff --quiet: %+v, %v", out, err)
	}
}

func TestErrors(t *testing.T) {
	root := repository(t)
	r := newRunner(t, nil)
	_, err := r.Run(t.Context(), root, []string{"rev-parse", "--verify", "nothing"}, nil)
	var failure *Error
	if !errors.Is(err, tools.CodeGitFailed) || !errors.As(err, &failure) || failure.ExitCode != 128 || !slices.Equal(failure.Args, []string{"rev-parse", "--verify", "nothing"}) || failure.Stderr == "" {
		t.Errorf("a failing command: %#v", err)
	}
	if _, err = r.Run(t.Context(), root, []string{"fetch", "https://user:password@127.0.0.1:1/x"}, nil); err == nil || strings.Contains(err.(*tools.Error).Err.(*Error).Stderr, "password") {
		t.Errorf("credentials in what git said: %v", err)
	}
	write(t, root, "big", strings.Repeat("x", 10_000))
	if _, err = r.Run(t.Context(), root, []string{"hash-object", "-w", "big"}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err = r.Run(t.Context(), root, []string{"cat-file", "--batch"}, &RunOptions{Stdin: []byte(strings.Repeat("HEAD:a.txt\n", 1000)), MaxOutput: 1000}); !errors.Is(err, tools.CodeLimit) {
		t.Errorf("too much output: %v", err)
	}
	for _, c := range []struct {
		args []string
		opts *RunOptions
	}{
		{nil, nil}, {[]string{"--exec-path=/tmp"}, nil}, {[]string{"-c", "x.y=z"}, nil}, {[]string{"status", "a\x00b"}, nil},
		{[]string{"status"}, &RunOptions{MaxOutput: 65 << 20}}, {[]string{"status"}, &RunOptions{Timeout: time.Hour}},
	} {
		if _, err = r.Run(t.Context(), root, c.args, c.opts); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%q: %v", c.args, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = r.Run(ctx, root, []string{"status"}, nil); !errors.Is(err, tools.CodeAborted) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err = New(child.NewOwner(nil), nil).Run(t.Context(), root, []string{"status"}, nil); !errors.Is(err, tools.CodeGitFailed) {
		t.Errorf("without git: %v", err)
	}
}

func TestWorkTree(t *testing.T) {
	root := repository(t)
	write(t, root, "sub/dir/f", "x")
	bare := t.TempDir()
	plain(t, bare, "init", "-q", "--bare")
	moved := repository(t)
	plain(t, moved, "config", "core.worktree", "/")
	r := newRunner(t, nil)
	for _, c := range []struct {
		dir string
		top string
		ok  bool
	}{
		{root, root, true}, {filepath.Join(root, "sub/dir"), root, true}, {filepath.Join(root, ".git"), "", false}, {bare, "", false}, {t.TempDir(), "", false},
	} {
		top, ok, err := r.WorkTree(t.Context(), c.dir)
		if top != c.top || ok != c.ok || err != nil {
			t.Errorf("%s: %q, %v, %v; want %q, %v", c.dir, top, ok, err, c.top, c.ok)
		}
	}
	if top, ok, err := r.WorkTree(t.Context(), moved); ok {
		t.Errorf("core.worktree=/: %q, %v, %v", top, ok, err)
	}
	linked := filepath.Join(t.TempDir(), "linked")
	plain(t, root, "worktree", "add", "-q", linked)
	if top, ok, err := r.WorkTree(t.Context(), linked); !ok || top != linked {
		t.Errorf("a linked work tree: %q, %v, %v", top, ok, err)
	}
}

// TestIndexPath: the path comes with the top, from one process.
func TestIndexPath(t *testing.T) {
	count := 0
	r := newRunner(t, &Options{Observe: func([]string, child.Exit) { count++ }})
	root := repository(t)
	write(t, root, "sub/dir/f", "x")
	linked := filepath.Join(t.TempDir(), "linked")
	plain(t, root, "worktree", "add", "-q", linked)
	type expected struct {
		dir, top, index string
		processes       int
	}
	cases := []expected{
		{root, root, filepath.Join(root, ".git/index"), 1},
		{filepath.Join(root, "sub/dir"), root, filepath.Join(root, ".git/index"), 1},
		{linked, linked, filepath.Join(root, ".git/worktrees/linked/index"), 1},
		{t.TempDir(), "", "", 0},
		{filepath.Join(root, ".git"), "", "", 0},
	}
	if runtime.GOOS != "windows" { // where no name has a line break
		broken := filepath.Join(root, "line\nbreak")
		plain(t, root, "init", "-q", broken)
		cases = append(cases, expected{broken, broken, filepath.Join(broken, ".git/index"), 3})
	}
	for _, c := range cases {
		count = 0
		top, index, ok, err := r.Index(t.Context(), c.dir)
		if top != c.top || index != c.index || ok != (c.top != "") || err != nil || count != c.processes {
			t.Errorf("%q: %q, %q, %v, %v in %d processes; want %+v", c.dir, top, index, ok, err, count, c)
		}
	}
	moved := repository(t)
	plain(t, moved, "config", "core.worktree", "/")
	if top, index, ok, err := r.Index(t.Context(), moved); ok {
		t.Errorf("core.worktree=/: %q, %q, %v, %v", top, index, ok, err)
	}
}

// TestForeignOwner: a work tree of another user is refused with a message that
// says what to do, and works once it is named as safe.
func TestForeignOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("giving a directory to another user needs root")
	}
	root := repository(t)
	must(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, 65534, 65534))
	}))
	_, _, err := newRunner(t, nil).WorkTree(t.Context(), root)
	if !errors.Is(err, tools.CodeGitFailed) || !strings.Contains(err.Error(), "65534") || !strings.Contains(err.Error(), "safe") {
		t.Errorf("another user's: %v", err)
	}
	if top, ok, err := newRunner(t, &Options{SafeDirectories: []string{root}}).WorkTree(t.Context(), root); top != root || !ok || err != nil {
		t.Errorf("named as safe: %q, %v, %v", top, ok, err)
	}
}

// TestFind: a git inside the workspace is not found, also behind a link.
func TestFind(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(root, executableName), []byte("#!/bin/sh\n"), 0o755))
	must(t, os.Symlink(root, filepath.Join(elsewhere, "bin")))
	list := strings.Join([]string{".", "", root, filepath.Join(elsewhere, "bin")}, string(filepath.ListSeparator))
	if path, err := Find(list, root); err == nil {
		t.Errorf("found %s inside the workspace", path)
	}
	if path, err := Find(list); err != nil || path != filepath.Join(root, executableName) {
		t.Errorf("without an excluded root: %q, %v", path, err)
	}
}

func TestCheckRef(t *testing.T) {
	for ref, ok := range map[string]bool{"main": true, "v1.2^{}": true, "HEAD~2": true, "": false, "-x": false, "--upload-pack=x": false, "a\nb": false, "a\x00": false} {
		if err := CheckRef(ref); (err == nil) != ok {
			t.Errorf("%q: %v", ref, err)
		}
	}
}

// TestCancelKills: git and all it started are gone when its context has ended.
func TestCancelKills(t *testing.T) {
	root := repository(t)
	fifo := filepath.Join(root, ".git", "fifo")
	must(t, syscall.Mkfifo(fifo, 0o600))
	r := newRunner(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	// git waits for a writer of the FIFO that never comes.
	_, err := r.Run(ctx, root, []string{"apply", "--check", fifo}, nil)
	if !errors.Is(err, tools.CodeTimeout) || time.Since(begin) > 5*time.Second {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}
