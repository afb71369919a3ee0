package builtin

import (
	"context"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

type workspaceListInput struct {
	Cursor string `json:"cursor,omitempty"`
}

// WorkspaceList is the metadata of `workspace_list`.
type WorkspaceList struct {
	Workspaces []TaskWorkspace `json:"workspaces"`
	// Unreadable says which records could not be read, and why.
	Unreadable  []string `json:"unreadable,omitempty"`
	Truncated   bool     `json:"truncated"`
	TruncatedBy string   `json:"truncatedBy,omitempty"`
	NextCursor  string   `json:"nextCursor,omitempty"`
}

func (w *taskSpaces) list() (*tools.Tool, error) {
	spec := workspaceSpec("workspace_list", "List workspaces", "Your tasks' workspaces.", tools.Observes)
	return tools.New(spec, nil, func(ctx context.Context, call *tools.Call, in workspaceListInput) (*tools.Outcome[WorkspaceList], error) {
		page, err := w.Spaces.List(ctx, stateOwner(call), in.Cursor, state.PageRecords.Default)
		if err != nil {
			return nil, err
		}
		m := WorkspaceList{Workspaces: []TaskWorkspace{}, NextCursor: page.Next, Truncated: page.Next != ""}
		var parts []string
		for _, space := range page.Spaces {
			shown := TaskWorkspaceOf(space)
			m.Workspaces = append(m.Workspaces, shown)
			parts = append(parts, shown.Text())
		}
		for _, broken := range page.Broken {
			m.Unreadable = append(m.Unreadable, tools.AsError(broken).Message)
			parts = append(parts, "Unreadable: "+plainText(tools.AsError(broken).Message))
		}
		if len(parts) == 0 {
			parts = []string{"(no workspaces)"}
		}
		if m.Truncated {
			m.TruncatedBy = "results"
			parts = append(parts, "[truncated by results. Use cursor="+m.NextCursor+" to continue.]")
		}
		return tools.Answer(strings.Join(parts, "\n"), m), nil
	})
}
