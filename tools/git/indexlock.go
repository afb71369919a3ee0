package git

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/filelock"
)

// A change of a ref and of the index is two steps. In between, the index is locked
// for everybody in the way of git itself: by the file index.lock beside it. Ours says
// whose it is and is locked as a file by the process that made it, so that whoever
// finds it can tell whether that process is still there. If it is not, what it was
// about to do is on record in its scratch directory: when the ref has moved, the new
// index takes the place of the old one, and otherwise nothing has happened.

const (
	// lockMark begins the content of an index.lock that is ours; a scratch
	// directory's name follows.
	lockMark = "prism-ls "
	// lockWait is how long somebody else's lock is waited for.
	lockWait = 5 * time.Second
	// turnWait is how long others of ours, which are at work, are waited for.
	turnWait = time.Minute
	lockLook = 20 * time.Millisecond
	// gitDies is how long a git may take to end with the process that started it.
	gitDies = time.Second
)

// pendingChange is what is on record before a ref moves.
type pendingChange struct {
	Ref   string `json:"ref"`
	After string `json:"after"`
}

const pendingName = "pending.json"

// lockedIndex is a copy of the index while nobody else can change the original.
type lockedIndex struct {
	*privateIndex
	lock *os.File
}

func (x *privateIndex) gitDir() string { return filepath.Dir(x.dir) }

// lockIndex locks the work tree's index and copies it. CodeGitFailed: somebody else
// has it for longer than is waited for.
func (g *Repository) lockIndex(ctx context.Context) (*lockedIndex, error) {
	x, err := g.newIndex(ctx)
	if err != nil {
		return nil, err
	}
	locked := &lockedIndex{privateIndex: x}
	if err := locked.acquire(ctx); err != nil {
		locked.close()
		return nil, err
	}
	return locked, nil
}

// acquire makes the lock. The file has its content, and is locked, from the moment
// that others can see it.
func (x *lockedIndex) acquire(ctx context.Context) error {
	var err error
	own := filepath.Join(x.dir, "lock")
	if x.lock, err = os.OpenFile(own, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return tools.AsError(err)
	}
	if _, err := x.lock.WriteString(lockMark + filepath.Base(x.dir) + "\n"); err != nil {
		return tools.AsError(err)
	}
	if ok, err := filelock.Try(x.lock); err != nil || !ok {
		return tools.Errorf(tools.CodeGitFailed, "a file in %s cannot be locked: %w", x.dir, err)
	}
	for begin := time.Now(); ; {
		err := os.Link(own, x.lockPath())
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return tools.AsError(err)
		}
		if err := x.wait(ctx, begin); err != nil {
			return err
		}
	}
	if err := copyFile(filepath.Join(x.gitDir(), "index"), x.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(tools.AsError(err), os.Remove(x.lockPath()))
	}
	return nil
}

// wait waits a little for who has the lock.
func (x *lockedIndex) wait(ctx context.Context, begin time.Time) error {
	working, err := x.repository.settleIndex(ctx, x.gitDir())
	if err != nil {
		return err
	}
	most := lockWait
	if working {
		most = turnWait
	}
	err = pause(ctx, begin.Add(most))
	switch {
	case !errors.Is(err, errWaited):
		return err
	case working:
		return tools.Errorf(tools.CodeGitFailed, "another call has been changing %s for more than %s; try again later", x.repository.top, most)
	}
	return tools.Errorf(tools.CodeGitFailed, "another program holds %s; if none is running any more, it can be removed", x.lockPath())
}

var errWaited = errors.New("waited long enough")

// pause waits a little, unless the time is over.
func pause(ctx context.Context, until time.Time) error {
	if time.Now().After(until) {
		return errWaited
	}
	select {
	case <-ctx.Done():
		return tools.AsError(ctx.Err())
	case <-time.After(lockLook):
		return nil
	}
}

func (x *privateIndex) lockPath() string { return filepath.Join(x.gitDir(), "index.lock") }

// commit moves the ref and then puts the index in its place. Nothing has happened
// when it fails.
func (x *lockedIndex) commit(ctx context.Context, change refChange) error {
	if err := x.record(pendingChange{Ref: change.ref, After: change.after}); err != nil {
		return err
	}
	if err := x.repository.move(ctx, change); err != nil {
		return err
	}
	err := x.place(change.ref)
	if err == nil {
		return nil
	}
	change.before, change.after, change.message = change.after, change.before, "reset: the index could not follow"
	if x.repository.move(context.WithoutCancel(ctx), change) != nil {
		return err
	}
	return tools.Errorf(tools.CodeIO, "the index cannot be written, and nothing was changed: %w", errors.Unwrap(err))
}

// record says what is about to happen. Once the ref has moved, a crash is settled
// forwards.
func (x *lockedIndex) record(pending pendingChange) error {
	text, err := json.Marshal(pending)
	if err != nil {
		return tools.AsError(err)
	}
	return orCoded(writeFlushed(filepath.Join(x.dir, pendingName), text))
}

// place puts the copy in the place of the index.
func (x *lockedIndex) place(ref string) error {
	if err := os.Rename(x.file, filepath.Join(x.gitDir(), "index")); err != nil {
		return tools.Errorf(tools.CodeIO, "%s has moved, but the index could not follow; git reset brings it there: %w", ref, err)
	}
	return nil
}

// close gives the lock up.
func (x *lockedIndex) close() {
	if x.lock != nil {
		if ours, _ := sameFile(x.lock, x.lockPath()); ours {
			_ = os.Remove(x.lockPath()) // whoever finds it later settles it
		}
		_ = x.lock.Close()
	}
	x.privateIndex.close()
}

func sameFile(file *os.File, path string) (bool, error) {
	a, err := file.Stat()
	if err != nil {
		return false, err
	}
	b, err := os.Lstat(path)
	return err == nil && os.SameFile(a, b), err
}

// settleIndex finishes, or drops, what a process of ours that is gone has left under
// the lock. What is locked by somebody who is there, or by git, stays; working reports
// that it is somebody of ours.
func (g *Repository) settleIndex(ctx context.Context, gitDir string) (working bool, err error) {
	path := filepath.Join(gitDir, "index.lock")
	file, err := os.Open(path)
	if err != nil {
		return false, nil // free, or not for us to look at
	}
	defer file.Close()
	head := make([]byte, 256)
	n, _ := file.Read(head)
	name, ours := strings.CutPrefix(strings.TrimSuffix(string(head[:n]), "\n"), lockMark)
	if !ours || !strings.HasPrefix(name, scratchPrefix) || strings.ContainsAny(name, `/\`) {
		return false, nil
	}
	if free, err := filelock.Try(file); err != nil || !free {
		return err == nil, nil
	}
	if still, _ := sameFile(file, path); !still {
		return false, nil // somebody was faster
	}
	dir := filepath.Join(gitDir, name)
	if err := awaitGit(ctx, filepath.Join(dir, "index.lock")); err != nil {
		return false, err
	}
	if err := g.finishPending(ctx, dir); err != nil {
		return false, err
	}
	if err := os.Remove(path); err != nil {
		return false, tools.AsError(err)
	}
	_ = os.RemoveAll(dir) // swept later
	return false, nil
}

// awaitGit waits a moment for a git that worked for a process that is gone, and that
// goes with it. One that was killed has left its lock, which is in nobody's way.
func awaitGit(ctx context.Context, path string) error {
	for until := time.Now().Add(gitDies); ; {
		if _, err := os.Lstat(path); err != nil {
			return nil
		}
		if err := pause(ctx, until); errors.Is(err, errWaited) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (g *Repository) finishPending(ctx context.Context, dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, pendingName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var pending pendingChange
	if err != nil || json.Unmarshal(text, &pending) != nil {
		return nil // not written to its end: the ref had not moved
	}
	now, _, err := g.lookup(ctx, pending.Ref, "commit")
	if err != nil || now != pending.After {
		return err
	}
	err = os.Rename(filepath.Join(dir, "index"), filepath.Join(filepath.Dir(dir), "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // that was done already
	}
	if err != nil {
		return tools.AsError(err)
	}
	return nil
}

func writeFlushed(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Sync(), file.Close())
}
