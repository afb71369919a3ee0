package parse

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// failed reads what a failed test has printed: the lines of its log, which begin
// with their place, and a panic's message with the first frame that lies in the
// workspace.
func (g *goOutput) failed(test goTest, output string) {
	var pending *problem
	depth, trace := 0, ""
	flush := func() {
		if pending != nil {
			g.c.add(pending)
		}
		pending = nil
	}
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		at, message, ok := place(text)
		switch {
		case ok && indent > 0 && (pending == nil || indent <= depth) && path.Ext(at.file) == ".go":
			flush()
			at.file = g.packages.file(test.Package, at.file)
			at.severity, at.source, at.code, at.message = g.logged(&at), "go test", test.Name, message
			pending, depth = &at, indent
		case pending != nil && indent > depth:
			pending.message += "\n" + text
		case strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: "):
			flush()
			trace = line
		case trace != "" && strings.HasPrefix(line, "\t"):
			if frame, ok := g.frame(line); ok {
				frame.severity, frame.source, frame.code, frame.message = diagnostics.Error, "go test", test.Name, trace
				g.c.add(&frame)
				trace = ""
			}
		default:
			flush()
		}
	}
	flush()
}

// frame reads a line of a stack trace, "\t/dir/file.go:12 +0x1d", of a file in the
// workspace.
func (g *goOutput) frame(line string) (problem, bool) {
	text, _, _ := strings.Cut(strings.TrimPrefix(line, "\t"), " ")
	at, _, ok := place(text + ": ")
	if !ok || !filepath.IsAbs(filepath.FromSlash(at.file)) {
		return at, false
	}
	_, inside := g.c.path(at.file)
	return at, inside
}

// logged says how bad a line of a failed test's log is. The output does not tell
// t.Log from t.Error; the source does, where it is at hand.
func (g *goOutput) logged(at *problem) diagnostics.Severity {
	name, ok := g.c.path(at.file)
	if !ok {
		return diagnostics.Error
	}
	line, ok := g.c.texts.line(name, at.line-1)
	text := string(line)
	if ok && (strings.Contains(text, ".Log(") || strings.Contains(text, ".Logf(")) &&
		!strings.Contains(text, ".Error") && !strings.Contains(text, ".Fatal") {
		return diagnostics.Information
	}
	return diagnostics.Error
}

// goText follows the text of a test run. Which package a line belongs to is said
// only when the package ends.
type goText struct {
	g *goOutput
	// Without -v only failed tests print: "--- FAIL: Name", then what they logged,
	// further in. With -v a test prints, and then how it ended.
	verbose bool
	name    string // of the test that prints, with -v
	open    []goOpen
	order   []string
	logs    map[string]*strings.Builder
	failed  map[string]bool
	trace   bool // all up to the package's end is of a panic
}

// goOpen is a failed test whose output is being read, without -v.
type goOpen struct {
	indent int
	name   string
}

func (t *goText) init(g *goOutput) { t.g = g; t.reset() }

func (t *goText) reset() {
	t.verbose, t.name, t.open, t.order, t.trace = false, "", nil, nil, false
	t.logs, t.failed = map[string]*strings.Builder{}, map[string]bool{}
}

// take takes a line if it belongs to a test run.
func (t *goText) take(line string) bool {
	for _, prefix := range []string{"=== RUN   ", "=== NAME  ", "=== CONT  "} {
		if name, ok := strings.CutPrefix(line, prefix); ok {
			t.verbose, t.name = true, name
			return true
		}
	}
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	for i, prefix := range []string{"--- FAIL: ", "--- PASS: ", "--- SKIP: "} {
		rest, ok := strings.CutPrefix(text, prefix)
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(rest, " (")
		t.close(indent)
		if i == 0 {
			t.failed[name] = true
		}
		if !t.verbose {
			t.open = append(t.open, goOpen{indent, name})
		}
		return true
	}
	for _, prefix := range []string{"FAIL\t", "ok  \t", "---\t", "?   \t"} {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			name, _, _ := strings.Cut(rest, "\t")
			name, _, _ = strings.Cut(name, " ")
			t.end(name)
			return true
		}
	}
	return t.log(line, indent)
}

// log takes a line as a test's own, if one is open.
func (t *goText) log(line string, indent int) bool {
	if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
		t.trace = true
		if t.name == "" && len(t.open) == 0 {
			t.add("", line)
			return true
		}
	}
	switch {
	case t.trace && t.current() == "":
		t.add("", line)
	case t.verbose && t.name != "" && (indent > 0 || t.trace):
		t.add(t.name, line)
	case len(t.open) > 0 && t.trace:
		t.add(t.current(), line)
	case len(t.open) > 0 && indent > 0:
		t.close(indent)
		if len(t.open) == 0 {
			return false
		}
		t.add(t.current(), line)
	default:
		return false
	}
	return true
}

// current is the test that prints.
func (t *goText) current() string {
	switch {
	case t.verbose:
		return t.name
	case len(t.open) > 0:
		return t.open[len(t.open)-1].name
	}
	return ""
}

// close ends the tests that are not further out than indent.
func (t *goText) close(indent int) {
	for len(t.open) > 0 && t.open[len(t.open)-1].indent >= indent {
		t.open = t.open[:len(t.open)-1]
	}
}

func (t *goText) add(name, line string) {
	if t.logs[name] == nil {
		t.logs[name] = &strings.Builder{}
		t.order = append(t.order, name)
	}
	t.logs[name].WriteString(line + "\n")
}

// end says which package it all was.
func (t *goText) end(pkg string) {
	for _, name := range t.order {
		if t.failed[name] || t.trace && (name == "" || name == t.current()) {
			t.g.failed(goTest{pkg, name}, t.logs[name].String())
		}
	}
	t.reset()
}
