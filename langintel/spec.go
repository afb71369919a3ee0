package langintel

import (
	"path"
	"slices"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/go-json-experiment/json/jsontext"
)

// Spec describes one language server: data, and functions where servers differ
// in ways that data cannot say. Which servers exist is the host's choice, never
// a caller's.
type Spec struct {
	// Name is how people and results call it; unique in a catalogue.
	Name string
	// Languages are the LSP language ids it serves, by file pattern: doublestar
	// patterns matched against the base name.
	Languages []Language
	// Roots are marker files of a project. With PerRoot the nearest directory
	// that holds one gets a server of its own; else one server has the workspace.
	Roots   []string
	PerRoot bool
	// Program is looked for in PATH, then installed by Install; Args follow it. An
	// absolute path outside the workspace is taken as it is.
	Program string
	Args    []string
	Install *Install
	// Environment is added to what the server inherits; trusted says whether the
	// workspace may have its code run.
	Environment func(trusted bool) map[string]string
	// Settings go into initialize and answer workspace/configuration below
	// Section.
	Section  string
	Settings jsontext.Value
	// LoneCR: the server ends lines at a CR without LF too, as LSP 3.17
	// §textDocuments says; many do not.
	LoneCR bool
	// ReadsDisk: what a file holds need not be opened to be asked about.
	ReadsDisk bool
	// SymbolQuery makes the workspace/symbol query that finds a name path; nil:
	// its last name.
	SymbolQuery func(names []string) string
	// MaxSymbols is how many symbols the server lists of the whole workspace, and no
	// more, whatever there is; 0: all.
	MaxSymbols int
	// Dependents returns the files whose diagnostics may change with the given
	// ones; nil: only those that the server itself reports.
	Dependents func(files *Files, changed []string) []string
	// Excluded says why the server, in an environment, has certainly nothing to say
	// about a file that is not open; "": it may have. Asking about such a file costs
	// a server much. nil: it is asked about every file.
	Excluded func(env []string, path string, source []byte) string
}

// Language is one language of a server.
type Language struct {
	ID       string   // LSP 3.17 §textDocumentItem
	Patterns []string // "*.go"
}

// Install says how a server is installed into the host's server directory. The
// version is pinned.
type Install struct {
	GoPackage string // installed with go install GoPackage@vVersion
	Version   string
}

// language returns the id for a file, or "".
func (s *Spec) language(file string) string {
	base := path.Base(file)
	for _, l := range s.Languages {
		if slices.ContainsFunc(l.Patterns, func(p string) bool { return doublestar.MatchUnvalidated(p, base) }) {
			return l.ID
		}
	}
	return ""
}

// query returns the workspace/symbol query for a name path.
func (s *Spec) query(names []string) string {
	if s.SymbolQuery != nil {
		return s.SymbolQuery(names)
	}
	return names[len(names)-1]
}
