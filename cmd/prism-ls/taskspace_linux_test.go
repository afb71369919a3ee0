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
	const (
		notFound      = "ERR_PRISM_NOT_FOUND"
		notRepository = "ERR_PRISM_GIT_NOT_REPOSITORY"
	)
	gone := []struct{ tool, arguments, code string }{
		{"write", `{"path":"a.txt","content":"x","force":true}`, notFound}, {"write", `{"path":"new.txt","content":"x"}`, notFound},
		{"edit", `{"path":"a.txt","edits":[{"oldText":"main","newText":"x"}]}`, notFound}, {"delete", `{"path":"a.txt"}`, notFound},
		{"move", `{"from":"a.txt","to":"b.txt"}`, notFound}, {"shell", `{"command":"echo x > a.txt"}`, notFound},
		{"git_branch", `{"op":"create","name":"other"}`, notFound}, {"git_branch", `{"op":"switch","name":"main"}`, notFound},
		{"git_branch", `{"op":"list"}`, notFound}, {"git_commit", `{"message":"m","paths":["a.txt"]}`, notFound},
		{"git_restore", `{"paths":["a.txt"],"from":"HEAD"}`, notFound}, {"git_worktree", `{"op":"list"}`, notFound},
		{"git_apply", `{"op":"apply","patch":"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-main\n+x\n"}`, notFound},
		{"git_diff", `{}`, notFound}, {"git_show", `{"ref":"HEAD","path":"a.txt"}`, notFound}, {"git_blame", `{"path":"a.txt"}`, notFound},
	}
	for _, call := range calls {
		gone = append(gone, struct{ tool, arguments, code string }{call.tool, call.arguments, notFound})
	}
	n := 100
	expect := func(when, tool, arguments, code string) {
		t.Helper()
		n++
		s.startCall(n, tool, arguments)
		if r := s.receive(); !strings.Contains(r.raw, code) || r.Error == nil && !r.Result.IsError {
			t.Errorf("%s %s, when the work tree %s: %s, want %s", tool, arguments, when, r.raw, code)
		}
	}
	// What git knows a work tree by is gone first: one within the main checkout is then a
	// directory of that.
	must(t, os.Rename(filepath.Join(tree, ".git"), filepath.Join(base, "aside")))
	for _, call := range gone {
		if strings.HasPrefix(call.tool, "git_") {
			expect("has no .git", call.tool, call.arguments, notRepository)
		}
	}
	must(t, os.Rename(filepath.Join(base, "aside"), filepath.Join(tree, ".git")))
	runGit(t, main, "worktree", "remove", tree)
	for _, call := range gone {
		expect("is gone", call.tool, call.arguments, call.code)
	}
	must(t, os.Mkdir(tree, 0o700)) // somebody makes another directory in its place
	for _, call := range gone {
		if call.tool != "shell" { // which is a program, and begins in that directory
			expect("is another directory", call.tool, call.arguments, call.code)
		}
	}
	must(t, os.Remove(tree))
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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
