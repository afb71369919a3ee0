package search

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/prism-ls/prism-ls/tools/git"
)

// workTrees remembers which directories with a .git are work trees, so that
// git is asked once a directory and not once a call.
type workTrees struct {
	mu   sync.Mutex
	held map[string]*workTree // by the directory that holds .git
}

// workTree is a directory with a .git.
type workTree struct {
	top      string
	accepted bool   // git takes it for a work tree
	index    string // the index file's path

	mu    sync.Mutex
	lists map[string]trackedList // by the directory they are relative to
}

// trackedList are the files that an index holds.
type trackedList struct {
	index os.FileInfo
	*names
}

// keptLists is how many lists are kept of one work tree.
const keptLists = 4

// covering returns the work tree that dir lies in. Where git does not accept
// the repository (it belongs to another user, its configuration is damaged)
// there are no ignore rules to follow, and ok is false.
func (t *workTrees) covering(ctx context.Context, runner *git.Runner, dir string) (tree *workTree, ok bool, err error) {
	holder, found := git.Holder(dir)
	if !found {
		return nil, false, nil
	}
	t.mu.Lock()
	tree = t.held[holder]
	t.mu.Unlock()
	if tree == nil {
		if tree, err = ask(ctx, runner, holder); err != nil {
			if ctx.Err() != nil {
				return nil, false, err
			}
			return nil, false, nil // not remembered: it may be repaired
		}
		t.mu.Lock()
		if t.held == nil {
			t.held = map[string]*workTree{}
		}
		t.held[holder] = tree
		t.mu.Unlock()
	}
	return tree, tree.accepted, nil
}

func ask(ctx context.Context, runner *git.Runner, holder string) (*workTree, error) {
	_, index, accepted, err := runner.Index(ctx, holder)
	if err != nil {
		return nil, err
	}
	return &workTree{top: holder, accepted: accepted, index: index}, nil
}

// settle is how old a change of the index must be before its times are trusted: two
// changes within one tick of the file system's clock look alike.
const settle = 50 * time.Millisecond

// identify describes an index file; nil where there is none, or none that is
// certain to look different after the next change.
func identify(index string) os.FileInfo {
	info, err := os.Stat(index)
	if err != nil || time.Since(info.ModTime()) <= settle {
		return nil
	}
	return info
}

func (t *workTree) known(base string, index os.FileInfo) *names {
	t.mu.Lock()
	defer t.mu.Unlock()
	list, ok := t.lists[base]
	if !ok || index == nil || !os.SameFile(list.index, index) ||
		!list.index.ModTime().Equal(index.ModTime()) || list.index.Size() != index.Size() {
		return nil
	}
	return list.names
}

// keep remembers a list for the index file as it was before git was asked: if
// it was replaced meanwhile, the next call sees another file and asks again.
func (t *workTree) keep(base string, index os.FileInfo, list *names) {
	if index == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lists == nil {
		t.lists = map[string]trackedList{}
	}
	if len(t.lists) >= keptLists {
		clear(t.lists)
	}
	t.lists[base] = trackedList{index, list}
}
