package langintel

import (
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// fileOperations is LSP 3.17 §serverCapabilities workspace.fileOperations, as far
// as the client takes part.
type fileOperations struct {
	WillRename jsontext.Value `json:"willRename"`
	DidRename  jsontext.Value `json:"didRename"`
}

// fileFilter is LSP 3.17 §fileOperationFilter.
type fileFilter struct {
	Scheme  string `json:"scheme"`
	Pattern struct {
		Glob    string `json:"glob"`
		Matches string `json:"matches"` // "file", "folder", or both when empty
		Options struct {
			IgnoreCase bool `json:"ignoreCase"`
		} `json:"options"`
	} `json:"pattern"`
}

// parseFilters reads FileOperationRegistrationOptions.
func parseFilters(v jsontext.Value) []fileFilter {
	var options struct {
		Filters []fileFilter `json:"filters"`
	}
	if !offered(v) || decodeJSON(v, &options) != nil {
		return nil
	}
	return options.Filters
}

// matches reports whether the filter takes in a path below a root. Globs are
// meant for whole paths; some servers write them relative to the root.
func (f *fileFilter) matches(root, rel string, dir bool) bool {
	if f.Scheme != "" && f.Scheme != "file" {
		return false
	}
	if f.Pattern.Matches == "file" && dir || f.Pattern.Matches == "folder" && !dir {
		return false
	}
	glob, absolute := f.Pattern.Glob, filepath.ToSlash(filepath.Join(root, filepath.FromSlash(rel)))
	if f.Pattern.Options.IgnoreCase {
		glob, rel, absolute = strings.ToLower(glob), strings.ToLower(rel), strings.ToLower(absolute)
	}
	return doublestar.ValidatePattern(glob) && (doublestar.MatchUnvalidated(glob, absolute) || doublestar.MatchUnvalidated(glob, rel))
}

// fileMove is one file or directory that gets another name.
type fileMove struct {
	from, to string // relative to the root
	dir      bool
}

func reversed(moves []fileMove) []fileMove {
	out := make([]fileMove, 0, len(moves))
	for i := len(moves) - 1; i >= 0; i-- {
		out = append(out, fileMove{moves[i].to, moves[i].from, moves[i].dir})
	}
	return out
}

// renameFilesParams is LSP 3.17 §renameFilesParams.
type renameFilesParams struct {
	Files []renamedFile `json:"files"`
}

type renamedFile struct {
	Old protocol.DocumentURI `json:"oldUri"`
	New protocol.DocumentURI `json:"newUri"`
}

// concerned returns the moves that a server registered for, by a method's name,
// at initialize or later (LSP 3.17 §workspace_willRenameFiles).
func (v *session) concerned(method string, moves []fileMove) []renamedFile {
	static := v.caps.Workspace.FileOperations.WillRename
	if method == "workspace/didRenameFiles" {
		static = v.caps.Workspace.FileOperations.DidRename
	}
	filters := parseFilters(static)
	for _, options := range v.dynamic.all(method) {
		filters = append(filters, parseFilters(options)...)
	}
	var out []renamedFile
	for _, m := range moves {
		for i := range filters {
			if filters[i].matches(v.client.work.Root(), m.from, m.dir) {
				out = append(out, renamedFile{v.fileURI(m.from), v.fileURI(m.to)})
				break
			}
		}
	}
	return out
}

// fileURI is the URI of a name, whether or not there is a file.
func (v *session) fileURI(rel string) protocol.DocumentURI {
	return uri.File(filepath.Join(v.client.work.Root(), filepath.FromSlash(rel)))
}

// didRename tells every server that registered for it (LSP 3.17
// §workspace_didRenameFiles).
func (c *Client) didRename(moves []fileMove) error {
	var first error
	for _, v := range c.sessions() {
		files := v.concerned("workspace/didRenameFiles", moves)
		if len(files) == 0 {
			continue
		}
		if err := v.rpc.notify("workspace/didRenameFiles", renameFilesParams{files}); err != nil && first == nil {
			first = err
		}
	}
	return first
}
