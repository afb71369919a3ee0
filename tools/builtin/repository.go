package builtin

import (
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/search"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// RepositoryOptions adjusts `repo_list`, `repo_search` and `glob`. Their limits
// are those of the searcher.
type RepositoryOptions struct {
	// Operations enumerate and search; nil means Deps.Searcher.
	Operations RepositoryOperations
	// Index answers the indexed modes of `repo_search`; nil refuses them.
	Index search.RepositoryIndex
}

// repository is what the three tools share.
type repository struct {
	ops RepositoryOperations
	ws  *workspace.Workspace
}

func newRepository(d *Deps) (repository, error) {
	r := repository{d.Repository.Operations, d.Workspace}
	if r.ops == nil {
		if d.Searcher == nil {
			return r, tools.Errorf(tools.CodeToolInput, "repo_list, repo_search and glob need Deps.Searcher, or operations of the host")
		}
		r.ops = d.Searcher
	}
	return r, nil
}

// start is what a policy sees of a call that looks below a path.
func (r repository) start(given string) (tools.Action, error) {
	if given == "" {
		given = "."
	}
	at, err := follow(r.ws, given)
	if err != nil {
		return tools.Action{}, err
	}
	return tools.Action{Paths: paths(at)}, nil
}

// again makes sure that the path still leads where the policy agreed, and
// returns it in the form that no link can bend any more.
func (r repository) again(call *tools.Call, given string) (string, error) {
	if given == "" {
		return "", nil
	}
	at, err := follow(r.ws, given)
	if err != nil {
		return "", err
	}
	if err := unmoved(call, 0, at); err != nil {
		return "", err
	}
	if at.at.ReadOnly() {
		return given, nil
	}
	return "./" + at.at.Real, nil // never taken for "~" or a URI
}
