package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// elsewhere makes repositories of all kinds, and returns directories in them to work in.
func elsewhere(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, args := range map[string][]string{"sha256": {"--object-format=sha256"}, "plain": nil} {
		root := t.TempDir()
		plain(t, root, append([]string{"init", "-q", "-b", "main"}, args...)...)
		write(t, root, "a.txt", "one\n")
		plain(t, root, "add", "-A")
		plain(t, root, "commit", "-q", "-m", "first")
		all[name] = root
	}
	for name, config := range map[string]string{
		"split index": "core.splitIndex=true", "line ends": "core.autocrlf=true", "no modes": "core.fileMode=false",
		"assumed": "core.ignoreStat=true", "old index": "index.version=4", "untracked cache": "core.untrackedCache=true",
	} {
		all[name] = repository(t)
		key, value, _ := strings.Cut(config, "=")
		plain(t, all[name], "config", key, value)
		plain(t, all[name], "checkout", "-q", "--detach")
		plain(t, all[name], "update-index", "--refresh", "--force-write-index")
		plain(t, all[name], "switch", "-q", "main")
	}
	bare := filepath.Join(t.TempDir(), "bare.git")
	plain(t, all["plain"], "clone", "-q", "--bare", ".", bare)
	all["worktree of a bare repository"] = filepath.Join(t.TempDir(), "w")
	plain(t, bare, "worktree", "add", "-q", all["worktree of a bare repository"], "main")

	all["linked"] = filepath.Join(t.TempDir(), "w")
	plain(t, repository(t), "worktree", "add", "-q", "-b", "linked", all["linked"])

	top := repository(t)
	write(t, top, "sub/a.txt", "one\n")
	plain(t, top, "add", "-A")
	plain(t, top, "commit", "-q", "-m", "sub")
	all["subdirectory"] = filepath.Join(top, "sub")

	for name, flags := range map[string][]string{"sparse": {"--cone"}, "sparse index": {"--cone", "--sparse-index"}} {
		root := repository(t)
		write(t, root, "out/of/it", "out\n")
		plain(t, root, "add", "-A")
		plain(t, root, "commit", "-q", "-m", "out")
		plain(t, root, append([]string{"sparse-checkout", "set"}, append(flags, "in")...)...)
		if _, err := os.Lstat(filepath.Join(root, "out")); err == nil {
			t.Fatal("nothing is sparse")
		}
		all[name] = root
	}

	all["submodule"] = repository(t)
	plain(t, all["submodule"], "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", repository(t), "module")
	plain(t, all["submodule"], "commit", "-q", "-m", "module")
	write(t, all["submodule"], "module/a.txt", "dirty within\n")
	return all
}

// TestChangesElsewhere: everything that changes a repository does so in repositories of
// all kinds, and leaves the rest, and the configuration, as it is.
func TestChangesElsewhere(t *testing.T) {
	for name, root := range elsewhere(t) {
		t.Run(name, func(t *testing.T) {
			ctx, g, ws := t.Context(), opened(t, root), files(t, root)
			common := strings.TrimSpace(plain(t, root, "rev-parse", "--path-format=absolute", "--git-common-dir"))
			config, err := os.ReadFile(filepath.Join(common, "config"))
			must(t, err)
			tracked := plain(t, root, "ls-files", "-s", ":/")
			start := strings.TrimSpace(plain(t, root, "branch", "--show-current"))
			write(t, root, "new", "new\n")
			c, err := g.Commit(ctx, &CommitOptions{Message: "new", Paths: []string{"new"}})
			must(t, err)
			if _, err = g.CreateBranch(ctx, "before", c.ID+"~"); err != nil {
				t.Fatal(err)
			}
			must(t, errorOf3(g.Switch(ctx, "before", nil)))
			if _, err := os.Lstat(filepath.Join(root, "new")); err == nil || plain(t, root, "ls-files", "-s", ":/") != tracked {
				t.Errorf("before it, there are %s, and there were %s", plain(t, root, "ls-files", "-s", ":/"), tracked)
			}
			must(t, errorOf3(g.Switch(ctx, start, nil)))
			write(t, root, "a.txt", "two\n")
			kept, err := g.Checkpoint(ctx, nil)
			must(t, err)
			changes := plain(t, root, "-c", "core.safecrlf=false", "diff", "--relative")
			must(t, errorOf2(restore(t, g, ws, &RestoreOptions{Paths: []string{"a.txt"}, From: "HEAD"})))
			must(t, errorOf2(apply(t, g, ws, &PatchOptions{Patch: []byte(changes)})))
			if got := plain(t, root, "-c", "core.safecrlf=false", "diff", "--relative"); got != changes {
				t.Errorf("patched: %s, want %s", got, changes)
			}
			must(t, errorOf2(restore(t, g, ws, &RestoreOptions{Paths: []string{"a.txt"}, From: "HEAD"})))
			must(t, errorOf2(restore(t, g, ws, &RestoreOptions{Paths: []string{"."}, From: kept.ID})))
			if got := plain(t, root, "-c", "core.safecrlf=false", "diff", "--relative"); got != changes {
				t.Errorf("from the checkpoint: %s, want %s", got, changes)
			}
			if got := plain(t, root, "status", "--porcelain", "--ignore-submodules=dirty"); got != " M "+strings.TrimPrefix(g.FromTop("a.txt"), "./")+"\n" {
				t.Errorf("git says %q", got)
			}
			if after, err := os.ReadFile(filepath.Join(common, "config")); err != nil || string(after) != string(config) {
				t.Errorf("the configuration has become %q, %v", after, err)
			}
			plain(t, root, "fsck", "--strict", "--no-dangling")
		})
	}
}
