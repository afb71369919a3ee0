package git

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// moduleSource is where a module of real code lies, pinned.
func moduleSource(t testing.TB, module string) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir() // outside of the module, whose go.sum it would write to
	out, err := cmd.Output()
	var found struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &found); err != nil || jsonErr != nil || found.Dir == "" {
		message := fmt.Sprintf("%s cannot be downloaded: %v %s", module, err, found.Error)
		if os.Getenv("CI") == "true" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	return found.Dir
}

// history makes a repository of real code with a seeded past: files that come in
// portions, edits, renames, copies, deletions, mode changes, links, a submodule, odd
// names, merges with and without conflicts.
type history struct {
	t      testing.TB
	root   string
	random *rand.Rand
	clock  int
	branch string
}

func newHistory(t testing.TB, module string, seed uint64, steps int) *history {
	t.Helper()
	h := &history{t: t, root: t.TempDir(), random: rand.New(rand.NewPCG(seed, 1)), branch: "main"}
	h.git("init", "-q", "-b", "main")
	h.git("config", "gc.auto", "0")
	source := moduleSource(t, module)
	var files []string
	must(t, filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			rel, relErr := filepath.Rel(source, path)
			files, err = append(files, rel), relErr
		}
		return err
	}))
	for i := range steps {
		from, to := len(files)*i/steps, len(files)*(i+1)/steps
		for _, file := range files[from:to] {
			text, err := os.ReadFile(filepath.Join(source, file))
			must(t, err)
			write(t, h.root, file, string(text))
		}
		if i == 1 {
			h.odd()
		}
		for range h.random.IntN(5) + 1 {
			h.change()
		}
		h.commit(fmt.Sprintf("step %d\n\nA body\n\nwith two paragraphs of step %d. é", i, i))
		if i%7 == 3 {
			h.merge(i)
		}
	}
	return h
}

// git runs git with a clock of its own, so that the history is the same each time.
func (h *history) git(args ...string) string {
	h.t.Helper()
	out, err := h.try(args...)
	if err != nil {
		h.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func (h *history) try(args ...string) (string, error) {
	h.clock++
	at := fmt.Sprintf("%d %+05d", 1_600_000_000+h.clock*60, []int{0, 200, -730, 545}[h.clock%4])
	command := exec.Command("git", args...)
	command.Dir = h.root
	who := []string{"Ann", "Bjørn Ø", "Cy \"C\" O'Neil"}[h.clock%3]
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME="+who, "GIT_AUTHOR_EMAIL=a@example.org",
		"GIT_COMMITTER_NAME=Committer", "GIT_COMMITTER_EMAIL=c@example.org", "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at, "GIT_EDITOR=true")
	out, err := command.CombinedOutput()
	return string(out), err
}

func (h *history) commit(message string) {
	h.t.Helper()
	h.git("add", "-A")
	h.git("commit", "-q", "--allow-empty", "-m", message)
}

// odd adds files of odd names, links, a program and a submodule.
func (h *history) odd() {
	for _, name := range oddNames() {
		write(h.t, h.root, name, strings.Repeat(name+" line\n", 30))
	}
	write(h.t, h.root, "binary.dat", "\x00\x01\x02\xff"+strings.Repeat("x", 500))
	write(h.t, h.root, "latin1.txt", "caf\xe9\r\nna\xefve\r\n")
	write(h.t, h.root, "no end.txt", "one\ntwo")
	write(h.t, h.root, "empty", "")
	must(h.t, os.Symlink("binary.dat", filepath.Join(h.root, "link")))
	must(h.t, os.Symlink("nowhere", filepath.Join(h.root, "dangling")))
	sub := filepath.Join(h.root, "submodule")
	must(h.t, os.MkdirAll(sub, 0o755))
	plain(h.t, sub, "init", "-q", "-b", "main")
	write(h.t, sub, "s", "s\n")
	plain(h.t, sub, "add", "-A")
	plain(h.t, sub, "commit", "-q", "-m", "s")
	write(h.t, h.root, ".gitmodules", "[submodule \"submodule\"]\n\tpath = submodule\n\turl = ./submodule\n")
	write(h.t, h.root, ".gitignore", "*.ignored\n/ignored-dir/\n")
}

// pick is a tracked file that can be edited.
func (h *history) pick() string {
	list := strings.Split(h.git("ls-files", "-z"), "\x00")
	for range 1000 {
		name := list[h.random.IntN(len(list)-1)]
		info, err := os.Lstat(filepath.Join(h.root, name))
		if err == nil && info.Mode().IsRegular() && info.Size() < 200_000 && name != ".gitignore" && name != ".gitmodules" && name != ".gitattributes" {
			return name
		}
	}
	h.t.Fatalf("none of %d tracked files can be edited", len(list))
	return ""
}

// change makes one change to the work tree.
func (h *history) change() {
	if h.git("ls-files") == "" {
		return
	}
	name := h.pick()
	full := filepath.Join(h.root, name)
	text, err := os.ReadFile(full)
	must(h.t, err)
	switch h.random.IntN(9) {
	case 0:
		must(h.t, os.Rename(full, fmt.Sprintf("%s moved %d", full, h.clock)))
	case 1:
		must(h.t, os.Remove(full))
	case 2:
		must(h.t, os.Chmod(full, 0o755))
	case 3:
		write(h.t, h.root, fmt.Sprintf("%s copy %d", name, h.clock), string(text))
	case 4:
		must(h.t, os.Remove(full))
		must(h.t, os.Symlink("elsewhere", full))
	default:
		lines := strings.SplitAfter(string(text), "\n")
		for range h.random.IntN(4) + 1 {
			at := h.random.IntN(len(lines))
			switch h.random.IntN(3) {
			case 0:
				lines = slices.Insert(lines, at, fmt.Sprintf("inserted %d\n", h.random.IntN(1000)))
			case 1:
				lines = slices.Delete(lines, at, min(at+h.random.IntN(3), len(lines)))
			default:
				lines[at] = fmt.Sprintf("\tchanged %d\n", h.random.IntN(1000))
			}
			if len(lines) == 0 {
				lines = []string{"all new\n"}
			}
		}
		must(h.t, os.WriteFile(full, []byte(strings.Join(lines, "")), 0o644))
	}
}

func (h *history) append(name, text string) {
	must(h.t, os.MkdirAll(filepath.Dir(filepath.Join(h.root, name)), 0o755))
	appendFile(h.t, filepath.Join(h.root, name), text)
}

// merge makes a branch with two commits and merges it, with a conflict every time,
// which is settled by taking both sides.
func (h *history) merge(i int) {
	both := h.pick()
	h.git("switch", "-q", "-c", fmt.Sprintf("side-%d", i), "HEAD~1")
	h.change()
	h.append(both, fmt.Sprintf("theirs %d\n", i))
	h.commit(fmt.Sprintf("side %d", i))
	h.git("switch", "-q", "main")
	if _, err := os.Lstat(filepath.Join(h.root, both)); err == nil {
		h.append(both, fmt.Sprintf("ours %d\n", i))
	}
	h.commit(fmt.Sprintf("main %d", i))
	if _, err := h.try("merge", "-q", "-m", fmt.Sprintf("merge side-%d", i), fmt.Sprintf("side-%d", i)); err != nil {
		h.git("add", "-A")
		h.git("commit", "-q", "-m", fmt.Sprintf("merge side-%d, settled", i))
	}
}

// dirty leaves the work tree and the index in every kind of state at once.
func (h *history) dirty() {
	for range 12 {
		h.change()
	}
	h.git("add", "-A")
	for range 12 {
		h.change()
	}
	write(h.t, h.root, "new dir/deep/untracked", "u\n")
	write(h.t, h.root, "x.ignored", "i\n")
	write(h.t, h.root, "ignored-dir/y", "i\n")
	sub := filepath.Join(h.root, "submodule")
	write(h.t, sub, "s", fmt.Sprint(time.Now().UnixNano()))
	plain(h.t, sub, "commit", "-q", "-a", "-m", "moved on")
}

// conflict leaves a merge that could not be finished.
func (h *history) conflict() {
	h.git("reset", "-q", "--hard")
	h.git("clean", "-qfd")
	both, gone := "go.mod", "LICENSE"
	if _, err := os.Lstat(filepath.Join(h.root, gone)); err != nil {
		gone = h.pick()
	}
	h.git("switch", "-q", "-c", "conflict")
	write(h.t, h.root, both, "theirs\n")
	write(h.t, h.root, "added by both", "theirs\n")
	must(h.t, os.Remove(filepath.Join(h.root, gone)))
	h.commit("theirs")
	h.git("switch", "-q", "main")
	write(h.t, h.root, both, "ours\n")
	write(h.t, h.root, "added by both", "ours\n")
	h.append(gone, "ours\n")
	h.commit("ours")
	if out, err := h.try("merge", "conflict"); err == nil {
		h.t.Fatalf("the merge went through: %s", out)
	}
}
