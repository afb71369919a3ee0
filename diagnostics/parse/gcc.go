package parse

import (
	"path"
	"strings"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// gccSeverity reads the word between place and message.
func gccSeverity(word string) (diagnostics.Severity, bool) {
	switch word {
	case "error", "fatal error", "internal compiler error", "sorry, unimplemented", "warning", "info", "information", "style", "remark", "hint":
		return severityOf(word), true
	}
	return 0, false
}

// parseGCC reads "file:line:column: severity: message [code]", the form of gcc,
// clang, mypy and many others; the column may be missing.
//
// What a column counts differs (gcc: -fdiagnostics-column-unit, by default columns
// of a terminal; clang: bytes; others: characters), and only lines with tabs or
// other characters than ASCII tell. gcc and clang are told apart by the line in
// which clang counts what it generated.
func parseGCC(in *Input) (*Result, error) {
	c, err := newCollector(in)
	if err != nil {
		return nil, err
	}
	g := &gcc{c: c}
	clang := false
	eachLine(in.Output, func(line string) { clang = clang || isClangSummary(line) })
	if clang {
		g.native = unitByte
	} else {
		g.native = unitDisplay
	}
	eachLine(in.Output, g.line)
	g.flush()
	return c.finish(), nil
}

type gcc struct {
	c       *collector
	native  unit // of the compiler in languages of the C family
	pending *problem
}

func (g *gcc) line(line string) {
	at, rest, ok := place(line)
	if !ok {
		return
	}
	word, message, ok := strings.Cut(rest, ": ")
	if !ok {
		return
	}
	at.unit = g.unit(at.file)
	if word == "note" {
		if g.pending != nil {
			at.message = message
			g.pending.related = append(g.pending.related, at)
		}
		return
	}
	word, code, _ := strings.Cut(strings.TrimSuffix(word, "]"), "[") // rustc: "error[E0308]"
	severity, ok := gccSeverity(word)
	if !ok {
		return
	}
	g.flush()
	at.severity, at.source, at.code, at.message = severity, g.source(at.file), code, message
	if code == "" {
		at.message, at.code = trailingCode(message)
	}
	g.pending = &at
}

func (g *gcc) flush() {
	if g.pending != nil {
		g.c.add(g.pending)
	}
	g.pending = nil
}

func (g *gcc) unit(file string) unit {
	if cFamily(file) {
		return g.native
	}
	return unitRune
}

// source names the compiler where that is known.
func (g *gcc) source(file string) string {
	switch {
	case !cFamily(file):
		return ""
	case g.native == unitByte:
		return "clang"
	}
	return "gcc"
}

func cFamily(file string) bool {
	switch strings.ToLower(path.Ext(file)) {
	case ".c", ".h", ".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".ipp", ".inc", ".m", ".mm", ".s":
		return true
	}
	return false
}

// isClangSummary recognises "2 warnings and 1 error generated.".
func isClangSummary(line string) bool {
	text, ok := strings.CutSuffix(line, " generated.")
	if !ok {
		return false
	}
	n, rest, ok := number(text)
	return ok && n > 0 && (strings.HasPrefix(rest, " warning") || strings.HasPrefix(rest, " error"))
}
