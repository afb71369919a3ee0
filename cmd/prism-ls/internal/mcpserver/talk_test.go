package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/mcpserver"
)

// elicit serves one request of the server by that reply.
func (p *peer) elicit(want, reply string) {
	p.t.Helper()
	asked := p.receive()
	if asked.Method != "elicitation/create" || !strings.Contains(string(asked.Params), want) {
		p.t.Fatalf("want a question with %q, got %s", want, asked.raw)
	}
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID, reply))
}

func (p *peer) start(id, tool, arguments string) {
	p.t.Helper()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments))
}

func TestElicitation(t *testing.T) {
	f := newFixture(t)
	p := connect(t, &mcpserver.Options{Open: f.open})
	p.initialize("2025-06-18", `{"elicitation":{}}`)
	for _, c := range []struct{ name, tool, arguments, question, reply, want string }{
		{"approved", "risky", `{"text":"rm x"}`, `Command: rm x`, `{"action":"accept","content":{}}`, "did rm x"},
		{"approved without content", "risky", `{"text":"y"}`, "it is risky", `{"action":"accept"}`, "did y"},
		{"hidden characters", "risky", `{"text":"a\u202eb\u001b[2J"}`, `\\u202eb\\u001b[2J`, `{"action":"decline"}`, "ERR_PRISM_EXECUTION_DENIED"},
		{"declined", "risky", `{"text":"z"}`, "z", `{"action":"decline"}`, "ERR_PRISM_EXECUTION_DENIED"},
		{"dismissed", "risky", `{"text":"z"}`, "z", `{"action":"cancel"}`, "ERR_PRISM_EXECUTION_DENIED"},
		{"one choice", "decide", `{}`, `"enum":["a","b"]`, `{"action":"accept","content":{"choice":"b"}}`, "[b]"},
		{"not an option", "decide", `{}`, "Which?", `{"action":"accept","content":{"choice":"c"}}`, "ERR_PRISM_"},
		{"no choice", "decide", `{}`, "Which?", `{"action":"cancel"}`, "ERR_PRISM_ABORTED"},
		{"several", "decide", `{"text":"many"}`, `"option_a":{"type":"boolean"`, `{"action":"accept","content":{"option_a":true,"option_b":true}}`, "[a b]"},
		{"own words", "decide", `{"text":"custom"}`, `"custom"`, `{"action":"accept","content":{"custom":"neither"}}`, "[]neither"},
	} {
		p.start("1", c.tool, c.arguments)
		p.elicit(c.question, c.reply)
		if got := p.receive().result(t); !strings.HasPrefix(strings.ReplaceAll(got.text(), "] ", "]"), c.want) {
			t.Errorf("%s: %s", c.name, got.text())
		}
	}
	// Cancelling the call takes the question back.
	p.start("2", "risky", `{"text":"q"}`)
	asked := p.receive()
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	first, second := p.receive(), p.receive()
	if first.Method == "" {
		first, second = second, first
	}
	if first.Method != "notifications/cancelled" || !strings.Contains(string(first.Params), string(asked.ID)) || second.result(t).Meta.Error.Code != "ERR_PRISM_ABORTED" {
		t.Errorf("cancelled: %s %s", first.raw, second.raw)
	}
}

func TestElicitationLists(t *testing.T) {
	f := newFixture(t)
	p := connect(t, &mcpserver.Options{Open: f.open})
	p.initialize("2025-11-25", `{"elicitation":{"form":{}}}`)
	p.start("1", "decide", `{"text":"many"}`)
	p.elicit(`"items":{"type":"string","enum":["a","b"]}`, `{"action":"accept","content":{"choice":["b","a"]}}`)
	if got := p.receive().result(t); !strings.HasPrefix(got.text(), "[a b]") {
		t.Errorf("several: %s", got.text())
	}
}

func TestNoElicitation(t *testing.T) {
	_, p := serve(t)
	if got := p.call("1", "risky", `{"text":"x"}`).result(t); got.Meta.Error.Code != "ERR_PRISM_EXECUTION_DENIED" {
		t.Errorf("risky: %+v", got)
	}
	if got := p.call("2", "decide", `{}`).result(t); got.Meta.Error.Code != "ERR_PRISM_DECISION_UNSUPPORTED" {
		t.Errorf("decide: %+v", got)
	}
}

// meta is what a stateless request carries (2026-07-28).
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// round makes one round of a stateless call.
func (p *peer) round(tool, arguments, state, answer string) result {
	p.t.Helper()
	params := fmt.Sprintf(`{"name":%q,"arguments":%s,%s`, tool, arguments, meta)
	if state != "" {
		quoted, err := json.Marshal(state)
		if err != nil {
			p.t.Fatal(err)
		}
		params += `,"requestState":` + string(quoted)
	}
	if answer != "" {
		params += `,"inputResponses":{"answer":` + answer + `}`
	}
	return p.ask("1", "tools/call", params+"}").result(p.t)
}

func TestStateless(t *testing.T) {
	f := newFixture(t)
	p := connect(t, &mcpserver.Options{Open: f.open})
	if got := p.ask("1", "server/discover", "{"+meta+"}"); !strings.Contains(got.raw, `"2026-07-28","2025-11-25","2025-06-18"`) {
		t.Errorf("discover: %s", got.raw)
	}
	if got := p.ask("2", "tools/list", "{"+meta+"}"); !strings.Contains(got.raw, `"name":"echo"`) {
		t.Errorf("list: %s", got.raw)
	}
	if got := p.round("echo", `{"text":"x"}`, "", ""); got.text() != "x" || got.ResultType != "complete" {
		t.Errorf("echo: %+v", got)
	}

	asked := p.round("risky", `{"text":"twice"}`, "", "")
	if asked.ResultType != "input_required" || asked.InputRequests["answer"].Method != "elicitation/create" || asked.RequestState == "" {
		t.Fatalf("risky: %+v", asked)
	}
	again := p.round("risky", `{"text":"twice"}`, asked.RequestState, `{"action":"accept","content":{}}`)
	if again.ResultType != "input_required" || !strings.Contains(string(again.InputRequests["answer"].Params), "again") {
		t.Fatalf("second question: %+v", again)
	}
	done := p.round("risky", `{"text":"twice"}`, again.RequestState, `{"action":"accept"}`)
	if done.text() != "did twice" {
		t.Errorf("after both answers: %+v", done)
	}
	if replayed := p.round("risky", `{"text":"twice"}`, again.RequestState, `{"action":"accept"}`); !replayed.IsError || replayed.Meta.Error.Code != "ERR_PRISM_EXECUTION_DENIED" {
		t.Errorf("the same state once more: %+v", replayed)
	}

	state := p.round("risky", `{"text":"good"}`, "", "").RequestState
	if other := p.round("risky", `{"text":"evil"}`, state, `{"action":"accept"}`); !other.IsError {
		t.Errorf("a consent to another call was taken: %+v", other)
	}
	state = p.round("risky", `{"text":"good"}`, "", "").RequestState
	forged := state[:len(state)-2] + "AA"
	if other := p.round("risky", `{"text":"good"}`, forged, `{"action":"accept"}`); !other.IsError {
		t.Errorf("a forged state was taken: %+v", other)
	}
	if got := p.round("risky", `{"text":"good"}`, state, `{"action":"decline"}`); !got.IsError || got.Meta.Error.Code != "ERR_PRISM_EXECUTION_DENIED" {
		t.Errorf("declined: %+v", got)
	}
	if got := p.round("risky", `{"text":"good"}`, "garbage", ""); !got.IsError {
		t.Errorf("garbage: %+v", got)
	}

	question := p.round("decide", `{}`, "", "")
	if got := p.round("decide", `{}`, question.RequestState, `{"action":"accept","content":{"choice":"a"}}`); !strings.HasPrefix(got.text(), "[a]") {
		t.Errorf("decide: %+v", got)
	}
	// Without an answer the question is put again.
	question = p.round("decide", `{}`, "", "")
	if got := p.round("decide", `{}`, question.RequestState, ""); got.ResultType != "input_required" {
		t.Errorf("no answer: %+v", got)
	}
}
