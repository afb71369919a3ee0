package main

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// figure is a value that a test found out about the project; without a name it is
// a sentence.
type figure struct {
	pkg, test   string
	name, value string
}

// maxFigure bounds a sentence that is taken for a figure; longer ones are
// reports.
const maxFigure = 160

// logLine is what t.Log prints: place, and text.
var logLine = regexp.MustCompile(`^ +\w+_test\.go:\d+: (.+)\n$`)

// figureOf takes "figure: name = value", or any logged line with a number in it
// that is not a seed.
func figureOf(e *event) (figure, bool) {
	logged := logLine.FindStringSubmatch(e.Output)
	if logged == nil || e.Test == "" {
		return figure{}, false
	}
	text := logged[1]
	if rest, ok := strings.CutPrefix(text, "figure: "); ok {
		name, value, _ := strings.Cut(rest, " = ")
		return figure{e.Package, e.Test, name, value}, true
	}
	if len(text) > maxFigure || !strings.ContainsAny(text, "0123456789") || strings.HasPrefix(text, "seed ") {
		return figure{}, false
	}
	return figure{e.Package, e.Test, "", text}, true
}

// measurement is one result line of a benchmark.
type measurement struct {
	pkg, name string
	metrics   []metric
}

type metric struct {
	unit  string
	value float64
}

func (m *measurement) metric(unit string) (float64, bool) {
	for _, metric := range m.metrics {
		if metric.unit == unit {
			return metric.value, true
		}
	}
	return 0, false
}

// measure takes figures and benchmark results out of a line of output.
func (s *summary) measure(e *event) {
	if f, ok := figureOf(e); ok {
		s.pkg(e.Package).figures = append(s.pkg(e.Package).figures, f)
	}
	// go test prints a benchmark's name when it starts and the rest of the line
	// when it ends; -json has them as two outputs of one "test".
	line := strings.TrimSpace(e.Output)
	if !strings.HasPrefix(line, "Benchmark") && strings.HasPrefix(e.Test, "Benchmark") {
		line = e.Test + "\t" + line
	}
	if m, ok := parseBenchmark(line); ok {
		m.pkg = e.Package
		s.measured = append(s.measured, m)
	}
}

// parseBenchmark reads "BenchmarkName-2  100  123 ns/op  0.5 ratio", the format of
// golang.org/design/14313-benchmark-format.
func parseBenchmark(line string) (measurement, bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 || len(fields)%2 != 0 || !strings.HasPrefix(fields[0], "Benchmark") {
		return measurement{}, false
	}
	if _, err := strconv.Atoi(fields[1]); err != nil {
		return measurement{}, false
	}
	m := measurement{name: strings.TrimPrefix(fields[0], "Benchmark")}
	if base, processors, ok := cutLast(m.name, "-"); ok {
		if _, err := strconv.Atoi(processors); err == nil {
			m.name = base
		}
	}
	for i := 2; i+1 < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return measurement{}, false
		}
		m.metrics = append(m.metrics, metric{fields[i+1], value})
	}
	return m, true
}

func cutLast(text, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}

// orderOfMeasurement sorts by package, and keeps a package's own order.
func orderOfMeasurement(a, b measurement) int { return cmp.Compare(a.pkg, b.pkg) }
