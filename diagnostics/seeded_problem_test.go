package diagnostics_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// problemKind is a kind of problem that Go's compiler or a linter reports: half of
// the texts below are the same for every place, or hold a number or a position
// that moves with the code, as they do in practice.
type problemKind struct {
	source, code string
	severity     diagnostics.Severity
	named        bool // about an identifier of its line
	long         bool // about the length of its line
	other        bool // about another line too
	message      func(p *planting, w *world, where map[int]site) string
}

func problemKinds() []problemKind {
	named := func(format string) func(*planting, *world, map[int]site) string {
		return func(p *planting, _ *world, _ map[int]site) string { return fmt.Sprintf(format, p.name) }
	}
	same := func(text string) func(*planting, *world, map[int]site) string {
		return func(*planting, *world, map[int]site) string { return text }
	}
	return []problemKind{
		{source: "compiler", code: "UndeclaredName", severity: diagnostics.Error, named: true, message: named("undefined: %s")},
		{source: "compiler", code: "UnusedVar", severity: diagnostics.Error, named: true, message: named("declared and not used: %s")},
		{source: "errcheck", severity: diagnostics.Warning, named: true, message: named("Error return value of `%s` is not checked")},
		{source: "ineffassign", severity: diagnostics.Warning, named: true, message: named("ineffectual assignment to %s")},
		{source: "revive", code: "exported", severity: diagnostics.Information, named: true, message: named("exported %s should have comment or be unexported")},
		{source: "revive", code: "indent-error-flow", severity: diagnostics.Warning, message: same("if block ends with a return statement, so drop this else and outdent its block")},
		{source: "revive", code: "empty-block", severity: diagnostics.Warning, message: same("this block is empty, you can remove it")},
		{source: "gocyclo", severity: diagnostics.Warning, named: true, message: func(p *planting, _ *world, _ map[int]site) string {
			return fmt.Sprintf("cyclomatic complexity %d of func `%s` is high (> 30)", p.number, p.name)
		}},
		{source: "lll", severity: diagnostics.Information, long: true, message: func(p *planting, w *world, where map[int]site) string {
			return fmt.Sprintf("The line is %d characters long, which exceeds the maximum of %d characters.", len(where[p.line].text), longLine)
		}},
		{source: "compiler", code: "DuplicateDecl", severity: diagnostics.Error, named: true, other: true, message: func(p *planting, _ *world, where map[int]site) string {
			other := where[p.other]
			return fmt.Sprintf("%s redeclared in this block\n\t%s:%d:6: other declaration of %s", p.name, other.path, other.index+1, p.name)
		}},
	}
}

const longLine = 80

// planting is a problem; its identity never shows.
type planting struct {
	id     int
	line   int // identity of its line
	kind   int
	name   string
	number int
	other  int // identity of another line that the message names
}

// site is where a line stands now.
type site struct {
	path  string
	index int
	text  string
}

func (w *world) sites() map[int]site {
	where := map[int]site{}
	for _, f := range w.files {
		for i, l := range f.lines {
			where[l.id] = site{f.path, i, l.text}
		}
	}
	return where
}

// holds reports whether a problem can still be on its line.
func (p *planting) holds(kinds []problemKind, where map[int]site) bool {
	at, ok := where[p.line]
	_, otherOK := where[p.other]
	switch kind := kinds[p.kind]; {
	case !ok || kind.other && !otherOK:
		return false
	case kind.named:
		return wordAt(at.text, p.name) >= 0
	case kind.long:
		return len(at.text) > longLine
	default:
		return strings.TrimSpace(at.text) != ""
	}
}

// render shows the problems as a tool would; those whose line or subject is gone
// are gone.
func (w *world) render() []diagnostics.Diagnostic {
	where, kinds := w.sites(), problemKinds()
	var list []diagnostics.Diagnostic
	var kept []*planting
	for _, p := range w.problems {
		if !p.holds(kinds, where) {
			continue
		}
		kept = append(kept, p)
		at, kind := where[p.line], kinds[p.kind]
		column := len(at.text) - len(strings.TrimLeft(at.text, " \t"))
		if kind.named {
			column = wordAt(at.text, p.name)
		}
		list = append(list, diagnostics.Diagnostic{
			Producer: "gopls", Source: kind.source, Code: kind.code, Severity: kind.severity, Path: at.path,
			Range: atByte(at.index, column), Message: kind.message(p, w, where),
			// The identity rides where no contender looks.
			Related: []diagnostics.Related{{Path: "id", Message: strconv.Itoa(p.id)}},
		})
	}
	w.problems = kept
	return list
}

func atByte(line, column int) diagnostics.Range {
	p := diagnostics.Position{Line: line, UTF16: -1, Byte: column}
	return diagnostics.Range{Start: p, End: p}
}

func idOf(d *diagnostics.Diagnostic) int {
	id, _ := strconv.Atoi(d.Related[0].Message)
	return id
}

// plant puts a problem on a line, if one of a random kind fits there.
func (w *world) plant(l *line, all []*line) {
	kinds := problemKinds()
	p := &planting{id: w.next(), line: l.id, kind: w.r.IntN(len(kinds)), number: 31 + w.r.IntN(40)}
	if kind := kinds[p.kind]; kind.named {
		words := identifiers(l.text)
		if len(words) == 0 {
			return
		}
		p.name = words[w.r.IntN(len(words))]
	}
	p.other = all[w.r.IntN(len(all))].id
	// The same problem twice on a line could not be told apart by anybody, and one
	// that was fixed and made again was not fixed.
	key := plantingKey{p.line, p.kind, p.name}
	where := map[int]site{p.other: {}}
	where[l.id] = site{text: l.text}
	if !w.had[key] && p.holds(kinds, where) {
		w.had[key] = true
		w.problems = append(w.problems, p)
	}
}

type plantingKey struct {
	line, kind int
	name       string
}

var identifier = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*`)

// identifiers are the names of a line that a program made up.
func identifiers(text string) []string {
	code, _, _ := strings.Cut(text, "//")
	var list []string
	for _, word := range identifier.FindAllString(code, -1) {
		if !keywords[word] && len(word) > 1 {
			list = append(list, word)
		}
	}
	return list
}

var keywords = map[string]bool{
	"break": true, "case": true, "chan": true, "const": true, "continue": true, "default": true, "defer": true,
	"else": true, "fallthrough": true, "for": true, "func": true, "go": true, "goto": true, "if": true, "import": true,
	"interface": true, "map": true, "package": true, "range": true, "return": true, "select": true, "struct": true,
	"switch": true, "type": true, "var": true,
	// Names that are the language's: nobody renames them.
	"any": true, "append": true, "bool": true, "byte": true, "close": true, "copy": true, "error": true, "false": true,
	"float64": true, "int": true, "int64": true, "iota": true, "len": true, "make": true, "new": true, "nil": true,
	"panic": true, "rune": true, "string": true, "true": true, "uint": true, "uint64": true,
}

// wordAt is where a name stands as a whole word, or -1.
func wordAt(text, name string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return -1
		}
		i += from
		end := i + len(name)
		if (i == 0 || !wordByte(text[i-1])) && (end == len(text) || !wordByte(text[end])) {
			return i
		}
		from = i + 1
	}
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
