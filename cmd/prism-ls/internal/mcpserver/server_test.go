package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/mcpserver"
	"github.com/prism-ls/prism-ls/tools"
)

func serve(t *testing.T) (*fixture, *peer) {
	t.Helper()
	f := newFixture(t)
	p := connect(t, &mcpserver.Options{Open: f.open})
	p.initialize("2025-11-25", `{}`)
	return f, p
}

func TestListAndCall(t *testing.T) {
	_, p := serve(t)
	list := p.ask("1", "tools/list", `{}`)
	var listed struct {
		Tools []struct {
			Name         string          `json:"name"`
			InputSchema  json.RawMessage `json:"inputSchema"`
			OutputSchema json.RawMessage `json:"outputSchema"`
			Annotations  struct {
				ReadOnlyHint    bool  `json:"readOnlyHint"`
				DestructiveHint *bool `json:"destructiveHint"`
			} `json:"annotations"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(list.Result, &listed); err != nil {
		t.Fatal(err)
	}
	if len(listed.Tools) != 8 || listed.Tools[0].Name != "decide" || listed.Tools[0].OutputSchema != nil || !listed.Tools[0].Annotations.ReadOnlyHint {
		t.Errorf("tools: %s", list.Result)
	}
	echoed := p.call("2", "echo", `{"text":"<héllo>"}`).result(t)
	if echoed.text() != "<héllo>" || string(echoed.Meta.Metadata) != `{"length":8}` || echoed.IsError || echoed.StructuredContent != nil {
		t.Errorf("echo: %+v", echoed)
	}
	failed := p.call("3", "fail", `{}`).result(t)
	if !failed.IsError || failed.text() != "ERR_PRISM_NOT_FOUND: nothing is there" || failed.Content[1].Text != "printed before" {
		t.Errorf("fail: %+v", failed)
	}
	if e := failed.Meta.Error; e == nil || e.Code != "ERR_PRISM_NOT_FOUND" || string(e.Details) != `{"at":3}` || string(failed.Meta.Metadata) != `{"length":7}` {
		t.Errorf("fail's metadata: %+v", failed.Meta)
	}
	if panicked := p.call("4", "panics", `{}`).result(t); panicked.Meta.Error.Code != "ERR_PRISM_INTERNAL" {
		t.Errorf("panics: %+v", panicked)
	}
	for id, run := range []string{`5`, `""`, `null`} {
		refused := p.ask(fmt.Sprint(100+id), "tools/call", `{"name":"echo","arguments":{"text":"x"},"_meta":{"prism-ls/run":`+run+`}}`).result(t)
		if e := refused.Meta.Error; e == nil || e.Code != "ERR_PRISM_TOOL_INPUT" {
			t.Errorf("a run named %s: %+v", run, refused)
		}
	}
	for _, c := range []struct{ arguments, want string }{
		{`{"txet":"x"}`, `did you mean "text"?`},
		{`{"text":1}`, "text is a number"},
		{`{"text":"a","text":"b"}`, "ERR_PRISM_TOOL_INPUT"},
		{strings.Repeat(`{"text":`, 80) + "1" + strings.Repeat("}", 80), "deeper than 64"},
	} {
		if got := p.call("5", "echo", c.arguments).result(t); !got.IsError || !strings.Contains(got.text(), c.want) {
			t.Errorf("%.60s: %s", c.arguments, got.text())
		}
	}
	unknown := p.call("6", "ecko", `{}`)
	if unknown.Error == nil || unknown.Error.Code != -32602 || !strings.Contains(unknown.Error.Message, `ERR_PRISM_TOOL_UNKNOWN: there is no tool "ecko"; did you mean "echo"?`) {
		t.Errorf("unknown tool: %s", unknown.raw)
	}
	if got := p.ask("7", "no/such", `{}`); got.Error == nil || got.Error.Code != -32601 {
		t.Errorf("unknown method: %s", got.raw)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/no-such"}`)
	if got := p.ask("8", "ping", `{}`); string(got.Result) != "{}" {
		t.Errorf("ping after an unknown notification: %s", got.raw)
	}
}

func TestStructured(t *testing.T) {
	f := newFixture(t)
	p := connect(t, &mcpserver.Options{Open: f.open, Structured: true})
	p.initialize("2025-06-18", `{}`)
	if list := p.ask("1", "tools/list", `{}`); !strings.Contains(list.raw, `"outputSchema":{`) {
		t.Errorf("no output schemas: %s", list.raw)
	}
	if got := p.call("2", "echo", `{"text":"abc"}`).result(t); string(got.StructuredContent) != `{"length":3}` {
		t.Errorf("structuredContent: %s", got.StructuredContent)
	}
	if got := p.call("3", "fail", `{}`).result(t); got.StructuredContent != nil {
		t.Errorf("structuredContent of an error: %s", got.StructuredContent)
	}
}

// prompt is the promised time between a cancellation and its reply. Tests hold
// the quickest of a few against it, since the machine may be busy.
const prompt = 100 * time.Millisecond

func TestCancel(t *testing.T) {
	f, p := serve(t)
	best := time.Hour
	for _, id := range []string{"11", `"eleven"`, "1e3", "12345678901234567890"} {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"hold"}}`, id))
		wait(t, "the call runs", f.holding)
		start := time.Now()
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id))
		got := p.receive()
		best = min(best, time.Since(start))
		if string(got.ID) != id || got.result(t).Meta.Error.Code != "ERR_PRISM_ABORTED" {
			t.Errorf("%s: %s", id, got.raw)
		}
		wait(t, "the call is stopped", f.stopped)
	}
	if best > prompt {
		t.Errorf("the reply took %s", best)
	}
}

// A tool that does not stop at once must not hold up the reply, and the reply
// must not claim that nothing happened.
func TestCancelStubborn(t *testing.T) {
	f, p := serve(t)
	best := time.Hour
	for id := range 5 {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"stubborn"}}`, id))
		wait(t, "the call runs", f.holding)
		start := time.Now()
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
		got := p.receive().result(t)
		best = min(best, time.Since(start))
		if !strings.Contains(got.text(), "ERR_PRISM_ABORTED") || !strings.Contains(got.text(), "unknown") {
			t.Errorf("reply: %s", got.text())
		}
	}
	if best > prompt {
		t.Errorf("the reply took %s", best)
	}
	close(f.stuck)
	p.in.Close()
	if err := wait(t, "the server ends", p.ended); err != nil {
		t.Error(err)
	}
}

func TestProgress(t *testing.T) {
	_, p := serve(t)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps","_meta":{"progressToken":"tok"}}}`)
	last, count := 0.0, 0
	for {
		got := p.receive()
		if got.Method == "" {
			if got.result(t).text() != "done" {
				t.Errorf("result: %s", got.raw)
			}
			break
		}
		var params struct {
			ProgressToken string  `json:"progressToken"`
			Progress      float64 `json:"progress"`
		}
		if err := json.Unmarshal(got.Params, &params); err != nil || got.Method != "notifications/progress" || params.ProgressToken != "tok" {
			t.Fatalf("notification: %s", got.raw)
		}
		if params.Progress <= last {
			t.Errorf("progress fell from %v to %v", last, params.Progress)
		}
		last = params.Progress
		count++
	}
	if count < 3 {
		t.Errorf("%d reports", count)
	}
	// Nothing after the reply, and nothing at all without a token.
	if got := p.call("2", "steps", `{}`); got.Method != "" {
		t.Errorf("after the reply: %s", got.raw)
	}
	if got := p.ask("3", "ping", `{}`); got.Method != "" {
		t.Errorf("after the reply: %s", got.raw)
	}
}

func TestHeartbeat(t *testing.T) {
	f, p := serve(t)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hold","_meta":{"progressToken":7}}}`)
	first, second := p.receive(), p.receive()
	if first.Method != "notifications/progress" || second.Method != "notifications/progress" || first.raw == second.raw {
		t.Errorf("heartbeats: %s %s", first.raw, second.raw)
	}
	f.release <- struct{}{}
	for got := p.receive(); got.Method != ""; got = p.receive() {
	}
}

func TestManyInFlight(t *testing.T) {
	f, p := serve(t)
	const calls = 300
	for i := range calls {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hold"}}`, i))
	}
	for range mcpserver.MaxCalls {
		wait(t, "256 calls run", f.holding)
	}
	select {
	case <-f.holding:
		t.Error("more than 256 calls run")
	case <-time.After(50 * time.Millisecond): // nothing to wait for: it must not happen
	}
	// A call that waits can be cancelled, and is answered although nothing ended.
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":299}}`)
	if got := p.receive(); string(got.ID) != "299" || !strings.Contains(got.raw, "ERR_PRISM_ABORTED") && got.Error == nil {
		t.Errorf("cancelled while waiting: %s", got.raw)
	}
	// A request ID in use is refused without an answer to either.
	p.send(`{"jsonrpc":"2.0","id":5,"method":"ping"}`)
	if got := p.receive(); string(got.ID) != "null" || got.Error == nil || got.Error.Code != -32600 {
		t.Errorf("an ID in use: %s", got.raw)
	}
	close(f.release)
	seen := map[string]bool{}
	for range calls - 1 {
		seen[string(p.receive().ID)] = true
	}
	if len(seen) != calls-1 {
		t.Errorf("%d of %d calls were answered", len(seen), calls-1)
	}
}

func TestEnds(t *testing.T) {
	for name, end := range map[string]func(*peer){
		"input closed": func(p *peer) { p.in.Close() },
		"signal":       func(p *peer) { p.stop() },
	} {
		f, p := serve(t)
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hold"}}`)
		wait(t, "the call runs", f.holding)
		start := time.Now()
		end(p)
		wait(t, "the call is cancelled", f.stopped)
		if err := wait(t, "the server ends", p.ended); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > 1500*time.Millisecond {
			t.Errorf("%s: ending took %s", name, took)
		}
	}
}

// A script that pipes its requests in and closes gets its answers.
func TestAnswersAfterInputEnds(t *testing.T) {
	_, p := serve(t)
	for i := range 50 {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo"}}`, i))
	}
	p.in.Close()
	for range 50 {
		p.receive()
	}
}

// brokenPipe fails every write after the first.
type brokenPipe struct{ writes int }

func (b *brokenPipe) Write(p []byte) (int, error) {
	if b.writes++; b.writes > 1 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestClosedOutputEnds(t *testing.T) {
	f := newFixture(t)
	inR, inW := io.Pipe()
	defer inW.Close()
	ended := make(chan error, 1)
	go func() {
		ended <- mcpserver.New(&mcpserver.Options{Open: f.open}).Serve(t.Context(), mcpserver.NewConn(inR, &brokenPipe{}, nil))
	}()
	fmt.Fprintln(inW, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	fmt.Fprintln(inW, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hold"}}`)
	wait(t, "the call runs", f.holding)
	fmt.Fprintln(inW, `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	wait(t, "the call is cancelled", f.stopped)
	wait(t, "the server ends", ended)
}

func TestRoots(t *testing.T) {
	roots := make(chan string, 1)
	f := newFixture(t)
	open := func(_ context.Context, root string) (*tools.Registry, error) {
		roots <- root
		return f.registry, nil
	}
	p := connect(t, &mcpserver.Options{Open: open})
	p.initialize("2025-06-18", `{"roots":{"listChanged":true}}`)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	asked := p.receive()
	if asked.Method != "roots/list" {
		t.Fatalf("expected roots/list: %s", asked.raw)
	}
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[{"uri":"https://example.org/"},{"uri":"file:///some/r%%C3%%B6ot"}]}}`, asked.ID))
	p.receive()
	if got := wait(t, "open", roots); got != "/some/röot" {
		t.Errorf("root %q", got)
	}

	p = connect(t, &mcpserver.Options{Open: open, Root: "/given"})
	p.initialize("2025-06-18", `{"roots":{}}`)
	p.ask("1", "tools/list", `{}`)
	if got := wait(t, "open", roots); got != "/given" {
		t.Errorf("root %q", got)
	}

	p = connect(t, &mcpserver.Options{Open: open})
	p.initialize("2025-06-18", `{}`)
	p.ask("1", "tools/list", `{}`)
	if got := wait(t, "open", roots); got != "" {
		t.Errorf("root %q", got)
	}
}

// A fault in the settings fails the request, and the next one tries again.
func TestOpenFails(t *testing.T) {
	f := newFixture(t)
	times := 0
	p := connect(t, &mcpserver.Options{Open: func(context.Context, string) (*tools.Registry, error) {
		if times++; times == 1 {
			return nil, tools.Errorf(tools.CodeToolInput, "unknown key profil")
		}
		return f.registry, nil
	}})
	p.initialize("2025-06-18", `{}`)
	got := p.ask("1", "tools/list", `{}`)
	if got.Error == nil || !strings.Contains(got.Error.Message, "unknown key profil") {
		t.Errorf("first: %s", got.raw)
	}
	if got := p.call("2", "echo", `{"text":"x"}`).result(t); got.text() != "x" {
		t.Errorf("second: %+v", got)
	}
}
