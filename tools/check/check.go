package check

import (
	"context"
	"time"

	"github.com/prism-ls/prism-ls/diagnostics"
	"github.com/prism-ls/prism-ls/tools"
)

// Definition is a check as a host declares it. Nothing of it comes from a caller.
type Definition struct {
	// Name is what a caller picks it by: lower-case letters, digits, "-", "_", ".".
	Name string
	// File is the program: an absolute path, or a name that the host resolves on its
	// own PATH when the runner is made.
	File string
	Args []string
	// Env adds NAME=value variables.
	Env []string
	// Dir is the directory it runs in, relative to the root; "" is the root.
	Dir string
	// Timeout bounds one run: CheckTime.
	Timeout time.Duration
	// Parser turns the output into diagnostics; "" is none.
	Parser string
}

// Result is what a run of a check came to.
type Result struct {
	Name string
	// ExitCode is the program's status, or -1 when a signal ended it.
	ExitCode int
	Duration time.Duration
	// Output is the end of what was printed, standard output and error as they came.
	Output string
	// TotalBytes is how much was printed; Truncated says that Output is not all of it.
	TotalBytes int64
	Truncated  bool
	// Diagnostics is nil where the check has no parser.
	Diagnostics []diagnostics.Diagnostic
	// ParseError says why Diagnostics are not all there are; "" normally.
	ParseError string
}

// Passed reports whether the program ended with status 0.
func (r *Result) Passed() bool { return r.ExitCode == 0 }

// Checks runs checks by name. Plans and tools take it as this interface.
type Checks interface {
	// Names returns the names that are declared, sorted.
	Names() []string
	// Run runs one to its end. CodeCheckUnknown: it is not declared. CodeTimeout,
	// CodeAborted: it was ended. A status other than 0 is a Result.
	Run(ctx context.Context, name string) (*Result, error)
}

// The bounds of checks.
var (
	CheckNames       = tools.Limit{Name: "checks", Default: 8, Hard: 32}
	CheckConcurrency = tools.Limit{Name: "concurrency", Default: 1, Hard: 4}
	// CheckTime bounds one run, in seconds.
	CheckTime  = tools.Limit{Name: "timeoutSeconds", Default: 10 * 60, Hard: 60 * 60}
	CheckLines = tools.Limit{Name: "lines", Default: 2000, Hard: 100_000}
	// CheckBytes bounds the output that is kept.
	CheckBytes = tools.Limit{Name: "outputBytes", Default: 4 << 20, Hard: 64 << 20}
)
