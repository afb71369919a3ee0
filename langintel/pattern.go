package langintel

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"go.lsp.dev/protocol"
)

// watched is one registered pattern.
type watched struct {
	base    string // absolute; "": the pattern is matched against absolute and root-relative names
	pattern string
	kind    int
}

func parseWatched(r watchRegistration) []watched {
	var out []watched
	for _, w := range r.Watchers {
		one := watched{kind: defaultKind}
		if w.Kind != nil {
			one.kind = *w.Kind
		}
		var relative struct {
			Base    any    `json:"baseUri"` // a URI or a WorkspaceFolder
			Pattern string `json:"pattern"`
		}
		if decodeJSON(w.Pattern, &one.pattern) != nil {
			if decodeJSON(w.Pattern, &relative) != nil {
				continue
			}
			one.pattern = relative.Pattern
			switch base := relative.Base.(type) {
			case string:
				one.base = docURI(base).path()
			case map[string]any:
				folder, _ := base["uri"].(string)
				one.base = docURI(folder).path()
			}
		}
		if doublestar.ValidatePattern(one.pattern) {
			out = append(out, one)
		}
	}
	return out
}

// matches reports whether the pattern takes in a file (LSP 3.17
// §didChangeWatchedFilesRegistrationOptions: braces, ** and relative patterns).
func (w *watched) matches(root, rel string, kind protocol.FileChangeType) bool {
	if w.kind&(1<<(int(kind)-1)) == 0 {
		return false
	}
	absolute := path.Join(filepath.ToSlash(root), rel)
	if w.base != "" {
		inner, ok := strings.CutPrefix(absolute, strings.TrimSuffix(filepath.ToSlash(w.base), "/")+"/")
		return ok && doublestar.MatchUnvalidated(w.pattern, inner)
	}
	return doublestar.MatchUnvalidated(w.pattern, rel) || doublestar.MatchUnvalidated(w.pattern, absolute)
}
