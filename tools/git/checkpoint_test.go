package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

var nobody = Identity{Name: "A Person", Email: "person@example.com"}

// opened returns the repository at root, with an identity.
func opened(t testing.TB, root string) *Repository {
	t.Helper()
	g, err := newRunner(t, &Options{Identity: nobody}).Repository(t.Context(), root)
	must(t, err)
	return g
}

// state is all of a repository that a checkpoint must leave as it is.
func state(t testing.TB, root string) string {
	t.Helper()
	config, err := os.ReadFile(filepath.Join(root, ".git", "config"))
	must(t, err)
	logs, _ := filepath.Glob(filepath.Join(root, ".git", "logs", "refs", "*"))
	return strings.Join([]string{
		string(config), plain(t, root, "ls-files", "-s"), plain(t, root, "status", "--porcelain=v2", "-uall"),
		plain(t, root, "for-each-ref", "refs/heads", "refs/tags"), strings.Join(logs, " "),
	}, "\n")
}

// dirty makes a work tree with every kind of change.
func dirty(t testing.TB, root string) {
	t.Helper()
	for _, name := range []string{"deleted", "staged", "both", "mode", "dir/kept"} {
		write(t, root, name, name+"\n")
	}
	write(t, root, ".gitignore", "*.ignored\n")
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "all kinds")
	must(t, os.Remove(filepath.Join(root, "deleted")))
	write(t, root, "staged", "in the index\n")
	write(t, root, "both", "in the index\n")
	plain(t, root, "add", "staged", "both")
	write(t, root, "both", "in the tree\n")
	must(t, os.Chmod(filepath.Join(root, "mode"), 0o755))
	must(t, os.Remove(filepath.Join(root, "a.txt")))
	write(t, root, "a.txt/now a directory", "x\n")
	write(t, root, "new \xff\n\"file", "new\n")
	write(t, root, "-dash", "new\n")
	write(t, root, "x.ignored", "ignored\n")
	must(t, os.Symlink("nowhere", filepath.Join(root, "link")))
}

func TestCheckpoint(t *testing.T) {
	root := repository(t)
	dirty(t, root)
	nested := filepath.Join(root, "nested")
	must(t, os.Mkdir(nested, 0o755))
	plain(t, nested, "init", "-q")
	g := opened(t, root)
	before, head := state(t, root), strings.TrimSpace(plain(t, root, "rev-parse", "HEAD"))

	var planned []tools.Witness
	ctx := tools.WithPlanned(t.Context(), func(_ context.Context, w []tools.Witness) error {
		planned = append(planned, w...)
		return nil
	})
	c, err := g.Checkpoint(ctx, &CheckpointOptions{Note: "before it"})
	must(t, err)
	if after := state(t, root); after != before {
		t.Errorf("the checkpoint has changed\n%s\nto\n%s", before, after)
	}
	if len(planned) != 1 || planned[0].Ref != c.Ref || planned[0].Before.Exists || planned[0].After.ID != c.Commit || planned[0].Repository != g.Top() {
		t.Errorf("planned %+v for %+v", planned, c)
	}
	if got := strings.TrimSpace(plain(t, root, "rev-parse", c.Ref)); got != c.Commit || !strings.HasPrefix(c.Ref, "refs/prism/checkpoints/") {
		t.Errorf("%s is at %s, want %s", c.Ref, got, c.Commit)
	}
	if c.Head.ID != head || c.Head.Ref != "refs/heads/main" || strings.TrimSpace(plain(t, root, "rev-parse", c.Ref+"^1")) != head {
		t.Errorf("the checkpoint was made at %+v, want %s", c.Head, head)
	}
	if got := plain(t, root, "show", c.Ref+"^2:both"); got != "in the index\n" {
		t.Errorf("the index had %q", got)
	}
	want := []string{"-dash", "a.txt", "a.txt/now a directory", "both", "deleted", "link", "mode", "new \xff\n\"file", "staged"}
	if !slices.Equal(c.Paths, want) {
		t.Errorf("paths %q, want %q", c.Paths, want)
	}
	// A fresh checkout of the checkpoint is the same tree, bit by bit.
	fresh := filepath.Join(t.TempDir(), "fresh")
	plain(t, root, "worktree", "add", "-q", "--detach", fresh, c.Ref)
	must(t, os.RemoveAll(nested))
	must(t, os.Remove(filepath.Join(root, "x.ignored")))
	if got, want := snapshot(t, fresh), snapshot(t, root); got != want {
		t.Errorf("checked out:\n%s\nwant:\n%s", got, want)
	}
	if entries, _ := filepath.Glob(filepath.Join(root, ".git", scratchPrefix+"*")); len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
	must(t, g.DropCheckpoint(t.Context(), c.ID))
	if err := g.DropCheckpoint(t.Context(), c.ID); !errors.Is(err, tools.CodeGitRef) {
		t.Errorf("dropped twice: %v", err)
	}
}

// snapshot lists paths, modes and contents below root, without .git.
func snapshot(t testing.TB, root string) string {
	t.Helper()
	var text strings.Builder
	must(t, filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.Name() == ".git" {
			if err == nil && entry.IsDir() {
				return filepath.SkipDir
			}
			return err
		}
		info, err := entry.Info()
		if err != nil || entry.IsDir() {
			return err
		}
		var content []byte
		if info.Mode()&os.ModeSymlink != 0 {
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			content = []byte(link)
		} else if content, err = os.ReadFile(path); err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		_, err = text.WriteString(strings.Join([]string{rel, (info.Mode() &^ 0o066).String(), string(content)}, "|") + "\n")
		return err
	}))
	return text.String()
}

// TestCheckpointElsewhere: without commits, detached, in the middle of a merge, in a
// SHA-256 repository, in a linked worktree.
func TestCheckpointElsewhere(t *testing.T) {
	unborn := t.TempDir()
	plain(t, unborn, "init", "-q", "-b", "main")
	write(t, unborn, "f", "x\n")

	detached := repository(t)
	plain(t, detached, "checkout", "-q", "--detach")
	write(t, detached, "f", "x\n")

	merging := repository(t)
	plain(t, merging, "switch", "-q", "-c", "other")
	write(t, merging, "a.txt", "theirs\n")
	plain(t, merging, "commit", "-q", "-a", "-m", "theirs")
	plain(t, merging, "switch", "-q", "main")
	write(t, merging, "a.txt", "ours\n")
	plain(t, merging, "commit", "-q", "-a", "-m", "ours")
	failing(t, merging, "merge", "other")
	write(t, merging, "f", "x\n")

	sha256 := t.TempDir()
	plain(t, sha256, "init", "-q", "-b", "main", "--object-format=sha256")
	write(t, sha256, "g", "g\n")
	plain(t, sha256, "add", "-A")
	plain(t, sha256, "commit", "-q", "-m", "first")
	write(t, sha256, "f", "x\n")

	linked := filepath.Join(t.TempDir(), "linked")
	plain(t, repository(t), "worktree", "add", "-q", linked)
	write(t, linked, "f", "x\n")

	for name, root := range map[string]string{"unborn": unborn, "detached": detached, "merging": merging, "sha256": sha256, "linked": linked} {
		before := plain(t, root, "status", "--porcelain=v2", "-uall")
		c, err := opened(t, root).Checkpoint(t.Context(), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := plain(t, root, "show", c.Ref+":f"); got != "x\n" || !slices.Contains(c.Paths, "f") {
			t.Errorf("%s: the checkpoint has %q at %q", name, got, c.Paths)
		}
		if after := plain(t, root, "status", "--porcelain=v2", "-uall"); after != before {
			t.Errorf("%s: %s has become %s", name, before, after)
		}
	}
}

// failing runs a git command that has to fail.
func failing(t testing.TB, dir string, args ...string) {
	t.Helper()
	if err := plainCommand(dir, args...).Run(); err == nil {
		t.Fatalf("git %v has not failed", args)
	}
}

// TestRacyIndex: a change of the same size in the same moment as the index was
// written is not overlooked in its copy.
func TestRacyIndex(t *testing.T) {
	root := repository(t)
	for range 20 {
		write(t, root, "a.txt", "aaaa\n")
		plain(t, root, "add", "-A")
		write(t, root, "a.txt", "bbbb\n")
		c, err := opened(t, root).Checkpoint(t.Context(), nil)
		must(t, err)
		if got := plain(t, root, "show", c.Ref+":a.txt"); got != "bbbb\n" {
			t.Fatalf("the checkpoint has %q", got)
		}
	}
}

func TestIdentity(t *testing.T) {
	root := repository(t)
	plain(t, root, "config", "user.name", "Repository")
	plain(t, root, "config", "user.email", "r@example.com")
	if _, err := newRunner(t, nil).Identity(t.Context(), root); !errors.Is(err, tools.CodeGitIdentity) {
		t.Errorf("without one: %v", err)
	}
	home := t.TempDir()
	write(t, home, "first", "[user]\nname = First\nemail = first@example.com\n")
	write(t, home, "more", "[user]\nemail = more@example.com\n")
	write(t, home, "second", "[user]\nname = Second\n[include]\npath = more\n")
	opts := &Options{PersonalConfig: []string{filepath.Join(home, "first"), filepath.Join(home, "second"), filepath.Join(home, "missing")}}
	if who, err := newRunner(t, opts).Identity(t.Context(), root); err != nil || who != (Identity{"Second", "more@example.com"}) {
		t.Errorf("from the person's files: %+v, %v", who, err)
	}
	opts.Identity = Identity{Name: "Host"}
	if _, err := newRunner(t, opts).Identity(t.Context(), root); !errors.Is(err, tools.CodeGitIdentity) {
		t.Errorf("half of one: %v", err)
	}
	opts.Identity = Identity{"Bad <name>", "x@example.com"}
	if _, err := newRunner(t, opts).Identity(t.Context(), root); !errors.Is(err, tools.CodeGitIdentity) {
		t.Errorf("one that breaks the form: %v", err)
	}
	g, err := newRunner(t, nil).Repository(t.Context(), root)
	must(t, err)
	write(t, root, "a.txt", "two\n")
	before := state(t, root)
	if _, err := g.Checkpoint(t.Context(), nil); !errors.Is(err, tools.CodeGitIdentity) || state(t, root) != before {
		t.Errorf("a checkpoint by nobody: %v", err)
	}
}
