package git

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// Limits of one call.
var (
	// outputLimit bounds what one call may print, in bytes.
	outputLimit = tools.Limit{Name: "maxOutput", Default: 4 << 20, Hard: 64 << 20}
	// timeLimit bounds one call, in seconds.
	timeLimit = tools.Limit{Name: "timeoutSeconds", Default: 120, Hard: 600}
)

// Options configure a Runner.
type Options struct {
	// Path is git's absolute path. Empty or relative: every call is refused,
	// since the program must not depend on a directory or an environment.
	Path string
	// Env is what git inherits, for example from child.Environment; nil is
	// nothing. Variables whose names begin with GIT_ are dropped.
	Env []string
	// SafeDirectories are work trees, as absolute paths, that git accepts
	// although another user owns them (git-config(1), safe.directory).
	SafeDirectories []string
	// Identity is whose commits are made. Without it PersonalConfig is asked.
	Identity Identity
	// PersonalConfig are the person's own configuration files, as absolute paths,
	// the last one counting most: where an identity that the host does not give
	// comes from. What a repository says is never taken for one.
	PersonalConfig []string
	// Worktrees bounds the linked worktrees of a repository: 4, at most 16.
	Worktrees int64
	// Filters are those that the host allows to run; all others are switched off.
	Filters []Filter
	// Observe, when set, is told what each process was and used, also by calls
	// at the same time.
	Observe func(args []string, exit child.Exit)
}

// Runner runs git. It holds no state and is safe for concurrent use.
type Runner struct {
	owner   *child.Owner
	options Options
}

// New returns a Runner whose processes belong to owner. It starts nothing.
func New(owner *child.Owner, opts *Options) *Runner {
	runner := &Runner{owner: owner}
	if opts != nil {
		runner.options = *opts
	}
	runner.options.Env = inherited(runner.options.Env)
	return runner
}

// RunOptions bound one call; nil and zero fields mean the defaults.
type RunOptions struct {
	// Stdin is what git reads; nil is the null device.
	Stdin []byte
	// MaxOutput bounds standard output in bytes: 4 MiB, at most 64 MiB.
	MaxOutput int64
	// Timeout bounds the call: 120 s, at most 600 s, in whole seconds.
	Timeout time.Duration
	// Env adds variables for this call, after all others: an identity
	// (GIT_AUTHOR_NAME …), a private index (GIT_INDEX_FILE).
	Env []string
	// Config adds "key=value" settings of the host for this call, after all
	// others (user.name, user.email, an LFS filter that the host allows).
	Config []string
	// Partial takes the first MaxOutput bytes of more output, instead of
	// [tools.CodeLimit]; Output.Truncated says so.
	Partial bool
	// OKCodes are exit codes beside 0 that are an answer, not a failure.
	OKCodes []int
}

// Output is what git printed.
type Output struct {
	Stdout []byte
	// Truncated reports that there was more than Stdout; see RunOptions.Partial.
	Truncated bool
	// Stderr is at most 2 KiB, credentials in URLs removed.
	Stderr   string
	ExitCode int
}

// Run runs one git command in dir, an absolute path. Errors:
// [tools.CodeGitFailed] (with an [*Error]) for a non-zero exit,
// [tools.CodeLimit] for too much output, [tools.CodeTimeout] and
// [tools.CodeAborted] for the end of the time or of ctx.
func (r *Runner) Run(ctx context.Context, dir string, args []string, opts *RunOptions) (*Output, error) {
	return r.guarded(ctx, dir, args, opts, nil)
}

// guarded is Run with what is known already; once may be nil.
func (r *Runner) guarded(ctx context.Context, dir string, args []string, opts *RunOptions, once *oneOperation) (*Output, error) {
	if opts == nil {
		opts = &RunOptions{}
	}
	if err := check(args); err != nil {
		return nil, err
	}
	if readsNoContent(args) {
		return r.run(ctx, dir, args, opts)
	}
	replaced, err := once.replaced(ctx, r, dir)
	if err != nil {
		return nil, err
	}
	if len(replaced) == 0 {
		return r.run(ctx, dir, args, opts)
	}
	extended := *opts
	extended.Env = slices.Concat(replaced, opts.Env)
	return r.run(ctx, dir, args, &extended)
}

func check(args []string) error {
	if len(args) == 0 || args[0] == "" || args[0][0] == '-' {
		return tools.Errorf(tools.CodeToolInput, "the first git argument must be a command")
	}
	for _, arg := range args {
		if strings.IndexByte(arg, 0) >= 0 {
			return tools.Errorf(tools.CodeToolInput, "a git argument holds a NUL byte")
		}
	}
	return nil
}

func (r *Runner) run(ctx context.Context, dir string, args []string, opts *RunOptions) (*Output, error) {
	if !filepath.IsAbs(r.options.Path) {
		return nil, tools.Errorf(tools.CodeGitFailed, "git is not available: its path is %q, must be absolute", r.options.Path)
	}
	if !filepath.IsAbs(dir) {
		return nil, tools.Errorf(tools.CodeToolInput, "git's directory is %q, must be absolute", dir)
	}
	maxOutput, err := outputLimit.Option(opts.MaxOutput)
	if err != nil {
		return nil, err
	}
	seconds, err := timeLimit.Option(int64(opts.Timeout / time.Second))
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	command := child.Command{
		Path: r.options.Path,
		Args: arguments(r.options.SafeDirectories, slices.Concat(r.filterSettings(), opts.Config), args),
		Dir:  dir,
		Env:  slices.Concat(r.options.Env, fixedEnvironment(), local(args[0]), opts.Env),
	}
	result, err := r.owner.Run(limited, command, child.RunOptions{Stdin: opts.Stdin, MaxOutput: maxOutput, Grace: 200 * time.Millisecond})
	if err != nil {
		return nil, ended(ctx, limited, args, err)
	}
	if r.options.Observe != nil {
		r.options.Observe(args, result.Exit)
	}
	return output(result, args, opts, maxOutput)
}

func output(result *child.RunResult, args []string, opts *RunOptions, maxOutput int64) (*Output, error) {
	truncated := result.StdoutBytes > maxOutput
	if truncated && !opts.Partial {
		return nil, tools.Errorf(tools.CodeLimit, "git %s printed %d bytes, at most %d are taken", args[0], result.StdoutBytes, maxOutput)
	}
	code := result.Exit.Code
	if result.Exit.Signal != 0 {
		code = -1
	}
	if code != 0 && !slices.Contains(opts.OKCodes, code) {
		return nil, failed(args, code, result.Stderr)
	}
	return &Output{Stdout: result.Stdout, Truncated: truncated, Stderr: tail(result.Stderr), ExitCode: code}, nil
}

func ended(ctx, limited context.Context, args []string, err error) error {
	switch {
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled):
		return tools.Errorf(tools.CodeAborted, "git %s was cancelled: %w", args[0], ctx.Err())
	case limited.Err() != nil:
		return tools.Errorf(tools.CodeTimeout, "git %s did not end in time: %w", args[0], limited.Err())
	}
	return tools.Errorf(tools.CodeGitFailed, "git %s could not be run: %w", args[0], err)
}
