package langintel

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"go.lsp.dev/protocol"
)

// watched is one registered pattern.
type watched struct {
	base    string // absolute; "": the pattern is matched against absolute names and those below a root
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
// All names are absolute.
func (w *watched) matches(name string, kind protocol.FileChangeType, roots ...string) bool {
	if w.kind&(1<<(int(kind)-1)) == 0 {
		return false
	}
	name = filepath.ToSlash(name)
	below := func(dir string) bool {
		inner, ok := strings.CutPrefix(name, strings.TrimSuffix(filepath.ToSlash(dir), "/")+"/")
		return ok && doublestar.MatchUnvalidated(w.pattern, inner)
	}
	if w.base != "" {
		return below(w.base)
	}
	return doublestar.MatchUnvalidated(w.pattern, name) || slices.ContainsFunc(roots, below)
}
