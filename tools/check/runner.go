package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/diagnostics/parse"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// Options are what a runner stands on. Owner and Root are required.
type Options struct {
	// Owner starts the programs. It is the caller's to close.
	Owner *child.Owner
	// Root is the absolute path of the workspace root, without symbolic links.
	Root string
	// Environment is the host's own ("NAME=value"), of which a check inherits what
	// child.Environment lets through.
	Environment []string
	// ExtraEnv are variables that every check gets; those of a definition win.
	ExtraEnv map[string]string
	// Exclude are directories whose programs are not taken for a mere name, such as
	// a root that nobody trusts.
	Exclude []string
	// Sandbox confines the checks; the zero value does not.
	Sandbox child.Sandbox
	// Content returns a file by its path relative to Root, contained and bounded, for
	// the columns of diagnostics; nil leaves columns as the tools count them.
	Content func(path string) ([]byte, bool)
	// Parsers are the host's own, by name; they win over those of parse.Named.
	Parsers map[string]parse.Parser
	// Names, Concurrency, Lines, Bytes and Diagnostics are bounds: CheckNames,
	// CheckConcurrency, CheckLines, CheckBytes and CheckDiagnostics. Zero is the default.
	Names, Concurrency, Lines, Bytes, Diagnostics int64
}

// Runner runs declared checks on this machine. It is safe for concurrent use.
type Runner struct {
	opts    Options
	checks  map[string]prepared
	running chan struct{} // one place for each check that may run
}

// prepared is a definition with what was settled when it was declared.
type prepared struct {
	Definition
	env    []string
	parser *parse.Parser
}

var _ Checks = (*Runner)(nil)

// New checks the definitions, starts nothing and looks at no file. CodeToolInput
// names the definition that is wrong, or the bound that is not kept.
func New(definitions []Definition, opts *Options) (*Runner, error) {
	r := &Runner{checks: map[string]prepared{}}
	if opts != nil {
		r.opts = *opts
	}
	if r.opts.Owner == nil || !filepath.IsAbs(r.opts.Root) {
		return nil, tools.Errorf(tools.CodeToolInput, "checks need Options.Owner, and Options.Root as an absolute path")
	}
	for _, bound := range []struct {
		value *int64
		limit tools.Limit
	}{
		{&r.opts.Names, CheckNames}, {&r.opts.Concurrency, CheckConcurrency}, {&r.opts.Lines, CheckLines},
		{&r.opts.Bytes, CheckBytes}, {&r.opts.Diagnostics, CheckDiagnostics},
	} {
		value, err := bound.limit.Option(*bound.value)
		if err != nil {
			return nil, err
		}
		*bound.value = value
	}
	if int64(len(definitions)) > r.opts.Names {
		return nil, tools.Errorf(tools.CodeToolInput, "%d checks are declared, at most %d may be", len(definitions), r.opts.Names)
	}
	for i := range definitions {
		ready, err := r.prepare(definitions[i])
		if err != nil {
			return nil, err
		}
		if _, taken := r.checks[ready.Name]; taken {
			return nil, tools.Errorf(tools.CodeToolInput, "two checks have the name %q", ready.Name)
		}
		r.checks[ready.Name] = ready
	}
	r.running = make(chan struct{}, r.opts.Concurrency)
	return r, nil
}

// prepare refuses a definition that could never run.
func (r *Runner) prepare(d Definition) (prepared, error) {
	ready := prepared{Definition: d}
	if err := d.Check(); err != nil {
		return ready, err
	}
	ready.Args = slices.Clone(d.Args)
	// Never a prompt, a pager or a terminal's escapes, unless the host asks for them.
	extra := map[string]string{"GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "PAGER": "cat", "TERM": "dumb"}
	maps.Copy(extra, r.opts.ExtraEnv)
	for _, entry := range d.Env {
		name, value, _ := strings.Cut(entry, "=")
		extra[name] = value
	}
	if refused := child.Refused(extra); len(refused) > 0 {
		return ready, tools.Errorf(tools.CodeToolInput, "Options.ExtraEnv has %q, which no program may be given", refused)
	}
	ready.env = child.Environment(r.opts.Environment, extra)
	if d.Timeout == 0 {
		ready.Timeout = time.Duration(CheckTime.Default) * time.Second
	}
	if d.Parser != "" {
		parser, ok := r.opts.Parsers[d.Parser]
		if !ok {
			parser, ok = parse.Named(d.Parser)
		}
		if !ok {
			names := slices.Sorted(maps.Keys(r.opts.Parsers))
			names = append(names, parse.Names()...)
			return ready, tools.Errorf(tools.CodeToolInput, "check %s: there is no parser %q, only %s%s", d.Name, d.Parser, strings.Join(names, ", "), tools.Nearest(d.Parser, names))
		}
		ready.parser = &parser
	}
	return ready, nil
}

// Names returns the declared names, sorted.
func (r *Runner) Names() []string { return slices.Sorted(maps.Keys(r.checks)) }

// Definition returns what was declared under a name. CodeCheckUnknown: nothing was.
func (r *Runner) Definition(name string) (Definition, error) {
	ready, err := r.find(name)
	return ready.Definition, err
}

func (r *Runner) find(name string) (prepared, error) {
	ready, ok := r.checks[name]
	if ok {
		return ready, nil
	}
	names := r.Names()
	if len(names) == 0 {
		return ready, tools.Errorf(tools.CodeCheckUnknown, "there is no check %q: none is declared", name)
	}
	return ready, tools.Errorf(tools.CodeCheckUnknown, "there is no check %q, only %s%s", name, strings.Join(names, ", "), tools.Nearest(name, names))
}

// Run waits for a place, runs the check to its end, and ends with it whatever it
// has left running. With CodeTimeout and CodeAborted of a check that had started
// comes a Result: what it had printed, and ExitCode -1.
func (r *Runner) Run(ctx context.Context, name string) (*Result, error) {
	ready, err := r.find(name)
	if err != nil {
		return nil, err
	}
	select {
	case r.running <- struct{}{}:
		defer func() { <-r.running }()
	case <-ctx.Done():
		return nil, tools.Errorf(tools.AsError(ctx.Err()).Code, "check %s did not start: the call was over while other checks ran", name)
	}
	command, err := r.command(&ready)
	if err != nil {
		return nil, err
	}
	return r.run(ctx, &ready, command)
}

// command finds the program and the directory as they are now.
func (r *Runner) command(ready *prepared) (child.Command, error) {
	command := child.Command{Args: ready.Args, Env: ready.env}
	root, err := filepath.EvalSymlinks(r.opts.Root)
	if err != nil {
		return command, tools.Errorf(tools.AsError(err).Code, "check %s cannot run: %w", ready.Name, err)
	}
	command.Dir, err = filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(ready.Dir)))
	if err != nil {
		return command, tools.Errorf(tools.AsError(err).Code, "check %s cannot run in %s: %w", ready.Name, ready.Dir, err)
	}
	if !within(root, command.Dir) {
		return command, tools.Errorf(tools.CodePathEscape, "check %s would run in %s, which leads out of the workspace root", ready.Name, ready.Dir)
	}
	if info, err := os.Stat(command.Dir); err != nil || !info.IsDir() {
		return command, tools.Errorf(tools.CodeNotFile, "check %s would run in %s, which is not a directory", ready.Name, ready.Dir)
	}
	if command.Path, err = r.program(ready, root); err != nil {
		return command, err
	}
	sandbox := r.opts.Sandbox
	sandbox.AllowNetwork = sandbox.AllowNetwork || ready.Network
	command.Sandbox = &sandbox
	return command, nil
}

// program resolves the program of a check: an absolute path as it is, one with a
// separator below the root, a name on the PATH of the check's own environment.
func (r *Runner) program(ready *prepared, root string) (string, error) {
	file := filepath.FromSlash(ready.File)
	switch {
	case filepath.IsAbs(file):
		return file, nil
	case strings.ContainsRune(file, filepath.Separator):
		return filepath.Join(root, file), nil
	}
	for _, entry := range ready.env {
		list, ok := strings.CutPrefix(entry, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			path, err := child.LookPath(file, []string{"PATH=" + dir})
			if err == nil && !r.excluded(path) {
				return path, nil
			}
		}
	}
	return "", tools.Errorf(tools.CodeNotFound, "check %s cannot run: no program %q is on PATH%s", ready.Name, ready.File, r.besides())
}

func (r *Runner) besides() string {
	if len(r.opts.Exclude) == 0 {
		return ""
	}
	return " outside of " + strings.Join(r.opts.Exclude, ", ")
}

// excluded reports whether a program lies where none is taken from.
func (r *Runner) excluded(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err != nil || slices.ContainsFunc(r.opts.Exclude, func(dir string) bool { return within(dir, path) || within(dir, real) })
}

// within reports whether an absolute path is dir or lies below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// The time between TERM and KILL: a caller who has cancelled waits, a check that
// took too long may still say why.
const (
	cancelGrace  = 200 * time.Millisecond
	timeoutGrace = 2 * time.Second
)

func (r *Runner) run(ctx context.Context, ready *prepared, command child.Command) (*Result, error) {
	record, err := newRecorder(r.opts.Bytes, ready.parser != nil && ready.parser.Document)
	if err != nil {
		return nil, tools.Errorf(tools.AsError(err).Code, "check %s cannot run: %w", ready.Name, err)
	}
	command.Stdout, command.Stderr = record.stdout(), record.stderr()
	begin := time.Now()
	process, err := r.opts.Owner.Start(ctx, command)
	if err != nil {
		record.finish()
		return nil, notStarted(ready, err)
	}
	record.start()
	limited, cancel := context.WithTimeout(ctx, ready.Timeout)
	defer cancel()
	exit, waitErr := process.Wait(limited)
	var killErr error
	if waitErr != nil && limited.Err() != nil {
		grace := timeoutGrace
		if ctx.Err() != nil {
			grace = cancelGrace
		}
		_, killErr = process.Kill(grace)
		waitErr = ended(ready, ctx)
	} else {
		_, killErr = process.Release()
	}
	record.finish()
	result := r.result(ready, record)
	result.ExitCode, result.Duration = exit.Code, time.Since(begin)
	if exit.Signal != 0 {
		result.Signal = exit.Signal.String()
	}
	if sandbox := command.Sandbox; sandbox.Mode != "" && sandbox.Mode != child.Off {
		granted := process.Sandbox()
		result.Sandbox = &granted
	}
	if err := errors.Join(waitErr, killErr); err != nil {
		result.ExitCode = -1
		return result, lost(ready, err)
	}
	return result, nil
}

// notStarted says why a check did not run.
func notStarted(ready *prepared, err error) error {
	switch {
	case errors.Is(err, child.ErrSandbox):
		return tools.Errorf(tools.CodeExecutionDenied, "check %s needs a sandbox, and this system cannot give one: %w", ready.Name, err)
	case errors.Is(err, child.ErrClosed):
		return tools.Errorf(tools.CodeAborted, "prism-ls is shutting down: %w", err)
	case errors.Is(err, child.ErrLost):
		return tools.Errorf(tools.CodeIO, "check %s could not be started: %w", ready.Name, err)
	}
	return tools.Errorf(tools.AsError(err).Code, "check %s could not be started: %w", ready.Name, err)
}

// ended says why a check had to end: its own time, or that of the call.
func ended(ready *prepared, ctx context.Context) error {
	switch {
	case ctx.Err() == nil:
		return tools.Errorf(tools.CodeTimeout, "check %s did not end within %v and was killed", ready.Name, ready.Timeout)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return tools.Errorf(tools.CodeTimeout, "check %s was killed, because the time of the call was over", ready.Name)
	}
	return tools.Errorf(tools.CodeAborted, "the call was cancelled, and check %s with it", ready.Name)
}

func lost(ready *prepared, err error) error {
	if errors.Is(err, child.ErrLost) {
		return tools.Errorf(tools.CodeIO, "check %s was lost: %w", ready.Name, err)
	}
	return tools.AsError(err)
}

// result makes of what was printed what is kept, and reads it.
func (r *Runner) result(ready *prepared, record *recorder) *Result {
	result := &Result{Name: ready.Name, TotalBytes: record.all.total, Truncated: record.all.truncated()}
	output := record.all.bytes()
	if result.Truncated {
		output = wholeRunes(output)
	}
	shown := lastLines(output, r.opts.Lines)
	result.Truncated = result.Truncated || len(shown) < len(output)
	result.Output = string(shown)
	if ready.parser == nil {
		return result
	}
	result.Document = ready.parser.Document
	if ready.parser.Document { // whichever stream it was written to
		stream := &record.streams[0]
		if stream.total == 0 {
			stream = &record.streams[1]
		}
		if stream.truncated() {
			result.ParseError = fmt.Sprintf("the output has %d bytes, more than the %d that are read", stream.total, r.opts.Bytes)
			return result
		}
		output = stream.bytes()
	}
	r.parse(ready, output, result)
	return result
}

// parse has a parser read the output. A parser is a host's function as well: what
// it panics about is its own failure, and not the check's.
func (r *Runner) parse(ready *prepared, output []byte, result *Result) {
	defer func() {
		if fault := recover(); fault != nil {
			result.ParseError = fmt.Sprintf("parser %s failed: %v", ready.Parser, fault)
		}
	}()
	found, err := ready.parser.Parse(&parse.Input{
		Output: output, Producer: ready.Name, Root: r.opts.Root, Dir: ready.Dir,
		Content: r.opts.Content, Max: int(r.opts.Diagnostics),
	})
	var remarks []string
	if err != nil {
		remarks = append(remarks, err.Error())
	}
	if found != nil {
		result.Diagnostics = found.Diagnostics
		if found.Dropped > 0 {
			remarks = append(remarks, fmt.Sprintf("problems over the bounds: %d", found.Dropped))
		}
		if found.Outside > 0 {
			remarks = append(remarks, fmt.Sprintf("problems without a place in the workspace: %d", found.Outside))
		}
	}
	if !ready.parser.Document && result.TotalBytes > int64(len(output)) {
		remarks = append(remarks, fmt.Sprintf("the output has %d bytes, of which the last %d were read", result.TotalBytes, len(output)))
	}
	result.ParseError = strings.Join(remarks, "; ")
}
