package builtin

import (
	"context"
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
)

// GitBranch is where HEAD is. Name is left out where no branch is checked out, OID is
// empty before the first commit.
type GitBranch struct {
	Name     string `json:"name,omitempty"`
	OID      string `json:"oid"`
	Upstream string `json:"upstream,omitempty"`
	Ahead    *int   `json:"ahead,omitempty"`
	Behind   *int   `json:"behind,omitempty"`
}

// GitStatusEntry is one changed path. Index and Worktree are git's letters, "." for no
// change. Submodule is left out for what is none.
type GitStatusEntry struct {
	Path      string `json:"path"`
	OrigPath  string `json:"origPath,omitempty"`
	Index     string `json:"index"`
	Worktree  string `json:"worktree"`
	Kind      string `json:"kind"`
	Submodule bool   `json:"submodule,omitempty"`
}

// GitStatus is the metadata of `git_status`.
type GitStatus struct {
	Branch      GitBranch        `json:"branch"`
	Entries     []GitStatusEntry `json:"entries"`
	Dirty       bool             `json:"dirty"`
	Truncated   bool             `json:"truncated"`
	TruncatedBy string           `json:"truncatedBy,omitempty"`
	Total       int              `json:"total"`
}

func (g *gitTools) status() (*tools.Tool, error) {
	spec := gitSpec("git_status", "Git status", "Branch and changed files.")
	plan := func(context.Context, *tools.Call, struct{}) (tools.Action, error) {
		return tools.Action{Paths: []string{"."}}, nil
	}
	return tools.New(spec, plan, func(ctx context.Context, _ *tools.Call, _ struct{}) (*tools.Outcome[GitStatus], error) {
		repo, err := g.repository(ctx)
		if err != nil {
			return nil, err
		}
		status, err := repo.Status(ctx, &git.StatusOptions{MaxEntries: g.Limits.Files, MaxOutput: g.Limits.OutputBytes})
		if err != nil {
			return nil, err
		}
		m := GitStatus{
			Branch: gitBranch(&status.Branch), Entries: []GitStatusEntry{}, Dirty: status.Dirty,
			Truncated: status.Truncated, TruncatedBy: status.TruncatedBy, Total: status.Total,
		}
		for _, e := range status.Entries {
			m.Entries = append(m.Entries, GitStatusEntry{
				Path: git.FormatPath(e.Path), OrigPath: git.FormatPath(e.OrigPath), Index: e.Index, Worktree: e.Worktree,
				Kind: string(e.Kind), Submodule: strings.HasPrefix(e.Submodule, "S"),
			})
		}
		return tools.Answer(statusText(status), m), nil
	})
}

func gitBranch(b *git.Branch) GitBranch {
	return GitBranch{Name: showName(b.Name), OID: b.OID, Upstream: showName(b.Upstream), Ahead: b.Ahead, Behind: b.Behind}
}

// showName makes a branch's name fit for JSON; git takes names of any bytes.
func showName(name string) string { return string(showable([]byte(name))) }

func statusText(status *git.Status) string {
	var text strings.Builder
	b := &status.Branch
	switch {
	case b.Name == "":
		text.WriteString("HEAD detached at " + shortID(b.OID))
	case b.OID == "":
		text.WriteString("On " + plainText(b.Name) + ", no commits yet")
	default:
		text.WriteString("On " + plainText(b.Name) + " at " + shortID(b.OID))
	}
	switch {
	case b.Ahead != nil:
		fmt.Fprintf(&text, ", %d ahead and %d behind %s", *b.Ahead, *b.Behind, plainText(b.Upstream))
	case b.Upstream != "":
		text.WriteString(", upstream " + plainText(b.Upstream) + " is gone")
	}
	if !status.Dirty {
		text.WriteString("\nclean")
	}
	for _, e := range status.Entries {
		text.WriteString("\n" + e.Index + e.Worktree + " " + git.DisplayPath(e.Path))
		if e.OrigPath != "" {
			text.WriteString(" from " + git.DisplayPath(e.OrigPath))
		}
	}
	if status.Truncated {
		text.WriteString("\n[truncated by " + status.TruncatedBy + "]")
	}
	return text.String()
}
