package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/filelock"
	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/sqlite"
)

func TestItIsTheUsersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("access lists instead of modes")
	}
	dir := filepath.Join(t.TempDir(), "a", "b ?#%41")
	stores := open(t, filepath.Join(dir, "state.db"), nil)
	save(t, stores, "record", 0)
	names := map[string]bool{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		names[entry.Name()] = true
		if want := fs.FileMode(0o600); err == nil && !entry.IsDir() && info.Mode() != want || entry.IsDir() && info.Mode().Perm() != 0o700 {
			t.Errorf("%s is %v", name, info.Mode())
		}
		return err
	})
	if err != nil || !names["state.db"] || !names["state.db-wal"] || !names["state.db.mark"] {
		t.Errorf("%v, %v", names, err)
	}
}

func TestPlacesThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write(t, file, bytes.Repeat([]byte("no database "), 1000))
	shared := filepath.Join(dir, "shared")
	if err := os.Mkdir(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.db")
	db := raw(t, other)
	if _, err := db.Exec("CREATE TABLE other (x)"); err != nil {
		t.Fatal(err)
	}
	later := filepath.Join(dir, "later.db")
	open(t, later, nil)
	if _, err := raw(t, later).Exec("UPDATE prism_meta SET value = value + 1 WHERE name = 'version'"); err != nil {
		t.Fatal(err)
	}
	for path, why := range map[string]string{
		file: "not a database", filepath.Join(file, "below"): "not a directory", dir: "", other: "not a store", later: "later prism-ls",
		filepath.Join(shared, "state.db"): "others may write to",
	} {
		before, _ := os.ReadFile(path)
		if runtime.GOOS == "windows" && strings.HasPrefix(path, shared) {
			continue
		}
		_, err := sqlite.Open(path, nil)
		if !errors.Is(err, tools.CodeStateUnavailable) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", path, err)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%s was changed", path)
		}
	}
	for _, opts := range []sqlite.Options{{Wait: -1}, {Wait: time.Hour}, {Limits: state.Limits{RecordBytes: -1}}, {Limits: state.Limits{ArtifactBytes: 4 << 30}}} {
		if _, err := sqlite.Open(filepath.Join(dir, "state.db"), &opts); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%+v: %v", opts, err)
		}
	}
	if _, err := sqlite.Summarize(t.Context(), filepath.Join(dir, "none", "state.db"), nil); !errors.Is(err, tools.CodeNotFound) {
		t.Errorf("where nothing is: %v", err)
	}
	if exists(filepath.Join(dir, "none")) {
		t.Error("looking made something")
	}
}

// TestWhatIsNoFileIsRefusedAtOnce: a named pipe would be waited for, and a link leads
// who knows where.
func TestWhatIsNoFileIsRefusedAtOnce(t *testing.T) {
	for i := range sqlite.Files("") {
		for what, put := range map[string]func(name string) error{
			"a directory":      func(name string) error { return os.Mkdir(name, 0o700) },
			"a link":           func(name string) error { return os.Symlink(os.DevNull, name) },
			"a link to itself": func(name string) error { return os.Symlink(filepath.Base(name), name) },
			"a named pipe":     makePipe,
		} {
			path := filepath.Join(t.TempDir(), "state.db")
			name := sqlite.Files(path)[i]
			if err := put(name); err != nil {
				t.Logf("%s cannot be made here: %v", what, err)
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			_, err := sqlite.OpenContext(ctx, path, nil)
			cancel()
			if !errors.Is(err, tools.CodeStateUnavailable) || !strings.Contains(err.Error(), name+" is no regular file") {
				t.Errorf("%s: %s: %v", what, name, err)
			}
			failedNow(t, os.Remove(name))
			save(t, open(t, path, nil), "record", 0)
		}
	}
}

func TestFilesThatOthersMayReadAreMadeTheUsersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("access lists instead of modes")
	}
	path := filepath.Join(t.TempDir(), "state.db")
	stores := open(t, path, nil)
	save(t, stores, "record", 0)
	failedNow(t, stores.Close())
	failedNow(t, os.Chmod(path, 0o644)) // as cp(1) leaves it
	save(t, open(t, path, nil), "record", 1)
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if info, err := os.Stat(name); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// TestNobodyIsWaitedForLongerThanTheCaller has somebody stopped in the middle of a
// change, once one of us and once a person's sqlite3.
func TestNobodyIsWaitedForLongerThanTheCaller(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	stores := open(t, path, nil)
	save(t, stores, "record", 0)
	slow := func(what string, do func(ctx context.Context) error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		if err := do(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 5*time.Second {
			t.Errorf("%s: %v after %v", what, err, time.Since(began))
		}
	}
	change := func(ctx context.Context) error {
		_, err := stores.Checkpoints().Save(ctx, key("record"), state.Change{Version: 1})
		return err
	}
	db := raw(t, path)
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	slow("a change while sqlite3 has the lock", change)
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	gate, err := os.OpenFile(path+".lock", os.O_RDWR, 0)
	failedNow(t, err)
	defer gate.Close()
	failedNow(t, filelock.Wait(t.Context(), gate))
	slow("a change while the gate is held", change)
	slow("opening while the gate is held", func(ctx context.Context) error {
		_, err := sqlite.OpenContext(ctx, path, nil)
		return err
	})
	failedNow(t, filelock.Release(gate))
	save(t, stores, "record", 1)
}

// TestTidyIsForAllOwners: of workspaces that are gone, too.
func TestTidyIsForAllOwners(t *testing.T) {
	all, err := sqlite.Open(filepath.Join(t.TempDir(), "state.db"), nil)
	failedNow(t, err)
	defer all.Close()
	for i, owner := range []string{"ann", "bob", "cid"} {
		effect, err := all.Effects().Begin(t.Context(), state.Owner{User: owner}, state.EffectIdentity{Run: owner, Operation: "write"}, &state.EffectOptions{Dispatched: true})
		failedNow(t, err)
		claim := state.EffectClaim{Owner: effect.Owner, Key: effect.Key, Token: effect.Claim}
		if i == 0 {
			failedNow(t, all.Effects().MarkUnknown(t.Context(), claim, "?"))
			continue
		}
		failedNow(t, all.Effects().Complete(t.Context(), claim, nil))
	}
	for _, step := range []struct {
		before time.Time
		most   int
	}{{time.Now().Add(-time.Minute), 0}, {time.Now().Add(time.Minute), 2}, {time.Now().Add(time.Minute), 0}} {
		if n, err := all.Tidy(t.Context(), step.before, 0); n != step.most || err != nil {
			t.Errorf("%d, want %d, %v", n, step.most, err)
		}
	}
}

// raw is the file as anybody else has it.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// TestOthersThatDoNotKnowOfTheGate has somebody hold the database's own lock.
func TestOthersThatDoNotKnowOfTheGate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	stores := open(t, path, &sqlite.Options{Wait: 20 * time.Second})
	save(t, stores, "record", 0)
	db := raw(t, path)
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		time.Sleep(300 * time.Millisecond)
		_, _ = db.Exec("COMMIT")
	})
	save(t, stores, "record", 1)
	wait.Wait()
}

func TestArtifactsAreVerifiedWhenTheyAreRead(t *testing.T) {
	path, owner := filepath.Join(t.TempDir(), "state.db"), state.Owner{User: "ann"}
	stores := open(t, path, nil)
	for what, spoil := range map[string]string{
		"changed":      "UPDATE prism_chunk SET data = zeroblob(length(data)) WHERE number = 1",
		"cut":          "UPDATE prism_chunk SET data = substr(data, 2) WHERE number = 2",
		"longer":       "UPDATE prism_chunk SET data = CAST(data || x'00' AS BLOB) WHERE number = 2",
		"without some": "DELETE FROM prism_chunk WHERE number = 1",
		"without all":  "DELETE FROM prism_chunk",
		"emptied":      "UPDATE prism_chunk SET data = x''",
	} {
		artifact, err := stores.Artifacts().Put(t.Context(), owner, strings.NewReader(strings.Repeat("content", 100_000)))
		failedNow(t, err)
		if _, err := raw(t, path).Exec(spoil); err != nil {
			t.Fatal(err)
		}
		r, err := stores.Artifacts().Open(t.Context(), owner, artifact.SHA256)
		failedNow(t, err)
		var got bytes.Buffer
		if _, err := got.ReadFrom(r); !errors.Is(err, tools.CodeStateUnavailable) || !strings.Contains(err.Error(), "not what was kept") {
			t.Errorf("%s: %d bytes, %v", what, got.Len(), err)
		}
		failedNow(t, stores.Artifacts().Delete(t.Context(), owner, artifact.SHA256))
	}
}

// TestWhatACrashLeftOfAnArtifactIsSwept: it has no hash, and nobody has added to it.
func TestWhatACrashLeftOfAnArtifactIsSwept(t *testing.T) {
	path, owner := filepath.Join(t.TempDir(), "state.db"), state.Owner{}
	now := time.Now()
	stores := open(t, path, &sqlite.Options{Clock: func() time.Time { return now }})
	db := raw(t, path)
	for _, statement := range []string{
		"INSERT INTO prism_artifact (id, tenant, account, person, sha256, bytes, saved, touched) VALUES (-1, '', '', '', NULL, 0, 1, 1)",
		"INSERT INTO prism_chunk SELECT -1, value, zeroblob(1000) FROM (WITH RECURSIVE n(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n LIMIT 200) SELECT value FROM n)",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	_, err := stores.Artifacts().Put(t.Context(), owner, strings.NewReader(strings.Repeat("x", 300_000)))
	failedNow(t, err)
	var left int
	if err := db.QueryRow("SELECT (SELECT count(*) FROM prism_chunk WHERE artifact = -1) + (SELECT count(*) FROM prism_artifact WHERE id = -1)").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d rows are left, %v", left, err)
	}
}
