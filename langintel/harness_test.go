package langintel_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

func TestMain(m *testing.M) {
	child.Main()
	lsptest.Main()
	holdServers()
	flag.Parse()
	// Most of a test's time is waiting for a server, which says nothing about how
	// many processors there are.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := owner().Close(); err != nil && code == 0 {
		code = 1
	}
	if file := os.Getenv(peakFile); file != "" && notePeak(file) != nil {
		code = 1
	}
	os.Exit(code)
}

// peakFile names a variable of the environment: where the process shall say how
// much memory it held at most.
const peakFile = "PRISM_TEST_PEAK"

// notePeak writes down the peak of this process's resident memory, in KiB
// (proc_pid_status(5)).
func notePeak(file string) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	peak, _, _ := strings.Cut(after, "kB")
	return os.WriteFile(file, []byte(strings.TrimSpace(peak)), 0o600)
}

// owner starts everything that the tests start; making one takes longer than
// most tests.
var owner = sync.OnceValue(func() *child.Owner { return child.NewOwner(nil) })

// serverDir is where the tests of all packages share installed servers.
func serverDir(t testing.TB) string {
	if dir := os.Getenv("PRISM_TEST_SERVERS"); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(cache, "prism-ls-test", "servers")
}

// soak reports whether the long tests are wanted.
func soak() bool { return os.Getenv("PRISM_SOAK") == "1" }

// bench is a workspace on disk with a client.
type bench struct {
	*langintel.Client
	t    testing.TB
	dir  string
	work *workspace.Workspace
}

// open makes a client for a directory; opts may be nil.
func open(t testing.TB, dir string, opts *langintel.Options) *bench {
	t.Helper()
	if opts == nil {
		opts = &langintel.Options{}
	}
	if opts.Env == nil {
		opts.Env = child.Environment(os.Environ(), nil)
	}
	if opts.ServerDir == "" {
		opts.ServerDir = serverDir(t)
	}
	work, err := workspace.Open(dir, &workspace.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	client, err := langintel.New(work, owner(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := work.Close(); err != nil {
			t.Errorf("close the workspace: %v", err)
		}
	})
	return &bench{Client: client, t: t, dir: dir, work: work}
}

// copyTree copies a directory into a new one and returns that.
func copyTree(t testing.TB, from string) string {
	t.Helper()
	dir := t.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	// Module zips are read-only in the cache.
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o755)
		}
		return os.Chmod(path, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// shop opens a copy of the small Go workspace.
func shop(t testing.TB, opts *langintel.Options) *bench {
	t.Helper()
	return open(t, copyTree(t, filepath.Join("..", "testdata", "workspaces", "go-shop")), opts)
}

func (b *bench) read(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, filepath.FromSlash(name)))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// goTest builds and tests packages in the workspace.
func (b *bench) goTest(packages ...string) {
	b.t.Helper()
	cmd := exec.Command("go", append([]string{"test"}, packages...)...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=") // the module's own go.sum is complete
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("go test %s: %v\n%s", strings.Join(packages, " "), err, out)
	}
}

// module copies a module at the version that go.mod pins, as a repository.
func module(t testing.TB, path string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", path).Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		if out, err := exec.Command("go", "mod", "download", path).CombinedOutput(); err != nil {
			t.Fatalf("module %s: %v\n%s", path, err, out)
		}
		out, err = exec.Command("go", "list", "-m", "-f", "{{.Dir}}", path).Output()
		if dir = strings.TrimSpace(string(out)); err != nil || dir == "" {
			t.Fatalf("module %s is not in the module cache: %v", path, err)
		}
	}
	copied := copyTree(t, dir)
	if out, err := exec.Command("git", "init", "-q", copied).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	return copied
}

func within(t testing.TB, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}
