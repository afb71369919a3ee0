package git

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// scratchPrefix begins the names of directories that we make in a git directory.
const scratchPrefix = "prism-ls-scratch-"

// scratchAge is after how long such a directory has nobody that could still want it:
// no call takes so long.
const scratchAge = 2 * time.Hour

// privateIndex is a copy of a work tree's index that commands can change without
// anybody else seeing it.
type privateIndex struct {
	repository *Repository
	dir        string
	file       string
	env        []string
}

// newIndex makes a private index without entries.
func (g *Repository) newIndex(ctx context.Context) (*privateIndex, error) {
	parent, err := g.gitDir(ctx)
	if err != nil {
		return nil, err
	}
	sweep(parent)
	dir, err := os.MkdirTemp(parent, scratchPrefix)
	if err != nil {
		return nil, tools.AsError(err)
	}
	return &privateIndex{repository: g, dir: dir, file: filepath.Join(dir, "index")}, nil
}

// copyIndex makes a private index like the work tree's own.
func (g *Repository) copyIndex(ctx context.Context) (*privateIndex, error) {
	x, err := g.newIndex(ctx)
	if err != nil {
		return nil, err
	}
	if err := copyFile(filepath.Join(filepath.Dir(x.dir), "index"), x.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		x.close()
		return nil, tools.AsError(err)
	}
	return x, nil
}

func (x *privateIndex) close() { _ = os.RemoveAll(x.dir) } // what is left is swept later

// run runs a command on the private index.
func (x *privateIndex) run(ctx context.Context, args []string, stdin []byte) (*Output, error) {
	return x.with(ctx, args, &RunOptions{Stdin: stdin})
}

// with is run with options of the caller's.
func (x *privateIndex) with(ctx context.Context, args []string, opts *RunOptions) (*Output, error) {
	opts.MaxOutput = outputLimit.Hard
	opts.Env = slices.Concat(opts.Env, x.env, []string{"GIT_INDEX_FILE=" + x.file})
	opts.Config = append(slices.Clone(opts.Config), "core.splitIndex=false")
	return x.repository.run(ctx, args, opts)
}

// take makes the index say of each path what the work tree has there.
func (x *privateIndex) take(ctx context.Context, paths []string) error {
	return x.takeWith(ctx, paths)
}

// takeWith is take with settings of the caller's.
func (x *privateIndex) takeWith(ctx context.Context, paths []string, config ...string) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := x.with(ctx, []string{"update-index", "--add", "--remove", "--replace", "-z", "--stdin"}, &RunOptions{Stdin: list(paths), Config: config, Timeout: longTime})
	return err
}

// writeTree returns the tree that the index describes.
func (x *privateIndex) writeTree(ctx context.Context) (string, error) {
	out, err := x.run(ctx, []string{"write-tree"}, nil)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(out.Stdout)), nil
}

// changedInTree lists the paths at which the work tree is not as the index says,
// files that git does not know and does not ignore included. A repository inside of
// the work tree that git does not know is left out: its files are its own.
func (x *privateIndex) changedInTree(ctx context.Context) ([]string, error) {
	out, err := x.run(ctx, []string{"ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard"}, nil)
	if err != nil {
		return nil, err
	}
	paths := slices.DeleteFunc(fields(out.Stdout), func(path string) bool { return strings.HasSuffix(path, "/") })
	return compacted(paths), nil
}

// dirt lists, sorted, the paths at which HEAD, index and work tree are not the same. A
// file of which only the line ends are not as git would write them, which it does not
// keep, is the same; changedInTree has it.
func (x *privateIndex) dirt(ctx context.Context) ([]string, error) {
	out, err := x.run(ctx, []string{"status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored=no"}, nil)
	if err != nil {
		return nil, err
	}
	var paths, perhaps []string
	for _, entry := range fields(out.Stdout) {
		state, path := entry[:min(3, len(entry))], entry[min(3, len(entry)):]
		switch {
		case strings.HasSuffix(path, "/"):
		case state == " M ":
			perhaps = append(perhaps, path)
		default:
			paths = append(paths, path)
		}
	}
	if len(perhaps) > 0 {
		// Only this command looks at the content of a file of another length.
		out, err := x.with(ctx, []string{"diff", "-z", "--name-only", "--no-renames"}, &RunOptions{Config: []string{"diff.autoRefreshIndex=true"}})
		if err != nil {
			return nil, err
		}
		differ := compacted(fields(out.Stdout))
		perhaps = slices.DeleteFunc(perhaps, func(path string) bool { _, differs := slices.BinarySearch(differ, path); return !differs })
	}
	return compacted(append(paths, perhaps...)), nil
}

// fields splits output that git has ended with NULs.
func fields(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// list is the opposite of fields.
func list(paths []string) []byte {
	if len(paths) == 0 {
		return []byte{}
	}
	return []byte(strings.Join(paths, "\x00") + "\x00")
}

// copyFile copies a file with its time of change, by which git tells the entries of
// an index that it cannot trust (gitformat-index, "racy").
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	// Whoever may read or write the one may the other, whatever the umask.
	return errors.Join(os.Chmod(to, info.Mode().Perm()), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// sweep removes directories that a crash has left.
func sweep(gitDir string) {
	entries, err := os.ReadDir(gitDir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), scratchPrefix) {
			continue
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > scratchAge {
			_ = os.RemoveAll(filepath.Join(gitDir, entry.Name())) // somebody else may be at it, too
		}
	}
}
