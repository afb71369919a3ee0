package check

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/diagnostics"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// Definition is a check as a host declares it. Nothing of it comes from a caller.
type Definition struct {
	// Name is what a caller picks it by: lower-case letters, digits, "-", "_", ".".
	Name string
	// File is the program: an absolute path, a name that is looked up on the PATH of
	// the check's environment, or a path below the root, with a "/" in it.
	File string
	Args []string
	// Env adds NAME=value variables.
	Env []string
	// Dir is the directory it runs in, relative to the root; "" is the root.
	Dir string
	// Timeout bounds one run: CheckTime, whole milliseconds at the least. 0 is the default.
	Timeout time.Duration
	// Network leaves the check the network, where a sandbox would take it.
	Network bool
	// Parser turns the output into diagnostics: one of parse.Names, or of the host's
	// own; "" is none.
	Parser string
}

// Result is what a run of a check came to.
type Result struct {
	Name string
	// ExitCode is the program's status, or -1 when a signal ended it.
	ExitCode int
	// Signal is what ended it, as the system calls it; "" normally.
	Signal   string
	Duration time.Duration
	// Output is the end of what was printed, standard output and error as they came.
	Output string
	// TotalBytes is how much was printed; Truncated says that Output is not all of it.
	TotalBytes int64
	Truncated  bool
	// Document: Output is a document, of which Diagnostics say all that is to be read.
	Document bool
	// Diagnostics is nil where the check has no parser.
	Diagnostics []diagnostics.Diagnostic
	// ParseError says why Diagnostics are not all there are; "" normally.
	ParseError string
	// Sandbox is what the check was truly isolated from; nil without a sandbox.
	Sandbox *child.Capabilities
}

// Passed reports whether the program ended with status 0.
func (r *Result) Passed() bool { return r.ExitCode == 0 }

// Checks runs checks by name. Plans and tools take it as this interface.
type Checks interface {
	// Names returns the names that are declared, sorted.
	Names() []string
	// Run runs one to its end. CodeCheckUnknown: it is not declared. CodeTimeout,
	// CodeAborted: it was ended; a Result may come with them. A status other than 0
	// is a Result.
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
	// CheckDiagnostics bounds the diagnostics of one run; the worst are kept.
	CheckDiagnostics = tools.Limit{Name: "diagnostics", Default: 1000, Hard: 10_000}
)

// longestName bounds a check's name, in bytes.
const longestName = 64

// Check refuses, as CodeToolInput, a definition that no host can mean. Whether its
// parser is there, a runner knows.
func (d *Definition) Check() error {
	if err := checkName(d.Name); err != nil {
		return err
	}
	refuse := func(format string, args ...any) error {
		return tools.Errorf(tools.CodeToolInput, "check "+d.Name+": "+format, args...)
	}
	file := filepath.FromSlash(d.File)
	switch {
	case d.File == "":
		return refuse("file is missing; it names the program")
	case !filepath.IsAbs(file) && !filepath.IsLocal(file):
		return refuse("file is %q, must be an absolute path, a name on PATH or a path below the root", d.File)
	case d.Dir != "" && !filepath.IsLocal(filepath.FromSlash(d.Dir)):
		return refuse("cwd is %q, must be a directory below the root, relative to it", d.Dir)
	case d.Timeout < 0, d.Timeout > time.Duration(CheckTime.Hard)*time.Second, d.Timeout > 0 && d.Timeout < time.Millisecond:
		return refuse("the timeout is %v, must be 1ms to %v", d.Timeout, time.Duration(CheckTime.Hard)*time.Second)
	}
	for _, text := range append(append([]string{d.File, d.Dir}, d.Args...), d.Env...) {
		if strings.ContainsRune(text, 0) {
			return refuse("%q holds a NUL byte, which no program can be given", text)
		}
	}
	for _, entry := range d.Env {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			return refuse("env has %q, must be NAME=value", entry)
		}
		if len(child.Refused(map[string]string{name: value})) > 0 {
			return refuse("env has %q, which no program may be given", name)
		}
	}
	return nil
}

func checkName(name string) error {
	if name == "" || len(name) > longestName || name[0] == '-' || name[0] == '.' {
		return tools.Errorf(tools.CodeToolInput, "a check has the name %q, must be 1 to %d characters that begin with a letter, a digit or _", name, longestName)
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return tools.Errorf(tools.CodeToolInput, "a check has the name %q, must be lower-case letters, digits, \"-\", \"_\" and \".\"", name)
		}
	}
	return nil
}
