package workspace

import (
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"golang.org/x/sys/unix"
)

// swap exchanges two names as fast as it can until stop is closed.
func swap(t testing.TB, a, b string) (stop func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case <-done:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
			}
		}
	}()
	return sync.OnceFunc(func() { close(done); <-gone })
}

func TestSymlinkSwapper(t *testing.T) {
	base := t.TempDir()
	root, outside := filepath.Join(base, "root"), filepath.Join(base, "outside")
	for _, dir := range []string{root + "/dir", outside} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	must(t, os.WriteFile(root+"/dir/x", []byte("inside"), 0o644))
	must(t, os.WriteFile(outside+"/x", []byte(secret), 0o644))
	must(t, os.Symlink(outside, root+"/bad-dir"))
	must(t, os.WriteFile(root+"/file", []byte("inside"), 0o644))
	must(t, os.Symlink(outside+"/x", root+"/bad-file"))
	for _, mode := range []string{"openat2", "walk"} {
		t.Run(mode, func(t *testing.T) {
			w, err := Open(root, &Options{StateDir: filepath.Join(base, "state")})
			must(t, err)
			defer w.Close()
			w.noOpenat2.Store(mode == "walk")
			defer swap(t, root+"/dir", root+"/bad-dir")()
			defer swap(t, root+"/file", root+"/bad-file")()
			raceReads(t, w, size(2_500, 200_000))
			raceWrites(t, w, size(120, 10_000))
			if data, err := os.ReadFile(outside + "/x"); err != nil || string(data) != secret {
				t.Errorf("the outside file changed: %q %v", data, err)
			}
			entries, err := os.ReadDir(outside)
			must(t, err)
			if len(entries) != 1 {
				t.Errorf("the outside has %v", entries)
			}
		})
	}
}

func raceReads(t *testing.T, w *Workspace, count int) {
	opened := 0
	for i := range count {
		name := []string{"dir/x", "file", "bad-dir/x", "bad-file"}[i%4]
		p, err := w.Parse(name)
		must(t, err)
		file, _, err := w.OpenFile(p)
		if err != nil {
			wantCode(t, err, tools.CodePathEscape, tools.CodeNotFound, tools.CodeIO)
			continue
		}
		data, err := io.ReadAll(file)
		file.Close()
		must(t, err)
		if string(data) == secret {
			t.Fatalf("open %d of %s escaped", i, name)
		}
		opened++
	}
	if opened == 0 {
		t.Error("no open worked: the race was not run")
	}
	t.Logf("%d of %d opens worked, none escaped", opened, count)
}

func raceWrites(t *testing.T, w *Workspace, count int) {
	wrote := 0
	for i := range count {
		name := []string{"dir/x", "file", "bad-dir/x", "bad-file", "dir/new", "bad-dir/new"}[i%6]
		p, err := w.Parse(name)
		must(t, err)
		_, err = w.Transact(t.Context(), []Path{p}, func(tx *Tx) error { return tx.Write(p, []byte("inside"), nil) })
		if err != nil {
			wantCode(t, err, tools.CodePathEscape, tools.CodeNotFound, tools.CodeFileChanged, tools.CodeIO, tools.CodeNotFile)
			continue
		}
		wrote++
	}
	if wrote == 0 {
		t.Error("no write worked: the race was not run")
	}
	t.Logf("%d of %d writes worked", wrote, count)
}
