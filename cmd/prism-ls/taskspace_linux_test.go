package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWorkTreeGone: while prism-ls serves a work tree that is then removed, every call
// fails, and none falls back to the main checkout, also not where the work tree lay in
// that.
func TestWorkTreeGone(t *testing.T) {
	for _, way := range []struct {
		name  string
		flags []string
	}{{"daemon", nil}, {"alone", []string{"--no-daemon"}}} {
		for _, inside := range []bool{false, true} {
			name := way.name + " beside the main checkout"
			if inside {
				name = way.name + " inside the main checkout"
			}
			t.Run(name, func(t *testing.T) { t.Parallel(); workTreeGone(t, inside, way.flags) })
		}
	}
}

func workTreeGone(t *testing.T, inside bool, flags []string) {
	base := t.TempDir()
	main, tree := filepath.Join(base, "main"), filepath.Join(base, "tree")
	if inside {
		tree = filepath.Join(main, "tree")
	}
	runGit(t, base, "init", "-q", "-b", "main", main)
	if err := os.WriteFile(filepath.Join(main, "a.txt"), []byte("main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runGit(t, main, "add", "-A")
	runGit(t, main, "commit", "-q", "-m", "first")
	runGit(t, main, "worktree", "add", "-q", "-b", "task", tree)
	s := startProgram(t, "prism-ls", tree, append([]string{"--profile", "trusted", "--toolsets", "core,git"}, flags...)...)
	t.Cleanup(func() { _ = os.MkdirAll(tree, 0o700) }) // the daemon is found by its root
	s.initialize()
	calls := []struct{ tool, arguments string }{
		{"read", `{"path":"a.txt"}`}, {"repo_list", `{}`}, {"glob", `{"pattern":"*.txt"}`}, {"repo_search", `{"query":"main"}`},
		{"git_status", `{}`}, {"git_log", `{}`}, {"shell", `{"command":"cat a.txt"}`},
	}
	for i, call := range calls {
		s.startCall(i, call.tool, call.arguments)
		if r := s.receive(); r.Error != nil || r.Result.IsError {
			t.Fatalf("%s while the work tree is there: %s", call.tool, r.raw)
		}
	}
	runGit(t, main, "worktree", "remove", tree)
	calls = append(calls, []struct{ tool, arguments string }{
		{"write", `{"path":"a.txt","content":"x","force":true}`}, {"write", `{"path":"new.txt","content":"x"}`},
		{"edit", `{"path":"a.txt","edits":[{"oldText":"main","newText":"x"}]}`}, {"delete", `{"path":"a.txt"}`},
		{"move", `{"from":"a.txt","to":"b.txt"}`}, {"shell", `{"command":"echo x > a.txt"}`},
		{"git_branch", `{"op":"create","name":"other"}`}, {"git_branch", `{"op":"list"}`}, {"git_commit", `{"message":"m","paths":["a.txt"]}`}, {"git_restore", `{"paths":["a.txt"],"from":"HEAD"}`},
	}...)
	for i, call := range calls {
		s.startCall(100+i, call.tool, call.arguments)
		if r := s.receive(); r.Error == nil && !r.Result.IsError {
			t.Errorf("%s %s although the work tree is gone: %s", call.tool, call.arguments, r.raw)
		}
	}
	if data, err := os.ReadFile(filepath.Join(main, "a.txt")); err != nil || string(data) != "main\n" {
		t.Errorf("the main checkout has %q, %v", data, err)
	}
	if out := runGit(t, main, "status", "--porcelain") + runGit(t, main, "branch", "--format=%(refname:short)"); out != "main\ntask\n" {
		t.Errorf("the main checkout: %s", out)
	}
}

func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
