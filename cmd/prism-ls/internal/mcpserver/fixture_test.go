package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/mcpserver"
	"github.com/prism-ls/prism-ls/tools"
)

// patience is how long a test waits for what must happen.
const patience = time.Minute

type echoIn struct {
	Text string `json:"text,omitempty"`
}

type echoOut struct {
	Length int `json:"length"`
}

// fixture is a registry whose tools do what the tests need, and what they saw.
type fixture struct {
	registry *tools.Registry
	release  chan struct{} // ends one `hold`
	holding  chan struct{} // one value for each `hold` that runs
	stopped  chan struct{} // one value for each `hold` that was cancelled
	stuck    chan struct{} // closed by the test to end `stubborn`
}

// asking is a policy that asks for what touches the path "guarded".
type asking struct{}

func (asking) Decide(_ context.Context, action tools.Action) tools.Decision {
	if action.Risk == tools.RiskHigh {
		return tools.Decision{Verdict: tools.Ask, Reason: "it is risky"}
	}
	return tools.Decision{Verdict: tools.Allow}
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		release: make(chan struct{}), stuck: make(chan struct{}),
		holding: make(chan struct{}, 1000), stopped: make(chan struct{}, 1000),
	}
	var list []*tools.Tool
	add := func(name string, effect tools.Effect, plan tools.PlanFunc[echoIn], run tools.RunFunc[echoIn, echoOut]) {
		spec := tools.Spec{Name: name, Title: name, Description: "A tool of the tests.", Toolset: "core", Kind: tools.KindRead, Effect: effect}
		tool, err := tools.New(spec, plan, run)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, tool)
	}
	add("echo", tools.Observes, nil, func(_ context.Context, _ *tools.Call, in echoIn) (*tools.Outcome[echoOut], error) {
		return tools.Answer(in.Text, echoOut{len(in.Text)}), nil
	})
	add("fail", tools.Observes, nil, func(context.Context, *tools.Call, echoIn) (*tools.Outcome[echoOut], error) {
		return tools.Answer("printed before", echoOut{7}), tools.Errorf(tools.CodeNotFound, "nothing is there").WithDetails(map[string]int{"at": 3})
	})
	add("panics", tools.Observes, nil, func(context.Context, *tools.Call, echoIn) (*tools.Outcome[echoOut], error) {
		panic("on purpose")
	})
	add("hold", tools.Observes, nil, func(ctx context.Context, _ *tools.Call, in echoIn) (*tools.Outcome[echoOut], error) {
		f.holding <- struct{}{}
		select {
		case <-f.release:
			return tools.Answer(in.Text, echoOut{}), nil
		case <-ctx.Done():
			f.stopped <- struct{}{}
			return nil, ctx.Err()
		}
	})
	add("stubborn", tools.ChangesFiles, nil, func(context.Context, *tools.Call, echoIn) (*tools.Outcome[echoOut], error) {
		f.holding <- struct{}{}
		<-f.stuck
		return tools.Answer("late", echoOut{}), nil
	})
	add("steps", tools.Observes, nil, func(_ context.Context, call *tools.Call, _ echoIn) (*tools.Outcome[echoOut], error) {
		for _, done := range []float64{1, 2, 2, 1, 3} {
			call.Report(done, 3, "step")
		}
		go func() { // a tool may be sloppy; the client must not see it
			for i := range 1000 {
				call.Report(float64(10+i), 0, "late")
			}
		}()
		return tools.Answer("done", echoOut{}), nil
	})
	add("risky", tools.ChangesFiles, func(_ context.Context, _ *tools.Call, in echoIn) (tools.Action, error) {
		return tools.Action{Risk: tools.RiskHigh, Command: in.Text}, nil
	}, func(ctx context.Context, call *tools.Call, in echoIn) (*tools.Outcome[echoOut], error) {
		if in.Text == "twice" {
			if err := call.Authorize(ctx, tools.Action{Risk: tools.RiskHigh, Operation: "second", Command: "again"}); err != nil {
				return nil, err
			}
		}
		return tools.Answer("did "+in.Text, echoOut{}), nil
	})
	add("decide", tools.Observes, nil, func(ctx context.Context, call *tools.Call, in echoIn) (*tools.Outcome[echoOut], error) {
		question := tools.Question{
			Text: "Which?", Multiple: in.Text == "many", AllowCustom: in.Text == "custom",
			Options: []tools.Choice{{ID: "a", Label: "First", Pros: []string{"short"}}, {ID: "b", Label: "Second", Cons: []string{"long"}}},
		}
		reply, err := call.Asker.Ask(ctx, question)
		if err != nil {
			return nil, err
		}
		return tools.Answer(fmt.Sprint(reply.IDs, reply.Custom), echoOut{}), nil
	})
	registry, err := tools.NewRegistry(list, &tools.RegistryOptions{Policy: asking{}})
	if err != nil {
		t.Fatal(err)
	}
	f.registry = registry
	return f
}

func (f *fixture) open(context.Context, string) (*tools.Registry, error) { return f.registry, nil }

// peer is the client's end of a connection, frame by frame.
type peer struct {
	t     *testing.T
	in    io.WriteCloser
	lines chan string
	conn  *mcpserver.Conn
	ended chan error
	stop  context.CancelFunc

	mu sync.Mutex
}

func connect(t *testing.T, opts *mcpserver.Options) *peer {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	p := &peer{t: t, in: inW, lines: make(chan string, 4096), ended: make(chan error, 1), stop: stop}
	p.conn = mcpserver.NewConn(inR, outW, nil)
	server := mcpserver.New(opts)
	go func() {
		p.ended <- server.Serve(ctx, p.conn)
		outW.Close()
	}()
	go func() {
		defer close(p.lines)
		lines := bufio.NewReader(outR)
		for {
			line, err := lines.ReadString('\n')
			if line != "" {
				p.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		inW.Close()
		inR.Close()
	})
	return p
}

func (p *peer) send(frame string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := io.WriteString(p.in, frame+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// frame is what the server sent.
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
	raw string
}

func (p *peer) receive() frame {
	p.t.Helper()
	select {
	case line, ok := <-p.lines:
		if !ok {
			p.t.Fatal("the server closed the connection")
		}
		f := frame{raw: line}
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			p.t.Fatalf("not JSON: %v: %s", err, line)
		}
		return f
	case <-time.After(patience):
		p.t.Fatal("no answer")
	}
	return frame{}
}

// ask sends a request and returns the answer, which must be the next frame.
func (p *peer) ask(id, method, params string) frame {
	p.t.Helper()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	f := p.receive()
	if string(f.ID) != id {
		p.t.Fatalf("the answer to %s is for %s: %s", id, f.ID, f.raw)
	}
	return f
}

func (p *peer) initialize(version, capabilities string) {
	p.t.Helper()
	f := p.ask(`"init"`, "initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"test","version":"1"}}`, version, capabilities))
	if !bytes.Contains(f.Result, []byte(version)) {
		p.t.Fatalf("version %s was not taken: %s", version, f.raw)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (p *peer) call(id, tool, arguments string) frame {
	p.t.Helper()
	return p.ask(id, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
}

// wait waits for a value or fails the test.
func wait[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatalf("waited in vain: %s", what)
	}
	panic("unreachable")
}

// result is a tools/call result.
type result struct {
	Content []struct {
		Type, Text string
	} `json:"content"`
	IsError           bool            `json:"isError"`
	StructuredContent json.RawMessage `json:"structuredContent"`
	Meta              struct {
		Metadata json.RawMessage `json:"prism-ls/metadata"`
		Error    *struct {
			Code    string          `json:"code"`
			Message string          `json:"message"`
			Details json.RawMessage `json:"details"`
		} `json:"prism-ls/error"`
	} `json:"_meta"`
	InputRequests map[string]struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	} `json:"inputRequests"`
	RequestState string `json:"requestState"`
	ResultType   string `json:"resultType"`
}

func (f frame) result(t *testing.T) result {
	t.Helper()
	var r result
	if f.Error != nil {
		t.Fatalf("a protocol error: %s", f.raw)
	}
	if err := json.Unmarshal(f.Result, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r result) text() string {
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}
