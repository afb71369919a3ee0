package acp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/acp"
	"github.com/prism-ls/prism-ls/tools/child"
)

// run creates a terminal in session "s" and returns its ID.
func (f *fixture) run(command string, args ...string) string {
	f.t.Helper()
	return f.create(protocol.CreateTerminalRequest{SessionId: "s", Command: command, Args: args})
}

func (f *fixture) create(request protocol.CreateTerminalRequest) string {
	f.t.Helper()
	created, err := f.CreateTerminal(f.t.Context(), request)
	must(f.t, err)
	return created.TerminalId
}

func (f *fixture) waited(id string) protocol.WaitForTerminalExitResponse {
	f.t.Helper()
	response, err := f.WaitForTerminalExit(f.t.Context(), protocol.WaitForTerminalExitRequest{SessionId: "s", TerminalId: id})
	must(f.t, err)
	return response
}

func (f *fixture) shown(id string) protocol.TerminalOutputResponse {
	f.t.Helper()
	response, err := f.TerminalOutput(f.t.Context(), protocol.TerminalOutputRequest{SessionId: "s", TerminalId: id})
	must(f.t, err)
	return response
}

// until polls a terminal's output as a client does, until it holds a text.
func (f *fixture) until(id, text string) protocol.TerminalOutputResponse {
	f.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		response := f.shown(id)
		if strings.Contains(response.Output, text) {
			return response
		}
		select {
		case <-deadline:
			f.t.Fatalf("no %q in %q", text, response.Output)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestTerminalRuns(t *testing.T) {
	f := start(t, acp.FilesOptions{}, acp.TerminalsOptions{})
	must(t, os.Mkdir(f.path("sub"), 0o755))
	id := f.create(protocol.CreateTerminalRequest{
		SessionId: "s", Command: "sh", Args: []string{"-c", `pwd; echo "$GREETING"; printf '\033[31mred\033[0m\n'; exit 7`},
		Cwd: ptr(f.path("sub")), Env: []protocol.EnvVariable{{Name: "GREETING", Value: "hello"}},
	})
	exit := f.waited(id)
	if exit.ExitCode == nil || *exit.ExitCode != 7 || exit.Signal != nil {
		t.Errorf("exit %+v", exit)
	}
	shown := f.shown(id)
	if want := f.path("sub") + "\nhello\nred\n"; shown.Output != want || shown.Truncated {
		t.Errorf("output %q, truncated %v; want %q", shown.Output, shown.Truncated, want)
	}
	if shown.ExitStatus == nil || *shown.ExitStatus.ExitCode != 7 {
		t.Errorf("status %+v", shown.ExitStatus)
	}

	id = f.run(`echo one && kill -TERM $$`) // a line for the shell, as agents send them
	if exit := f.waited(id); exit.ExitCode != nil || exit.Signal == nil || *exit.Signal != "SIGTERM" {
		t.Errorf("exit %+v", exit)
	}
	if shown := f.shown(id); shown.Output != "one\n" {
		t.Errorf("output %q", shown.Output)
	}

	program := f.path("with space")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\necho ran\n"), 0o755))
	id = f.run(program)
	f.waited(id)
	if shown := f.shown(id); shown.Output != "ran\n" {
		t.Errorf("output %q", shown.Output)
	}
}

// TestTerminalOutputLimit: the end is kept, whole characters of it.
func TestTerminalOutputLimit(t *testing.T) {
	f := start(t, acp.FilesOptions{}, acp.TerminalsOptions{})
	for _, limit := range []int{0, 1, 10, 100, 1001, 1 << 30} {
		id := f.create(protocol.CreateTerminalRequest{SessionId: "s", Command: `for i in $(seq 1 300); do printf 'é\033[1m€'; done`, OutputByteLimit: &limit})
		f.waited(id)
		shown := f.shown(id)
		whole := strings.Repeat("é€", 300)
		if !strings.HasSuffix(whole, shown.Output) || !utf8.ValidString(shown.Output) || len(shown.Output) > limit || len(shown.Output) < min(limit-2, len(whole)) {
			t.Errorf("limit %d: %d bytes: %.40q", limit, len(shown.Output), shown.Output)
		}
		if want := limit < len(whole); shown.Truncated != want {
			t.Errorf("limit %d: truncated is %v", limit, shown.Truncated)
		}
	}
	_, err := f.CreateTerminal(t.Context(), protocol.CreateTerminalRequest{SessionId: "s", Command: "true", OutputByteLimit: ptr(-1)})
	refused(t, err, -32602, tools.CodeToolInput)

	// More than is kept in one piece: the end of it, in any case.
	id := f.run("seq 1 600000")
	f.waited(id)
	if shown := f.shown(id); !shown.Truncated || !strings.HasSuffix(shown.Output, "\n599999\n600000\n") || len(shown.Output) > 1<<20 {
		t.Errorf("%d bytes, truncated %v", len(shown.Output), shown.Truncated)
	}
}

// TestTerminalKillAndRelease: a kill ends all that a command started and keeps the
// terminal, a release ends it and forgets it.
func TestTerminalKillAndRelease(t *testing.T) {
	f := start(t, acp.FilesOptions{}, acp.TerminalsOptions{})
	pids := f.path("pids")
	id := f.run(fmt.Sprintf(`echo up; (setsid sleep 4711 & echo $! >>%[1]s); trap "" TERM HUP; echo $$ >>%[1]s; echo armed; while :; do sleep 1; done`, pids))
	f.until(id, "armed")
	if shown := f.shown(id); shown.ExitStatus != nil {
		t.Errorf("status of a running command: %+v", shown.ExitStatus)
	}
	waiting := make(chan protocol.WaitForTerminalExitResponse, 1)
	go func() { waiting <- f.waited(id) }()
	_, err := f.KillTerminal(t.Context(), protocol.KillTerminalRequest{SessionId: "s", TerminalId: id})
	must(t, err)
	if exit := <-waiting; exit.ExitCode != nil || exit.Signal == nil {
		t.Errorf("a killed command ended as %+v", exit)
	}
	gone(t, pids)
	if shown := f.shown(id); !strings.Contains(shown.Output, "up\n") || shown.ExitStatus == nil {
		t.Errorf("after the kill: %+v", shown)
	}
	_, err = f.KillTerminal(t.Context(), protocol.KillTerminalRequest{SessionId: "s", TerminalId: id}) // of what has ended
	must(t, err)

	must(t, os.Remove(pids))
	second := f.run(fmt.Sprintf("echo $$ >%s; echo up; sleep 4712", pids))
	f.until(second, "up")
	for _, id := range []string{id, second} {
		_, err := f.ReleaseTerminal(t.Context(), protocol.ReleaseTerminalRequest{SessionId: "s", TerminalId: id})
		must(t, err)
		_, err = f.TerminalOutput(t.Context(), protocol.TerminalOutputRequest{SessionId: "s", TerminalId: id})
		refused(t, err, -32002, tools.CodeNotFound)
		_, err = f.ReleaseTerminal(t.Context(), protocol.ReleaseTerminalRequest{SessionId: "s", TerminalId: id})
		refused(t, err, -32002, tools.CodeNotFound)
	}
	gone(t, pids)
}

// TestTerminalEndIsGated: the policy is asked before a command is ended, too.
func TestTerminalEndIsGated(t *testing.T) {
	person := &approver{}
	f := start(t, acp.FilesOptions{}, acp.TerminalsOptions{Gate: acp.Gate{
		Policy: verdicts{"terminal/kill": tools.Forbid, "terminal/release": tools.Ask}, Approver: person,
	}})
	id := f.run("echo up; sleep 4713")
	f.until(id, "up")
	_, err := f.KillTerminal(t.Context(), protocol.KillTerminalRequest{SessionId: "s", TerminalId: id})
	refused(t, err, -32603, tools.CodeExecutionDenied)
	_, err = f.ReleaseTerminal(t.Context(), protocol.ReleaseTerminalRequest{SessionId: "s", TerminalId: id})
	refused(t, err, -32603, tools.CodeExecutionDenied)
	if shown := f.shown(id); shown.ExitStatus != nil {
		t.Errorf("the end was refused, and came: %+v", shown.ExitStatus)
	}
	if asked := person.asked[0]; asked.Command != "echo up; sleep 4713" || asked.Owner != "acp:s" || asked.Options[0] != "terminal "+id {
		t.Errorf("asked about %+v", asked)
	}
	person.yes = true
	_, err = f.ReleaseTerminal(t.Context(), protocol.ReleaseTerminalRequest{SessionId: "s", TerminalId: id})
	must(t, err)
}

// gone checks that none of the processes in a file runs.
func gone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	for _, pid := range strings.Fields(string(text)) {
		if command, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline")); err == nil && len(command) > 0 {
			t.Errorf("process %s still runs: %q", pid, command)
		}
	}
}

// TestTerminalSessions: another session of the agent's has no part in a terminal,
// and ends with what it started.
func TestTerminalSessions(t *testing.T) {
	f := start(t, acp.FilesOptions{}, acp.TerminalsOptions{})
	id := f.run("echo up; sleep 4713")
	f.until(id, "up")
	_, err := f.TerminalOutput(t.Context(), protocol.TerminalOutputRequest{SessionId: "other", TerminalId: id})
	refused(t, err, -32002, tools.CodeNotFound)
	_, err = f.KillTerminal(t.Context(), protocol.KillTerminalRequest{SessionId: "other", TerminalId: id})
	refused(t, err, -32002, tools.CodeNotFound)
	must(t, f.editor.EndSession(t.Context(), "other"))
	if shown := f.shown(id); shown.ExitStatus != nil {
		t.Errorf("another session's end ended it: %+v", shown.ExitStatus)
	}
	must(t, f.editor.EndSession(t.Context(), "s"))
	_, err = f.TerminalOutput(t.Context(), protocol.TerminalOutputRequest{SessionId: "s", TerminalId: id})
	refused(t, err, -32002, tools.CodeNotFound)
}

// TestTerminalIsChecked: nothing starts that should not.
func TestTerminalIsChecked(t *testing.T) {
	f := start(t, acp.FilesOptions{}, acp.TerminalsOptions{})
	must(t, os.Symlink(t.TempDir(), f.path("out")))
	f.put("file", "")
	for _, c := range []struct {
		request protocol.CreateTerminalRequest
		code    int
		ours    tools.Code
	}{
		{protocol.CreateTerminalRequest{Command: "true", Cwd: ptr("sub")}, -32602, tools.CodeToolInput},
		{protocol.CreateTerminalRequest{Command: "true", Cwd: ptr("/")}, -32602, tools.CodePathEscape},
		{protocol.CreateTerminalRequest{Command: "true", Cwd: ptr(f.path("out"))}, -32602, tools.CodePathEscape},
		{protocol.CreateTerminalRequest{Command: "true", Cwd: ptr(f.path("file"))}, -32602, tools.CodeNotFile},
		{protocol.CreateTerminalRequest{Command: "true", Env: []protocol.EnvVariable{{Name: "LD_PRELOAD", Value: "x"}}}, -32602, tools.CodeToolInput},
		{protocol.CreateTerminalRequest{Command: "no-such-program-here", Args: []string{"x"}}, -32002, tools.CodeNotFound},
	} {
		c.request.SessionId = "s"
		_, err := f.CreateTerminal(t.Context(), c.request)
		refused(t, err, c.code, c.ours)
	}

	person := &approver{}
	g := start(t, acp.FilesOptions{}, acp.TerminalsOptions{Gate: acp.Gate{Policy: verdicts{"terminal/create": tools.Ask}, Approver: person}})
	_, err := g.CreateTerminal(t.Context(), protocol.CreateTerminalRequest{
		SessionId: "s", Command: "touch", Args: []string{"made"}, Env: []protocol.EnvVariable{{Name: "B", Value: "2"}, {Name: "A", Value: "1"}},
	})
	refused(t, err, -32603, tools.CodeExecutionDenied)
	if len(person.asked) != 1 {
		t.Fatalf("asked %d times", len(person.asked))
	}
	asked := person.asked[0]
	if asked.Command != "touch" || strings.Join(asked.Args, " ") != "made" || strings.Join(asked.Env, " ") != "A=1 B=2" || asked.Contained || asked.Paths[0] != "." {
		t.Errorf("asked about %+v", asked)
	}
	person.yes = true
	id := g.run("touch", "made")
	g.waited(id)
	if _, err := os.Stat(g.path("made")); err != nil {
		t.Error(err)
	}
}

// TestTerminalContained: what is allowed because it is contained is.
func TestTerminalContained(t *testing.T) {
	owner := child.NewOwner(nil)
	t.Cleanup(func() { must(t, owner.Close()) })
	granted, err := owner.Probe(t.Context())
	must(t, err)
	if !granted.FilesystemIsolated || !granted.NetworkIsolated {
		if os.Getenv("CI") == "true" {
			t.Fatalf("there is no sandbox here: %+v", granted)
		}
		t.Skipf("this system cannot isolate a command: %+v", granted)
	}
	contained := policyFunc(func(action tools.Action) tools.Verdict {
		if action.Contained {
			return tools.Allow
		}
		return tools.Forbid
	})
	outside := t.TempDir()
	f := start(t, acp.FilesOptions{}, acp.TerminalsOptions{Gate: acp.Gate{Policy: contained}, Sandbox: &child.Sandbox{Mode: child.Prefer}, Probe: owner.Probe})
	id := f.run(fmt.Sprintf("touch %s/x; echo status $?", outside))
	f.waited(id)
	if shown := f.shown(id); strings.Contains(shown.Output, "status 0") {
		t.Errorf("it wrote outside: %q", shown.Output)
	}
	if _, err := os.Stat(filepath.Join(outside, "x")); err == nil {
		t.Error("a file was made outside")
	}
}

// policyFunc is a policy.
type policyFunc func(tools.Action) tools.Verdict

func (p policyFunc) Decide(_ context.Context, action tools.Action) tools.Decision {
	return tools.Decision{Verdict: p(action), Reason: "the test says so"}
}

// TestTerminalWaitIsCancelled: an agent that does not want to wait any longer is
// answered at once.
func TestTerminalWaitIsCancelled(t *testing.T) {
	f := start(t, acp.FilesOptions{}, acp.TerminalsOptions{})
	id := f.run("echo up; sleep 4714")
	f.until(id, "up")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := f.editor.WaitForTerminalExit(ctx, protocol.WaitForTerminalExitRequest{SessionId: "s", TerminalId: id})
		done <- err
	}()
	cancel()
	err := <-done
	if request, ok := errors.AsType[*protocol.RequestError](err); !ok || request.Code != -32800 {
		t.Errorf("cancelled: %v", err)
	}
}
