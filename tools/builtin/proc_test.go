package builtin_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/policy"
)

// newProcHost is a workspace with the core and the process tools.
func newProcHost(t testing.TB, adjust func(*builtin.ProcessDeps, *tools.RegistryOptions)) *host {
	t.Helper()
	h := newHost(t, nil)
	shell, err := builtin.FindShell(&h.deps.Shell)
	must(t, err)
	registry, err := procsess.New(h.owner, &procsess.Options{Env: os.Environ(), Dir: h.root, Shell: shell, StateDir: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { must(t, registry.Close()) })
	deps := &builtin.ProcessDeps{Workspace: h.ws, Sessions: registry, Owner: h.owner, Shell: h.deps.Shell}
	opts := &tools.RegistryOptions{Root: h.root}
	if adjust != nil {
		adjust(deps, opts)
	}
	core, err := builtin.Core(h.deps)
	must(t, err)
	proc, err := builtin.Processes(deps)
	must(t, err)
	h.registry, err = tools.NewRegistry(append(core, proc...), opts)
	must(t, err)
	return h
}

// proc starts a session and returns its ID.
func (h *host) proc(in args) string {
	h.t.Helper()
	var m builtin.ProcStart
	text := h.ok("proc_start", in, &m)
	if !strings.HasPrefix(text, m.ID+": ") || m.ID == "" {
		h.t.Fatalf("started %+v, told %q", m, text)
	}
	return m.ID
}

// exited waits for a session's end.
func (h *host) exited(id string) builtin.ProcWait {
	h.t.Helper()
	var m builtin.ProcWait
	h.ok("proc_wait", args{"id": id, "timeoutSeconds": 60}, &m)
	if m.Reason != "exit" || m.Exit == nil {
		h.t.Fatalf("%s: %+v", id, m)
	}
	return m
}

// output is a page of a session's output.
func (h *host) output(in args) (builtin.ProcOutput, string) {
	h.t.Helper()
	var m builtin.ProcOutput
	text := h.ok("proc_output", in, &m)
	return m, text
}

// matched waits for text in the output of a session, from a cursor on.
func (h *host) matched(id, text string, cursor int64) builtin.ProcWait {
	h.t.Helper()
	var m builtin.ProcWait
	h.ok("proc_wait", args{"id": id, "match": text, "cursor": cursor, "timeoutSeconds": 60}, &m)
	if m.Reason != "match" {
		page, _ := h.output(args{"id": id, "cursor": 0})
		h.t.Fatalf("%s: no %q: %+v after %q", id, text, m, page.Data)
	}
	return m
}

// waiting waits until a session's program waits for input.
func (h *host) waiting(id string) builtin.ProcInput {
	h.t.Helper()
	var m builtin.ProcWait
	h.ok("proc_wait", args{"id": id, "input": true, "timeoutSeconds": 60}, &m)
	if m.Reason != "input" {
		page, _ := h.output(args{"id": id, "cursor": 0})
		h.t.Fatalf("%s does not wait for input: %+v after %q", id, m, page.Data)
	}
	return m.Input
}

func TestProcLife(t *testing.T) {
	h := newProcHost(t, nil)
	h.write("sub/file", "content\n")
	var started builtin.ProcStart
	h.ok("proc_start", args{"command": `cat file; echo "$GREETING"; exit 3`, "cwd": "sub", "env": args{"GREETING": "hello"}, "name": "first"}, &started)
	exit := h.exited(started.ID)
	if exit.Exit.Code == nil || *exit.Exit.Code != 3 || exit.Exit.Signal != nil || exit.Exit.By != "itself" || exit.Exit.UserMS == nil || exit.State != "exited" {
		t.Errorf("exit %+v", exit.Exit)
	}
	page, text := h.output(args{"id": started.ID})
	if page.Data != "content\nhello\n" || page.Start != 0 || !page.EOF || page.Lost != 0 || page.Cursor != page.Total || page.View != "text" {
		t.Errorf("page %+v", page)
	}
	if text != "content\nhello\n[end of output, exited, code 3]" {
		t.Errorf("text %q", text)
	}
	// Reading again takes nothing away, and without a cursor there is nothing new.
	if again, text := h.output(args{"id": started.ID}); again.Data != "" || text != "(no output)\n[end of output, exited, code 3]" {
		t.Errorf("again %+v, %q", again, text)
	}
	if raw, _ := h.output(args{"id": started.ID, "cursor": 0, "view": "raw", "maxBytes": 9}); raw.Data != "content\r\n" || raw.Cursor != 9 || raw.EOF {
		t.Errorf("raw %+v", raw)
	}
	if _, text := h.output(args{"id": started.ID, "cursor": 0, "maxBytes": 9}); text != "content\n[7 more bytes. Use cursor=9 to continue.]" {
		t.Errorf("a page tells %q", text)
	}

	// With args it is no shell that runs it.
	id := h.proc(args{"command": "printf", "args": []string{"%s|", "a b", "$HOME", "*"}, "pty": false})
	h.exited(id)
	if page, _ := h.output(args{"id": id}); page.Data != "a b|$HOME|*|" {
		t.Errorf("argv gave %q", page.Data)
	}
	id = h.proc(args{"command": "true", "args": []string{}})
	if m := h.exited(id); *m.Exit.Code != 0 {
		t.Errorf("no arguments: %+v", m.Exit)
	}

	var list builtin.ProcList
	text = h.ok("proc_list", args{}, &list)
	if len(list.Sessions) != 3 || list.Sessions[0].Name != "first" || list.Sessions[0].State != "exited" || list.Sessions[0].Exit == nil || list.Sessions[0].Owner != "o" {
		t.Errorf("list %+v", list)
	}
	if !strings.HasPrefix(text, started.ID+" first: exited, code 3, ") {
		t.Errorf("list tells %q", text)
	}
	if started, err := time.Parse(time.RFC3339Nano, list.Sessions[0].StartedAt); err != nil || time.Since(started) > time.Hour {
		t.Errorf("startedAt %q: %v", list.Sessions[0].StartedAt, err)
	}
}

func TestProcListIsEmpty(t *testing.T) {
	h := newProcHost(t, nil)
	if text := h.ok("proc_list", args{}, nil); text != "(no sessions)" {
		t.Errorf("told %q", text)
	}
	if got := string(h.call("proc_list", args{}).Metadata); got != `{"sessions":[],"truncated":false}` {
		t.Errorf("metadata %s", got)
	}
}

// TestProcIsChecked: what is wrong is refused with its code, and starts nothing.
func TestProcIsChecked(t *testing.T) {
	h := newProcHost(t, nil)
	must(t, os.Symlink(t.TempDir(), h.path("out")))
	h.write("file", "")
	for _, c := range []struct {
		in   args
		code tools.Code
	}{
		{args{"command": ""}, tools.CodeToolInput},
		{args{"command": "true", "cwd": "absent"}, tools.CodeNotFound},
		{args{"command": "true", "cwd": "file"}, tools.CodeNotFile},
		{args{"command": "true", "cwd": ".."}, tools.CodePathEscape},
		{args{"command": "true", "cwd": "out"}, tools.CodePathEscape},
		{args{"command": "true", "env": args{"LD_PRELOAD": "/x"}}, tools.CodeToolInput},
		{args{"command": "true", "env": args{"BASH_ENV": "/x"}}, tools.CodeToolInput},
		{args{"command": "true", "env": args{"A=B": "x"}}, tools.CodeToolInput},
		{args{"command": "true", "columns": 501}, tools.CodeToolInput},
		{args{"command": "true", "rows": 0}, tools.CodeToolInput},
		{args{"command": "true", "lifetimeSeconds": 86401}, tools.CodeToolInput},
		{args{"command": "true", "readyWhen": args{}}, tools.CodeToolInput},
		{args{"command": "true", "readyWhen": args{"port": 70000}}, tools.CodeToolInput},
		{args{"command": "true", "readyWhen": args{"regex": "("}}, tools.CodeToolInput},
		{args{"command": "true", "readyWhen": args{"match": "x", "timeoutSeconds": 121}}, tools.CodeToolInput},
		{args{"command": "true", "shell": true}, tools.CodeToolInput},
		{args{"command": "no-such-program-here", "args": []string{}}, tools.CodeNotFound},
	} {
		h.fails("proc_start", c.in, c.code)
	}
	if text := h.ok("proc_list", args{}, nil); text != "(no sessions)" {
		t.Errorf("sessions were started: %s", text)
	}
	id := h.proc(args{"command": "cat"})
	for _, c := range []struct {
		tool string
		in   args
		code tools.Code
	}{
		{"proc_output", args{"id": "p0"}, tools.CodeProcessState},
		{"proc_output", args{"id": id, "cursor": -1}, tools.CodeToolInput},
		{"proc_output", args{"id": id, "cursor": 1 << 40}, tools.CodeOutOfRange},
		{"proc_output", args{"id": id, "maxBytes": 1<<20 + 1}, tools.CodeToolInput},
		{"proc_output", args{"id": id, "view": "html"}, tools.CodeToolInput},
		{"proc_input", args{"id": id}, tools.CodeToolInput},
		{"proc_input", args{"id": id, "keys": []string{"entr"}}, tools.CodeToolInput},
		{"proc_input", args{"id": id, "text": strings.Repeat("x", 5000)}, tools.CodeProcessLimit},
		{"proc_wait", args{"id": id, "timeoutSeconds": 121}, tools.CodeToolInput},
		{"proc_wait", args{"id": id, "regex": "("}, tools.CodeToolInput},
		{"proc_signal", args{"id": id, "signal": "SIGNAL"}, tools.CodeToolInput},
		{"proc_resize", args{"id": id, "columns": 0, "rows": 1}, tools.CodeToolInput},
		{"proc_kill", args{"id": "p0"}, tools.CodeProcessState},
	} {
		h.fails(c.tool, c.in, c.code)
	}
	h.ok("proc_kill", args{"id": id}, nil)
}

// TestProcOwners: one agent's sessions are no other's.
func TestProcOwners(t *testing.T) {
	h := newProcHost(t, nil)
	id := h.proc(args{"command": "cat"})
	for tool, in := range map[string]args{
		"proc_output": {"id": id}, "proc_input": {"id": id, "text": "x"}, "proc_wait": {"id": id}, "proc_signal": {"id": id, "signal": "SIGTERM"},
		"proc_kill": {"id": id}, "proc_release": {"id": id}, "proc_resize": {"id": id, "columns": 80, "rows": 24},
	} {
		result := h.callAs(t.Context(), tool, in, tools.CallOptions{Session: "other", Owner: "other"})
		if result.Err == nil || result.Err.Code != tools.CodeProcessOwnership {
			t.Errorf("%s by another: %v", tool, result.Err)
		}
	}
	result := h.callAs(t.Context(), "proc_list", args{}, tools.CallOptions{Session: "other", Owner: "other"})
	if textOf(result) != "(no sessions)" {
		t.Errorf("another sees %q", textOf(result))
	}
	h.ok("proc_input", args{"id": id, "text": "mine\n"}, nil)
	h.matched(id, "mine", 0)
}

func TestProcSignalKillReleaseResize(t *testing.T) {
	h := newProcHost(t, nil)
	id := h.proc(args{"command": `trap 'echo got it' USR1; echo armed; while :; do sleep 0.05; done`})
	h.matched(id, "armed", 0)
	for _, name := range []string{"SIGUSR1", "usr1"} {
		cursor := h.matched(id, "armed", 0).Cursor
		h.ok("proc_signal", args{"id": id, "signal": name}, nil)
		h.matched(id, "got it", cursor)
	}
	var killed builtin.ProcKill
	text := h.ok("proc_kill", args{"id": id}, &killed)
	if killed.State != "killed" || killed.Survivors == nil || len(killed.Survivors) != 0 || !strings.HasPrefix(text, id+": killed, by SIG") {
		t.Errorf("killed %+v: %q", killed, text)
	}
	if m := h.exited(id); m.Exit.By != "kill" {
		t.Errorf("exit %+v", m.Exit)
	}
	h.ok("proc_kill", args{"id": id}, nil)
	h.fails("proc_input", args{"id": id, "text": "x"}, tools.CodeProcessState)

	id = h.proc(args{"command": "cat", "columns": 100, "rows": 30})
	h.waiting(id)
	h.ok("proc_resize", args{"id": id, "columns": 91, "rows": 22}, nil)
	h.ok("proc_input", args{"id": id, "keys": []string{"ctrl-c"}}, nil)
	h.exited(id)
	id = h.proc(args{"command": `trap 'stty size' WINCH; echo armed; while :; do sleep 0.05; done`})
	h.matched(id, "armed", 0)
	h.ok("proc_resize", args{"id": id, "columns": 91, "rows": 22}, nil)
	h.matched(id, "22 91", 0)
	h.ok("proc_kill", args{"id": id}, nil)

	id = h.proc(args{"command": fmt.Sprintf("echo $$ >%s; exec sleep 30", h.path("pid"))})
	eventually(t, 20*time.Second, "it runs", func() bool { return size(h.path("pid")) > 0 })
	var released builtin.ProcState
	h.ok("proc_release", args{"id": id}, &released)
	if released.State != "released" {
		t.Errorf("released: %+v", released)
	}
	h.fails("proc_input", args{"id": id, "text": "x"}, tools.CodeProcessState)
	if _, err := os.Stat(filepath.Join("/proc", strings.TrimSpace(h.content("pid")))); err != nil {
		t.Errorf("the released program is gone: %v", err)
	}
	h.ok("shell", args{"command": "kill $(cat pid)"}, nil)
}

// TestProcRaw: bytes that no text can hold arrive, too.
func TestProcRaw(t *testing.T) {
	h := newProcHost(t, nil)
	id := h.proc(args{"command": `printf 'a\377\000b'`, "pty": false})
	h.exited(id)
	page, text := h.output(args{"id": id, "view": "raw"})
	data, err := base64.StdEncoding.DecodeString(page.Data)
	if page.Encoding != "base64" || err != nil || string(data) != "a\xff\x00b" || !strings.Contains(text, "[base64]") {
		t.Errorf("%+v, %v, %q", page, err, text)
	}
	if page, _ := h.output(args{"id": id, "cursor": 0}); page.Encoding != "" || !strings.HasPrefix(page.Data, "a\ufffd") {
		t.Errorf("as text %+v", page)
	}
}

// TestProcRedacts: a secret that the host knows never comes out of a session, in
// whichever view.
func TestProcRedacts(t *testing.T) {
	const secret = "hunter2-hunter2-hunter2"
	h := newProcHost(t, func(_ *builtin.ProcessDeps, opts *tools.RegistryOptions) {
		opts.Redactor = policy.NewRedactor([]string{secret})
	})
	id := h.proc(args{"command": `printf 'key: %s\377\n' "$KEY"`, "env": args{"KEY": secret}, "pty": false})
	h.exited(id)
	for _, view := range []string{"text", "raw"} {
		result := h.call("proc_output", args{"id": id, "cursor": 0, "view": view})
		all := textOf(result) + string(result.Metadata)
		if strings.Contains(all, secret) || strings.Contains(all, base64.StdEncoding.EncodeToString([]byte("key: "+secret+"\xff\n"))) {
			t.Errorf("%s view: %s", view, all)
		}
	}
	id = h.proc(args{"command": "cat"})
	result := h.call("proc_input", args{"id": id, "text": "echo " + secret + "\n", "waitMs": 500})
	if all := textOf(result) + string(result.Metadata); strings.Contains(all, secret) {
		t.Errorf("echoed: %s", all)
	}
}

// TestProcReady: a start waits for what the caller calls ready, and says if it
// did not come.
func TestProcReady(t *testing.T) {
	h := newProcHost(t, nil)
	var m builtin.ProcStart
	text := h.ok("proc_start", args{"command": "echo booting; sleep 0.1; echo listening on 1; sleep 60", "readyWhen": args{"match": "listening"}}, &m)
	if m.Ready == nil || !*m.Ready || !strings.Contains(text, ", ready") {
		t.Errorf("%+v: %q", m, text)
	}
	text = h.ok("proc_start", args{"command": "sleep 60", "readyWhen": args{"match": "never", "timeoutSeconds": 1}}, &m)
	if m.Ready == nil || *m.Ready || m.State != "running" || !strings.Contains(text, "not ready") {
		t.Errorf("%+v: %q", m, text)
	}
	text = h.ok("proc_start", args{"command": "echo bad luck >&2; exit 4", "readyWhen": args{"regex": "up|ready"}}, &m)
	if m.Ready == nil || *m.Ready || m.State != "exited" || m.Exit == nil || !strings.Contains(text, "exited, code 4, ") {
		t.Errorf("%+v: %q", m, text)
	}
	m = builtin.ProcStart{}
	h.ok("proc_start", args{"command": "sleep 60"}, &m)
	if m.Ready != nil {
		t.Errorf("nothing was asked: %+v", m)
	}
}

// TestProcCancel: a call that is taken back is answered at once; a start that
// nobody waits for any more leaves nothing running.
func TestProcCancel(t *testing.T) {
	h := newProcHost(t, nil)
	id := h.proc(args{"command": "sleep 60"})
	for tool, in := range map[string]args{
		"proc_wait":  {"id": id},
		"proc_start": {"command": "echo $$ >pid; exec sleep 61", "readyWhen": args{"match": "never", "timeoutSeconds": 60}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan *tools.Result, 1)
		go func() { done <- h.callAs(ctx, tool, in, callOptions()) }()
		if tool == "proc_start" {
			eventually(t, 20*time.Second, "it runs", func() bool { return size(h.path("pid")) > 0 })
		} else {
			time.Sleep(50 * time.Millisecond) // that it waits cannot be seen
		}
		cancelled := time.Now()
		cancel()
		result := <-done
		if took := time.Since(cancelled); result.Err == nil || result.Err.Code != tools.CodeAborted || tool == "proc_wait" && took > 100*time.Millisecond+busy {
			t.Errorf("%s: %v after %v", tool, result.Err, took)
		}
	}
	eventually(t, 10*time.Second, "the started program is gone", func() bool {
		_, err := os.Stat(filepath.Join("/proc", strings.TrimSpace(h.content("pid"))))
		return err != nil
	})
}

// TestProcProgress: who listens hears that a wait goes on.
func TestProcProgress(t *testing.T) {
	h := newProcHost(t, nil)
	id := h.proc(args{"command": "sleep 60"})
	var mu sync.Mutex
	var heard []tools.Progress
	opts := callOptions()
	opts.Progress = func(p tools.Progress) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, p)
	}
	result := h.callAs(t.Context(), "proc_wait", args{"id": id, "timeoutSeconds": 2, "match": "never"}, opts)
	var m builtin.ProcWait
	must(t, json.Unmarshal(result.Metadata, &m))
	if m.Reason != "timeout" || result.Err != nil {
		t.Errorf("%+v, %v", m, result.Err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(heard) == 0 || heard[0].Total != 2 {
		t.Errorf("heard %v", heard)
	}
}

// seen is a policy that remembers what it was asked.
type seen struct {
	tools.Policy
	mu      sync.Mutex
	actions []tools.Action
}

func (s *seen) Decide(ctx context.Context, action tools.Action) tools.Decision {
	s.mu.Lock()
	s.actions = append(s.actions, action)
	s.mu.Unlock()
	return s.Policy.Decide(ctx, action)
}

func (s *seen) last() tools.Action {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.actions[len(s.actions)-1]
}

// TestProcPolicy: the start of a session asks as a shell command does; what is
// done to one that was allowed does not, but is seen.
func TestProcPolicy(t *testing.T) {
	for _, c := range []struct {
		profile policy.Profile
		start   tools.Code // "" is allowed
	}{
		{policy.ReadOnly, tools.CodeExecutionDenied}, {policy.Guarded, tools.CodeExecutionDenied},
		{policy.Unattended, tools.CodeExecutionDenied}, {policy.Trusted, ""},
	} {
		t.Run(string(c.profile), func(t *testing.T) {
			rules, err := policy.New(&policy.Options{Profile: c.profile})
			must(t, err)
			watch := &seen{Policy: rules}
			h := newProcHost(t, func(_ *builtin.ProcessDeps, opts *tools.RegistryOptions) { opts.Policy = watch })
			result := h.call("proc_start", args{"command": "cat", "args": []string{"-u"}, "env": args{"B": "2", "A": "1"}, "durable": false})
			action := watch.last()
			if action.Kind != tools.KindExecute || action.Operation != "proc_start" || action.Command != "cat" || strings.Join(action.Args, " ") != "-u" ||
				strings.Join(action.Env, " ") != "A=1 B=2" || strings.Join(action.Paths, " ") != "." || action.Contained || action.Root != h.root && action.Root != "" {
				t.Errorf("the policy saw %+v", action)
			}
			if c.start == "" != (result.Err == nil) || result.Err != nil && result.Err.Code != c.start {
				t.Fatalf("start: %v", result.Err)
			}
		})
	}
}

// approving agrees to everything.
type approving struct{ asked []tools.Action }

func (a *approving) Approve(_ context.Context, action tools.Action, _ string) (bool, error) {
	a.asked = append(a.asked, action)
	return true, nil
}

func TestProcInputIsSeenAndNotAsked(t *testing.T) {
	rules, err := policy.New(&policy.Options{Rules: []policy.Rule{{Verdict: tools.Forbid, Operation: "proc_input", Command: []string{"git", "push"}}}})
	must(t, err)
	watch := &seen{Policy: rules}
	h := newProcHost(t, func(_ *builtin.ProcessDeps, opts *tools.RegistryOptions) { opts.Policy = watch })
	person := &approving{}
	opts := callOptions()
	opts.Approver = person
	result := h.callAs(t.Context(), "proc_start", args{"command": "cat"}, opts)
	var started builtin.ProcStart
	must(t, json.Unmarshal(result.Metadata, &started))
	if result.Err != nil || len(person.asked) != 1 {
		t.Fatalf("%v, asked %d times", result.Err, len(person.asked))
	}
	h.waiting(started.ID)
	h.ok("proc_input", args{"id": started.ID, "text": "hello there\n"}, nil)
	if action := watch.last(); action.Operation != "proc_input" || action.Command != "hello there" || action.Mutation != tools.MutatesLocally || action.Content == "" {
		t.Errorf("the policy saw %+v", action)
	}
	h.fails("proc_input", args{"id": started.ID, "text": "git push origin\n"}, tools.CodeExecutionDenied)
	h.ok("proc_signal", args{"id": started.ID, "signal": "SIGCONT"}, nil)
	if action := watch.last(); action.Command != "cat" || !strings.Contains(strings.Join(action.Options, " "), "SIGCONT") {
		t.Errorf("the policy saw %+v", action)
	}
	h.ok("proc_kill", args{"id": started.ID}, nil)

	// What is typed where nothing is echoed is nobody's to see.
	result = h.callAs(t.Context(), "proc_start", args{"command": `read -rs word; echo "${#word} letters"`}, opts)
	must(t, json.Unmarshal(result.Metadata, &started))
	if mode := h.waiting(started.ID).Mode; mode != "password" {
		t.Fatalf("mode %q", mode)
	}
	h.ok("proc_input", args{"id": started.ID, "text": "correct horse\n"}, nil)
	h.matched(started.ID, "13 letters", 0)
	for _, action := range watch.actions {
		if text, _ := json.Marshal(action); strings.Contains(string(text), "horse") {
			t.Errorf("the policy saw the password: %s", text)
		}
	}
}

// TestProcContained: with a sandbox a session needs no consent, and is in it.
func TestProcContained(t *testing.T) {
	rules, err := policy.New(nil)
	must(t, err)
	h := newProcHost(t, func(d *builtin.ProcessDeps, opts *tools.RegistryOptions) {
		d.Shell.Sandbox, d.Shell.WriteRoots, opts.Policy = child.Prefer, []string{d.Workspace.Root()}, rules
	})
	granted, err := h.owner.Probe(t.Context())
	must(t, err)
	if !granted.FilesystemIsolated || !granted.NetworkIsolated {
		if os.Getenv("CI") == "true" {
			t.Fatalf("there is no sandbox here: %+v", granted)
		}
		t.Skipf("this system cannot isolate a command: %+v", granted)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	outside := filepath.Join(t.TempDir(), "x")
	id := h.proc(args{"command": fmt.Sprintf("touch inside; touch %s 2>/dev/null && echo escaped; (: </dev/tcp/%s) 2>/dev/null && echo connected; echo done",
		outside, strings.Replace(listener.Addr().String(), ":", "/", 1))})
	h.exited(id)
	page, _ := h.output(args{"id": id})
	if page.Data != "done\n" {
		t.Errorf("in the sandbox: %q", page.Data)
	}
	if _, err := os.Stat(h.path("inside")); err != nil {
		t.Error(err)
	}
}
