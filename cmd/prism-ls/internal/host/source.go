package host

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/search"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// Workspace has the files.
func (h *Host) Workspace() *workspace.Workspace { return h.shared.files }

// SourceFiles lists the regular files of the workspace that are neither ignored
// nor likely to hold credentials.
func (h *Host) SourceFiles(ctx context.Context) ([]string, error) {
	var names []string
	most, offset := search.ResultLimit.Hard, int64(0)
	for {
		page, err := h.shared.searcher.List(ctx, search.ListQuery{IncludeHidden: true, MaxResults: &most, Offset: &offset})
		if err != nil {
			return nil, err
		}
		for _, entry := range page.Entries {
			if entry.Kind == "file" && !tools.IsSecretPath(entry.Path) {
				names = append(names, entry.Path)
			}
		}
		if page.NextOffset == nil {
			return names, nil
		}
		offset = *page.NextOffset
	}
}
