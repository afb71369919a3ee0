package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// event is one line of go test -json (go doc test2json, go help buildjson).
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build events
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// summary folds the events of a run.
type summary struct {
	out      io.Writer
	packages map[string]*packageRun
	builds   map[string]*strings.Builder // output of failed builds
	passed   int
	failed   int
	skipped  []string
	figures  []figure
	measured []measurement
}

// packageRun is what a package has printed and not yet finished.
type packageRun struct {
	own    strings.Builder // output of no test
	tests  map[string]*strings.Builder
	order  []string
	failed []string
	passed int

	figures []figure // of tests that have not ended
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, packages: map[string]*packageRun{}, builds: map[string]*strings.Builder{}}
}

// read takes events until the end. A line that is none is printed as it is.
func (s *summary) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil {
				s.add(&e)
			} else {
				s.out.Write(line)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *summary) add(e *event) {
	switch {
	case e.Action == "build-output":
		if s.builds[e.ImportPath] == nil {
			s.builds[e.ImportPath] = &strings.Builder{}
		}
		s.builds[e.ImportPath].WriteString(e.Output)
	case e.Package == "":
	case e.Test != "":
		s.addTest(s.pkg(e.Package), e)
	default:
		s.addPackage(s.pkg(e.Package), e)
	}
}

func (s *summary) pkg(name string) *packageRun {
	if s.packages[name] == nil {
		s.packages[name] = &packageRun{tests: map[string]*strings.Builder{}}
	}
	return s.packages[name]
}

func (s *summary) addTest(p *packageRun, e *event) {
	if p.tests[e.Test] == nil {
		p.tests[e.Test] = &strings.Builder{}
		p.order = append(p.order, e.Test)
	}
	switch e.Action {
	case "output":
		p.tests[e.Test].WriteString(e.Output)
		s.measure(e)
	case "pass", "bench":
		if e.Action == "pass" {
			s.passed++
			p.passed++
			s.keepFigures(p, e.Test)
		}
		delete(p.tests, e.Test)
	case "skip":
		s.skipped = append(s.skipped, fmt.Sprintf("%s %s: %s", short(e.Package), e.Test, skipReason(p.tests[e.Test].String())))
		delete(p.tests, e.Test)
	case "fail":
		s.failed++
		p.failed = append(p.failed, e.Test)
	}
}

// keepFigures takes over what a test logged, now that it has passed.
func (s *summary) keepFigures(p *packageRun, test string) {
	for _, f := range p.figures {
		if f.test == test {
			s.figures = append(s.figures, f)
		}
	}
}

func (s *summary) addPackage(p *packageRun, e *event) {
	switch e.Action {
	case "output":
		p.own.WriteString(e.Output)
		s.measure(e)
	case "pass":
		fmt.Fprintf(s.out, "ok    %-40s %4d tests %7.1fs\n", short(e.Package), p.passed, e.Elapsed)
		delete(s.packages, e.Package)
	case "skip":
		delete(s.packages, e.Package) // no test files
	case "fail":
		fmt.Fprintf(s.out, "FAIL  %-40s %4d tests %7.1fs\n", short(e.Package), p.passed+len(p.failed), e.Elapsed)
		s.explain(p, e)
		delete(s.packages, e.Package)
	}
}

// explain prints what the failed tests printed, and those that did not come to an
// end, and what no test printed. A package that failed without a failed test (it
// does not build, or its process died) counts as one failure.
func (s *summary) explain(p *packageRun, e *event) {
	if b := s.builds[e.FailedBuild]; b != nil {
		io.WriteString(s.out, b.String())
	}
	for _, name := range p.order {
		if text, left := p.tests[name]; left {
			io.WriteString(s.out, text.String())
		}
	}
	io.WriteString(s.out, p.own.String())
	if len(p.failed) == 0 {
		s.failed++
	}
}

// finish prints what was skipped, and the counts alone on the last line.
func (s *summary) finish(mode string) {
	if mode == "bench" {
		fmt.Fprintf(s.out, "\n%d measured, %d failed\n", len(s.measured), s.failed)
		return
	}
	slices.Sort(s.skipped)
	if len(s.skipped) > 0 {
		fmt.Fprintf(s.out, "\n%d skipped:\n", len(s.skipped))
		for _, line := range s.skipped {
			fmt.Fprintf(s.out, "  %s\n", line)
		}
	}
	fmt.Fprintf(s.out, "\n%d passed, %d failed\n", s.passed, s.failed)
}

// short is a package's path inside the module.
func short(pkg string) string {
	if _, rest, ok := strings.Cut(pkg, "/prism-ls/prism-ls/"); ok {
		return rest
	}
	return pkg
}

// skipReason is the last line that a skipped test logged.
func skipReason(output string) string {
	reason := "no reason given"
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			reason = line
		}
	}
	return reason
}
