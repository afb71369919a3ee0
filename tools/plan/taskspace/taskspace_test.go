package taskspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/state"
)

func TestMain(m *testing.M) {
	child.Main()
	role()
	code := m.Run()
	os.RemoveAll(model.dir)
	os.Exit(code)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func gitCommand(dir string, args ...string) *exec.Cmd {
	command := exec.Command("git", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_EDITOR=true")
	return command
}

// plain runs git as a person would, without any of our settings.
func plain(t testing.TB, dir string, args ...string) string {
	t.Helper()
	command := gitCommand(dir, args...)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v in %s: %v\n%s", args, dir, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	full := filepath.Join(dir, name)
	must(t, os.MkdirAll(filepath.Dir(full), 0o755))
	must(t, os.WriteFile(full, []byte(text), 0o644))
}

// ada is who most workspaces belong to.
var ada = state.Owner{User: "ada"}

// fixture is a host with two repositories.
type fixture struct {
	t      testing.TB
	base   string
	stores state.Stores
	opts   Options
	m      *Manager
}

func newFixture(t testing.TB) *fixture {
	f := &fixture{t: t, base: t.TempDir(), stores: state.NewMemory(nil)}
	model.once.Do(func() { model.dir, model.err = makeModel(t) })
	must(t, model.err)
	must(t, os.CopyFS(f.base, os.DirFS(model.dir)))
	f.opts = hostOptions(f.base, f.stores, newRunner(t))
	f.open()
	return f
}

func hostOptions(base string, stores state.Stores, runner *git.Runner) Options {
	return Options{
		Stores: stores, Git: runner, Directory: filepath.Join(base, "state", "workspaces"),
		Repositories: map[string]string{"shop": filepath.Join(base, "shop"), "lib": filepath.Join(base, "lib")},
	}
}

func newRunner(t testing.TB) *git.Runner {
	t.Helper()
	path, err := git.Find(os.Getenv("PATH"))
	must(t, err)
	owner := child.NewOwner(nil)
	t.Cleanup(func() { must(t, owner.Close()) })
	return git.New(owner, &git.Options{Path: path, Env: child.Environment(os.Environ(), nil)})
}

func (f *fixture) open() {
	f.t.Helper()
	m, err := New(&f.opts)
	must(f.t, err)
	f.m = m
}

// model is what every fixture begins as; it is made once.
var model struct {
	once sync.Once
	dir  string
	err  error
}

func makeModel(t testing.TB) (string, error) {
	base, err := os.MkdirTemp("", "taskspace-model")
	if err != nil {
		return "", err
	}
	for _, name := range []string{"shop", "lib"} {
		dir := filepath.Join(base, name)
		must(t, os.MkdirAll(dir, 0o755))
		plain(t, dir, "init", "-q", "-b", "main", "--template=")
		write(t, dir, "a.txt", "one\n")
		write(t, dir, "src/b.txt", "two\n")
		write(t, dir, "src/c.txt", "three\n")
		write(t, dir, ".gitignore", "*.log\nbuild/\nnode_modules/\n")
		plain(t, dir, "add", "-A")
		plain(t, dir, "commit", "-q", "-m", "first")
		plain(t, dir, "remote", "add", "origin", "https://ada:secret@example.org/"+name+".git")
	}
	return base, nil
}

// at is a path of the fixture.
func (f *fixture) at(names ...string) string {
	return filepath.Join(append([]string{f.base}, names...)...)
}

func request(task string, repositories ...string) *Request {
	r := &Request{TaskID: task}
	for _, id := range repositories {
		r.Repositories = append(r.Repositories, Branch{RepositoryID: id, Branch: "task/" + task})
	}
	return r
}

// make creates a workspace of the repository shop, and returns it with its path.
func (f *fixture) make(task string) (*Space, string) {
	f.t.Helper()
	space, err := f.m.Create(f.t.Context(), ada, request(task, "shop"))
	must(f.t, err)
	return space, space.Repositories[0].Path
}

func (f *fixture) expectCode(what string, err error, code tools.Code) {
	f.t.Helper()
	if !errors.Is(err, code) {
		f.t.Errorf("%s: %v, want %s", what, err, code)
	}
}

// tree is everything below a directory but .git: path, kind and content.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(full string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, full)
		if rel == ".git" {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		switch info, _ := entry.Info(); {
		case entry.IsDir():
		case entry.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(full)
			found[rel] = "-> " + target
			return err
		case entry.Type().IsRegular():
			data, err := os.ReadFile(full)
			found[rel] = fmt.Sprintf("%o %s", info.Mode().Perm(), data)
			return err
		}
		return nil
	})
	must(t, err)
	return found
}

// expectTree compares two trees, so that what differs is named.
func expectTree(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s: %q is %q, want %q", what, name, got[name], text)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %q should not be there", what, name)
		}
	}
}

// expectNothingLeft: neither in git's directory nor in ours is anything of a workspace.
func (f *fixture) expectNothingLeft() {
	f.t.Helper()
	for _, dir := range []string{f.opts.Directory, f.at("shop", ".git", "worktrees"), f.at("lib", ".git", "worktrees")} {
		entries, err := os.ReadDir(dir)
		if err != nil && !os.IsNotExist(err) {
			f.t.Fatal(err)
		}
		for _, entry := range entries {
			f.t.Errorf("left over: %s", filepath.Join(dir, entry.Name()))
		}
	}
}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	config := map[string][]byte{}
	for _, name := range []string{"shop", "lib"} {
		data, err := os.ReadFile(f.at(name, ".git", "config"))
		must(t, err)
		config[name] = data
	}
	space, err := f.m.Create(t.Context(), ada, request("fix-till", "shop", "lib"))
	must(t, err)
	if space.State != Active || len(space.Repositories) != 2 || space.Version == 0 {
		t.Fatalf("%+v", space)
	}
	for _, wt := range space.Repositories {
		if plain(t, wt.Path, "symbolic-ref", "HEAD") != "refs/heads/task/fix-till" || wt.Base != plain(t, f.at(wt.RepositoryID), "rev-parse", "main") || wt.Head != wt.Base {
			t.Errorf("%+v", wt)
		}
		list := plain(t, f.at(wt.RepositoryID), "worktree", "list", "--porcelain")
		if !strings.Contains(list, "worktree "+wt.Path+"\n") || !strings.Contains(list, "locked prism-workspace:"+space.ID) {
			t.Errorf("git has %s", list)
		}
		expectTree(t, wt.RepositoryID, tree(t, wt.Path), tree(t, f.at(wt.RepositoryID)))
		if status := plain(t, wt.Path, "status", "--porcelain"); status != "" {
			t.Errorf("a new work tree is dirty: %s", status)
		}
	}
	again, err := f.m.Create(t.Context(), ada, request("fix-till", "shop", "lib"))
	must(t, err)
	if again.ID != space.ID || again.Version != space.Version {
		t.Errorf("made again: %+v", again)
	}
	if _, err := f.m.Verify(t.Context(), ada, "fix-till", false); err != nil {
		t.Error(err)
	}
	page, err := f.m.List(t.Context(), ada, "", 0)
	if err != nil || len(page.Spaces) != 1 || page.Spaces[0].ID != space.ID {
		t.Errorf("%+v, %v", page, err)
	}
	closed, err := f.m.Cleanup(t.Context(), ada, "fix-till", Policy{})
	must(t, err)
	if closed.State != Closed {
		t.Errorf("%+v", closed)
	}
	again, err = f.m.Cleanup(t.Context(), ada, "fix-till", Policy{})
	if err != nil || again.Version != closed.Version {
		t.Errorf("cleaned up again: %+v, %v", again, err)
	}
	f.expectNothingLeft()
	for name, data := range config {
		if now, err := os.ReadFile(f.at(name, ".git", "config")); err != nil || string(now) != string(data) {
			t.Errorf("%s's configuration has become %q (%v)", name, now, err)
		}
		if refs := plain(t, f.at(name), "for-each-ref", "refs/prism"); refs != "" {
			t.Errorf("refs are left: %s", refs)
		}
	}
	must(t, f.m.Remove(t.Context(), ada, "fix-till"))
	if _, err := f.m.Get(t.Context(), ada, "fix-till"); !errors.Is(err, tools.CodeWorkspaceUnknown) {
		t.Errorf("a removed one: %v", err)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	plain(t, f.at("shop"), "branch", "taken")
	branch := func(id, name, base string) *Request {
		return &Request{TaskID: "t", Repositories: []Branch{{RepositoryID: id, Branch: name, Base: base}}}
	}
	for what, c := range map[string]struct {
		request *Request
		code    tools.Code
	}{
		"no task":             {request("", "shop"), tools.CodeToolInput},
		"a path as task":      {request("../x", "shop"), tools.CodeToolInput},
		"no repository":       {request("t"), tools.CodeToolInput},
		"an unknown one":      {request("t", "other"), tools.CodeToolInput},
		"twice":               {request("t", "shop", "shop"), tools.CodeToolInput},
		"a dash as branch":    {branch("shop", "-b", ""), tools.CodeGitRef},
		"dots as branch":      {branch("shop", "a..b", ""), tools.CodeGitRef},
		"no branch":           {branch("shop", "", ""), tools.CodeGitRef},
		"HEAD as branch":      {branch("shop", "HEAD", ""), tools.CodeGitRef},
		"a branch that is":    {branch("shop", "taken", ""), tools.CodeGitRef},
		"a base that is not":  {branch("shop", "b", "nothing"), tools.CodeGitRef},
		"an option as base":   {branch("shop", "b", "--all"), tools.CodeToolInput},
		"a range as base":     {branch("shop", "b", "main..taken"), tools.CodeToolInput},
		"below a branch that": {branch("shop", "taken/b", ""), tools.CodeGitRef},
	} {
		_, err := f.m.Create(t.Context(), ada, c.request)
		f.expectCode(what, err, c.code)
	}
	if branches := plain(t, f.at("shop"), "branch", "--format=%(refname:short)"); branches != "main\ntaken" {
		t.Errorf("branches: %s", branches)
	}
	var many []string
	for i := range 5 {
		id := fmt.Sprintf("r%d", i)
		f.opts.Repositories[id] = f.at("shop")
		many = append(many, id)
	}
	f.open()
	_, err := f.m.Create(t.Context(), ada, request("many", many...))
	f.expectCode("five repositories", err, tools.CodeWorkspaceLimit)
	for i := range 4 {
		f.make(fmt.Sprintf("n%d", i))
	}
	_, err = f.m.Create(t.Context(), ada, request("n5", "shop"))
	f.expectCode("a fifth work tree", err, tools.CodeWorkspaceLimit)
}

func TestAnotherRequest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.make("t")
	_, err := f.m.Create(t.Context(), ada, request("t", "shop", "lib"))
	f.expectCode("more repositories", err, tools.CodeWorkspaceFingerprint)
	_, err = f.m.Create(t.Context(), ada, request("t", "lib"))
	f.expectCode("another repository", err, tools.CodeWorkspaceFingerprint)
	_, err = f.m.Create(t.Context(), ada, &Request{TaskID: "t", Repositories: []Branch{{RepositoryID: "shop", Branch: "other"}}})
	f.expectCode("another branch", err, tools.CodeWorkspaceFingerprint)
	plain(t, f.at("shop"), "commit", "-q", "--allow-empty", "-m", "on")
	_, err = f.m.Create(t.Context(), ada, &Request{TaskID: "t", Repositories: []Branch{{RepositoryID: "shop", Branch: "task/t", Base: "main"}}})
	if err != nil {
		t.Errorf("a base that has moved on: %v", err)
	}
	bob := state.Owner{User: "bob"}
	for what, call := range map[string]func() error{
		"create":  func() error { _, err := f.m.Create(t.Context(), bob, request("t", "shop")); return err },
		"get":     func() error { _, err := f.m.Get(t.Context(), bob, "t"); return err },
		"verify":  func() error { _, err := f.m.Verify(t.Context(), bob, "t", false); return err },
		"cleanup": func() error { _, err := f.m.Cleanup(t.Context(), bob, "t", Policy{Dirty: true}); return err },
		"undo":    func() error { _, err := f.m.Undo(t.Context(), bob, "t"); return err },
		"remove":  func() error { return f.m.Remove(t.Context(), bob, "t") },
		"attach":  func() error { _, err := f.m.Attach(t.Context(), bob, "t", Artifact{Name: "x"}); return err },
	} {
		f.expectCode(what+" by another owner", call(), tools.CodeWorkspaceOwnership)
	}
	if page, err := f.m.List(t.Context(), bob, "", 0); err != nil || len(page.Spaces) != 0 {
		t.Errorf("another owner sees %+v, %v", page, err)
	}
	entries, _, err := f.m.Owners(t.Context(), "", 0)
	if err != nil || !slices.Equal(entries, []Entry{{"t", ada}}) {
		t.Errorf("the operator sees %+v, %v", entries, err)
	}
	f.make("u")
	_, err = f.m.Cleanup(t.Context(), ada, "u", Policy{})
	must(t, err)
	_, err = f.m.Create(t.Context(), ada, request("u", "shop"))
	f.expectCode("a closed one", err, tools.CodeExists)
	_, err = f.m.Verify(t.Context(), ada, "u", false)
	f.expectCode("verifying a closed one", err, tools.CodeWorkspaceUnknown)
	f.expectCode("removing an active one", f.m.Remove(t.Context(), ada, "t"), tools.CodeWorkspaceDirty)
}

func TestWithoutCredentials(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://ada:secret@Example.org/x.git":       "https://example.org/x",
		"https://example.org/x?access_token=secret":  "https://example.org/x",
		"https://ghp_secret@example.org:8443/x/":     "https://example.org:8443/x",
		"ssh://git@example.org:22/x.git":             "ssh://example.org:22/x",
		"git@example.org:ada/x.git":                  "example.org:ada/x",
		"/srv/x.git":                                 "/srv/x",
		"../x":                                       "../x",
		"https://ada:sec%zzret@example.org/x?t=1":    "https://example.org/x",
		"https://ada:se@cret@example.org/x#fragment": "https://example.org/x",
	} {
		if got := withoutCredentials(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestRemotesChange(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	space, _ := f.make("t")
	plain(t, f.at("shop"), "remote", "set-url", "origin", "https://bob:other@example.org/shop.git")
	if _, err := f.m.Verify(t.Context(), ada, "t", false); err != nil {
		t.Errorf("other credentials: %v", err)
	}
	plain(t, f.at("shop"), "remote", "set-url", "origin", "https://example.net/shop.git")
	_, err := f.m.Verify(t.Context(), ada, "t", false)
	f.expectCode("another remote", err, tools.CodeWorkspaceFingerprint)
	if strings.Contains(fmt.Sprint(space), "secret") || strings.Contains(fmt.Sprint(space), "example.org") {
		t.Errorf("the record names the remote: %+v", space)
	}
}
