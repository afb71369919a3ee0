package acp

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// OutputBytes is how much of a terminal's output is given at a time. An agent's
// outputByteLimit is what it wants at the most, so a larger one is no error.
var OutputBytes = tools.Limit{Name: "outputByteLimit", Default: 1 << 20, Hard: 1 << 20}

// TerminalsOptions adjusts Terminals. The zero value lets agents run anything.
type TerminalsOptions struct {
	// Gate decides before a command runs, and before one is killed or released.
	Gate Gate
	// Sandbox confines the commands; nil is no sandbox.
	Sandbox *child.Sandbox
	// Probe says what a sandbox truly isolates here, so that a policy can allow
	// what is contained; an Owner's Probe is one. nil: nothing counts as contained.
	Probe func(context.Context) (child.Capabilities, error)
	// MaxOutputBytes: see OutputBytes; 0 is the default.
	MaxOutputBytes int64
}

// Terminals answers terminal/create, terminal/output, terminal/wait_for_exit,
// terminal/kill and terminal/release with process sessions. A terminal belongs
// to the agent's session that created it, and is unknown to every other. It is
// safe for concurrent use.
type Terminals struct {
	sessions *procsess.Registry
	ws       *workspace.Workspace
	opts     TerminalsOptions

	mu    sync.Mutex
	known map[string]terminal
}

// terminal is one that was created and not released.
type terminal struct {
	session protocol.SessionId
	limit   int64
}

// NewTerminals makes one; sessions and workspace stay the caller's to close. An
// option beyond its bound is a CodeToolInput error.
func NewTerminals(sessions *procsess.Registry, ws *workspace.Workspace, opts *TerminalsOptions) (*Terminals, error) {
	t := &Terminals{sessions: sessions, ws: ws, known: map[string]terminal{}}
	if opts != nil {
		t.opts = *opts
	}
	var err error
	if t.opts.MaxOutputBytes, err = OutputBytes.Option(t.opts.MaxOutputBytes); err != nil {
		return nil, err
	}
	t.opts.Gate.Root = ws.Root()
	return t, nil
}

// CreateTerminal answers terminal/create. A command without arguments that is
// not the path of a program is a line for the shell, as agents send them. The
// directory must lie inside the root, which is what it is if none is given.
func (t *Terminals) CreateTerminal(ctx context.Context, params protocol.CreateTerminalRequest) (protocol.CreateTerminalResponse, error) {
	id, err := t.create(ctx, &params)
	return protocol.CreateTerminalResponse{TerminalId: id}, told(err)
}

// TerminalOutput answers terminal/output: the text that the terminal has shown,
// without escape sequences, cut at its beginning where it is longer than the
// limit that the terminal was created with.
func (t *Terminals) TerminalOutput(ctx context.Context, params protocol.TerminalOutputRequest) (protocol.TerminalOutputResponse, error) {
	response, err := t.output(ctx, params.SessionId, params.TerminalId)
	return response, told(err)
}

// WaitForTerminalExit answers terminal/wait_for_exit, when the command has ended
// and its output is complete.
func (t *Terminals) WaitForTerminalExit(ctx context.Context, params protocol.WaitForTerminalExitRequest) (protocol.WaitForTerminalExitResponse, error) {
	status, err := t.wait(ctx, params.SessionId, params.TerminalId)
	if err != nil {
		return protocol.WaitForTerminalExitResponse{}, told(err)
	}
	return protocol.WaitForTerminalExitResponse{ExitCode: status.ExitCode, Signal: status.Signal}, nil
}

// KillTerminal answers terminal/kill: the command and all that it started are
// ended. The terminal stays, with its output and how it ended.
func (t *Terminals) KillTerminal(ctx context.Context, params protocol.KillTerminalRequest) (protocol.KillTerminalResponse, error) {
	return protocol.KillTerminalResponse{}, told(t.kill(ctx, protocol.ClientMethodTerminalKill, params.SessionId, params.TerminalId))
}

// ReleaseTerminal answers terminal/release: as a kill, and the terminal is not
// known any more.
func (t *Terminals) ReleaseTerminal(ctx context.Context, params protocol.ReleaseTerminalRequest) (protocol.ReleaseTerminalResponse, error) {
	err := t.kill(ctx, protocol.ClientMethodTerminalRelease, params.SessionId, params.TerminalId)
	if err == nil {
		t.mu.Lock()
		delete(t.known, params.TerminalId)
		t.mu.Unlock()
	}
	return protocol.ReleaseTerminalResponse{}, told(err)
}

// EndSession ends the terminals of an agent's session, which an agent that is
// gone cannot release.
func (t *Terminals) EndSession(ctx context.Context, session protocol.SessionId) error {
	t.mu.Lock()
	for id, known := range t.known {
		if known.session == session {
			delete(t.known, id)
		}
	}
	t.mu.Unlock()
	return t.sessions.CancelOwned(ctx, owner(session))
}

func (t *Terminals) create(ctx context.Context, params *protocol.CreateTerminalRequest) (string, error) {
	limit := t.opts.MaxOutputBytes
	if params.OutputByteLimit != nil {
		if *params.OutputByteLimit < 0 {
			return "", tools.Errorf(tools.CodeToolInput, "outputByteLimit is %d, must not be negative", *params.OutputByteLimit)
		}
		limit = min(limit, int64(*params.OutputByteLimit))
	}
	start := procsess.Start{Command: params.Command, Args: params.Args, Shell: len(params.Args) == 0 && !isProgram(params.Command), Env: map[string]string{}}
	for _, variable := range params.Env {
		start.Env[variable.Name] = variable.Value
	}
	if refused := child.Refused(start.Env); len(refused) > 0 {
		return "", tools.Errorf(tools.CodeToolInput, "%s cannot be set for a command: it would make every program run other code, or is no variable", strings.Join(refused, ", "))
	}
	at, err := t.directory(params.Cwd)
	if err != nil {
		return "", err
	}
	start.Dir = t.ws.Abs(at)
	if err := t.allow(ctx, params, at, &start); err != nil {
		return "", err
	}
	started, err := t.sessions.Start(ctx, caller(params.SessionId), start)
	if err != nil {
		return "", err
	}
	if ctx.Err() != nil { // nobody will learn of this one
		_, err := t.sessions.Kill(context.WithoutCancel(ctx), caller(params.SessionId), started.ID)
		if err == nil {
			err = context.Cause(ctx)
		}
		return "", err
	}
	t.mu.Lock()
	t.known[started.ID] = terminal{params.SessionId, limit}
	t.mu.Unlock()
	return started.ID, nil
}

// isProgram reports whether a command is the path of a program, and not a line
// for the shell that begins with one.
func isProgram(command string) bool {
	if !filepath.IsAbs(command) {
		return false
	}
	info, err := os.Stat(command)
	return err == nil && info.Mode().IsRegular()
}

// directory resolves the working directory that the protocol says is absolute.
func (t *Terminals) directory(given *string) (workspace.Path, error) {
	if given == nil || *given == "" {
		return t.ws.Resolve(".")
	}
	if !filepath.IsAbs(*given) {
		return workspace.Path{}, tools.Errorf(tools.CodeToolInput, "cwd %q must be absolute", *given)
	}
	at, err := t.ws.Resolve(*given)
	if err != nil {
		return at, err
	}
	info, err := t.ws.Stat(at)
	switch {
	case err != nil:
		return at, err
	case !info.IsDir():
		return at, tools.Errorf(tools.CodeNotFile, "cwd %s is not a directory", *given)
	case at.ReadOnly():
		return at, tools.Errorf(tools.CodePathEscape, "cwd %s lies outside the workspace root", *given)
	}
	return pin(at), nil
}

// allow puts a start before the gate. What is allowed because a sandbox holds it
// does not run without one.
func (t *Terminals) allow(ctx context.Context, params *protocol.CreateTerminalRequest, at workspace.Path, start *procsess.Start) error {
	action := tools.Action{
		Kind: tools.KindExecute, Operation: protocol.ClientMethodTerminalCreate, Mutation: tools.MutatesExternally, Risk: tools.RiskHigh,
		Paths: []string{at.Real}, Command: params.Command, Args: params.Args, Owner: owner(params.SessionId), Session: string(params.SessionId),
	}
	for name, value := range start.Env {
		action.Env = append(action.Env, name+"="+value)
	}
	slices.Sort(action.Env)
	if t.opts.Sandbox != nil {
		sandbox := *t.opts.Sandbox
		if sandbox.Mode != "" && sandbox.Mode != child.Off && !sandbox.AllowNetwork && t.opts.Probe != nil {
			granted, err := t.opts.Probe(ctx)
			if err != nil {
				return err
			}
			if action.Contained = granted.FilesystemIsolated && granted.NetworkIsolated; action.Contained {
				sandbox.Mode, action.Risk = child.Require, tools.RiskMedium
			}
		}
		start.Sandbox = &sandbox
	}
	return t.opts.Gate.pass(ctx, action)
}

func (t *Terminals) output(ctx context.Context, session protocol.SessionId, id string) (protocol.TerminalOutputResponse, error) {
	known, err := t.find(session, id)
	if err != nil {
		return protocol.TerminalOutputResponse{}, err
	}
	info, err := t.sessions.Get(ctx, caller(session), id)
	if err != nil {
		return protocol.TerminalOutputResponse{}, err
	}
	response := protocol.TerminalOutputResponse{}
	if !info.State.Live() {
		// A client stops looking once it sees how the command ended, so that has to
		// come with all of the output.
		waited, err := t.sessions.Wait(ctx, caller(session), id, procsess.Wait{Exit: true, Timeout: drainTime})
		if err != nil {
			return response, err
		}
		response.ExitStatus = statusOf(waited.Exit)
		info.Cursor = max(info.Cursor, waited.Cursor)
	}
	response.Output, response.Truncated, err = t.tail(ctx, session, id, known.limit, info.Cursor)
	return response, err
}

// drainTime bounds waiting for the rest of the output of a command that has ended.
const drainTime = time.Second

// tail is the text of the output's last bytes.
func (t *Terminals) tail(ctx context.Context, session protocol.SessionId, id string, limit, end int64) (string, bool, error) {
	if limit == 0 {
		return "", end > 0, nil
	}
	// Escape sequences are no text, so more bytes than the limit may be needed.
	raw := min(4*limit+4096, procsess.ChunkBytes.Hard)
	cursor := max(0, end-raw)
	page, err := t.sessions.Output(ctx, caller(session), id, procsess.Output{Cursor: &cursor, MaxBytes: int(raw), View: procsess.TextView})
	if err != nil {
		return "", false, err
	}
	text := strings.ToValidUTF8(string(page.Data), "\uFFFD")
	kept := lastBytes(text, int(limit))
	return kept, page.Start > 0 || len(kept) < len(text), nil
}

// lastBytes cuts a text at its beginning, between two characters.
func lastBytes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	from := len(text) - limit
	for from < len(text) && text[from]&0xC0 == 0x80 {
		from++
	}
	return text[from:]
}

func (t *Terminals) wait(ctx context.Context, session protocol.SessionId, id string) (*protocol.TerminalExitStatus, error) {
	if _, err := t.find(session, id); err != nil {
		return nil, err
	}
	for {
		waited, err := t.sessions.Wait(ctx, caller(session), id, procsess.Wait{Exit: true, Timeout: time.Duration(procsess.WaitTime.Hard) * time.Second})
		switch {
		case err != nil:
			return nil, err
		case waited.Reason == procsess.ReasonExit:
			return statusOf(waited.Exit), nil
		}
	}
}

// statusOf is how a command ended. What is not known stays unsaid.
func statusOf(exit *procsess.Exit) *protocol.TerminalExitStatus {
	status := &protocol.TerminalExitStatus{}
	if exit == nil {
		return status
	}
	status.ExitCode = exit.Code
	if exit.Signal != "" {
		status.Signal = &exit.Signal
	}
	return status
}

func (t *Terminals) kill(ctx context.Context, operation string, session protocol.SessionId, id string) error {
	if _, err := t.find(session, id); err != nil {
		return err
	}
	info, err := t.sessions.Get(ctx, caller(session), id)
	if err != nil {
		return err
	}
	err = t.opts.Gate.pass(ctx, tools.Action{
		Kind: tools.KindOther, Operation: operation, Mutation: tools.MutatesLocally, Risk: tools.RiskLow,
		Command: info.Command, Options: []string{"terminal " + id}, Owner: owner(session), Session: string(session),
	})
	if err != nil {
		return err
	}
	// A kill that was begun is finished, whatever becomes of the request; of what has
	// ended already it ends what was left behind.
	report, err := t.sessions.Kill(context.WithoutCancel(ctx), caller(session), id)
	if err != nil {
		return err
	}
	if len(report.Survivors) > 0 {
		return tools.Errorf(tools.CodeProcessState, "%d processes could not be ended", len(report.Survivors)).WithDetails(report.Survivors)
	}
	return nil
}

func (t *Terminals) find(session protocol.SessionId, id string) (terminal, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.known[id]
	if !ok || known.session != session {
		return terminal{}, tools.Errorf(tools.CodeNotFound, "this session has no terminal %q", id)
	}
	return known, nil
}

func caller(session protocol.SessionId) procsess.Caller {
	return procsess.Caller{Owner: owner(session)}
}
