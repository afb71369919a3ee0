package langintel_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
)

// watching is a scripted server that wants to hear of every .x file.
func watching(t *testing.T, dir string) (*bench, *lsptest.Record) {
	program, args, record := lsptest.Command(t, &lsptest.Script{Capabilities: scriptedCapabilities, On: []lsptest.Rule{
		on("initialized", lsptest.Action{Request: `{"method":"client/registerCapability","params":{"registrations":[{"id":"w","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[{"globPattern":"**/*.x"}]}}]}}`, Await: true}),
		on("textDocument/hover", lsptest.Action{Reply: aHover}),
	}})
	opts := &langintel.Options{Servers: []langintel.Spec{{
		Name: "scripted", Program: program, Args: args, Ready: langintel.Blocks(),
		Languages: []langintel.Language{{ID: "x", Patterns: []string{"*.x"}}},
	}}}
	if err := os.WriteFile(filepath.Join(dir, "a.x"), []byte("one two\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return open(t, dir, opts), record
}

// inotifyWatches counts this process's watches (proc_pid_fdinfo(5)).
func inotifyWatches(t *testing.T) int {
	t.Helper()
	infos, err := filepath.Glob("/proc/self/fdinfo/*")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range infos {
		text, err := os.ReadFile(name)
		if err == nil {
			n += bytes.Count(text, []byte("inotify wd:"))
		}
	}
	return n
}

func fill(t *testing.T, root string, dirs, files int) {
	t.Helper()
	for d := range dirs {
		dir := filepath.Join(root, fmt.Sprintf("d%d", d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for f := range files {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.x", f)), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// told asks something, and returns the file events that the server received.
func told(t *testing.T, b *bench, record *lsptest.Record) string {
	t.Helper()
	if _, err := hover(b); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, m := range record.Messages(t) {
		if m.Method == "workspace/didChangeWatchedFiles" {
			all.Write(m.Params)
		}
	}
	return all.String()
}

// A workspace of 50 000 files, most of them dependencies, costs a watch for each
// directory of its own, and each question knows of what happened before it.
func TestWatchingManyFiles(t *testing.T) {
	dir := t.TempDir()
	files := 5 // in each directory; at full size 50 000 in all
	if soak() {
		files = 100
	}
	fill(t, filepath.Join(dir, "src"), 50, files)
	fill(t, filepath.Join(dir, "node_modules"), 450, files)
	before := inotifyWatches(t)
	b, record := watching(t, dir)
	told(t, b, record)
	if n := inotifyWatches(t) - before; n < 50 || n > 60 {
		t.Errorf("%d watches, want one for each of 52 directories", n)
	}
	for i := range 5 {
		name := fmt.Sprintf("src/d%d/new%d.x", i, i)
		b.write(name, "new")
		if events := told(t, b, record); !happened(events, 1, name) {
			t.Fatalf("%s was made before the question, and the server did not hear of it: %s", name, events)
		}
	}
	b.write("made/deep/er/z.x", "new")
	if events := told(t, b, record); !happened(events, 1, "made/deep/er/z.x") {
		t.Errorf("a file of a new directory: %s", events)
	}
	b.write("made/deep/er/z.x", "changed")
	if events := told(t, b, record); !happened(events, 2, "made/deep/er/z.x") {
		t.Errorf("a changed file of a new directory: %s", events)
	}
	if err := os.Rename(filepath.Join(dir, "made", "deep"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	if events := told(t, b, record); !happened(events, 3, "made/deep/er/z.x") || !happened(events, 1, "moved/er/z.x") {
		t.Errorf("a moved directory: %s", events)
	}
	b.write("moved/er/z.x", "changed again")
	if events := told(t, b, record); !happened(events, 2, "moved/er/z.x") {
		t.Errorf("a changed file of a moved directory: %s", events)
	}
	b.write("node_modules/d0/new.x", "not watched")
	if events := told(t, b, record); strings.Contains(events, "node_modules") {
		t.Errorf("dependencies are not watched: %s", events)
	}
}

// Beyond the bound no watch is kept, changes are still found, and the status says
// how.
func TestWatchingTooManyDirectories(t *testing.T) {
	dir := t.TempDir()
	fill(t, filepath.Join(dir, "src"), 8300, 0)
	before := inotifyWatches(t)
	b, record := watching(t, dir)
	told(t, b, record)
	if n := inotifyWatches(t) - before; n != 0 {
		t.Errorf("%d watches are left", n)
	}
	b.write("src/d8000/new.x", "new")
	deadline := time.Now().Add(30 * time.Second)
	for !happened(told(t, b, record), 1, "src/d8000/new.x") {
		if time.Now().After(deadline) {
			t.Fatal("the server did not hear of a new file")
		}
	}
	servers, err := b.Status(within(t, 10*time.Second))
	if err != nil || !strings.Contains(servers[0].Degraded, "looking at every file") {
		t.Errorf("%+v, %v", servers, err)
	}
}
