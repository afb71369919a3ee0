package builtin_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
)

func TestWrite(t *testing.T) {
	h := newHost(t, func(d *builtin.Deps, _ *tools.RegistryOptions) { d.Write.MaxInputBytes = 1000 })
	var m builtin.WriteMetadata
	text := h.ok("write", args{"path": "a/b.txt", "content": "one\ntwo\nthree"}, &m)
	if want := "Successfully wrote 13 bytes (3 lines) to " + h.path("a/b.txt"); text != want {
		t.Errorf("got %q, want %q", text, want)
	}
	if m.Path != h.path("a/b.txt") || m.SHA256 != hashOf("one\ntwo\nthree") || m.UndoID == "" || m.Degraded != "" {
		t.Errorf("metadata: %+v", m)
	}
	h.fails("write", args{"path": "a/b.txt", "content": "x", "expectSha256": hashOf("other")}, tools.CodeFileChanged)
	h.ok("write", args{"path": "a/b.txt", "content": "x", "expectSha256": m.SHA256}, nil)
	h.fails("write", args{"path": "big", "content": strings.Repeat("x", 1001)}, tools.CodeToolInput)
	h.fails("write", args{"path": "dir/", "content": "x"}, tools.CodeNotFile)
	must(t, os.Link(h.path("a/b.txt"), h.path("twin")))
	h.fails("write", args{"path": "twin", "content": "y"}, tools.CodeHardlink)
	h.ok("write", args{"path": "twin", "content": "y", "allowHardlink": true}, nil)

	// Through a link: the link stays, its target is written.
	must(t, os.Symlink("a/c.txt", h.path("link")))
	h.ok("write", args{"path": "link", "content": "through"}, &m)
	if target, err := os.Readlink(h.path("link")); err != nil || target != "a/c.txt" || h.content("a/c.txt") != "through" || m.Path != h.path("a/c.txt") {
		t.Errorf("link to %q (%v), metadata %+v", target, err, m)
	}
}

func TestUndo(t *testing.T) {
	h := newHost(t, nil)
	h.write("a", "before\n")
	h.write("d/x", "1")
	h.write("d/y", "2")
	var wrote builtin.WriteMetadata
	h.ok("write", args{"path": "a", "content": "after\n"}, &wrote)
	var undone builtin.UndoMetadata
	h.ok("undo", args{"undoId": wrote.UndoID}, &undone)
	if h.content("a") != "before\n" || !slices.Equal(undone.Files, []string{"a"}) {
		t.Errorf("a is %q, files %v", h.content("a"), undone.Files)
	}
	if result := h.call("undo", args{"undoId": wrote.UndoID}); result.Err == nil {
		t.Error("it was undone twice")
	}
	// Not over what somebody did since.
	h.ok("write", args{"path": "a", "content": "after\n"}, &wrote)
	h.write("a", "by a person\n")
	h.fails("undo", args{"undoId": wrote.UndoID}, tools.CodeFileChanged)
	if h.content("a") != "by a person\n" {
		t.Errorf("a is %q", h.content("a"))
	}
	var deleted builtin.DeleteMetadata
	if text := h.ok("delete", args{"path": "d", "recursive": true}, &deleted); deleted.Entries != 3 || text != "Deleted "+h.path("d")+" (3 entries)" {
		t.Errorf("%q %+v", text, deleted)
	}
	h.ok("undo", args{"undoId": deleted.UndoID}, nil)
	var moved builtin.MoveMetadata
	h.ok("move", args{"from": "d", "to": "e"}, &moved)
	h.ok("undo", args{"undoId": moved.UndoID}, nil)
	if h.content("d/x")+h.content("d/y") != "12" {
		t.Error("the tree is not back")
	}
	h.fails("undo", args{"undoId": "no-such-id"}, tools.CodeNotFound)
}

func TestDelete(t *testing.T) {
	h := newHost(t, nil)
	for i := range 9 {
		h.write(fmt.Sprint("d/sub/", i), "x")
	}
	before := snapshot(t, h.root)
	h.fails("delete", args{"path": "d"}, tools.CodeNotEmpty)
	h.fails("delete", args{"path": "d", "recursive": true, "maxEntries": 10}, tools.CodeLimit)
	h.fails("delete", args{"path": "d", "recursive": true, "maxEntries": 100_001}, tools.CodeToolInput)
	if after := snapshot(t, h.root); len(after) != len(before) {
		t.Errorf("%d of %d entries are left after refusals", len(after), len(before))
	}
	h.ok("delete", args{"path": "d", "recursive": true, "maxEntries": 11}, nil)
	if _, err := os.Lstat(h.path("d")); err == nil {
		t.Error("it is still there")
	}
}

func TestMove(t *testing.T) {
	h := newHost(t, nil)
	h.write("d/x", "1")
	h.write("f", "2")
	h.fails("move", args{"from": "d", "to": "d/inside"}, tools.CodeToolInput)
	h.fails("move", args{"from": "d", "to": "./d/"}, tools.CodeToolInput)
	h.fails("move", args{"from": "f", "to": "nowhere/f"}, tools.CodeNotFound)
	h.fails("move", args{"from": "f", "to": "d"}, tools.CodeExists)
	must(t, os.Symlink("f", h.path("link")))
	h.ok("move", args{"from": "link", "to": "d/link"}, nil)
	if target, err := os.Readlink(h.path("d/link")); err != nil || target != "f" {
		t.Errorf("the link was not moved as one: %q %v", target, err)
	}
	if h.content("f") != "2" {
		t.Error("its target went with it")
	}
}

func TestEditSeveralFiles(t *testing.T) {
	h := newHost(t, nil)
	h.write("a", "one\n")
	h.write("b", "say \u201ctwo\u201d\n")
	files := func(second string) args {
		return args{"files": []args{
			{"path": "a", "edits": []args{{"oldText": "one", "newText": "1"}}, "expectSha256": hashOf("one\n")},
			{"path": "b", "edits": []args{{"oldText": second, "newText": "2"}}},
		}}
	}
	result := h.fails("edit", files("three"), tools.CodeNoMatch)
	if !strings.HasPrefix(result.Err.Message, "b: ") || h.content("a") != "one\n" {
		t.Errorf("message %q, a is %q", result.Err.Message, h.content("a"))
	}
	var m builtin.EditMetadata
	text := h.ok("edit", files(`"two"`), &m)
	if text != "Successfully replaced 1 block(s) in a.\nSuccessfully replaced 1 block(s) in b (fuzzy match)." {
		t.Errorf("text %q", text)
	}
	if len(m.Files) != 2 || m.UndoID == "" || m.Files[0].SHA256 != hashOf("1\n") || m.Files[0].Fuzzy || !m.Files[1].Fuzzy || m.Files[1].Path != h.path("b") {
		t.Errorf("metadata %+v", m)
	}
	h.ok("undo", args{"undoId": m.UndoID}, nil)
	if h.content("a") != "one\n" || h.content("b") != "say \u201ctwo\u201d\n" {
		t.Error("one undo must bring both back")
	}
	one := []args{{"oldText": "one", "newText": "1"}}
	h.fails("edit", args{"files": []args{{"path": "a", "edits": one}, {"path": "./a", "edits": one}}}, tools.CodeToolInput)
	h.fails("edit", args{"files": []args{{"path": "a", "edits": one}}, "path": "a"}, tools.CodeToolInput)
	h.fails("edit", args{"path": "a", "edits": one, "expectSha256": hashOf("other")}, tools.CodeFileChanged)
}

func TestEditDryRun(t *testing.T) {
	h := newHost(t, nil)
	h.write("dir/a b.txt", "one\ntwo\none\n")
	in := args{"path": "dir/a b.txt", "edits": []args{{"oldText": "one", "newText": "1", "replaceAll": true}}, "dryRun": true}
	var dry builtin.EditMetadata
	text := h.ok("edit", in, &dry)
	if !strings.HasPrefix(text, "Would replace 2 block(s) in dir/a b.txt. Nothing was written.\n-1 one\n+1 1\n") || dry.UndoID != "" || h.content("dir/a b.txt") != "one\ntwo\none\n" {
		t.Errorf("text %q, metadata %+v", text, dry)
	}
	delete(in, "dryRun")
	// An array that arrives as a string, as some clients send it.
	in["edits"] = `[{"oldText":"one","newText":"1","replaceAll":true}]`
	var wet builtin.EditMetadata
	h.ok("edit", in, &wet)
	if wet.SHA256 != dry.SHA256 || wet.Patch != dry.Patch || wet.SHA256 != hashOf("1\ntwo\n1\n") {
		t.Errorf("dry %+v\nwet %+v", dry, wet)
	}
	// The patch is one that git takes back.
	command := exec.Command("git", "apply", "-R")
	command.Dir, command.Stdin = h.root, strings.NewReader(wet.Patch)
	if out, err := command.CombinedOutput(); err != nil || h.content("dir/a b.txt") != "one\ntwo\none\n" {
		t.Errorf("git apply -R: %v %s; the file is %q", err, out, h.content("dir/a b.txt"))
	}
}

// TestSameFile: many writers of one file, in one process and over a second
// workspace on the same root; every edit lands or is told so.
func TestSameFile(t *testing.T) {
	writers, rounds := 8, 5
	if soak() {
		writers, rounds = 64, 100
	}
	root, state := t.TempDir(), t.TempDir()
	hosts := []*host{hostAt(t, root, state, nil), hostAt(t, root, state, nil)}
	var text bytes.Buffer
	for i := range writers {
		fmt.Fprintf(&text, "slot %d: 0.\n", i)
	}
	hosts[0].write("f", text.String())
	var done sync.WaitGroup
	landed := make([]int, writers)
	for i := range writers {
		done.Go(func() {
			h := hosts[i%2]
			for range rounds {
				in := args{"path": "f", "edits": []args{{"oldText": fmt.Sprintf("slot %d: %d.", i, landed[i]), "newText": fmt.Sprintf("slot %d: %d.", i, landed[i]+1)}}}
				switch result := h.callAs(t.Context(), "edit", in, tools.CallOptions{Session: fmt.Sprint(i)}); {
				case result.Err == nil:
					landed[i]++
				case result.Err.Code != tools.CodeFileChanged:
					t.Errorf("writer %d: %v", i, result.Err)
				}
			}
		})
	}
	done.Wait()
	for i, n := range landed {
		if !strings.Contains(hosts[0].content("f"), fmt.Sprintf("slot %d: %d.\n", i, n)) {
			t.Errorf("writer %d was told of %d edits: %q", i, n, hosts[0].content("f"))
		}
	}
	total := 0
	for _, n := range landed {
		total += n
	}
	t.Logf("%d of %d edits landed, none was lost", total, writers*rounds)
}

// TestChangedEvents: a host hears of every change, and of nothing else.
func TestChangedEvents(t *testing.T) {
	heard := make(chan tools.Event, 100)
	events := tools.NewEvents(func(e tools.Event) { heard <- e }, 0)
	h := newHost(t, func(_ *builtin.Deps, o *tools.RegistryOptions) { o.Events = events })
	var m builtin.WriteMetadata
	h.ok("write", args{"path": "a", "content": "one"}, &m)
	h.ok("edit", args{"path": "a", "edits": []args{{"oldText": "one", "newText": "two"}}, "dryRun": true}, nil)
	h.ok("edit", args{"path": "a", "edits": []args{{"oldText": "one", "newText": "two"}}}, nil)
	h.fails("edit", args{"path": "a", "edits": []args{{"oldText": "one", "newText": "two"}}}, tools.CodeNoMatch)
	h.ok("move", args{"from": "a", "to": "b"}, nil)
	h.ok("delete", args{"path": "b"}, nil)
	events.Close()
	close(heard)
	var got []string
	for e := range heard {
		got = append(got, fmt.Sprint(e.Kind, e.Tool, e.Paths))
	}
	want := []string{"file_changed write [a]", "file_changed edit [a]", "file_changed move [a b]", "file_changed delete [b]"}
	for i := range got {
		got[i] = strings.Replace(strings.Replace(got[i], "file_changed", "file_changed ", 1), "[", " [", 1)
	}
	if !slices.Equal(got, want) {
		t.Errorf("heard %q, want %q", got, want)
	}
}

// TestDegraded: without state, single files are still written, and the answer
// says what that costs.
func TestDegraded(t *testing.T) {
	h := hostAt(t, t.TempDir(), filepath.Join("/dev/null", "state"), nil)
	var m builtin.WriteMetadata
	h.ok("write", args{"path": "a", "content": "one"}, &m)
	if m.Degraded == "" || m.UndoID != "" || h.content("a") != "one" {
		t.Errorf("metadata %+v", m)
	}
	edit := []args{{"oldText": "one", "newText": "two"}}
	h.ok("write", args{"path": "b", "content": "one"}, nil)
	h.fails("edit", args{"files": []args{{"path": "a", "edits": edit}, {"path": "b", "edits": edit}}}, tools.CodeStateUnavailable)
	if h.content("a")+h.content("b") != "oneone" {
		t.Error("part of a transaction was written")
	}
	within(t, 5*time.Second, "reading without state", func() { h.ok("read", args{"path": "a"}, nil) })
}
