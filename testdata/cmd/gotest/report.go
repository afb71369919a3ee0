package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// printReport shows the table or list of a run whose page is not written.
func printReport(out io.Writer, mode string, s *summary) {
	switch {
	case mode == "bench" && len(s.measured) > 0:
		fmt.Fprintf(out, "\n%s", performanceTable(s))
	case mode == "soak" && len(s.figures) > 0:
		fmt.Fprintf(out, "\n%s", figureList(s))
	}
}

// report is the whole page of a mode.
func report(mode string, s *summary) string {
	if mode == "bench" {
		return performanceIntro + machine() + "\n" + performanceTable(s)
	}
	return reliabilityIntro + machine() + "\n" +
		fmt.Sprintf("%d tests passed, %d failed, %d were skipped.\n\n", s.passed, s.failed, len(s.skipped)) + figureList(s)
}

const performanceIntro = `# Performance

Written by ` + "`make bench`" + `; do not edit. One run measures ours and the peer side by
side, on one machine, with the same files in the page cache, so that the ratio
holds where the times drift. A goal is the most a number may be, or, with ≥, the
least. To repeat one row: ` + "`make bench BENCH=Name`" + `.

`

const reliabilityIntro = `# Reliability

Written by ` + "`make soak`" + `; do not edit. The tests run at their full sizes, and the
figures are what they counted. To repeat one row: ` + "`make soak RUN=Name`" + `.

`

// machine says what the numbers were taken on.
func machine() string {
	return fmt.Sprintf("Measured on %s/%s, %d cores, %s.\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}

// performanceTable has a row a benchmark that names a peer or a goal, and below
// them the plain times of the others.
func performanceTable(s *summary) string {
	slices.SortStableFunc(s.measured, orderOfMeasurement)
	compareWithPeers(s.measured)
	var compared, plain strings.Builder
	for i := range s.measured {
		m := &s.measured[i]
		rows := goalRows(m)
		for _, row := range rows {
			compared.WriteString(row)
		}
		if len(rows) == 0 {
			fmt.Fprintf(&plain, "| %s | `%s` | %s |\n", short(m.pkg), m.name, others(m, ""))
		}
	}
	var b strings.Builder
	if compared.Len() > 0 {
		b.WriteString("| package | benchmark | measure | value | goal | | also |\n|---|---|---|---|---|---|---|\n" + compared.String() + "\n")
	}
	if plain.Len() > 0 {
		b.WriteString("## Without a peer or goal\n\n| package | benchmark | measured |\n|---|---|---|\n" + plain.String())
	}
	return b.String()
}

// goalRows are the rows of one benchmark: its ratio, and each metric that has a
// goal.
func goalRows(m *measurement) []string {
	var rows []string
	for _, metric := range m.metrics {
		goal, bound := m.metric("goal-" + metric.unit)
		if !bound {
			goal, bound = goalOf(m, metric.unit)
		}
		floor, atLeast := m.metric("floor-" + metric.unit)
		verdict, text := "", ""
		switch {
		case bound:
			text, verdict = "≤ "+number(goal), mark(metric.value <= goal)
		case atLeast:
			text, verdict = "≥ "+number(floor), mark(metric.value >= floor)
		case metric.unit != "ratio" && !strings.HasPrefix(metric.unit, "×"):
			continue
		}
		rows = append(rows, fmt.Sprintf("| %s | `%s` | %s | %s | %s | %s | %s |\n",
			short(m.pkg), m.name, metric.unit, number(metric.value), text, verdict, others(m, metric.unit)))
	}
	return rows
}

func mark(reached bool) string {
	if reached {
		return "reached"
	}
	return "not reached"
}

// others are the metrics of a benchmark but one, and but goals, in one cell.
func others(m *measurement, but string) string {
	var cells []string
	for _, metric := range m.metrics {
		if metric.unit == but || strings.HasPrefix(metric.unit, "goal-") || strings.HasPrefix(metric.unit, "floor-") {
			continue
		}
		cells = append(cells, number(metric.value)+" "+metric.unit)
	}
	return strings.Join(cells, ", ")
}

// number prints three significant digits, and large numbers whole.
func number(value float64) string {
	if math.Abs(value) >= 100 {
		return strconv.FormatFloat(value, 'f', 0, 64)
	}
	return strconv.FormatFloat(value, 'g', 3, 64)
}

func figureList(s *summary) string {
	slices.SortStableFunc(s.figures, func(a, b figure) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.test, b.test))
	})
	var b strings.Builder
	b.WriteString("| package | test | figure | value |\n|---|---|---|---|\n")
	for _, f := range s.figures {
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", short(f.pkg), f.test, cell(f.name), cell(f.value))
	}
	return b.String()
}

// cell keeps text from breaking a table.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ").Replace(text)
}
