package builtin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/git"
)

// gitHost is a host with the git tools besides, on a directory of a repository.
func gitHost(t testing.TB, root string, adjust func(*builtin.GitDeps)) *host {
	t.Helper()
	h := hostAt(t, root, t.TempDir(), nil)
	path, err := git.Find(os.Getenv("PATH"))
	if err != nil {
		t.Fatal(err)
	}
	deps := &builtin.GitDeps{
		Workspace: h.ws, Runner: git.New(h.owner, &git.Options{Path: path, Env: child.Environment(os.Environ(), nil)}), OutputDir: t.TempDir(),
	}
	if adjust != nil {
		adjust(deps)
	}
	list, err := builtin.Git(deps)
	if err != nil {
		t.Fatal(err)
	}
	if h.registry, err = tools.NewRegistry(append(h.registry.Tools(), list...), &tools.RegistryOptions{}); err != nil {
		t.Fatal(err)
	}
	return h
}

// plainGit runs git as it is, to set a test up.
func plainGit(t testing.TB, dir string, args ...string) string {
	t.Helper()
	command := exec.Command("git", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org", "GIT_EDITOR=true")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func put(t testing.TB, root, name, text string) {
	t.Helper()
	full := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// gitRepository is one commit with a.txt and sub/b.txt.
func gitRepository(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	plainGit(t, root, "init", "-q", "-b", "main")
	put(t, root, "a.txt", "one\ntwo\nthree\n")
	put(t, root, "sub/b.txt", "b\n")
	plainGit(t, root, "add", "-A")
	plainGit(t, root, "commit", "-q", "-m", "first")
	return root
}

func TestGitStatusTool(t *testing.T) {
	root := gitRepository(t)
	h := gitHost(t, root, nil)
	var m builtin.GitStatus
	if text := h.ok("git_status", args{}, &m); text != "On main at "+m.Branch.OID[:12]+"\nclean" || m.Dirty || m.Entries == nil {
		t.Errorf("clean: %q, %+v", text, m)
	}
	plainGit(t, root, "mv", "a.txt", "z.txt")
	put(t, root, "caf\xe9 \x1b[1m", "x")
	put(t, root, "sub/b.txt", "changed\n")
	text := h.ok("git_status", args{}, &m)
	want := []string{"R. z.txt from a.txt", ".M sub/b.txt", `?? "caf\351 \033[1m"`}
	for _, line := range want {
		if !strings.Contains(text, "\n"+line) {
			t.Errorf("%q is not in %q", line, text)
		}
	}
	if len(m.Entries) != 3 || m.Entries[1].OrigPath != "a.txt" || m.Entries[1].Kind != "renamed" || m.Entries[2].Kind != "untracked" || !m.Dirty || m.Branch.Name != "main" {
		t.Errorf("%+v", m)
	}
	below := gitHost(t, filepath.Join(root, "sub"), nil)
	if text := below.ok("git_status", args{}, &m); len(m.Entries) != 1 || m.Entries[0].Path != "b.txt" {
		t.Errorf("below: %q, %+v", text, m)
	}
	outside := gitHost(t, t.TempDir(), nil)
	outside.fails("git_status", args{}, tools.CodeGitNotRepository)
	without := gitHost(t, root, func(d *builtin.GitDeps) { d.Runner = nil })
	without.fails("git_status", args{}, tools.CodeGitFailed)
}
