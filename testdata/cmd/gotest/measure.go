package main

import (
	"cmp"
	"strconv"
	"strings"
)

// figure is a value that a test found out about the project.
type figure struct {
	pkg, test   string
	name, value string
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
	if _, rest, ok := strings.Cut(e.Output, ": figure: "); ok {
		name, value, _ := strings.Cut(strings.TrimSpace(rest), " = ")
		s.figures = append(s.figures, figure{e.Package, e.Test, name, value})
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
