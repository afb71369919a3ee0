package taskspace

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// patchOf cleans the workspace up, and returns what was saved and the patch of it.
func patchOf(t *testing.T, f *fixture) (Saved, string) {
	t.Helper()
	space, err := f.m.Cleanup(t.Context(), ada, "t", Policy{Dirty: true})
	must(t, err)
	saved := space.Repositories[0].Saved[0]
	if saved.Patch == nil {
		return saved, ""
	}
	var text []byte
	must(t, f.m.open(t.Context(), ada, saved.Patch, func(r io.Reader) (err error) {
		text, err = io.ReadAll(r)
		return err
	}))
	return saved, string(text)
}

// TestPatch: what a cleanup saved can be read, and applied to the commit that it names.
func TestPatch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, path := f.make("t")
	soil(t, path)
	write(t, path, "binary", "new\x00binary")
	write(t, path, "inner/file", "of a repository within\n")
	plain(t, filepath.Join(path, "inner"), "init", "-q")
	write(t, path, "a.txt", "a\x00binary now")
	want := tree(t, path)
	saved, text := patchOf(t, f)
	for _, part := range []string{
		"its HEAD " + saved.Head + " had not", "+staged, and changed again", "deleted file mode", "GIT binary patch", "+new\n",
		"no ignored files; the archive has 2", "only in the archive: binary\n", "only in the archive: inner/.git/HEAD\n", "+of a repository within",
		"new file mode 120000",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the patch has no %q:\n%s", part, text)
		}
	}
	if saved.PatchCut || strings.Contains(text, "cut") {
		t.Errorf("it is cut: %s", text)
	}
	fresh := f.at("fresh")
	plain(t, f.at("shop"), "worktree", "add", "-q", "--detach", fresh, saved.Head)
	must(t, os.WriteFile(f.at("patch"), []byte(text), 0o600))
	plain(t, fresh, "apply", "--whitespace=nowarn", f.at("patch"))
	for name := range want {
		if name == "binary" || name == "trace.log" || strings.HasPrefix(name, "build/") || strings.Contains(name, ".git/") {
			delete(want, name)
		}
	}
	want["secret"] = "644" + strings.TrimPrefix(want["secret"], "600") // git keeps no more of a mode
	expectTree(t, "after applying it", tree(t, fresh), want)
}

// TestPatchBounds: a patch that is over its bound is cut between files, says so, and can
// still be applied; one that the record has no room for is left out, and the archive is
// not.
func TestPatchBounds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.opts.Limits = Limits{PatchBytes: 2000, ArtifactReferences: 3}
	f.open()
	_, path := f.make("t")
	for i := range 20 {
		write(t, path, fmt.Sprintf("new%02d", i), strings.Repeat("line\n", 20))
	}
	want := tree(t, path)
	saved, text := patchOf(t, f)
	if count := strings.Count(text, "diff --git"); !saved.PatchCut || count < 3 || !strings.Contains(text, fmt.Sprintf("It is cut after %d files, at the bound of 2000 bytes", count)) {
		t.Errorf("cut %v: %s", saved.PatchCut, text)
	}
	must(t, os.WriteFile(f.at("patch"), []byte(text), 0o600))
	plain(t, f.at("shop"), "apply", "--check", f.at("patch"))
	_, err := f.m.Undo(t.Context(), ada, "t")
	must(t, err)
	f.opts.Limits.ArtifactReferences = 2
	f.open()
	if saved, _ := patchOf(t, f); saved.Patch != nil || saved.Files == nil {
		t.Errorf("without room: %+v", saved)
	}
	_, err = f.m.Undo(t.Context(), ada, "t")
	must(t, err)
	expectTree(t, "after undo", tree(t, path), want)
}

// TestSparsePatch: files that a sparse work tree does not have are no deletions.
func TestSparsePatch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, path := f.make("t")
	plain(t, path, "sparse-checkout", "set", "--no-cone", "a.txt")
	write(t, path, "a.txt", "changed\n")
	saved, text := patchOf(t, f)
	if saved.Files == nil || !strings.Contains(text, "+changed") || strings.Contains(text, "deleted") {
		t.Errorf("%+v\n%s", saved, text)
	}
}
