package parse

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// parseGo reads what the go command prints: of build and vet as text and with
// -json, of test as text, with -v and with -json, in any mixture. Linters that
// print as vet does (staticcheck) are read as well.
func parseGo(in *Input) (*Result, error) {
	c, err := newCollector(in)
	if err != nil {
		return nil, err
	}
	g := &goOutput{c: c, packages: newGoPackages(in), running: map[goTest]*strings.Builder{}}
	g.text.init(g)
	eachLine(in.Output, g.line)
	g.text.end("")
	g.flush()
	return c.finish(), nil
}

// goOutput tells the forms apart, line by line.
type goOutput struct {
	c        *collector
	packages *goPackages
	text     goText
	running  map[goTest]*strings.Builder // what tests of a -json run have printed
	vet      *strings.Builder            // the lines of an object of vet -json so far
	pending  *problem                    // its message may go on
}

// goTest names a test; Name is empty for what a package prints by itself.
type goTest struct{ Package, Name string }

// goEvent is a line of build -json and test -json (go doc cmd/test2json, go help buildjson).
type goEvent struct {
	Action, Package, Test, ImportPath, Output string
}

func (g *goOutput) line(line string) {
	switch {
	case g.vet != nil:
		g.vet.WriteString(line + "\n")
		if line == "}" {
			g.vetObject(g.vet.String())
			g.vet = nil
		}
	case line == "{":
		g.flush()
		g.vet = &strings.Builder{}
		g.vet.WriteString("{\n")
	case strings.HasPrefix(line, `{"`):
		var event goEvent
		if json.Unmarshal([]byte(line), &event) == nil && event.Action != "" {
			g.event(&event)
			return
		}
		g.plain(line)
	default:
		g.plain(line)
	}
}

func (g *goOutput) event(event *goEvent) {
	switch {
	case event.Action == "build-output":
		for line := range strings.Lines(event.Output) {
			g.build(strings.TrimRight(line, "\r\n"))
		}
	case event.Test == "" && event.Action == "output":
		for line := range strings.Lines(event.Output) {
			g.plain(strings.TrimRight(line, "\r\n"))
		}
	case event.Action == "output":
		key := goTest{event.Package, event.Test}
		if g.running[key] == nil {
			g.running[key] = &strings.Builder{}
		}
		g.running[key].WriteString(event.Output)
	case event.Test != "" && (event.Action == "fail" || event.Action == "pass" || event.Action == "skip"):
		key := goTest{event.Package, event.Test}
		if output := g.running[key]; output != nil && event.Action == "fail" {
			g.failed(key, output.String())
		}
		delete(g.running, key)
	case event.Test == "" && (event.Action == "fail" || event.Action == "pass"):
		g.text.end(event.Package)
	}
}

// plain takes a line that is no event: of the compiler, of vet, or of a test run.
func (g *goOutput) plain(line string) {
	if g.text.take(line) {
		g.flush()
		return
	}
	g.build(line)
}

// build takes a line of the compiler, or of something that prints like it.
func (g *goOutput) build(line string) {
	if strings.HasPrefix(line, "\t") && g.pending != nil { // the types, in lines of their own
		g.pending.message += "\n" + line
		return
	}
	g.flush()
	at, message, ok := place(strings.TrimPrefix(line, "vet: "))
	if !ok || !goSource(at.file) || message == "" {
		return
	}
	at.severity, at.source = diagnostics.Error, "go"
	at.message, at.code = goCode(message)
	g.pending = &at
}

func (g *goOutput) flush() {
	if g.pending != nil {
		g.c.add(g.pending)
	}
	g.pending = nil
}

// goSource reports whether the go command names such a file. Those of C are of cgo.
func goSource(file string) bool {
	switch path.Ext(file) {
	case ".go", ".mod", ".work", ".s", ".c", ".h", ".cc", ".cpp", ".m":
		return true
	}
	return false
}

// goCode takes the name of a check off the end: "text (SA4006)".
func goCode(message string) (text, code string) {
	text, rest, found := cutLast(message, " (")
	code, closed := strings.CutSuffix(rest, ")")
	letters := strings.TrimRight(code, "0123456789")
	if !found || !closed || letters == "" || letters == code || strings.Trim(letters, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return message, ""
	}
	return text, code
}

// goVetFinding is a finding of vet -json, by package and analyzer.
type goVetFinding struct {
	Place   string `json:"posn"`
	End     string `json:"end"`
	Message string `json:"message"`
}

// vetObject reads an object of vet -json. An analyzer that failed has an object
// instead of a list, which is no finding.
func (g *goOutput) vetObject(text string) {
	var packages map[string]map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &packages) != nil {
		return
	}
	for _, analyzers := range packages {
		for name, raw := range analyzers {
			var findings []goVetFinding
			if json.Unmarshal(raw, &findings) != nil {
				continue
			}
			for _, finding := range findings {
				at, _, ok := place(finding.Place + ": ")
				if !ok {
					continue
				}
				if end, _, ok := place(finding.End + ": "); ok && end.file == at.file {
					at.endLine, at.endColumn = end.line, end.column
				}
				at.severity, at.source, at.code, at.message = diagnostics.Error, "go", name, finding.Message
				g.c.add(&at)
			}
		}
	}
}
