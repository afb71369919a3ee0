package git

import (
	"bytes"
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/workspace"
)

// operation is something that the git tools do. The first 18 are the commands that
// every vector is tried with, through what the tools use where there is such a thing.
type operation struct {
	name string
	do   func(ctx context.Context, g *Repository, ws *workspace.Workspace) error
}

func operations(root string) []operation {
	linked := filepath.Join(filepath.Dir(root), "linked")
	raw := func(args ...string) func(context.Context, *Repository, *workspace.Workspace) error {
		return func(ctx context.Context, g *Repository, _ *workspace.Workspace) error {
			_, err := g.runner.Run(ctx, root, args, &RunOptions{Timeout: 20 * time.Second, Config: []string{"protocol.file.allow=always"}})
			return err
		}
	}
	switchTo := func(name string) func(context.Context, *Repository, *workspace.Workspace) error {
		return func(ctx context.Context, g *Repository, _ *workspace.Workspace) error {
			_, err := g.Switch(ctx, name, &SwitchOptions{Checkpoint: true})
			return err
		}
	}
	patching := &PatchOptions{Patch: []byte(patch), Checkpoint: true}
	var checkpoint *Checkpoint
	list := []operation{
		{"status", func(ctx context.Context, g *Repository, _ *workspace.Workspace) error {
			_, err := g.Status(ctx, nil)
			return err
		}},
		{"diff", func(ctx context.Context, g *Repository, _ *workspace.Workspace) error {
			_, err := g.Diff(ctx, &DiffOptions{})
			return err
		}},
		{"diff HEAD", func(ctx context.Context, g *Repository, _ *workspace.Workspace) error {
			_, err := g.Diff(ctx, &DiffOptions{Base: "HEAD", Exact: true})
			return err
		}},
		{"log", func(ctx context.Context, g *Repository, _ *workspace.Workspace) error {
			_, err := g.Log(ctx, &LogOptions{})
			return err
		}},
		{"show", func(ctx context.Context, g *Repository, _ *workspace.Workspace) error {
			_, err := g.Show(ctx, "HEAD", "a.txt")
			return err
		}},
		{"ls-files", raw("ls-files", "-z", "--cached", "--others", "--exclude-standard")},
		{"branch list", func(ctx context.Context, g *Repository, _ *workspace.Workspace) error {
			_, _, err := g.Branches(ctx, 0)
			return err
		}},
		{"branch create", func(ctx context.Context, g *Repository, _ *workspace.Workspace) error {
			_, err := g.CreateBranch(ctx, "new", "")
			return err
		}},
		{"apply --check", func(ctx context.Context, g *Repository, _ *workspace.Workspace) error {
			_, err := g.CheckPatch(ctx, patching)
			return err
		}},
		{"apply", func(ctx context.Context, g *Repository, ws *workspace.Workspace) error {
			_, _, err := g.ApplyPatch(ctx, ws, []string{"a.txt"}, patching)
			return err
		}},
		{"add", raw("add", "--", "a.txt")},
		{"commit", func(ctx context.Context, g *Repository, _ *workspace.Workspace) error {
			_, err := g.Commit(ctx, &CommitOptions{Message: "message", Paths: []string{"a.txt"}, Checkpoint: true})
			return err
		}},
		{"switch", switchTo("other")},
		{"switch back", switchTo("main")},
		{"worktree add", func(ctx context.Context, g *Repository, _ *workspace.Workspace) error {
			_, err := g.AddWorktree(ctx, linked, &AddOptions{Branch: "linked"})
			return err
		}},
		{"worktree remove", func(ctx context.Context, g *Repository, _ *workspace.Workspace) error {
			return g.RemoveWorktree(ctx, linked, &RemoveOptions{Force: true})
		}},
		{"fetch", raw("fetch", "-q", "origin")},
		{"push", raw("push", "-q", "origin", "main")},
		// Beyond the 18: what else the tools do.
		{"checkpoint", func(ctx context.Context, g *Repository, _ *workspace.Workspace) (err error) {
			checkpoint, err = g.Checkpoint(ctx, nil)
			return err
		}},
		{"restore", func(ctx context.Context, g *Repository, ws *workspace.Workspace) error {
			opts := &RestoreOptions{Paths: []string{"b.txt"}, From: "other"}
			list, err := g.CheckRestore(ctx, opts)
			if err == nil {
				_, err = g.Restore(ctx, ws, RewritePaths(list), opts)
			}
			return err
		}},
		{"blame", func(ctx context.Context, g *Repository, _ *workspace.Workspace) error {
			_, err := g.Blame(ctx, "a.txt", &BlameOptions{Ref: "HEAD"})
			return err
		}},
		{"hand-off", func(ctx context.Context, g *Repository, _ *workspace.Workspace) error {
			_, err := g.Handoff(ctx, &HandoffOptions{Base: "other"})
			return err
		}},
		{"drop", func(ctx context.Context, g *Repository, _ *workspace.Workspace) error {
			if checkpoint == nil {
				return nil
			}
			return g.DropCheckpoint(ctx, checkpoint.ID)
		}},
	}
	return list
}

// tryOperations does all of them in a repository, and returns the names of those that
// were refused or failed.
func tryOperations(t *testing.T, runner *Runner, root string) (refused []string) {
	t.Helper()
	ws, err := workspace.Open(root, &workspace.Options{StateDir: t.TempDir()})
	must(t, err)
	defer ws.Close()
	for _, op := range operations(root) {
		g, err := runner.Repository(t.Context(), root)
		if err == nil {
			err = op.do(t.Context(), g, ws)
		}
		if err != nil {
			refused = append(refused, op.name+": "+err.Error())
		}
	}
	return refused
}

// configs hashes every file of configuration that a repository has.
func configs(t *testing.T, root string) [sha256.Size]byte {
	t.Helper()
	var all bytes.Buffer
	for _, name := range []string{".git", ".git/config", ".git/config.worktree", ".git/more", ".git/info/attributes", ".gitmodules", "sub/.git/config"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			all.Write(text)
		}
		all.WriteByte(0)
	}
	return sha256.Sum256(all.Bytes())
}

// TestToolsOnCleanRepository: all that the tools do works, and writes no configuration.
func TestToolsOnCleanRepository(t *testing.T) {
	root, _, _ := world(t, model(t))
	before := configs(t, root)
	write(t, root, "c.txt", "changed\n")
	if refused := tryOperations(t, newRunner(t, &Options{Identity: nobody}), root); len(refused) > 0 {
		t.Errorf("does not work: %s", strings.Join(refused, "\n"))
	}
	if configs(t, root) != before {
		t.Error("the configuration has changed")
	}
}

// TestToolsOnHostileRepositories: nothing that the tools do lets a repository run a
// program, and its configuration stays as it is, byte by byte.
func TestToolsOnHostileRepositories(t *testing.T) {
	runner, base := newRunner(t, &Options{Identity: nobody}), model(t)
	worked, ran, tried := 0, 0, 0
	vectors := hostileVectors()
	for i, v := range vectors {
		if os.Getenv("PRISM_SOAK") != "1" && i%4 != 0 && !strings.Contains(v.name, "filter") && v.name != "hooks" {
			continue
		}
		tried++
		t.Run(v.name, func(t *testing.T) {
			root, mark := v.arm(t, base)
			before := configs(t, root)
			refused := tryOperations(t, runner, root)
			worked += len(operations(root)) - len(refused)
			if marks, err := os.ReadFile(mark); err == nil {
				ran++
				t.Errorf("ran:\n%s", marks)
			}
			if configs(t, root) != before {
				t.Error("the configuration has changed")
			}
			if testing.Verbose() && len(refused) > 0 {
				t.Logf("refused: %s", strings.Join(refused, "\n"))
			}
		})
	}
	t.Logf("figure: operations of the tools in %d hostile repositories = %d worked, %d of their programs were run, configurations unchanged", tried, worked, ran)
}
