package edit

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// soak reports whether the long versions of tests are asked for.
func soak() bool { return os.Getenv("PRISM_SOAK") == "1" }

// git runs git without any configuration but its own.
func git(t testing.TB, dir string, stdin string, args ...string) ([]byte, error) {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("git is not installed, and CI must have it")
		}
		t.Skip("git is not installed")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader([]byte(stdin))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir), "LC_ALL=C"}
	return cmd.CombinedOutput()
}

// writeTree creates one side of the changes under dir.
func writeTree(t testing.TB, dir string, changes []Change, side func(Change) (string, fs.FileMode, []byte)) {
	t.Helper()
	for _, c := range changes {
		path, mode, data := side(c)
		if path == "" {
			continue
		}
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if mode&fs.ModeSymlink != 0 {
			if err := os.Symlink(string(data), full); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if mode == 0 {
			mode = 0o644
		}
		if err := os.WriteFile(full, data, mode); err != nil {
			t.Fatal(err)
		}
	}
}

func oldSide(c Change) (string, fs.FileMode, []byte) { return c.OldPath, c.OldMode, c.Old }
func newSide(c Change) (string, fs.FileMode, []byte) { return c.NewPath, c.NewMode, c.New }

// checkTree compares the tree under dir with one side of the changes.
func checkTree(t testing.TB, dir string, changes []Change, side, other func(Change) (string, fs.FileMode, []byte)) {
	t.Helper()
	want := map[string]bool{}
	for _, c := range changes {
		path, mode, data := side(c)
		if path == "" {
			continue
		}
		want[path] = true
		full := filepath.Join(dir, path)
		info, err := os.Lstat(full)
		if err != nil {
			t.Errorf("%q: %v", path, err)
			continue
		}
		var got []byte
		if info.Mode()&fs.ModeSymlink != 0 {
			target, _ := os.Readlink(full)
			got = []byte(target)
		} else {
			got, _ = os.ReadFile(full)
		}
		if !bytes.Equal(got, data) {
			t.Errorf("%q: got %.200q, want %.200q", path, got, data)
		}
		if gitMode(info.Mode()) != gitMode(mode) {
			t.Errorf("%q: mode %v, want %v", path, info.Mode(), mode)
		}
	}
	for _, c := range changes {
		if path, _, _ := other(c); path != "" && !want[path] {
			if _, err := os.Lstat(filepath.Join(dir, path)); err == nil {
				t.Errorf("%q is still there", path)
			}
		}
	}
}

// roundTrip applies the patch to the old side, compares with the new one, and
// goes back.
func roundTrip(t testing.TB, patch string, changes []Change) {
	t.Helper()
	dir := t.TempDir()
	writeTree(t, dir, changes, oldSide)
	if patch == "" {
		checkTree(t, dir, changes, newSide, oldSide)
		return
	}
	if out, err := git(t, dir, patch, "apply", "--whitespace=nowarn"); err != nil {
		t.Fatalf("git apply: %v\n%.2000s\n%.4000s", err, out, patch)
	}
	checkTree(t, dir, changes, newSide, oldSide)
	if out, err := git(t, dir, patch, "apply", "--whitespace=nowarn", "-R"); err != nil {
		t.Fatalf("git apply -R: %v\n%.2000s\n%.4000s", err, out, patch)
	}
	checkTree(t, dir, changes, oldSide, newSide)
}
