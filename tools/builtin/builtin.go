// Package builtin has the tools that ship: one file each, and in this one the
// list.
//
//	ws, err := workspace.Open(root, &workspace.Options{StateDir: state})
//	searcher, err := search.New(ws, nil)
//	list, err := builtin.Default(&builtin.Deps{
//		Workspace: ws, Searcher: searcher, Owner: owner,
//		Shell: builtin.ShellOptions{Environment: os.Environ()},
//	})
//	registry, err := tools.NewRegistry(list, &tools.RegistryOptions{Policy: policy})
//	result := registry.Call(ctx, "read", []byte(`{"path": "go.mod"}`), tools.CallOptions{})
//
// A tool resolves its paths once for the policy and once more when it runs, and
// refuses if they lead elsewhere by then. What it does goes through an
// interface (ReadOperations, WriteOperations, …), so that a host can put an
// editor's buffers or another machine behind it; containment and limits stay in
// front of that.
package builtin

import (
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/search"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// Deps is what the core tools stand on, and how a host adjusts each. The tools
// own none of it: whoever made it closes it, after the last call.
type Deps struct {
	// Workspace resolves and contains all paths. It is required.
	Workspace *workspace.Workspace
	// Searcher is required unless Repository.Operations are given.
	Searcher *search.Searcher
	// Owner starts commands; it is required unless Shell.Operations are given.
	Owner *child.Owner

	// ReadPaths remembers what each session has read; nil remembers nothing.
	ReadPaths *ReadPathSet
	// RequireReadBeforeWrite makes write and edit refuse files that exist and
	// that the session has not read. It needs ReadPaths.
	RequireReadBeforeWrite bool

	Read       ReadOptions
	Write      WriteOptions
	Edit       EditOptions
	Delete     DeleteOptions
	Move       MoveOptions
	Shell      ShellOptions
	Undo       UndoOptions
	Repository RepositoryOptions
	Decision   DecisionOptions
}

type constructor func(*Deps) (*tools.Tool, error)

// all is the one list; a new tool is one line here. readOnly comes first, then
// what makes the library's nine, then what only the binary's core has.
func all() (readOnly, changing, further []constructor) {
	return []constructor{newRead, newRepoList, newRepoSearch, newGlob},
		[]constructor{newWrite, newEdit, newDelete, newMove, newShell},
		[]constructor{newUndo, newDecision}
}

// Core returns the eleven tools of the binary's toolset "core".
func Core(deps *Deps) ([]*tools.Tool, error) {
	readOnly, changing, further := all()
	return build(deps, readOnly, changing, further)
}

// Default returns the library's nine: Core without undo and ask_user_decision.
func Default(deps *Deps) ([]*tools.Tool, error) {
	readOnly, changing, _ := all()
	return build(deps, readOnly, changing)
}

// ReadOnly returns the four that only observe files: read, repo_list,
// repo_search and glob.
func ReadOnly(deps *Deps) ([]*tools.Tool, error) {
	readOnly, _, _ := all()
	return build(deps, readOnly)
}

func build(deps *Deps, groups ...[]constructor) ([]*tools.Tool, error) {
	switch {
	case deps == nil || deps.Workspace == nil:
		return nil, tools.Errorf(tools.CodeToolInput, "the core tools need Deps.Workspace")
	case deps.RequireReadBeforeWrite && deps.ReadPaths == nil:
		return nil, tools.Errorf(tools.CodeToolInput, "RequireReadBeforeWrite needs ReadPaths, which remembers what was read")
	}
	var list []*tools.Tool
	for _, group := range groups {
		for _, construct := range group {
			tool, err := construct(deps)
			if err != nil {
				return nil, err
			}
			list = append(list, tool)
		}
	}
	return list, nil
}
