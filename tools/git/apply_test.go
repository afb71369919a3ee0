package git

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// files opens a workspace at root.
func files(t testing.TB, root string) *workspace.Workspace {
	t.Helper()
	ws, err := workspace.Open(root, &workspace.Options{StateDir: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { must(t, ws.Close()) })
	return ws
}

// apply checks and applies a patch, as the tool does.
func apply(t testing.TB, g *Repository, ws *workspace.Workspace, opts *PatchOptions) (*workspace.Committed, error) {
	t.Helper()
	list, err := g.CheckPatch(t.Context(), opts)
	if err != nil {
		return nil, err
	}
	done, _, err := g.ApplyPatch(t.Context(), ws, RewritePaths(list), opts)
	return done, err
}

// randomContent is text or bytes with what makes patches hard.
func randomContent(random *rand.Rand) []byte {
	var text []byte
	for range random.IntN(30) {
		switch random.IntN(12) {
		case 0:
			text = append(text, 0, byte(random.IntN(256)))
		case 1:
			text = append(text, "\r\n"...)
		case 2:
			text = append(text, "-- \n--- a/x\n+++ b/y\n@@ -1 +1 @@\n\\ No newline\n"...)
		case 3:
			text = append(text, "tr\u00e4iling \u2028 \xff\n"...)
		default:
			text = append(text, fmt.Sprintf("%d\n", random.IntN(4))...)
		}
	}
	if random.IntN(3) == 0 {
		text = append(text, "no end of line"...)
	}
	return text
}

// randomTree makes files of every kind below root; of those that are there, most stay
// or change a little.
func randomTree(t testing.TB, root string, random *rand.Rand, count int) {
	t.Helper()
	names := []string{"plain", "deep/er/name", "sp ace", "\"quoted\"", "-dash", "b\xff\xfe", "new\nline", "t\tab", "\u00fcml\u00e4ut \U0001f600", "a b/c d"}
	for i := range count {
		name := fmt.Sprintf("%s%d", names[i%len(names)], i)
		full := filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(full), 0o755))
		old, err := os.ReadFile(full)
		kind := random.IntN(12)
		if err == nil && kind < 6 { // a small change of what is there
			at := random.IntN(len(old) + 1)
			must(t, os.WriteFile(full, append(append(append([]byte{}, old[:at]...), "changed\n"...), old[at:]...), 0o644))
			continue
		}
		must(t, os.RemoveAll(full))
		switch kind {
		case 0, 1:
		case 2:
			must(t, os.Symlink(fmt.Sprintf("target%d", random.IntN(3)), full))
		case 3:
			must(t, os.WriteFile(full, randomContent(random), 0o755))
		default:
			must(t, os.WriteFile(full, randomContent(random), 0o644))
		}
	}
}

// TestPatchRoundTrip: random pairs of files, 20 to a patch: what git diff prints makes
// the one of the other, and back, bit by bit, with modes and links.
func TestPatchRoundTrip(t *testing.T) {
	pairs := 200
	if os.Getenv("PRISM_SOAK") == "1" {
		pairs = 2000
	}
	const perPatch = 20
	for round := range pairs / perPatch {
		random := rand.New(rand.NewPCG(uint64(round), 2))
		root := t.TempDir()
		plain(t, root, "init", "-q", "-b", "main")
		randomTree(t, root, random, perPatch)
		plain(t, root, "add", "-A")
		plain(t, root, "commit", "-q", "--allow-empty", "-m", "old")
		old := snapshot(t, root)
		randomTree(t, root, random, perPatch)
		plain(t, root, "add", "-A")
		plain(t, root, "commit", "-q", "--allow-empty", "-m", "new")
		want := snapshot(t, root)
		args := []string{"diff", "--binary", "HEAD~", "HEAD"}
		if round%2 == 1 {
			args = append(args, "-M", "--relative")
		}
		patch := []byte(plain(t, root, args...))
		plain(t, root, "reset", "-q", "--hard", "HEAD~")
		if want == old || snapshot(t, root) != old {
			t.Fatalf("round %d is no test", round)
		}
		g, ws := opened(t, root), files(t, root)
		done, err := apply(t, g, ws, &PatchOptions{Patch: patch})
		must(t, err)
		if got := snapshot(t, root); got != want {
			t.Fatalf("round %d: applied:\n%q\nwant:\n%q", round, got, want)
		}
		if plain(t, root, "diff", "--cached", "--name-only") != "" {
			t.Fatalf("round %d: the index has changed", round)
		}
		if round%2 == 0 {
			_, err = ws.Undo(t.Context(), done.UndoID)
		} else {
			_, err = apply(t, g, ws, &PatchOptions{Patch: patch, Reverse: true, Checkpoint: true})
		}
		must(t, err)
		if got := snapshot(t, root); got != old {
			t.Fatalf("round %d: taken back:\n%q\nwant:\n%q", round, got, old)
		}
	}
	t.Logf("figure: random pairs of files, as patches = %d of %d there and back, bit by bit", pairs, pairs)
}

const twoFiles = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-one\n+two\n"

// TestApplyRefuses: what does not apply as a whole, or where it must not, leaves
// everything as it was.
func TestApplyRefuses(t *testing.T) {
	root := repository(t)
	write(t, root, "b.txt", "three\n")
	write(t, root, "sub/c.txt", "one\n")
	must(t, os.Symlink(t.TempDir(), filepath.Join(root, "out")))
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "b")
	g, ws := opened(t, root), files(t, root)
	before, tree := state(t, root), snapshot(t, root)
	unchanged := func(what string) {
		t.Helper()
		if state(t, root) != before || snapshot(t, root) != tree {
			t.Fatalf("%s: the repository has changed", what)
		}
	}
	made := func(path string) string {
		return "diff --git a/" + path + " b/" + path + "\nnew file mode 100644\n--- /dev/null\n+++ b/" + path + "\n@@ -0,0 +1 @@\n+x\n"
	}
	for name, c := range map[string]struct {
		patch string
		code  tools.Code
	}{
		"a hunk that fails": {twoFiles, tools.CodeGitConflict},
		"no patch":          {"hello\n", tools.CodeToolInput},
		"cut off":           {twoFiles[:len(twoFiles)-8], tools.CodeToolInput},
		"empty":             {"", tools.CodeToolInput},
		"out of the tree":   {made("../x"), tools.CodeToolInput},
		"into .git":         {made(".git/hooks/x"), tools.CodeToolInput},
		"into .GIT":         {made(".GIT/config"), tools.CodeToolInput},
		"through a link":    {made("out/x"), tools.CodeGitConflict},
		"what exists":       {made("a.txt"), tools.CodeGitConflict},
		"a submodule":       {"diff --git a/m b/m\nnew file mode 160000\nindex 0000000..1111111\n--- /dev/null\n+++ b/m\n@@ -0,0 +1 @@\n+Subproject commit 1111111111111111111111111111111111111111\n", tools.CodeGitConflict},
	} {
		if _, err := apply(t, g, ws, &PatchOptions{Patch: []byte(c.patch)}); !errors.Is(err, c.code) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
		unchanged(name)
	}
	objects := plain(t, root, "count-objects", "-v")
	must(t, errOnly(g.CheckPatch(t.Context(), &PatchOptions{Patch: []byte(twoFiles[:strings.Index(twoFiles, "--- a/b.txt")])})))
	if got := plain(t, root, "count-objects", "-v"); got != objects {
		t.Errorf("a check has left objects: %s, before %s", got, objects)
	}
	unchanged("a check")

	write(t, root, "dirt", "x\n")
	before, tree = state(t, root), snapshot(t, root)
	one := []byte(made("new"))
	if _, err := apply(t, g, ws, &PatchOptions{Patch: one}); !errors.Is(err, tools.CodeGitDirty) {
		t.Errorf("with changes: %v", err)
	}
	unchanged("with changes")
	// What was checked and is another patch by now is not applied.
	if _, _, err := g.ApplyPatch(t.Context(), ws, []string{"elsewhere"}, &PatchOptions{Patch: one, Checkpoint: true}); !errors.Is(err, tools.CodeFileChanged) {
		t.Errorf("a path that was not checked: %v", err)
	}
	unchanged("a path that was not checked")
	if refs := plain(t, root, "for-each-ref", "refs/prism"); refs != "" {
		t.Errorf("checkpoints of refused patches: %s", refs)
	}
	list, err := g.CheckPatch(t.Context(), &PatchOptions{Patch: one})
	must(t, err)
	_, c, err := g.ApplyPatch(t.Context(), ws, RewritePaths(list), &PatchOptions{Patch: one, Checkpoint: true})
	must(t, err)
	if got := plain(t, root, "ls-tree", "-r", "--name-only", c.Ref); strings.Contains(got, "new") || !strings.Contains(got, "dirt") {
		t.Errorf("the checkpoint was not made before: %s", got)
	}
}

func errOnly(_ []Rewrite, err error) error { return err }

// TestApplyBelow: in a directory of a work tree, paths are relative to it, and nothing
// outside of it is changed. Line ends are the work tree's.
func TestApplyBelow(t *testing.T) {
	root := repository(t)
	write(t, root, ".gitattributes", "*.crlf eol=crlf\n")
	write(t, root, "sub/x.crlf", "one\r\ntwo\r\n")
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "sub")
	sub := filepath.Join(root, "sub")
	write(t, root, "sub/x.crlf", "one\r\nthree\r\n")
	patch := []byte(plain(t, sub, "diff", "--relative"))
	plain(t, root, "checkout", "-q", "--", ".")
	g, ws := opened(t, sub), files(t, sub)
	done, err := apply(t, g, ws, &PatchOptions{Patch: patch})
	must(t, err)
	if data, err := os.ReadFile(filepath.Join(sub, "x.crlf")); err != nil || string(data) != "one\r\nthree\r\n" || done.Files[0] != "x.crlf" {
		t.Errorf("%v is %q, %v", done.Files, data, err)
	}
	plain(t, root, "checkout", "-q", "--", ".")
	if _, err := apply(t, g, ws, &PatchOptions{Patch: []byte(twoFiles)}); !errors.Is(err, tools.CodeGitConflict) {
		t.Errorf("paths of the top: %v", err)
	}
	write(t, root, ".gitattributes", "*.crlf eol=crlf filter=lfs\n")
	if _, err := apply(t, g, ws, &PatchOptions{Patch: patch}); !errors.Is(err, tools.CodeGitLFS) {
		t.Errorf("a file that needs a filter: %v", err)
	}
}
