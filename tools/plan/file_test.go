package plan_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/plan"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// plans are those of a new workspace.
func plans(t testing.TB) (*plan.Files, string) {
	t.Helper()
	ws, err := workspace.Open(t.TempDir(), &workspace.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	files, err := plan.NewFiles(ws, plan.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return files, ws.Root()
}

func draft(ids ...string) plan.Draft {
	d := plan.Draft{Title: "Title", Goal: "Goal."}
	for _, id := range ids {
		d.Todos = append(d.Todos, plan.Todo{ID: id, Text: "do " + id})
	}
	return d
}

func content(t testing.TB, root, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPlanFiles(t *testing.T) {
	files, root := plans(t)
	file, err := files.Write(t.Context(), "task-1", draft("a", "b"), "")
	if err != nil || file.Path != "plans/task-1.md" || file.UndoID == "" {
		t.Fatalf("%+v, %v", file, err)
	}
	yes := true
	edited, err := files.Edit(t.Context(), "task-1", plan.Edit{ID: "b", Done: &yes}, file.SHA256)
	if err != nil || edited.SHA256 == file.SHA256 {
		t.Fatal(err)
	}
	read, err := files.Read(t.Context(), "task-1")
	if err != nil || read.SHA256 != edited.SHA256 || string(read.Bytes()) != content(t, root, "plans/task-1.md") || !read.Todos()[1].Done {
		t.Fatalf("%+v, %v", read, err)
	}
	for name, err := range map[string]error{
		"an old hash": second(files.Edit(t.Context(), "task-1", plan.Edit{ID: "a", Done: &yes}, file.SHA256)),
		"no hash":     second(files.Write(t.Context(), "task-1", draft("a"), "")),
		"an old plan": second(files.Write(t.Context(), "task-1", draft("a"), file.SHA256)),
		"a new plan":  second(files.Write(t.Context(), "other", draft("a"), file.SHA256)),
	} {
		if !errors.Is(err, tools.CodePlanChanged) {
			t.Errorf("%s: %v", name, err)
		}
		if name != "a new plan" && tools.AsError(err).Details.(workspace.Changed).CurrentSHA256 != edited.SHA256 {
			t.Errorf("%s: %+v", name, tools.AsError(err).Details)
		}
	}
	if got := content(t, root, "plans/task-1.md"); got != string(edited.Bytes()) {
		t.Errorf("changed: %q", got)
	}
	if list, more, err := files.List(10); err != nil || more || !slices.Equal(list, []string{"task-1"}) {
		t.Errorf("%v %v %v", list, more, err)
	}
}

func second(_ *plan.File, err error) error { return err }

func TestAPlanThatIsWrittenAnewKeepsOtherSections(t *testing.T) {
	files, root := plans(t)
	file, err := files.Write(t.Context(), "t", draft("a"), "")
	if err != nil {
		t.Fatal(err)
	}
	text := string(file.Bytes()) + "\nMine \xff.\n\n## Also\n\n- [ ] mine\n"
	if err := os.WriteFile(filepath.Join(root, file.Path), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	now, err := files.Read(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	again, err := files.Write(t.Context(), "t", draft("b"), strings.ToUpper(now.SHA256))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(again.Bytes()); !strings.HasSuffix(got, "## Notes\n\nMine \xff.\n\n## Also\n\n- [ ] mine\n") || !strings.Contains(got, "- [ ] [b] do b") || strings.Contains(got, "[a]") {
		t.Errorf("%q", got)
	}
}

func TestPlansThatAreNotThere(t *testing.T) {
	files, root := plans(t)
	yes := true
	if _, err := files.Read(t.Context(), "none"); !errors.Is(err, tools.CodeNotFound) {
		t.Error(err)
	}
	if _, err := files.Edit(t.Context(), "none", plan.Edit{ID: "a", Done: &yes}, ""); !errors.Is(err, tools.CodeNotFound) {
		t.Error(err)
	}
	if list, _, err := files.List(10); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
	for _, id := range []string{"", "..", "../x", "a/b", ".hidden", "a b", "ä", strings.Repeat("a", 65), "a\n", "-a"} {
		if _, err := files.Write(t.Context(), id, draft(), ""); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestAPlanOutsideOfTheRootIsRefused(t *testing.T) {
	files, root := plans(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(root, "plans")); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write(t.Context(), "t", draft("a"), ""); !errors.Is(err, tools.CodePathEscape) {
		t.Errorf("%v", err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestItemsThatAreTickedAtOnceAreAllTicked has several who do not know of each other.
func TestItemsThatAreTickedAtOnceAreAllTicked(t *testing.T) {
	files, _ := plans(t)
	var ids []string
	for i := range 40 {
		ids = append(ids, fmt.Sprint("i", i))
	}
	if _, err := files.Write(t.Context(), "t", draft(ids...), ""); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for part := range slices.Chunk(ids, 10) {
		wait.Go(func() {
			for _, id := range part {
				if _, err := files.Edit(t.Context(), "t", plan.Edit{ID: id, Done: new(true)}, ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	file, err := files.Read(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	for _, todo := range file.Todos() {
		if !todo.Done {
			t.Errorf("%s is not ticked", todo.ID)
		}
	}
}

func TestOfManyEditsAllHappenOrNone(t *testing.T) {
	files, root := plans(t)
	file, err := files.Write(t.Context(), "t", draft("a", "b"), "")
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	if _, err := files.EditAll(t.Context(), "t", []plan.Edit{{ID: "a", Done: &yes}, {ID: "c", Done: &yes}}, ""); !errors.Is(err, tools.CodeNotFound) {
		t.Error(err)
	}
	if got := content(t, root, file.Path); got != string(file.Bytes()) {
		t.Errorf("%q", got)
	}
}
