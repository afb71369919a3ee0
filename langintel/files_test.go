package langintel

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/workspace"
)

// A text of the same length that is written within the same tick of the file
// system's clock, or with the times set back, is seen.
func TestFileCacheSameSizeAndTime(t *testing.T) {
	dir := t.TempDir()
	work, err := workspace.Open(dir, &workspace.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer work.Close()
	name, cache, old := filepath.Join(dir, "a.x"), newFileCache(work), time.Now().Add(-time.Hour)
	get := func() *file {
		t.Helper()
		f, _, err := cache.get(t.Context(), workspace.Path{Rel: "a.x", Real: "a.x"})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	holds := func(text string) {
		t.Helper()
		if got := get(); string(got.text.data) != text {
			t.Fatalf("%q, want %q", got.text.data, text)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		write(name, "price")
		holds("price")
		write(name, "prise")
		holds("prise")
	}
	if get(); changeTimes {
		for deadline := time.Now().Add(10 * time.Second); !get().id.settled; {
			if time.Now().After(deadline) {
				t.Fatal("a file that nobody changes is never known without being read")
			}
		}
		if known := get(); get() != known {
			t.Error("a file that has long been the same was read again")
		}
		write(name, "price")
		holds("price")
		write(name+"2", "prize")
		if err := os.Rename(name+"2", name); err != nil {
			t.Fatal(err)
		}
		holds("prize")
	}
}
