// Command gotest runs go test and says briefly what came of it.
//
//	gotest test  [go test arguments]              progress, failures in full, counts
//	gotest bench [-write FILE] [go test arguments] the same, and a table of measurements
//	gotest soak  [-write FILE] [go test arguments] the same, and a list of figures
//
// A test gives a figure by t.Logf("figure: name = value"); what else a passing
// test logs with a number in it is listed as it is. A benchmark gives numbers by b.ReportMetric; "ratio" is ours divided by the peer's measured in
// the same run, and "goal-UNIT" is the most that metric UNIT should be (or the
// least, for "floor-UNIT").
//
// The exit status is go test's.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

func main() {
	status, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(2)
	}
	os.Exit(status)
}

func run(args []string, out io.Writer) (int, error) {
	if len(args) == 0 {
		return 0, errors.New("say test, bench or soak")
	}
	mode, args := args[0], args[1:]
	file := ""
	if len(args) > 1 && args[0] == "-write" {
		file, args = args[1], args[2:]
	}
	var extra []string
	switch mode {
	case "test":
	case "bench":
		// One package at a time: two benchmarks side by side measure each other.
		extra = []string{"-run", "^$", "-benchmem", "-count=1", "-p", "1"}
	case "soak":
		extra = []string{"-count=1", "-p", "1"}
	default:
		return 0, fmt.Errorf("%q is none of test, bench, soak", mode)
	}
	summary := newSummary(out)
	status, err := goTest(append(extra, args...), summary)
	if err != nil {
		return 0, err
	}
	summary.finish(mode)
	if file == "" {
		printReport(out, mode, summary)
		return status, nil
	}
	if status != 0 {
		fmt.Fprintf(out, "%s is left as it was, since not everything passed\n", file)
		return status, nil
	}
	return status, os.WriteFile(file, []byte(report(mode, summary)), 0o644)
}

// goTest runs go test -json and feeds its events to the summary. Standard error
// holds what the go command itself has to say, and passes through.
func goTest(args []string, summary *summary) (int, error) {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	// An interrupt reaches the whole foreground group; go test ends its children
	// and then itself, and this program reports what it has heard.
	signal.Ignore(os.Interrupt, syscall.SIGQUIT)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	readErr := summary.read(pipe)
	waitErr := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](waitErr); ok {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, errors.Join(readErr, waitErr)
}
