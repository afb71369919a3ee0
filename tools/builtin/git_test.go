package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/check"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/state"
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

func TestGitDiffTool(t *testing.T) {
	root := gitRepository(t)
	h := gitHost(t, root, nil)
	var m builtin.GitDiff
	if text := h.ok("git_diff", args{}, &m); text != "(no changes)" || m.Files == nil || m.Patch != "" {
		t.Errorf("clean: %q, %+v", text, m)
	}
	put(t, root, "a.txt", "one\n2\x1b[2J\nthree\n")
	put(t, root, "sub/b.txt", "caf\xe9\n")
	plainGit(t, root, "add", "sub")
	text := h.ok("git_diff", args{}, &m)
	if !strings.HasPrefix(text, "1 file, +1 -1\ndiff --git a/a.txt b/a.txt\n") || !strings.Contains(text, "\n+2\\x1b[2J\n") || strings.Contains(text, "\x1b") {
		t.Errorf("the text %q", text)
	}
	if m.Patch != plainGit(t, root, "-c", "core.abbrev=10", "diff")+"\n" || m.Truncated || m.Artifact != nil || m.Files[0].Status != "modified" || *m.Files[0].Additions != 1 {
		t.Errorf("%+v", m)
	}
	h.ok("git_diff", args{"staged": true}, &m)
	if m.Files[0].Path != "sub/b.txt" || !strings.Contains(m.Patch, "+caf\uFFFD\n") || m.Encoding == "" || m.Artifact == nil {
		t.Fatalf("not UTF-8: %+v", m)
	}
	if kept, err := os.ReadFile(m.Artifact.Path); err != nil || !strings.Contains(string(kept), "+caf\xe9\n") {
		t.Errorf("the artifact %q, %v", kept, err)
	}
	h.ok("git_diff", args{"base": "HEAD", "paths": []string{"sub"}, "contextLines": 0}, &m)
	if len(m.Files) != 1 || len(m.Base) != 40 {
		t.Errorf("base and paths: %+v", m)
	}
	below := gitHost(t, filepath.Join(root, "sub"), nil)
	below.ok("git_diff", args{"base": "HEAD"}, &m)
	if len(m.Files) != 1 || m.Files[0].Path != "b.txt" || !strings.Contains(m.Patch, "--- a/b.txt\n") || strings.Contains(m.Patch, "a.txt") {
		t.Errorf("below: %+v", m)
	}
	h.fails("git_diff", args{"head": "HEAD"}, tools.CodeToolInput)
	h.fails("git_diff", args{"base": "HEAD", "head": "HEAD", "staged": true}, tools.CodeToolInput)
	h.fails("git_diff", args{"base": "nothing"}, tools.CodeGitRef)
	h.fails("git_diff", args{"base": "--output=x"}, tools.CodeToolInput)
	h.fails("git_diff", args{"paths": []string{"../x"}}, tools.CodePathEscape)
	h.fails("git_diff", args{"paths": []string{"/etc/passwd"}}, tools.CodePathEscape)
	h.fails("git_diff", args{"paths": []string{"a\nb"}}, tools.CodeToolInput)
	h.fails("git_diff", args{"contextLines": 1001}, tools.CodeToolInput)
	h.fails("git_diff", args{"paths": make([]string, 1001)}, tools.CodeToolInput)
}

// TestGitDiffIsBounded: a patch that is too large is cut at a line, and is an artifact
// as a whole: in the store of the host, and as a file.
func TestGitDiffIsBounded(t *testing.T) {
	root := gitRepository(t)
	stores := state.NewMemory(nil)
	t.Cleanup(func() { _ = stores.Close() })
	h := gitHost(t, root, func(d *builtin.GitDeps) {
		d.Limits = builtin.GitLimits{DiffLines: 100, Files: 2, PatchBytes: 1 << 20}
	})
	put(t, root, "a.txt", strings.Repeat("line\n", 5000))
	var m builtin.GitDiff
	text := h.ok("git_diff", args{}, &m)
	if !m.Truncated || m.TruncatedBy != "lines" || strings.Count(m.Patch, "\n") != 100 || m.Artifact == nil || m.Artifact.Stored {
		t.Fatalf("%+v", m)
	}
	if !strings.Contains(text, "[truncated by lines. The whole patch has 5008 lines: "+m.Artifact.Path+"]") {
		t.Errorf("the text ends %q", text[len(text)-200:])
	}
	whole := plainGit(t, root, "-c", "core.abbrev=10", "diff") + "\n"
	if kept, err := os.ReadFile(m.Artifact.Path); err != nil || string(kept) != whole {
		t.Errorf("the file has %d bytes, want %d, %v", len(kept), len(whole), err)
	}
	stored := gitHost(t, root, func(d *builtin.GitDeps) { d.Artifacts, d.OutputDir = stores.Artifacts(), "" })
	m = builtin.GitDiff{}
	if stored.ok("git_diff", args{}, &m); !m.Artifact.Stored || m.Artifact.Path != "" || m.Truncated {
		t.Errorf("in the store: %+v", m.Artifact)
	}
	content, err := stores.Artifacts().Open(t.Context(), state.Owner{User: "o"}, m.Artifact.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	if kept, err := io.ReadAll(content); err != nil || string(kept) != whole {
		t.Errorf("the store has %d bytes, want %d, %v", len(kept), len(whole), err)
	}
	for i := range 3 {
		put(t, root, fmt.Sprintf("f%d", i), strings.Repeat("x", 600_000)+"\n")
	}
	plainGit(t, root, "add", "-A")
	m = builtin.GitDiff{}
	text = h.ok("git_diff", args{"staged": true}, &m)
	if !m.Truncated || m.TruncatedBy != "lines" || len(m.Files) != 2 || m.TotalFiles != 4 || m.Artifact != nil || !strings.Contains(text, "too large to be kept") {
		t.Errorf("over a MiB: %+v %.300q", m.Files, text)
	}
	for name, limits := range map[string]builtin.GitLimits{"lines": {DiffLines: 100_001}, "files": {Files: 10_001}, "patch": {PatchBytes: 65 << 20}, "paths": {Paths: 10_001}, "output": {OutputBytes: 65 << 20}, "handoff": {HandoffBytes: 2 << 20}, "commits": {Commits: 1001}} {
		if _, err := builtin.Git(&builtin.GitDeps{Workspace: h.ws, Limits: limits}); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%s beyond the cap: %v", name, err)
		}
	}
}

// TestGitHidesCredentials: what usually holds credentials is not shown by the way, and
// is when a call names it, which a policy then sees.
func TestGitHidesCredentials(t *testing.T) {
	root := gitRepository(t)
	for name, text := range map[string]string{".env": strings.Repeat("OLD\n", 20), "x/.aws/credentials": "OLD\n", ".env.example": "OLD\n"} {
		put(t, root, name, text)
	}
	plainGit(t, root, "add", "-A")
	plainGit(t, root, "commit", "-q", "-m", "keys")
	plainGit(t, root, "mv", ".env", "plain.txt")
	put(t, root, "plain.txt", strings.Repeat("OLD\n", 20)+"TOPSECRET\n")
	put(t, root, "x/.aws/credentials", "TOPSECRET\n")
	put(t, root, ".env.example", "fine\n")
	put(t, root, "sp ace/.env", "TOPSECRET\n")
	plainGit(t, root, "add", "-A")
	plainGit(t, root, "update-index", "--chmod=+x", "sp ace/.env")
	h := gitHost(t, root, nil)
	var m builtin.GitDiff
	text := h.ok("git_diff", args{"staged": true}, &m)
	withheld := 0
	for _, f := range m.Files {
		if f.Withheld {
			withheld++
		}
	}
	if strings.Contains(text+m.Patch, "TOPSECRET") || !strings.Contains(m.Patch, "fine") || withheld != len(m.Files)-1 || withheld < 3 {
		t.Errorf("%d of %d withheld: %s", withheld, len(m.Files), text)
	}
	h.ok("git_diff", args{"staged": true, "paths": []string{"x/.aws/credentials"}}, &m)
	if !strings.Contains(m.Patch, "TOPSECRET") {
		t.Errorf("named: %+v", m)
	}
	plainGit(t, root, "commit", "-q", "-m", "more")
	var handoff builtin.GitHandoff
	h.ok("git_pr_handoff", args{"base": "HEAD~1"}, &handoff)
	if patch, err := os.ReadFile(handoff.Artifact.Path); err != nil || strings.Contains(string(patch), "TOPSECRET") {
		t.Errorf("the hand-off's patch has it, %v", err)
	}
}

func TestGitLogTool(t *testing.T) {
	root := gitRepository(t)
	h := gitHost(t, root, nil)
	for i := range 5 {
		put(t, root, "a.txt", fmt.Sprint(i))
		plainGit(t, root, "commit", "-q", "-a", "-m", fmt.Sprintf("change %d \x1b[31m\n\nbody", i))
	}
	var m builtin.GitLog
	text := h.ok("git_log", args{"maxCount": 2}, &m)
	if len(m.Commits) != 2 || m.Commits[0].Author != "Ann" || m.Commits[0].Email != "ann@example.org" || m.Commits[0].Body != "body" || !m.Truncated || m.TruncatedBy != "results" || strings.Contains(text, "\x1b") {
		t.Errorf("%q, %+v", text, m)
	}
	seen := 2
	put(t, root, "a.txt", "later")
	plainGit(t, root, "commit", "-q", "-a", "-m", "later") // the pages go on where they were
	for m.NextCursor != "" {
		cursor := m.NextCursor
		m = builtin.GitLog{}
		h.ok("git_log", args{"maxCount": 2, "cursor": cursor}, &m)
		seen += len(m.Commits)
	}
	if seen != 6 {
		t.Errorf("%d commits on all pages, want 6", seen)
	}
	m = builtin.GitLog{}
	if h.ok("git_log", args{"paths": []string{"sub/b.txt"}}, &m); len(m.Commits) != 1 || m.Commits[0].Subject != "first" || m.Commits[0].Parents == nil {
		t.Errorf("of a path: %+v", m)
	}
	empty := t.TempDir()
	plainGit(t, empty, "init", "-q")
	e := gitHost(t, empty, nil)
	if text := e.ok("git_log", args{}, nil); text != "(no commits)" {
		t.Errorf("empty: %q", text)
	}
	e.fails("git_log", args{"ref": "HEAD"}, tools.CodeGitRef)
	h.fails("git_log", args{"ref": "nothing"}, tools.CodeGitRef)
	h.fails("git_log", args{"cursor": "x"}, tools.CodeToolInput)
	h.fails("git_log", args{"cursor": strings.Repeat("0", 40) + "..7"}, tools.CodeGitRef)
	h.fails("git_log", args{"maxCount": 1001}, tools.CodeToolInput)
	h.fails("git_log", args{"maxCount": 0}, tools.CodeToolInput)
}

func TestGitShowTool(t *testing.T) {
	root := gitRepository(t)
	h := gitHost(t, root, nil)
	put(t, root, "caf\xe9", "odd\n")
	put(t, root, "-dash", "dash\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	plainGit(t, root, "add", "-A")
	plainGit(t, root, "commit", "-q", "-m", "second")
	put(t, root, "a.txt", "changed\n")
	var m builtin.GitShow
	text := h.ok("git_show", args{"ref": "HEAD", "path": "a.txt", "offset": 2, "limit": 1}, &m)
	if text != "two\n[1 more lines in file. Use offset=3 to continue.]" || m.OID != plainGit(t, root, "rev-parse", "HEAD") || m.Path != "a.txt" || len(m.Blob) != 40 {
		t.Errorf("%q, %+v", text, m)
	}
	for path, want := range map[string]string{`"caf\351"`: "odd\n", "-dash": "dash\n", filepath.Join(root, "sub/b.txt"): "b\n", "link": "/etc/passwd"} {
		if text := h.ok("git_show", args{"ref": "HEAD", "path": path}, nil); text != want {
			t.Errorf("%s: %q", path, text)
		}
	}
	h.fails("git_show", args{"ref": "HEAD~1", "path": "-dash"}, tools.CodeNotFound)
	h.fails("git_show", args{"ref": "HEAD", "path": "sub"}, tools.CodeNotFile)
	h.fails("git_show", args{"ref": "HEAD", "path": "."}, tools.CodeNotFile)
	h.fails("git_show", args{"ref": "HEAD", "path": "a.txt", "offset": 9}, tools.CodeOutOfRange)
	h.fails("git_show", args{"ref": "-x", "path": "a.txt"}, tools.CodeToolInput)
	h.fails("git_show", args{"ref": "HEAD", "path": "../x"}, tools.CodePathEscape)
	below := gitHost(t, filepath.Join(root, "sub"), nil)
	if text := below.ok("git_show", args{"ref": "HEAD", "path": "b.txt"}, nil); text != "b\n" {
		t.Errorf("below: %q", text)
	}
	below.fails("git_show", args{"ref": "HEAD", "path": "a.txt"}, tools.CodeNotFound)
}

func TestGitBlameTool(t *testing.T) {
	root := gitRepository(t)
	h := gitHost(t, root, nil)
	put(t, root, "a.txt", "one\nnew\nthree\n")
	var m builtin.GitBlame
	text := h.ok("git_blame", args{"path": "a.txt"}, &m)
	first := plainGit(t, root, "rev-parse", "HEAD")
	if len(m.Lines) != 3 || m.Lines[0].OID != first || m.Lines[0].Author != "Ann" || m.Lines[1].OID != "" || m.Lines[1].Text != "new" || !strings.Contains(text, "\nnot committed\n     2 new\n") {
		t.Errorf("%q, %+v", text, m)
	}
	h.ok("git_blame", args{"path": "a.txt", "ref": "HEAD", "line": 2}, &m)
	if len(m.Lines) != 1 || m.Lines[0].Line != 2 || m.Lines[0].Text != "two" || m.OID != first {
		t.Errorf("one line: %+v", m)
	}
	h.fails("git_blame", args{"path": "a.txt", "line": 4}, tools.CodeOutOfRange)
	h.fails("git_blame", args{"path": "a.txt", "line": 3, "endLine": 2}, tools.CodeToolInput)
	h.fails("git_blame", args{"path": "nothing"}, tools.CodeNotFound)
	put(t, root, "untracked", "x\n")
	h.fails("git_blame", args{"path": "untracked"}, tools.CodeNotFound)
	h.fails("git_blame", args{"path": "sub"}, tools.CodeNotFile)
	// A tracked directory that has become a link out: what is there is not shown.
	outside := t.TempDir()
	put(t, outside, "b.txt", "TOPSECRET\n")
	if err := errors.Join(os.RemoveAll(filepath.Join(root, "sub")), os.Symlink(outside, filepath.Join(root, "sub"))); err != nil {
		t.Fatal(err)
	}
	h.fails("git_blame", args{"path": "sub/b.txt"}, tools.CodePathEscape)
	// A list of commits to look through that lies elsewhere is not read.
	plainGit(t, root, "config", "blame.ignoreRevsFile", filepath.Join(outside, "b.txt"))
	if r := h.fails("git_blame", args{"path": "a.txt"}, tools.CodeGitFailed); strings.Contains(r.Err.Message, "TOPSECRET") {
		t.Errorf("%v", r.Err)
	}
}

func TestGitHandoffTool(t *testing.T) {
	root := gitRepository(t)
	ran := 0
	h := gitHost(t, root, func(d *builtin.GitDeps) {
		d.Checks = fixedChecks{"test": func() *check.Result {
			ran++
			return &check.Result{Name: "test", ExitCode: 1, Output: "bad \x1b[31m thing\n", Duration: 3 * time.Millisecond}
		}}
	})
	plainGit(t, root, "switch", "-q", "-c", "work")
	for i := range 3 {
		put(t, root, "sub/b.txt", fmt.Sprint(i, "\n"))
		put(t, root, fmt.Sprintf("new %d", i), "x\n")
		plainGit(t, root, "add", "-A")
		plainGit(t, root, "commit", "-q", "-m", fmt.Sprintf("work %d\n\nwhy", i))
	}
	put(t, root, "loose", "x")
	var m builtin.GitHandoff
	text := h.ok("git_pr_handoff", args{"base": "main", "checks": []string{"test"}}, &m)
	if len(m.Commits) != 3 || m.TotalCommits != 3 || m.Commits[2].Body != "why" || len(m.ChangedPaths) != 4 || m.Diffstat.Additions != 4 || m.Branch != "work" || !m.Dirty ||
		m.Base != plainGit(t, root, "rev-parse", "main") || m.Head != plainGit(t, root, "rev-parse", "work") || ran != 1 {
		t.Errorf("%s\n%+v", text, m)
	}
	if c := m.Checks; len(c) != 1 || c[0].Passed || c[0].ExitCode != 1 || strings.Contains(c[0].Output, "\x1b") || !strings.Contains(text, "check test failed") {
		t.Errorf("checks %+v", c)
	}
	// The patch makes the base what the head is.
	plainGit(t, root, "stash", "-q", "-u")
	plainGit(t, root, "switch", "-q", "--detach", "main")
	plainGit(t, root, "apply", "--index", m.Artifact.Path)
	if got, want := plainGit(t, root, "write-tree"), plainGit(t, root, "rev-parse", "work^{tree}"); got != want {
		t.Errorf("the patch makes %s, want %s", got, want)
	}
	plainGit(t, root, "reset", "-q", "--hard")
	h.fails("git_pr_handoff", args{"base": "nothing", "checks": []string{"test"}}, tools.CodeGitRef)
	h.fails("git_pr_handoff", args{"base": "main", "checks": []string{"tests"}}, tools.CodeCheckUnknown)
	h.fails("git_pr_handoff", args{"base": "main", "head": "work", "checks": []string{"test"}}, tools.CodeGitRef)
	plainGit(t, root, "switch", "-q", "--orphan", "other")
	plainGit(t, root, "commit", "-q", "--allow-empty", "-m", "unrelated")
	h.fails("git_pr_handoff", args{"base": "main", "head": "other"}, tools.CodeGitRef)
	if ran != 1 {
		t.Errorf("checks ran %d times, once was asked for", ran)
	}
	below := gitHost(t, filepath.Join(root), func(d *builtin.GitDeps) { d.Limits.HandoffBytes = 4 << 10 })
	plainGit(t, root, "switch", "-q", "-f", "work")
	for i := range 60 {
		plainGit(t, root, "commit", "-q", "--allow-empty", "-m", fmt.Sprint("empty ", i, "\n\n", strings.Repeat("long ", 100)))
	}
	result := below.call("git_pr_handoff", args{"base": "main"})
	if err := json.Unmarshal(result.Metadata, &m); err != nil || result.Err != nil || len(result.Metadata) > 4<<10 || !m.Truncated || m.TruncatedBy != "bytes" || m.TotalCommits != 63 {
		t.Errorf("%d bytes of metadata, %v: %s", len(result.Metadata), result.Err, result.Metadata)
	}
}

// fixedChecks are checks whose results a test gives.
type fixedChecks map[string]func() *check.Result

func (c fixedChecks) Names() []string { return slices.Sorted(maps.Keys(c)) }

func (c fixedChecks) Run(_ context.Context, name string) (*check.Result, error) {
	return c[name](), nil
}
