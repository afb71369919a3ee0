package diagnostics_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// repository is a pinned module of real code.
type repository struct{ name, module, version string }

// source is a file of it.
type source struct {
	path  string
	lines []string
}

// load reads the module's Go files of a size that edits make sense in.
func (r repository) load(t testing.TB) []source {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", r.module+"@"+r.version)
	cmd.Dir = t.TempDir() // outside the module, whose go.sum it would write to
	out, err := cmd.Output()
	var found struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &found); err != nil || jsonErr != nil || found.Dir == "" {
		message := fmt.Sprintf("%s@%s cannot be downloaded: %v %s", r.module, r.version, err, found.Error)
		if os.Getenv("CI") == "true" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	var list []source
	err = filepath.WalkDir(found.Dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(found.Dir, name)
		lines := strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
		if len(lines) >= 60 && len(lines) <= 1500 && !bytes.ContainsRune(text, 0) {
			list = append(list, source{filepath.ToSlash(rel), lines})
		}
		return err
	})
	if err != nil || len(list) < 50 {
		t.Fatalf("%d files below %s, %v", len(list), found.Dir, err)
	}
	return list
}

// seededCase is one change with its truth.
type seededCase struct {
	text       trees
	base, head *diagnostics.Snapshot
	old        map[int]bool // ids of the problems that the base has
	rawDiff    []byte       // git diff-tree -r -z --raw -M50%
	patch      []byte       // git diff -U0 -M50%, for the changed-line filter
	split      map[diagnostics.Side]map[string][]string
}

const (
	filesPerCase = 14
	editsPerFile = 2
)

func newSeededCase(t testing.TB, files []source, edits []edit, seed uint64) *seededCase {
	t.Helper()
	w := newWorld(rand.New(rand.NewPCG(seed, 2026)), files)
	c := &seededCase{old: map[int]bool{}}
	c.text.base = w.texts()
	base := w.render()
	for _, p := range w.problems {
		c.old[p.id] = true
	}
	for range len(w.files) * editsPerFile {
		edits[w.r.IntN(len(edits))].do(w)
	}
	w.fromAfar()
	c.text.head = w.texts()
	c.base, c.head = snapshot(t, gopls(), base...), snapshot(t, gopls(), w.render()...)
	c.git(t)
	return c
}

// git asks the real git for the file map and for the changed lines.
func (c *seededCase) git(t testing.TB) {
	t.Helper()
	dir := t.TempDir()
	run := func(input string, args ...string) []byte {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Stdin = strings.NewReader(input)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "LC_ALL=C")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %s: %v", strings.Join(args, " "), err)
		}
		return out
	}
	run("", "init", "-q", "--bare", ".")
	var stream strings.Builder
	for _, side := range []struct {
		ref   string
		files map[string]string
	}{{"base", c.text.base}, {"head", c.text.head}} {
		fmt.Fprintf(&stream, "commit refs/heads/%s\ncommitter a <a@example.org> 0 +0000\ndata 0\ndeleteall\n", side.ref)
		for path, text := range side.files {
			fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
		}
	}
	run(stream.String(), "fast-import", "--quiet")
	c.rawDiff = run("", "diff-tree", "-r", "-z", "--raw", "-M50%", "base", "head")
	c.patch = run("", "diff", "-U0", "-M50%", "--no-color", "--no-ext-diff", "base", "head")
	_ = os.RemoveAll(dir) // sixty of them would fill a small disk
}
