package host_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/tools"
)

// deadMan is the byte of SQLite's shared memory that is locked by all who have the
// database open (its unix VFS). Whoever opens it while nobody has that lock truncates
// the memory, under those who have it mapped.
const deadMan = 128

// TestToolsLeaveTheStoresLocks has the state directory in the root, as where a home
// directory is served: files of the store are found, and never opened.
func TestToolsLeaveTheStoresLocks(t *testing.T) {
	root := t.TempDir()
	state := filepath.Join(root, "state")
	y := &yard{t: t, root: root}
	cfg, err := config.Load(config.ReadSystem(), config.Flags{Root: root, StateDir: state, Profile: "trusted"})
	y.must(err)
	y.host, err = host.Open(cfg, slog.New(slog.DiscardHandler))
	y.must(err)
	defer y.host.Close()
	y.done("write", args{"path": "a.txt", "content": "SQLite"}, "path")
	shared := filepath.Join(state, "state.db-shm")
	y.must(os.Symlink(shared, filepath.Join(root, "link")))
	y.must(os.Link(shared, filepath.Join(root, "same")))
	for _, path := range []string{"state/state.db-shm", "state/state.db", "state/state.db-wal", "state/state.db.mark", "link", "same"} {
		if result := y.call("read", "", args{"path": path}); result.Err == nil || result.Err.Code != tools.CodePermission {
			t.Errorf("reading %s: %v", path, result.Err)
		}
	}
	y.must(os.Remove(filepath.Join(root, "same"))) // a search goes by names
	if found := y.call("repo_search", "", args{"query": "SQLite"}); found.Err != nil {
		t.Error(found.Err)
	}
	if found := y.call("repo_search", "", args{"query": "SQLite", "path": "state"}); found.Err != nil {
		t.Error(found.Err)
	}
	if got := y.call("read", "", args{"path": "a.txt"}); got.Err != nil || got.Content[0].Text != "SQLite" {
		t.Errorf("%v, %v", got.Content, got.Err)
	}
	file, err := os.Open(shared)
	y.must(err)
	defer file.Close() // which ends the locks itself
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: deadMan, Len: 1}
	y.must(unix.FcntlFlock(file.Fd(), unix.F_OFD_GETLK, &lock))
	if lock.Type == unix.F_UNLCK {
		t.Error("the store has lost its lock")
	}
}
