package state_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/statetest"
)

func files() *statetest.Suite {
	return &statetest.Suite{
		Name: "files", Shared: true, Full: os.Getenv("PRISM_SOAK") != "",
		New:  func(t testing.TB) string { return filepath.Join(t.TempDir(), "state", "records") },
		Open: func(place string) (state.CheckpointStore, error) { return state.NewFiles(place, nil) },
	}
}

func TestMain(m *testing.M) {
	files().Main()
	os.Exit(m.Run())
}

func TestFiles(t *testing.T) { files().Run(t) }

func open(t *testing.T, dir string, opts *state.FilesOptions) *state.Files {
	t.Helper()
	store, err := state.NewFiles(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func key(name string) state.Key { return state.Key{Namespace: "test", Name: name} }

func save(t *testing.T, store *state.Files, name, data string) {
	t.Helper()
	if _, err := store.Save(t.Context(), key(name), state.Change{Data: []byte(data)}); err != nil {
		t.Fatal(err)
	}
}

// recordFiles are the files of records in the store, sorted.
func recordFiles(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestFilesAreTheUsersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("access lists instead of modes")
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	save(t, open(t, dir, nil), "record", "data")
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if want := fs.FileMode(0o600); err == nil && !entry.IsDir() && info.Mode() != want || entry.IsDir() && info.Mode().Perm() != 0o700 {
			t.Errorf("%s is %v", name, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestABrokenRecordIsNamedAndTheOthersGoOn(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir, nil)
	save(t, store, "broken", "some data")
	path := recordFiles(t, dir)[0]
	save(t, store, "whole", "data")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := slices.Clone(content)
	flipped[len(flipped)-1] ^= 1
	for what, content := range map[string][]byte{
		"empty": nil, "cut": content[:len(content)-1], "flipped": flipped, "zeros": make([]byte, len(content)),
		"longer": append(slices.Clone(content), 'x'), "huge": bytes.Repeat(content, 10_000), "other form": bytes.Replace(content, []byte("record 1"), []byte("record 2"), 1),
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := store.Load(t.Context(), key("broken"))
		var coded *tools.Error
		if !errors.As(err, &coded) || coded.Code != tools.CodeStateUnavailable || !strings.Contains(coded.Message, path) {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := store.Save(t.Context(), key("broken"), state.Change{}); !errors.Is(err, tools.CodeStateUnavailable) {
			t.Errorf("%s, saving: %v", what, err)
		}
		page, err := store.List(t.Context(), key(""), "", 0)
		if err != nil || len(page.Records) != 1 || page.Records[0].Key.Name != "whole" || len(page.Broken) != 1 || !errors.Is(page.Broken[0], tools.CodeStateUnavailable) {
			t.Errorf("%s, listing: %+v, %v", what, page, err)
		}
	}
	// A whole record in the place of another is not that one.
	other := recordFiles(t, dir)
	index := slices.IndexFunc(other, func(name string) bool { return name != path && strings.HasSuffix(name, filepath.Ext(path)) })
	moved, err := os.ReadFile(other[index])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, moved, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Load(t.Context(), key("broken")); !errors.Is(err, tools.CodeStateUnavailable) {
		t.Errorf("moved: %+v, %v", got, err)
	}
}

func TestWithoutAPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", file, filepath.Join(file, "below")} {
		store := open(t, dir, nil)
		if _, err := store.Save(t.Context(), key("record"), state.Change{}); !errors.Is(err, tools.CodeStateUnavailable) {
			t.Errorf("%q: %v", dir, err)
		}
	}
	// It recovers: here, when the file in the way is gone.
	store := open(t, filepath.Join(file, "below"), nil)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	save(t, store, "record", "data")
}

func TestRecordBytes(t *testing.T) {
	store := open(t, t.TempDir(), &state.FilesOptions{RecordBytes: state.RecordBytes.Hard})
	save(t, store, "large", strings.Repeat("x", int(state.RecordBytes.Hard)))
	if got, err := store.Load(t.Context(), key("large")); err != nil || int64(len(got.Data)) != state.RecordBytes.Hard {
		t.Errorf("%d bytes, %v", len(got.Data), err)
	}
	if _, err := state.NewFiles(t.TempDir(), &state.FilesOptions{RecordBytes: state.RecordBytes.Hard + 1}); !errors.Is(err, tools.CodeToolInput) {
		t.Errorf("beyond the hard limit: %v", err)
	}
}

func TestWhatACrashLeftIsNoRecord(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir, nil)
	save(t, store, "record", "data")
	left := strings.TrimSuffix(recordFiles(t, dir)[0], ".record") + ".fresh"
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if page, err := store.List(t.Context(), key(""), "", 0); err != nil || len(page.Records) != 1 || len(page.Broken) != 0 {
		t.Errorf("%+v, %v", page, err)
	}
	if _, err := store.Save(t.Context(), key("record"), state.Change{Version: 1}); err != nil {
		t.Fatal(err)
	}
	if names := recordFiles(t, dir); len(names) != 1 {
		t.Errorf("%v", names)
	}
}
