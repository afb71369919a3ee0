package git

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/filelock"
)

// git writes the files of another branch one by one, then the index (a copy, which takes
// the place of the work tree's at the end; see lockedIndex), then HEAD. When it is
// stopped in between, the work tree is neither here nor there. So what is about to happen
// is on record first, in a file that is locked as long as the process that made it is
// there. Who finds it unlocked, and HEAD where it was, takes back what was written. A
// file that has become something that is of neither branch is somebody's work, and stays.

const switchName = "prism-ls-switch"

// switchRecord is what the file says.
type switchRecord struct {
	From, To Head
}

// switchJournal is the file, while this process holds it.
type switchJournal struct {
	g      *Repository
	path   string
	file   *os.File
	record switchRecord
}

func (g *Repository) beginSwitch(ctx context.Context, s *switching) (*switchJournal, error) {
	dir, err := g.gitDir(ctx)
	if err != nil {
		return nil, err
	}
	j := &switchJournal{g: g, path: filepath.Join(dir, switchName), record: switchRecord{From: s.from, To: s.to}}
	if j.file, err = os.OpenFile(j.path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, tools.AsError(err)
	}
	if free, err := filelock.Try(j.file); err != nil || !free {
		_ = j.file.Close()
		return nil, tools.Errorf(tools.CodeGitFailed, "somebody else is switching branches in %s", g.top)
	}
	if same, _ := sameFile(j.file, j.path); !same {
		_ = j.file.Close()
		return nil, tools.Errorf(tools.CodeGitFailed, "somebody else has just switched branches in %s", g.top)
	}
	text, err := json.Marshal(j.record)
	if err == nil {
		err = errors.Join(j.file.Truncate(0), writeAt(j.file, text), j.file.Sync())
	}
	if err != nil {
		return nil, errors.Join(tools.AsError(err), j.end())
	}
	return j, nil
}

func writeAt(file *os.File, text []byte) error {
	_, err := file.WriteAt(text, 0)
	return err
}

// end removes the record, and then gives the file up.
func (j *switchJournal) end() error {
	err := os.Remove(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return orCoded(errors.Join(err, j.file.Close()))
}

// settleSwitch looks for a record that nobody holds.
func (g *Repository) settleSwitch(ctx context.Context, gitDir string) error {
	path := filepath.Join(gitDir, switchName)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil // there is none
	}
	j := &switchJournal{g: g, path: path, file: file}
	if free, err := filelock.Try(file); err != nil || !free {
		return orCoded(errors.Join(err, file.Close()))
	}
	if same, _ := sameFile(file, path); !same {
		return orCoded(file.Close())
	}
	text, err := io.ReadAll(file)
	if err != nil || json.Unmarshal(text, &j.record) != nil || j.record.To.Ref == "" {
		return j.end() // not written to its end: nothing had begun
	}
	if err := j.settle(ctx); err != nil {
		return errors.Join(err, file.Close()) // the record stays
	}
	return j.end()
}

// settle brings a work tree that may be half switched to one of the two branches.
func (j *switchJournal) settle(ctx context.Context) error {
	now, err := j.g.Head(ctx)
	if err != nil {
		return err
	}
	if now != j.record.From {
		return nil // it was done to its end, or somebody has gone on since
	}
	from, err := j.g.treeOf(ctx, j.record.From.ID)
	if err != nil {
		return err
	}
	changes, err := j.g.changesBetween(ctx, from, j.record.To.ID+"^{tree}")
	if err != nil {
		return err
	}
	x, err := j.g.copyIndex(ctx)
	if err != nil {
		return err
	}
	defer x.close()
	return j.takeBack(ctx, x, changes)
}

// takeBack puts files back that the switch had written, removed or begun to write. x is
// a copy of the index, which still says what they were.
func (j *switchJournal) takeBack(ctx context.Context, x *privateIndex, changes []treeChange) error {
	dirty, err := x.changedInTree(ctx)
	if err != nil {
		return err
	}
	var touched []treeChange
	for _, c := range changes {
		_, changed := slices.BinarySearch(dirty, c.path)
		changed = changed || c.oldMode == 0 // it may be ignored, and is then not among them
		if changed && c.mode != modeSubmodule && c.oldMode != modeSubmodule {
			touched = append(touched, c)
		}
	}
	// Of what is not there nothing has to be known: not even whether git could read it.
	there := slices.DeleteFunc(slices.Clone(touched), func(c treeChange) bool { return !j.g.there(c.path) })
	wanted, err := j.g.wanted(ctx, j.record.To.ID, there)
	if err != nil { // on a full disk there is no room for copies to compare with
		if there, err = j.g.removeRaw(ctx, there); err == nil {
			wanted, err = j.g.wanted(ctx, j.record.To.ID, there)
		}
	}
	if err != nil {
		return err
	}
	defer wanted.close()
	back, err := j.g.removeBegun(touched, wanted)
	if err != nil || len(back) == 0 {
		return err
	}
	// Without force: what somebody has put there meanwhile stays.
	_, err = x.with(ctx, []string{"checkout-index", "-q", "-z", "--stdin"}, &RunOptions{Stdin: list(back), Timeout: longTime})
	return err
}

// removeBegun removes what a switch has written, or begun to, with directories that are
// empty then, and returns the paths at which there was something before.
func (g *Repository) removeBegun(touched []treeChange, wanted *wantedFiles) (back []string, err error) {
	root, err := os.OpenRoot(g.top)
	if err != nil {
		return nil, tools.AsError(err)
	}
	defer root.Close()
	// What was removed may be in the way of nothing before what was written is gone: a
	// file of the one branch can be a directory of the other.
	slices.SortStableFunc(touched, func(a, b treeChange) int { return cmp.Compare(gone(a), gone(b)) })
	for _, c := range touched {
		name := filepath.FromSlash(c.path)
		if !wanted.begun(root, c.path) {
			continue
		}
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, tools.AsError(err)
		}
		if c.oldMode != 0 {
			back = append(back, c.path)
			continue
		}
		for dir := filepath.Dir(name); dir != "." && root.Remove(dir) == nil; dir = filepath.Dir(dir) {
		}
	}
	return back, nil
}

// removeRaw removes files that are what the repository keeps, or begin like that, with no
// conversion in between, and returns the others.
func (g *Repository) removeRaw(ctx context.Context, written []treeChange) (others []treeChange, err error) {
	root, err := os.OpenRoot(g.top)
	if err != nil {
		return nil, tools.AsError(err)
	}
	defer root.Close()
	for _, c := range written {
		name := filepath.FromSlash(c.path)
		info, err := root.Lstat(name)
		if c.mode == 0 || err != nil || !info.Mode().IsRegular() || info.Size() > outputLimit.Hard {
			others = append(others, c)
			continue
		}
		kept, err := g.run(ctx, []string{"cat-file", "blob", c.id}, &RunOptions{MaxOutput: max(info.Size(), 1), Partial: true})
		if err != nil {
			return nil, err
		}
		is, err := root.ReadFile(name)
		if err != nil || !bytes.HasPrefix(kept.Stdout, is) {
			others = append(others, c)
			continue
		}
		if err := root.Remove(name); err != nil {
			return nil, tools.AsError(err)
		}
	}
	return others, nil
}

// gone is 1 for what a switch removes, and 0 for what it writes.
func gone(c treeChange) int {
	if c.mode == 0 {
		return 1
	}
	return 0
}

// joined is errors.Join that keeps a single error as it is.
func joined(first, second error) error {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return errors.Join(first, second)
}
