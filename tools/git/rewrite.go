package git

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// RewriteBytes bounds the content of the files that one patch or restore writes.
var RewriteBytes = tools.Limit{Name: "rewriteBytes", Default: 256 << 20, Hard: 256 << 20}

// Rewrite is a file of the work tree as it is going to be.
type Rewrite struct {
	// Path is relative to the opened directory.
	Path string
	// Delete takes the file away; the entry is empty then.
	Delete bool
	workspace.Entry
}

// RewritePaths are the paths of a list of rewrites.
func RewritePaths(list []Rewrite) []string {
	paths := make([]string, 0, len(list))
	for _, r := range list {
		paths = append(paths, r.Path)
	}
	return paths
}

// rewriting is a change of files that git works out and a workspace makes.
type rewriting struct {
	g  *Repository
	ws *workspace.Workspace
	// work says what to write. It is called when the paths are locked.
	work func(ctx context.Context) ([]Rewrite, error)
	// checkpoint has one made before.
	checkpoint bool
}

// do writes what is to be written, all or nothing: a file that somebody changes after
// git has looked at it stops everything. paths are those that may be written; that
// work wants another one is CodeFileChanged.
func (r *rewriting) do(ctx context.Context, paths []string) (*workspace.Committed, *Checkpoint, error) {
	if r.ws.Root() != filepath.Join(r.g.top, filepath.FromSlash(r.g.prefix)) {
		return nil, nil, tools.Errorf(tools.CodeInternal, "the workspace is at %s, and the repository was opened at %s", r.ws.Root(), r.g.FromTop("."))
	}
	at := map[string]workspace.Path{}
	var all []workspace.Path
	for _, path := range paths {
		at[path] = workspace.Path{Rel: path}
		all = append(all, at[path])
	}
	var kept *Checkpoint
	done, err := r.ws.Transact(ctx, all, func(tx *workspace.Tx) error {
		list, err := r.work(ctx)
		if err != nil {
			return err
		}
		for _, one := range list {
			path, ok := at[one.Path]
			if !ok {
				return tools.Errorf(tools.CodeFileChanged, "%s would be written now, which was not so when the call was checked; nothing was done", DisplayPath(one.Path))
			}
			if one.Delete {
				err = tx.Delete(path, nil)
			} else {
				err = tx.Put(path, one.Entry)
			}
			if err != nil {
				return err
			}
		}
		if r.checkpoint {
			// That it is there says nothing of whether the files were written, of which
			// the transaction tells.
			kept, err = r.g.Checkpoint(tools.WithPlanned(ctx, nil), nil)
		}
		return err
	})
	if err != nil {
		return nil, nil, r.g.unkeep(ctx, kept, err)
	}
	// Directories that were made for the files are not what anybody asked for.
	done.Files = slices.DeleteFunc(done.Files, func(file string) bool {
		_, asked := at[file]
		return !asked
	})
	return done, kept, nil
}

// quarantine keeps the objects that commands on x make out of the repository. They
// are gone with x.
func (x *privateIndex) quarantine(ctx context.Context) error {
	out, err := x.repository.run(ctx, []string{"rev-parse", "--path-format=absolute", "--git-path", "objects"}, nil)
	if err != nil {
		return err
	}
	real := string(out.Stdout[:max(0, len(out.Stdout)-1)])
	own := filepath.Join(x.dir, "objects")
	if err := os.Mkdir(own, 0o700); err != nil {
		return tools.AsError(err)
	}
	x.env = []string{"GIT_OBJECT_DIRECTORY=" + own, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quotePath(real)}
	return nil
}

// rewrites turns changes of the index into what they make of the work tree: line ends,
// encodings and allowed filters as a checkout would have them.
func (x *privateIndex) rewrites(ctx context.Context, changes []treeChange) ([]Rewrite, error) {
	if int64(len(changes)) > ChangedFiles.Hard {
		return nil, tools.Errorf(tools.CodeLimit, "%d files would be written, at most %d are possible at once", len(changes), ChangedFiles.Hard)
	}
	var list []Rewrite
	var write []string
	for _, c := range changes {
		rel, ok := x.repository.Inside(c.path)
		switch {
		case !ok:
			return nil, tools.Errorf(tools.CodePathEscape, "a file outside of this directory would be written; nothing was done")
		case c.mode == modeSubmodule || c.oldMode == modeSubmodule:
			return nil, tools.Errorf(tools.CodeGitConflict, "%s is a submodule, whose commit is chosen in itself", DisplayPath(rel))
		case c.mode == 0:
			list = append(list, Rewrite{Path: rel, Delete: true})
		default:
			write = append(write, c.path)
			list = append(list, Rewrite{Path: rel, Entry: workspace.Entry{Executable: c.mode == modeExecutable}})
		}
	}
	if err := x.materialise(ctx, write, list); err != nil {
		return nil, err
	}
	return list, nil
}

// materialise fills in what the files of the list hold.
func (x *privateIndex) materialise(ctx context.Context, paths []string, into []Rewrite) error {
	if len(paths) == 0 {
		return nil
	}
	out := filepath.Join(x.dir, "out")
	if err := x.checkOut(ctx, paths, out); err != nil {
		return err
	}
	left := RewriteBytes.Hard
	for i := range into {
		if into[i].Delete {
			continue
		}
		entry, err := readEntry(filepath.Join(out, filepath.FromSlash(x.repository.FromTop(into[i].Path))), &left)
		if err != nil {
			return err
		}
		into[i].Data, into[i].Link = entry.Data, entry.Link
	}
	if err := os.RemoveAll(out); err != nil {
		return tools.AsError(err)
	}
	return nil
}

// checkOut writes files of the index, as a checkout would, below a directory.
func (x *privateIndex) checkOut(ctx context.Context, paths []string, dir string) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := x.with(ctx, []string{"checkout-index", "-q", "-f", "-z", "--stdin", "--prefix=" + filepath.ToSlash(dir) + "/"}, &RunOptions{Stdin: list(paths), Timeout: longTime})
	return err
}

// readEntry reads a file or link, on account of left.
func readEntry(path string, left *int64) (workspace.Entry, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return workspace.Entry{}, tools.AsError(err)
	}
	if *left -= info.Size(); *left < 0 {
		return workspace.Entry{}, tools.Errorf(tools.CodeLimit, "the files to write hold more than %d bytes", RewriteBytes.Hard)
	}
	entry := workspace.Entry{Link: info.Mode()&fs.ModeSymlink != 0, Executable: info.Mode()&0o100 != 0}
	if entry.Link {
		target, err := os.Readlink(path)
		entry.Data = []byte(target)
		return entry, orCoded(err)
	}
	entry.Data, err = os.ReadFile(path)
	return entry, orCoded(err)
}

func orCoded(err error) error {
	if err == nil {
		return nil
	}
	return tools.AsError(err)
}

// clean refuses, with CodeGitDirty, a work tree with changes that are in no commit.
func (g *Repository) clean(ctx context.Context) error {
	g = g.operation()
	x, err := g.copyIndex(ctx)
	if err != nil {
		return err
	}
	defer x.close()
	dirt, err := x.dirt(ctx)
	if err != nil || len(dirt) == 0 {
		return err
	}
	return tools.Errorf(tools.CodeGitDirty, "%s; commit that, or let a checkpoint be made first (createCheckpoint)", g.changesText(dirt))
}
