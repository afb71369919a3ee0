package builtin

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// ShellOptions adjusts `shell`.
type ShellOptions struct {
	// Operations run the commands; nil means this machine, through Deps.Owner.
	Operations ShellOperations
	// Path is the shell to use, whatever else is there; "" means the first POSIX
	// shell among Preferred, bash and sh.
	Path string
	// Preferred is the user's shell ($SHELL). It is used if it is a POSIX shell.
	Preferred string
	// CommandPrefix is put before every command, on a line of its own.
	CommandPrefix string
	// Environment is the host's own ("NAME=value"), of which a command inherits
	// what child.Environment lets through.
	Environment []string
	// ExtraEnv are variables that every command gets.
	ExtraEnv map[string]string
	// Sandbox says whether commands are confined; "" means off.
	Sandbox child.Mode
	// WriteRoots are where a confined command may write; nil means the workspace
	// root and the directory for temporary files.
	WriteRoots []string
	// Overreaching says that WriteRoots hold what no command may change unasked, so
	// that a sandbox does not make up for consent.
	Overreaching bool
	// AllowNetwork leaves a confined command the network.
	AllowNetwork bool
	// SpillDir holds the whole output of commands whose output was truncated; ""
	// means the directory for temporary files. What is kept there is the host's
	// to delete.
	SpillDir string
	// Timeout in seconds, MaxTotalOutputBytes, MaxLines and MaxBytes: see
	// ShellSeconds, ShellBytes, PageLines and PageBytes.
	Timeout, MaxTotalOutputBytes, MaxLines, MaxBytes int64
}

// maxCommand is the longest argument that Linux takes (execve(2), "Limits on
// size of arguments and environment": 32 pages, with the NUL).
const maxCommand = 128<<10 - 1

type shellInput struct {
	Command string `json:"command" check:"nonempty"`
	Timeout *int64 `json:"timeout,omitempty" jsonschema:"seconds"`
	CWD     string `json:"cwd,omitempty" check:"nonempty" jsonschema:"directory to run in"`
}

type shellTool struct {
	ShellOptions
	ws    *workspace.Workspace
	shell string
}

func newShell(d *Deps) (*tools.Tool, error) {
	t := &shellTool{ShellOptions: d.Shell, ws: d.Workspace}
	err := settle(bound{&t.Timeout, ShellSeconds}, bound{&t.MaxTotalOutputBytes, ShellBytes}, bound{&t.MaxLines, PageLines}, bound{&t.MaxBytes, PageBytes})
	if err != nil {
		return nil, err
	}
	t.Environment = commandEnvironment(&t.ShellOptions)
	if t.shell, err = FindShell(&t.ShellOptions); err != nil {
		return nil, err
	}
	if t.Operations == nil {
		if d.Owner == nil {
			return nil, tools.Errorf(tools.CodeToolInput, "shell needs Deps.Owner, or operations of the host")
		}
		t.Operations = newLocalShell(d.Owner, &t.ShellOptions, d.Workspace.Root())
	}
	timeout := ShellSeconds
	timeout.Default = t.Timeout
	spec := tools.Spec{
		Name: "shell", Title: "Run command", Toolset: "core", Kind: tools.KindExecute, Effect: tools.RunsAnything, Exclusive: true,
		Description: "Run a shell command to its end; returns both streams and the exit code. For files prefer read, edit, glob, repo_search; for what keeps running proc_start.",
		Limits:      []tools.Limit{timeout},
	}
	return tools.New(spec, t.plan, t.run)
}

func (t *shellTool) plan(ctx context.Context, _ *tools.Call, in shellInput) (tools.Action, error) {
	switch {
	case len(in.Command)+len(t.CommandPrefix)+1 > maxCommand:
		return tools.Action{}, tools.Errorf(tools.CodeToolInput, "command has %d bytes, at most %d can be passed; put it into a file", len(in.Command), maxCommand-len(t.CommandPrefix)-1)
	case strings.IndexByte(in.Command, 0) >= 0:
		return tools.Action{}, tools.Errorf(tools.CodeToolInput, "command holds a NUL byte, which no program can be given")
	}
	at, err := directory(t.ws, in.CWD)
	if err != nil {
		return tools.Action{}, err
	}
	capabilities, err := t.Operations.Capabilities(ctx)
	if err != nil {
		return tools.Action{}, err
	}
	contained := t.contains(capabilities)
	action := tools.Action{Paths: paths(at), Command: in.Command, Contained: contained, Risk: tools.RiskHigh}
	if contained {
		action.Risk = tools.RiskMedium
	}
	return action, nil
}

// directory resolves where a command is to run; "" is the root.
func directory(ws *workspace.Workspace, given string) (target, error) {
	if given == "" {
		given = "."
	}
	at, err := follow(ws, given)
	if err != nil {
		return at, err
	}
	info, err := ws.Stat(at.at)
	switch {
	case err != nil:
		return at, err
	case !info.IsDir():
		return at, tools.Errorf(tools.CodeNotFile, "cwd %s is not a directory", at.name)
	case at.at.ReadOnly():
		return at, tools.Errorf(tools.CodePathEscape, "cwd %s lies outside the workspace root", at.name)
	}
	return at, nil
}

// contains reports whether what such a sandbox isolates is enough to do without
// consent.
func (o *ShellOptions) contains(granted child.Capabilities) bool {
	return !o.Overreaching && o.Sandbox != "" && o.Sandbox != child.Off && !o.AllowNetwork && granted.FilesystemIsolated && granted.NetworkIsolated
}

// sandbox is what confines commands in a workspace.
func (o *ShellOptions) sandbox(root string) child.Sandbox {
	sandbox := child.Sandbox{Mode: o.Sandbox, WriteRoots: o.WriteRoots, AllowNetwork: o.AllowNetwork}
	if sandbox.WriteRoots == nil {
		sandbox.WriteRoots = []string{root, temporary(o.Environment)}
	}
	return sandbox
}

func (t *shellTool) run(ctx context.Context, call *tools.Call, in shellInput) (*tools.Outcome[ShellMetadata], error) {
	at, err := directory(t.ws, in.CWD)
	if err != nil {
		return nil, err
	}
	if err := unmoved(call, 0, at); err != nil {
		return nil, err
	}
	seconds := t.Timeout
	if in.Timeout != nil {
		seconds = *in.Timeout
	}
	command := in.Command
	if t.CommandPrefix != "" {
		command = t.CommandPrefix + "\n" + command
	}
	out := newOutput(t.MaxLines, t.MaxBytes, t.MaxTotalOutputBytes, t.SpillDir)
	defer heartbeat(call, float64(seconds), "the command runs")()
	exit, err := t.Operations.Run(ctx, ShellCommand{
		Path: t.shell, Args: []string{"-c", command}, Dir: t.ws.Abs(at.at), Env: t.Environment,
		Timeout: time.Duration(seconds) * time.Second, Contained: call.Action().Contained,
	}, out)
	if exit == nil { // it never ran
		out.discard()
		return nil, explainStart(t.shell, err)
	}
	if err != nil {
		out.discard()
		return describe(exit, out, true), explainEnd(err, seconds)
	}
	return describe(exit, out, false), nil
}

// explainStart says why a command did not run.
func explainStart(shell string, err error) error {
	switch {
	case errors.Is(err, child.ErrSandbox):
		return tools.Errorf(tools.CodeExecutionDenied, "the command needs a sandbox, and this system cannot give one: %w", err)
	case errors.Is(err, child.ErrClosed):
		return tools.Errorf(tools.CodeAborted, "prism-ls is shutting down: %w", err)
	case errors.Is(err, child.ErrLost):
		return tools.Errorf(tools.CodeIO, "the command could not be started: %w", err)
	}
	return tools.Errorf(tools.AsError(err).Code, "%s could not be started: %w", filepath.Base(shell), err)
}

// explainEnd says why a command was ended.
func explainEnd(err error, seconds int64) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return tools.Errorf(tools.CodeTimeout, "the command did not end within %d s and was killed; give it a larger timeout, or start it with proc_start", seconds)
	case errors.Is(err, context.Canceled):
		return tools.Errorf(tools.CodeAborted, "the call was cancelled and the command killed")
	case errors.Is(err, child.ErrLost):
		return tools.Errorf(tools.CodeIO, "the command was lost: %w", err)
	}
	return tools.AsError(err)
}

// commandEnvironment is what every command sees: never a prompt, a pager or a
// terminal's escapes, unless the host asks for them.
func commandEnvironment(opts *ShellOptions) []string {
	extra := map[string]string{"GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "PAGER": "cat", "TERM": "dumb"}
	for name, value := range opts.ExtraEnv {
		extra[name] = value
	}
	return child.Environment(opts.Environment, extra)
}

// FindShell chooses the shell. What the user prefers is taken only if it
// understands what models write. CodeNotFound means that there is none.
func FindShell(opts *ShellOptions) (string, error) {
	if opts.Path != "" {
		if !filepath.IsAbs(opts.Path) {
			return "", tools.Errorf(tools.CodeToolInput, "shell path %q must be absolute", opts.Path)
		}
		return opts.Path, nil
	}
	if opts.Operations != nil {
		return "/bin/sh", nil // of the other machine
	}
	names := []string{"/bin/bash", "bash", "/bin/sh", "sh"}
	switch filepath.Base(opts.Preferred) {
	case "bash", "sh", "dash", "zsh", "ksh":
		names = append([]string{opts.Preferred}, names...)
	}
	for _, name := range names {
		if path, err := child.LookPath(name, opts.Environment); err == nil && filepath.IsAbs(path) && runnable(path) {
			return path, nil
		}
	}
	return "", tools.Errorf(tools.CodeNotFound, "there is no POSIX shell: neither bash nor sh was found")
}

// ShellCommand is a command as ShellOperations run it.
type ShellCommand struct {
	Path string
	Args []string
	Dir  string
	Env  []string
	// Timeout runs from the moment that the command has started; when it is over,
	// Run returns context.DeadlineExceeded.
	Timeout time.Duration
	// Contained: it was approved because a sandbox holds it, so it must not run
	// without one.
	Contained bool
}

// ShellExit is how a command ended, and what else was ended with it.
type ShellExit struct {
	// Code is the exit status, -1 when a signal ended the shell or it did not end
	// by itself.
	Code int
	// Signal is the name of the signal that ended the shell, or "".
	Signal string
	// SignalNumber is that signal's number.
	SignalNumber int
	// Detached are the processes that were still running when the shell was done.
	Detached []child.Info
	// Survivors could not be killed.
	Survivors []child.Info
	// Sandbox is what the command was truly isolated from; nil without a sandbox.
	Sandbox *child.Capabilities
}

var _ io.Writer = (*output)(nil)
