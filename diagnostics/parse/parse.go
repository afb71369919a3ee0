// Package parse reads what compilers, linters and test runners print into
// diagnostics.
//
//	parser, ok := parse.Named("tsc")
//	result, err := parser.Parse(&parse.Input{Output: output, Root: root, Dir: "web", Content: readFile})
//
// Output is untrusted: of everything that a parser returns the size is bounded,
// paths lie inside the root, and texts hold no control characters. What does not
// fit is counted, not guessed. Columns come in the units of each tool and leave as
// bytes and UTF-16 units, for which the line itself is needed: [Input.Content].
package parse

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// Input is the output of one run.
type Input struct {
	Output []byte
	// Producer is put into every diagnostic as its producer's id.
	Producer string
	// Root is the absolute path of the workspace root, without symbolic links.
	Root string
	// Dir is where the program ran, slash-separated and relative to Root; "" is Root.
	Dir string
	// Content returns a file by its path relative to Root: source lines, for columns,
	// and go.mod files. It must be contained in the root. nil knows no file: then
	// only one of a position's columns is set, or both are the tool's own number.
	Content func(path string) ([]byte, bool)
	// Max is how many diagnostics are returned, the worst; 0 is 1000, at most 10 000.
	Max int
}

// The bounds of Input.Max, and with it of what is collected before the worst are
// chosen.
const (
	defaultMax = 1000
	hardMax    = 10_000
)

// Result is what was found.
type Result struct {
	// Diagnostics are sorted as [diagnostics.Sort] does, the worst first.
	Diagnostics []diagnostics.Diagnostic
	// Dropped counts what is not among them because there is too much.
	Dropped int
	// Outside counts what has no place in the workspace: files outside of the root,
	// names that no path can have, problems of a whole project.
	Outside int
}

// Func reads an output. An error says that it is not in the expected form; what
// was understood until then may come with it.
type Func func(in *Input) (*Result, error)

// Parser reads the output of one kind of tool.
type Parser struct {
	// Document: the output is one document, written to one of the two streams, so
	// the streams must not be mixed.
	Document bool
	Parse    Func
}

// Named returns the parser of that name.
func Named(name string) (Parser, bool) {
	parser, ok := parsers()[name]
	return parser, ok
}

// Names lists the parsers, sorted.
func Names() []string { return slices.Sorted(maps.Keys(parsers())) }

// problem is a finding in a tool's own terms.
type problem struct {
	file string
	// line and column are 1-based; 0 is unknown. The end is exclusive.
	line, column, endLine, endColumn int
	unit                             unit
	severity                         diagnostics.Severity
	source, code, message            string
	related                          []problem // only file, place and message
}

// collector makes diagnostics of problems, within bounds.
type collector struct {
	in      *Input
	max     int
	builder *diagnostics.Builder
	texts   *texts
	seen    map[string]bool // build and test report the same compile error
	kept    int
	result  Result
}

func newCollector(in *Input) (*collector, error) {
	size := in.Max
	if size == 0 {
		size = defaultMax
	}
	if size < 0 || size > hardMax {
		return nil, fmt.Errorf("parse: Max is %d, it must be between 1 and %d", in.Max, hardMax)
	}
	builder, err := diagnostics.NewBuilder(&diagnostics.Limits{PerFile: 5000})
	if err != nil {
		return nil, err
	}
	return &collector{in: in, max: size, builder: builder, texts: newTexts(in.Content), seen: map[string]bool{}}, nil
}

// add takes a problem in, or counts it. It returns whether it was taken.
func (c *collector) add(p *problem) bool {
	path, ok := c.path(p.file)
	if !ok {
		c.result.Outside++
		return false
	}
	d := diagnostics.Diagnostic{
		Producer: c.in.Producer, Source: p.source, Code: p.code, Severity: p.severity,
		Message: p.message, Path: path, Range: c.texts.span(path, p),
	}
	key := fmt.Sprintf("%s\x00%d\x00%d\x00%s\x00%s\x00%s", path, p.line, p.column, p.code, p.source, p.message)
	if c.seen[key] {
		return false
	}
	if c.kept == hardMax {
		c.result.Dropped++
		return false
	}
	for i := range p.related {
		r := &p.related[i]
		if at, ok := c.path(r.file); ok {
			d.Related = append(d.Related, diagnostics.Related{Path: at, Range: c.texts.span(at, r), Message: r.message})
		}
	}
	if !c.builder.Add(d) {
		c.result.Dropped++
		return false
	}
	c.seen[key] = true
	c.kept++
	return true
}

// finish returns what was collected, the worst first.
func (c *collector) finish() *Result {
	list := c.builder.Snapshot().Diagnostics
	if len(list) > c.max {
		c.result.Dropped += len(list) - c.max
		list = list[:c.max]
	}
	c.result.Diagnostics = slices.Clip(list)
	if c.result.Diagnostics == nil {
		c.result.Diagnostics = []diagnostics.Diagnostic{}
	}
	return &c.result
}

// path returns a file as a path relative to the root. It looks at the name alone:
// what is read later goes through Input.Content.
func (c *collector) path(file string) (string, bool) {
	if file == "" || strings.ContainsRune(file, 0) {
		return "", false
	}
	name := filepath.FromSlash(file)
	if !filepath.IsAbs(name) {
		name = filepath.Join(c.in.Root, filepath.FromSlash(c.in.Dir), name)
	}
	rel, err := filepath.Rel(c.in.Root, filepath.Clean(name))
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}
