package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/mcpserver"
)

func TestIDsAreEchoedExactly(t *testing.T) {
	_, p := serve(t)
	for _, id := range []string{
		"0", "-1", "-0", "1.0", "1.5", "1e3", "1E+3", "9007199254740991", "9007199254740992", "9007199254740993",
		"-9223372036854775808", "18446744073709551616", "1e400", `""`, `"a"`, `"1"`, `"\u0041"`, `"\u0000x"`, `"\u00001"`,
		`"\ud83d\ude00"`, `"<&>"`, `"` + strings.Repeat("x", 10000) + `"`,
	} {
		p.ask(id, "ping", `{}`)
	}
	for _, id := range []string{"null", "true", "[]", "{}", `["a"]`} {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id))
		if got := p.receive(); got.Error == nil || got.Error.Code != -32600 || string(got.ID) != "null" {
			t.Errorf("%s: %s", id, got.raw)
		}
	}
}

func TestBadFrames(t *testing.T) {
	_, p := serve(t)
	for _, c := range []struct {
		name, frame string
		code        int
		id          string
	}{
		{"not JSON", `{"jsonrpc":`, -32700, "null"},
		{"text", `hello`, -32700, "null"},
		{"two messages", `{"jsonrpc":"2.0","id":1,"method":"ping"} {}`, -32700, "null"},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", -32700, "null"},
		{"NUL", "\x00", -32700, "null"},
		{"number", `12`, -32600, "null"},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600, "null"},
		{"empty batch", `[]`, -32600, "null"},
		{"broken batch", `[{]`, -32700, "null"},
		{"empty object", `{}`, -32600, "null"},
		{"version", `{"jsonrpc":"1.0","id":4,"method":"ping"}`, -32600, "4"},
		{"version's type", `{"jsonrpc":2.0,"id":"x","method":"ping"}`, -32600, `"x"`},
		{"method's type", `{"jsonrpc":"2.0","id":5,"method":7}`, -32600, "5"},
		{"null method", `{"jsonrpc":"2.0","id":5,"method":null}`, -32600, "5"},
		{"positional params", `{"jsonrpc":"2.0","id":6,"method":"ping","params":[1]}`, -32602, "6"},
		{"twice the same member", `{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}`, -32600, "null"},
		{"neither request nor response", `{"jsonrpc":"2.0","id":7}`, -32600, "null"},
		{"deep", strings.Repeat("[", 100000) + strings.Repeat("]", 100000), -32600, "null"},
		{"deep and open", strings.Repeat(`{"a":`, 100000), -32600, "null"},
		{"deep params", `{"jsonrpc":"2.0","id":9,"method":"ping","params":{"a":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}}`, -32600, "null"},
		{"wrong params", `{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":3}}`, -32602, "10"},
		{"no params", `{"jsonrpc":"2.0","id":11,"method":"tools/call"}`, -32600, "11"},
		{"cancellation of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`, -32602, "null"},
		{"cancellation of an object", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, -32602, "null"},
		{"subscription with an odd ID", `{"jsonrpc":"2.0","id":1.5,"method":"subscriptions/listen","params":{}}`, -32600, "1.5"},
	} {
		p.send(c.frame)
		got := p.receive()
		if got.Error == nil || got.Error.Code != c.code || string(got.ID) != c.id {
			t.Errorf("%s: want %d for %s, got %.200s", c.name, c.code, c.id, got.raw)
		}
	}
	// What asks for nothing gets nothing.
	for _, frame := range []string{
		"", "   ", "\r", `{"jsonrpc":"2.0","id":99,"result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"unknown"}}`,
	} {
		p.send(frame)
	}
	p.ask(`"after"`, "ping", `{}`)
	p.send(`{"jsonrpc":"2.0","id":"crlf","method":"ping"}` + "\r")
	if got := p.receive(); string(got.ID) != `"crlf"` {
		t.Errorf("CRLF: %s", got.raw)
	}
}

func TestSizes(t *testing.T) {
	_, p := serve(t)
	const overhead = len(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":""}}`)
	frame := func(size int) string {
		return `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"` + strings.Repeat("x", size-overhead) + `"}}`
	}
	p.send(frame(mcpserver.MaxFrame))
	if got := p.receive(); string(got.ID) != "1" || got.Error != nil {
		t.Errorf("32 MiB: %.200s", got.raw)
	}
	p.send(frame(mcpserver.MaxFrame + 1))
	if got := p.receive(); string(got.ID) != "null" || got.Error == nil || got.Error.Code != -32600 {
		t.Errorf("32 MiB and a byte: %.200s", got.raw)
	}
	// Ten times the cap, sent in pieces, is skipped without being kept.
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	piece := bytes.Repeat([]byte{'y'}, 1<<20)
	for range 320 {
		if _, err := p.in.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	p.send("")
	if got := p.receive(); got.Error == nil || got.Error.Code != -32600 {
		t.Errorf("320 MiB: %.200s", got.raw)
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 256<<20 {
		t.Errorf("skipping 320 MiB allocated %d bytes", grown)
	}
	p.ask(`"after"`, "ping", `{}`)
}

// seeds are frames to mutate: every method, and what is nearly one.
var seeds = []string{
	`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`,
	`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"abc"},"_meta":{"progressToken":1}}}`,
	`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{},"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`,
	`{"jsonrpc":"2.0","id":4,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
	`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"decide","arguments":{},"requestState":"a.b","inputResponses":{"answer":{"action":"accept","content":{}}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`,
	`{"jsonrpc":"2.0","id":6,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
	`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"file:///x"}}`,
	`{"jsonrpc":"2.0","id":8,"method":"prompts/get","params":{"name":"x","arguments":{"a":"b"}}}`,
	`{"jsonrpc":"2.0","id":9,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":"b"}}}`,
	`{"jsonrpc":"2.0","id":10,"method":"logging/setLevel","params":{"level":"debug"}}`,
	`{"jsonrpc":"2.0","id":11,"method":"resources/subscribe","params":{"uri":"x"}}`,
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"x"}}`,
	`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}`,
	`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
	`{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`,
	`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x","data":{}}}`,
	`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`,
}

// mutate changes a seed in a few places: bytes, pieces, JSON values.
func mutate(r *rand.Rand) []byte {
	frame := []byte(seeds[r.IntN(len(seeds))])
	for range 1 + r.IntN(4) {
		at := r.IntN(len(frame) + 1)
		switch r.IntN(6) {
		case 0:
			if at < len(frame) {
				frame[at] = byte(r.IntN(256))
			}
		case 1:
			frame = frame[:at]
		case 2:
			other := seeds[r.IntN(len(seeds))]
			frame = append(frame[:at:at], other[r.IntN(len(other)):]...)
		case 3:
			values := []string{"null", "true", "-1", "1e999", `""`, "[]", "{}", `"\ud800"`, "[[[[", strings.Repeat("[", 700), `"` + strings.Repeat("z", 5000) + `"`}
			if colon := bytes.IndexByte(frame[min(at, len(frame)):], ':'); colon >= 0 {
				at += colon + 1
				end := at
				for end < len(frame) && frame[end] != ',' && frame[end] != '}' {
					end++
				}
				frame = append(append(append([]byte{}, frame[:at]...), values[r.IntN(len(values))]...), frame[end:]...)
			}
		case 4:
			from, to := r.IntN(len(frame)+1), r.IntN(len(frame)+1)
			frame = append(frame, frame[min(from, to):max(from, to)]...)
		case 5:
			frame = append(frame[:at:at], frame[min(len(frame), at+1+r.IntN(8)):]...)
		}
		if len(frame) == 0 {
			frame = []byte{'{'}
		}
	}
	return bytes.ReplaceAll(frame, []byte{'\n'}, []byte{' '})
}

// TestErrorDataThatIsNotJSON: the SDK puts a resource's URI into the data of its
// error as Go quotes it.
func TestErrorDataThatIsNotJSON(t *testing.T) {
	f := newFixture(t)
	p := connect(t, &mcpserver.Options{Open: f.open})
	p.initialize("2025-11-25", `{}`)
	for i, uri := range []string{`file:///a\u0007`, `file:///a\u007f`, `x:\u0001\u000b`} {
		for j, method := range []string{"resources/read", "resources/subscribe"} {
			id := strconv.Itoa(100 + 10*i + j)
			p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{"uri":"` + uri + `"}}`)
			if got := p.receive(); string(got.ID) != id || got.Error == nil {
				t.Errorf("%s of %s: %+v", method, uri, got)
			}
		}
	}
}

// soak reports whether the full sizes are asked for.
func soak() bool { return os.Getenv("PRISM_SOAK") == "1" }

func TestMutatedFrames(t *testing.T) {
	count := 2000
	if soak() {
		count = 100_000
	}
	f := newFixture(t)
	close(f.release) // `hold` returns at once
	close(f.stuck)
	p := connect(t, &mcpserver.Options{Open: f.open})
	p.initialize("2025-11-25", `{}`)
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range count {
		p.send(string(mutate(r)))
		if i%100 != 99 {
			continue
		}
		// Still there, and answering with sound frames.
		id := strconv.Quote("check" + strconv.Itoa(i))
		p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
		for deadline := time.Now().Add(patience); ; {
			select {
			case line, ok := <-p.lines:
				if !ok {
					t.Fatalf("seed %d, frame %d: the server ended", seed, i)
				}
				var got frame
				if err := json.Unmarshal([]byte(line), &got); err != nil {
					t.Fatalf("seed %d, frame %d: not JSON: %s", seed, i, line)
				}
				if string(got.ID) == id {
					deadline = time.Time{}
				}
			case <-time.After(time.Until(deadline)):
				t.Fatalf("seed %d, frame %d: no answer any more", seed, i)
			}
			if deadline.IsZero() {
				break
			}
		}
	}
}
