package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

// editMany lets writers goroutines append their lines to one file, each edits
// times. An edit that is told the file changed tries again.
func editMany(w *Workspace, name string, writers, edits int) error {
	var group sync.WaitGroup
	errs := make([]error, writers)
	for i := range writers {
		group.Go(func() {
			for j := range edits {
				if errs[i] = appendLine(w, name, fmt.Sprintf("%d %p %d %d\n", os.Getpid(), w, i, j)); errs[i] != nil {
					return
				}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

func appendLine(w *Workspace, name, line string) error {
	for {
		err := one(w, context.Background(), func(tx *Tx, p []Path) error {
			content, err := tx.Read(p[0], 1<<30)
			if err != nil {
				return err
			}
			return tx.Write(p[0], append(content.Data, line...), nil)
		}, name)
		if !errors.Is(err, tools.CodeFileChanged) {
			return err
		}
		var coded *tools.Error
		errors.As(err, &coded)
		if coded.Details.(Changed).CurrentSHA256 == "" {
			return fmt.Errorf("no current hash in %w", err)
		}
	}
}

func editorsRole() {
	f, _ := openRole()
	writers, _ := strconv.Atoi(os.Getenv("PRISM_WORKSPACE_TEST_WRITERS"))
	edits, _ := strconv.Atoi(os.Getenv("PRISM_WORKSPACE_TEST_EDITS"))
	if err := editMany(f.w, "a", writers, edits); err != nil {
		fmt.Println(err)
	}
}

func (f *fixture) expectLines(want int) {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.root, "a"))
	must(f.t, err)
	seen := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		if seen[line] {
			f.t.Errorf("twice: %q", line)
		}
		seen[line] = true
	}
	if len(seen) != want {
		f.t.Errorf("%d edits in the file, want %d", len(seen), want)
	}
	f.expectClean()
}

func TestManyWritersInOneProcess(t *testing.T) {
	f := newFixture(t)
	f.file("a", "")
	writers, edits := size(8, 64), size(20, 100)
	must(t, editMany(f.w, "a", writers, edits))
	f.expectLines(writers * edits)
}

func TestManyWritersInEightProcesses(t *testing.T) {
	f := newFixture(t)
	f.file("a", "")
	writers, edits := size(8, 64), size(20, 100)
	cmds := make([]*exec.Cmd, 8)
	outputs := make([]strings.Builder, 8)
	for i := range cmds {
		cmds[i] = again(t, "editors", baseVariable+"="+filepath.Dir(f.root),
			"PRISM_WORKSPACE_TEST_WRITERS="+strconv.Itoa(writers/8), "PRISM_WORKSPACE_TEST_EDITS="+strconv.Itoa(edits))
		cmds[i].Stdout, cmds[i].Stderr = &outputs[i], &outputs[i]
		must(t, cmds[i].Start())
	}
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil || outputs[i].Len() > 0 {
			t.Errorf("process %d: %v: %s", i, err, outputs[i].String())
		}
	}
	f.expectLines(writers * edits)
}
