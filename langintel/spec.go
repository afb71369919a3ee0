package langintel

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/go-json-experiment/json/jsontext"
)

// Spec describes one language server: data, and functions where servers differ
// in ways that data cannot say. Which servers exist is the host's choice, never
// a caller's.
type Spec struct {
	// Name is how people and results call it; unique in a catalogue. Title is how
	// it presents itself; empty: the name.
	Name, Title string
	// Group names what servers can stand for each other: the first available one of
	// a group serves a file. Empty: the server stands for itself.
	Group string
	// Lint: it finds problems, offers code actions and formats beside the file's
	// other server, and is never asked about symbols.
	Lint bool
	// FilesOnly: it answers about one file at a time, and is not asked about the
	// workspace.
	FilesOnly bool
	// Languages are the LSP language ids it serves, by file pattern: doublestar
	// patterns matched against the base name.
	Languages []Language
	// Roots are marker files of a project. With PerRoot the nearest directory
	// that holds one gets a server of its own; else one server has the workspace,
	// and with MultiRoot it is told of every such directory as a workspace folder.
	// NeedsRoot: only files below a marker are served.
	Roots     []string
	PerRoot   bool
	MultiRoot bool
	NeedsRoot bool
	// Program is looked for in PATH, then in the host's server directory; Args
	// follow it. An absolute path outside the workspace is taken as it is. Local are
	// slash-separated paths that a trusted project may have it at, looked for first,
	// in the project root and the directories above it up to the workspace's.
	Program string
	Args    []string
	Local   []string
	Install *Install
	// Aliases are other names of Program in PATH, looked for after it.
	Aliases []string
	// Probe are arguments with which a program in PATH ends well if it is the
	// server: under some names there are stand-ins that look for the real one. nil:
	// it is taken as it is.
	Probe []string
	// RunsCode says how the server runs the workspace's code in a way that no
	// setting prevents; it then does not start where the workspace is not trusted.
	// Empty: Environment, InitOptions and Configure prevent it there.
	RunsCode string
	// Environment is added to what the server inherits; trusted says whether the
	// workspace may have its code run.
	Environment func(trusted bool) map[string]string
	// Settings answer workspace/configuration below Section, and go into initialize
	// unless InitOptions says what does.
	Section     string
	Settings    jsontext.Value
	InitOptions func(p Project) (jsontext.Value, error)
	// Configure makes the settings for one project; nil: Settings. PushSettings: the
	// server does not ask for them, it waits to be told.
	Configure    func(p Project) (jsontext.Value, error)
	PushSettings bool
	// Answers are the results of requests that only this server makes, by method.
	Answers map[string]jsontext.Value
	// Ready says when answers across files are final, Fresh when diagnostics are of
	// the current text; nil: what holds for any server, at the price of certainty
	// and time.
	Ready Readiness
	Fresh Freshness
	// Prime returns documents to open before an answer across files, so that every
	// project of the workspace is loaded; nil: none.
	Prime func(files *Files) []string
	// Incomplete says why answers across files, and diagnostics, are less than there
	// is, however long one waits; "" or nil: they are not.
	Incomplete func(p Project) string
	// Degraded says why the server knows less here than it could, and what would
	// help; "": all is well. nil: always.
	Degraded func(p Project) string
	// EditCommands are patterns (path.Match) of the commands that do nothing but ask
	// for edits; before any other one the policy is asked as for a program.
	EditCommands []string
	// RangedChanges: the server is told where a text ends that is replaced as a
	// whole, since it gets that wrong.
	RangedChanges bool
	// LoneCR: the server ends lines at a CR without LF too, as LSP 3.17
	// §textDocuments says; many do not.
	LoneCR bool
	// ReadsDisk: what a file holds need not be opened to be asked about. The server
	// is told of each change of a file of its languages, of its Roots and of its
	// Reads (patterns of base names), whether it has registered for them or not.
	ReadsDisk bool
	Reads     []string
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

// Install says how a server is installed: into the host's server directory, at a
// pinned version, or by the system. Exactly one of the ways is given; Unasked goes
// with a GoPackage.
type Install struct {
	Version   string
	GoPackage string   // go install GoPackage@vVersion
	NPM       []string // npm packages, each as name@version
	System    []string // Debian packages
	Unasked   bool     // installed when it is needed first, without being asked for
	Hint      string   // what a person does where none of these fits
}

// language returns the id for a file, or "".
func (s *Spec) language(file string) string {
	base := path.Base(file)
	for _, l := range s.Languages {
		if slices.ContainsFunc(l.Patterns, func(p string) bool { return matchName(p, base) }) {
			return l.ID
		}
	}
	return ""
}

// matchName matches a base name. A catalogue is asked about every file of a
// workspace, and nearly all patterns are names or endings.
func matchName(pattern, base string) bool {
	ending, isEnding := strings.CutPrefix(pattern, "*")
	switch {
	case strings.ContainsAny(ending, `*?[{\\`):
		return doublestar.MatchUnvalidated(pattern, base)
	case isEnding:
		return strings.HasSuffix(base, ending)
	}
	return base == pattern
}

// query returns the workspace/symbol query for a name path.
func (s *Spec) query(names []string) string {
	if s.SymbolQuery != nil {
		return s.SymbolQuery(names)
	}
	return names[len(names)-1]
}

// Strategies names how the server is known to have loaded everything, and how its
// diagnostics are known to be of the current text: see [Readiness] and [Freshness].
func (s *Spec) Strategies() (ready, fresh string) { return s.ready().Name(), s.fresh().Name() }

func (s *Spec) fresh() Freshness {
	if s.Fresh == nil {
		return PullOrPush()
	}
	return s.Fresh
}
