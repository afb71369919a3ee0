package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// patience is how long a test waits for what must happen.
const patience = time.Minute

// end is one end of two pipes.
type end struct {
	io.Reader
	w      *io.PipeWriter
	closes []io.Closer
}

func (e *end) Write(p []byte) (int, error) { return e.w.Write(p) }
func (e *end) CloseWrite() error           { return e.w.Close() }
func (e *end) Close() error {
	var errs []error
	for _, c := range e.closes {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// answerer is what a test plays: the other end of a backend, or of the client.
type answerer struct {
	t     *testing.T
	lines chan string // closed at the end of the stream
	out   io.Writer
	end   func()
}

func newAnswerer(t *testing.T, in io.Reader, out io.Writer, end func()) *answerer {
	a := &answerer{t: t, lines: make(chan string, 100), out: out, end: end}
	go func() {
		defer close(a.lines)
		for lines := bufio.NewScanner(in); lines.Scan(); {
			a.lines <- lines.Text()
		}
	}()
	return a
}

func (a *answerer) say(line string) {
	a.t.Helper()
	if _, err := io.WriteString(a.out, line+"\n"); err != nil {
		a.t.Fatal(err)
	}
}

// hears waits for a line with all of the words.
func (a *answerer) hears(words ...string) string {
	a.t.Helper()
	select {
	case line, ok := <-a.lines:
		for _, word := range words {
			if !ok || !strings.Contains(line, word) {
				a.t.Fatalf("heard %q, which has no %q (there is more: %v)", line, word, ok)
			}
		}
		return line
	case <-time.After(patience):
		a.t.Fatalf("heard nothing with %q", words)
	}
	return ""
}

// ends waits for the end of what is heard.
func (a *answerer) ends() {
	a.t.Helper()
	select {
	case line, ok := <-a.lines:
		if ok {
			a.t.Errorf("heard %q, not the end", line)
		}
	case <-time.After(patience):
		a.t.Error("it does not end")
	}
}

func backend(t *testing.T) (*end, *answerer) {
	toR, toW := io.Pipe()
	fromR, fromW := io.Pipe()
	mine := &end{fromR, toW, []io.Closer{toW, fromR}}
	return mine, newAnswerer(t, toR, fromW, func() { _ = fromW.Close(); _ = toR.Close() })
}

// relaying is a relay with its client, and what plays the backends in turn.
type relaying struct {
	client *answerer
	next   chan *end // backends to come
	relay  *Relay
	done   chan struct{}
}

func relayTo(t *testing.T, first Backend) *relaying {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	r := &relaying{next: make(chan *end, 10), done: make(chan struct{})}
	r.client = newAnswerer(t, outR, inW, func() { _ = inW.Close() })
	r.relay = NewRelay(inR, outW, func(context.Context) (Backend, error) {
		select {
		case b := <-r.next:
			return b, nil
		default:
			return nil, errors.New("there is none")
		}
	})
	go func() {
		defer close(r.done)
		r.relay.Run(t.Context(), first)
		_ = outW.Close()
	}()
	t.Cleanup(func() {
		_ = inW.Close()
		_ = outR.Close()
		<-r.done
	})
	return r
}

const (
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	callTool    = `{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"x"}}`
	listTools   = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
)

// greeted is a session that has begun.
func greeted(t *testing.T) (*relaying, *answerer) {
	mine, first := backend(t)
	r := relayTo(t, mine)
	r.client.say(initialize)
	first.hears("initialize")
	first.say(`{"jsonrpc":"2.0","id":0,"result":{"first":1}}`)
	r.client.hears("first")
	r.client.say(initialized)
	first.hears("initialized")
	return r, first
}

// When a backend ends, a call's answer says that nothing is known, and what only
// asks is asked again, after the session has begun anew unseen by the client.
func TestRelayGoesOn(t *testing.T) {
	r, first := greeted(t)
	r.client.say(callTool)
	first.hears("tools/call")
	r.client.say(listTools)
	first.hears("tools/list")
	mine, second := backend(t)
	r.next <- mine
	first.end()
	answer := r.client.hears(`"id":"c"`, `"isError":true`, "ERR_PRISM_INTERNAL", "unknown")
	if !json.Valid([]byte(answer)) {
		t.Errorf("%s is no JSON", answer)
	}
	second.hears("initialize", `"id":0`)
	second.hears("initialized")
	second.hears("tools/list")
	second.say(`{"jsonrpc":"2.0","id":0,"result":{"second":1}}`)
	second.say(`{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}`)
	r.client.hears(`"tools":[]`)
	r.client.end()
	second.ends()
	second.end()
	r.client.ends()
}

// A backend is found only when the client wants something of it.
func TestRelayWaitsForARequest(t *testing.T) {
	r, first := greeted(t)
	first.end()
	r.client.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`)
	mine, second := backend(t)
	r.next <- mine
	r.client.say(listTools)
	second.hears("initialize")
	second.hears("initialized")
	second.hears("tools/list")
	second.say(`{"jsonrpc":"2.0","id":0,"result":{}}`)
	second.say(`{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}`)
	r.client.hears(`"tools"`)
}

// An answer to a question of the backend that has ended must not reach the next
// one, which may ask something else under the same number.
func TestRelayEndsWithAnOpenQuestion(t *testing.T) {
	r, first := greeted(t)
	r.client.say(callTool)
	first.hears("tools/call")
	first.say(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"delete everything?"}}`)
	r.client.hears("elicitation")
	mine, second := backend(t)
	r.next <- mine
	first.end()
	r.client.hears(`"id":"c"`, "unknown")
	r.client.ends()
	select {
	case line := <-second.lines:
		t.Errorf("the next backend heard %q", line)
	default:
	}
}

// What was cancelled before the workspace was known is not done there.
func TestRelayForgetsWhatWasCancelled(t *testing.T) {
	r, first := greeted(t)
	r.client.say(callTool)
	first.hears("tools/call")
	r.client.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c"}}`)
	first.hears("cancelled")
	r.client.say(listTools)
	first.hears("tools/list")
	mine, second := backend(t)
	r.relay.Move(mine)
	r.client.hears(`"id":"c"`, "-32800")
	second.hears("initialize")
	second.hears("initialized")
	second.hears("tools/list")
}

// A daemon that dies in the middle of a frame leaves no half of it.
func TestRelayPassesWholeFrames(t *testing.T) {
	r, first := greeted(t)
	r.client.say(callTool)
	first.hears("tools/call")
	if _, err := io.WriteString(first.out, `{"jsonrpc":"2.0","id":"c","resu`); err != nil {
		t.Fatal(err)
	}
	first.end()
	r.client.hears(`"id":"c"`, "ERR_PRISM_INTERNAL")
}

func FuzzGlance(f *testing.F) {
	for _, seed := range []string{
		initialize, callTool, `{"id":null,"method":"x"}`, `{"method":"a","params":{"id":3,"method":"no"},"id": 1.5e3 }`,
		`{"id":"a\"b","result":[{"id":1}]}`, `{"result":"},{\"id\":4","id":7}`, `[{"id":1}]`, `{"a":"id","id":-2}`, `{"id":{"x":1}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		seen := glance(frame)
		var want map[string]json.RawMessage
		if json.Unmarshal(frame, &want) != nil || strings.Contains(string(frame), `\u`) || strings.ContainsAny(string(frame), "\r\n") {
			return // whoever gets it refuses it, or the key is written otherwise
		}
		twice := strings.Count(string(frame), `"id"`) > 1 || strings.Count(string(frame), `"method"`) > 1
		if id := string(want["id"]); !twice && id != "null" && len(id) <= maxMember && seen.id != id {
			t.Errorf("%s: id %q, want %q", frame, seen.id, id)
		}
		var method string
		if json.Unmarshal(want["method"], &method) == nil && !twice && !strings.Contains(string(want["method"]), `\`) && len(method) < maxMember-2 && len(want["method"]) > 0 && want["method"][0] == '"' && seen.method != method {
			t.Errorf("%s: method %q, want %q", frame, seen.method, method)
		}
	})
}
