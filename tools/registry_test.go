package tools

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

type mood string

func (mood) Values() []string { return []string{"calm", "wild"} }

type item struct {
	Name string `json:"name" check:"nonempty"`
	N    int64  `json:"n,omitempty"`
}

type echoIn struct {
	Text  string   `json:"text" check:"nonempty" jsonschema:"what to say"`
	Mood  mood     `json:"mood,omitempty"`
	Count *int64   `json:"count,omitempty"`
	Big   int64    `json:"big,omitempty"`
	Loud  bool     `json:"loud,omitempty"`
	Items []item   `json:"items,omitempty"`
	Tags  []string `json:"tags,omitempty"`
	One   *item    `json:"one,omitempty"`
}

type echoOut struct {
	In echoIn `json:"in"`
}

var echoSpec = Spec{
	Name: "echo", Title: "Echo", Description: "Says it again.", Toolset: "core", Kind: KindOther, Effect: Observes,
	Limits: []Limit{{Name: "count", Default: 5, Hard: 20}, {Name: "items", Default: 3, Hard: 3}},
}

func echo(t *testing.T, spec Spec, opts *RegistryOptions, run RunFunc[echoIn, echoOut]) *Registry {
	t.Helper()
	if run == nil {
		run = func(_ context.Context, _ *Call, in echoIn) (*Outcome[echoOut], error) {
			return Answer(in.Text, echoOut{in}), nil
		}
	}
	tool, err := New(spec, nil, run)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := NewRegistry([]*Tool{tool}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

func TestDecoding(t *testing.T) {
	registry := echo(t, echoSpec, nil, nil)
	deep := strings.Repeat(`[`, 70) + strings.Repeat(`]`, 70)
	for _, c := range []struct{ name, input, says string }{
		{"unknown field", `{"text":"a","lout":true}`, `unknown field lout; did you mean "loud"?`},
		{"unknown nested field", `{"text":"a","items":[{"name":"x","m":1}]}`, `unknown field items[0].m`},
		{"missing", `{}`, "text is missing"},
		{"missing, no input", ``, "text is missing"},
		{"nested missing", `{"text":"a","one":{}}`, "one.name is missing"},
		{"wrong type", `{"text":5}`, "text is a number, must be a string"},
		{"null", `{"text":"a","count":null}`, "count is null, must be an integer"},
		{"not an object", `[1]`, "the input is an array, must be an object"},
		{"duplicate key", `{"text":"a","text":"b"}`, "duplicate"},
		{"nested duplicate key", `{"text":"a","one":{"name":"x","name":"y"}}`, "/one"},
		{"too deep", `{"text":"a","tags":` + deep + `}`, "deeper than 64"},
		{"malformed", `{"text":`, "not sound JSON"},
		{"two values", `{"text":"a"} {}`, "more after the end"},
		{"empty text", `{"text":""}`, "text is empty"},
		{"bad enum", `{"text":"a","mood":"sad"}`, "mood is \"sad\", must be one of calm, wild"},
		{"over the cap", `{"text":"a","count":21}`, "count is 21, must be 1 to 20"},
		{"far over it", `{"text":"a","count":20000000}`, "count is 20000000, must be 1 to 20"},
		{"zero", `{"text":"a","count":0}`, "count is 0, must be 1 to 20"},
		{"negative", `{"text":"a","count":-1}`, "count is -1"},
		{"fraction", `{"text":"a","count":1.5}`, "count is 1.5, must be an integer"},
		{"too many", `{"text":"a","items":[{"name":"a"},{"name":"a"},{"name":"a"},{"name":"a"}]}`, "items has 4 elements, at most 3"},
		{"integer too big", `{"text":"a","big":9223372036854775808}`, "big"},
		{"huge exponent", `{"text":"a","big":1e400}`, "big"},
		{"invalid UTF-8", "{\"text\":\"a\xff\"}", "UTF-8"},
		{"text that is no array", `{"text":"a","items":"x"}`, "items is a string, must be an array"},
		{"text of the wrong kind", `{"text":"a","items":"{}"}`, "items is a string, must be an array"},
		{"text with a duplicate key", `{"text":"a","one":"{\"name\":\"x\",\"name\":\"y\"}"}`, "one is a string"},
		{"too large", `{"text":"` + strings.Repeat("a", 1<<20) + `"}`, "at most 1048576"},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := registry.Call(t.Context(), "echo", []byte(c.input), CallOptions{})
			if !errors.Is(result.Err, CodeToolInput) {
				t.Fatalf("got %v", result.Err)
			}
			if !strings.Contains(result.Err.Message, c.says) {
				t.Errorf("message %q does not say %q", result.Err.Message, c.says)
			}
		})
	}
}

func TestDecodingAccepts(t *testing.T) {
	registry := echo(t, echoSpec, nil, nil)
	for _, c := range []struct{ name, input, want string }{
		{"exact big integer", `{"text":"a","big":9007199254740993}`, `{"text":"a","big":9007199254740993}`},
		{"integral fraction", `{"text":"a","big":2.0,"count":1e1}`, `{"text":"a","count":10,"big":2}`},
		{"array as text", `{"text":"a","items":"[{\"name\":\"x\"}]"}`, `{"text":"a","items":[{"name":"x"}]}`},
		{"object as text", `{"text":"a","one":" {\"name\":\"x\",\"n\":9007199254740993} "}`, `{"text":"a","one":{"name":"x","n":9007199254740993}}`},
		{"element as text", `{"text":"a","items":["{\"name\":\"x\"}"]}`, `{"text":"a","items":[{"name":"x"}]}`},
		{"text that looks like JSON", `{"text":"[1]"}`, `{"text":"[1]"}`},
		{"case matters", `{"text":"<&>","mood":"calm"}`, `{"text":"<&>","mood":"calm"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := registry.Call(t.Context(), "echo", []byte(c.input), CallOptions{})
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			if got, want := string(result.Metadata), `{"in":`+c.want+`}`; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestSchema(t *testing.T) {
	tool, err := New(echoSpec, nil, func(context.Context, *Call, echoIn) (*Outcome[echoOut], error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"text":{"type":"string","description":"what to say","minLength":1}`,
		`"mood":{"type":"string","enum":["calm","wild"]}`,
		`"count":{"type":"integer","default":5,"minimum":1,"maximum":20}`,
		`"required":["text"]`, `"additionalProperties":false`,
	} {
		if !strings.Contains(string(tool.InputSchema()), part) {
			t.Errorf("no %s in %s", part, tool.InputSchema())
		}
	}
	bad := echoSpec
	bad.Limits = []Limit{{Name: "nowhere", Default: 1, Hard: 2}}
	if _, err := New(bad, nil, func(context.Context, *Call, echoIn) (*Outcome[echoOut], error) { return nil, nil }); !errors.Is(err, CodeToolInput) {
		t.Errorf("a limit on no field: %v", err)
	}
}

func TestPanicIsAnErrorOfThatCall(t *testing.T) {
	registry := echo(t, echoSpec, nil, func(context.Context, *Call, echoIn) (*Outcome[echoOut], error) { panic("oh") })
	if result := registry.Call(t.Context(), "echo", []byte(`{"text":"a"}`), CallOptions{}); !errors.Is(result.Err, CodeInternal) {
		t.Errorf("got %v", result.Err)
	}
}

func TestUnknownTool(t *testing.T) {
	registry := echo(t, echoSpec, nil, nil)
	result := registry.Call(t.Context(), "ecko", nil, CallOptions{})
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"tool":"ecko","content":[],"metadata":{},"error":{"code":"ERR_PRISM_TOOL_UNKNOWN","message":"there is no tool \"ecko\"; did you mean \"echo\"?"}}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// script is a Policy, Approver, Consents, Recorder and Redactor that writes
// down what it was asked.
type script struct {
	mu      sync.Mutex
	log     []string
	verdict Verdict
	yes     bool
	cannot  bool
	taken   bool
}

func (s *script) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, what)
}

func (s *script) Decide(context.Context, Action) Decision {
	s.note("policy")
	return Decision{s.verdict, "because"}
}

func (s *script) Approve(context.Context, Action, string) (bool, error) {
	s.note("approver")
	if s.cannot {
		return false, Errorf(CodeDecisionUnsupported, "nobody is there")
	}
	return s.yes, nil
}

func (s *script) Take(context.Context, string) (bool, error) {
	s.note("take")
	return s.taken, nil
}

func (s *script) Offer(context.Context, Action, string) (string, error) {
	s.note("offer")
	return "abc123", nil
}

func (s *script) Intent(context.Context, Intent) (string, error) {
	s.note("intent")
	return "1", nil
}

func (s *script) Outcome(_ context.Context, _ string, code Code) error {
	s.note("outcome " + string(code))
	return nil
}

func (s *script) Redact(text []byte) []byte {
	return []byte(strings.ReplaceAll(string(text), "hunter2", "***"))
}

func TestTheOrderOfACall(t *testing.T) {
	spec := echoSpec
	spec.Effect = ChangesFiles
	for _, c := range []struct {
		name   string
		script *script
		want   string
		code   Code
	}{
		{"allowed", &script{verdict: Allow}, "policy intent run outcome ", ""},
		{"forbidden", &script{verdict: Forbid}, "policy", CodeExecutionDenied},
		{"no verdict", &script{}, "policy", CodeExecutionDenied},
		{"approved", &script{verdict: Ask, yes: true}, "policy take approver intent run outcome ", ""},
		{"declined", &script{verdict: Ask}, "policy take approver", CodeExecutionDenied},
		{"consented", &script{verdict: Ask, taken: true}, "policy take intent run outcome ", ""},
		{"nobody to ask", &script{verdict: Ask, cannot: true}, "policy take approver offer", CodeExecutionDenied},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.script
			opts := &RegistryOptions{Policy: s, Consents: s, Recorder: s, Redactor: s}
			registry := echo(t, spec, opts, func(context.Context, *Call, echoIn) (*Outcome[echoOut], error) {
				s.note("run")
				return Answer("hunter2", echoOut{echoIn{Text: "hunter2"}}), nil
			})
			result := registry.Call(t.Context(), "echo", []byte(`{"text":"a"}`), CallOptions{Approver: s})
			if got := strings.Join(s.log, " "); got != c.want {
				t.Errorf("order %q, want %q", got, c.want)
			}
			if result.Err == nil && c.code != "" || result.Err != nil && result.Err.Code != c.code {
				t.Errorf("error %v, want %s", result.Err, c.code)
			}
			if text, _ := json.Marshal(result); strings.Contains(string(text), "hunter2") {
				t.Errorf("not redacted: %s", text)
			}
		})
	}
}

// mask redacts one text.
type mask string

func (m mask) Redact(text []byte) []byte {
	return []byte(strings.ReplaceAll(string(text), string(m), "[redacted]"))
}

// TestRedactedMetadataIsJSON: whatever a secret looks like.
func TestRedactedMetadataIsJSON(t *testing.T) {
	for secret, want := range map[string]string{
		"hunter2":        `{"in":{"text":"12345678","tags":["a","b [redacted]"],"big":12345678}}`,
		"12345678":       `{"in":{"big":"[redacted]","tags":["a","b hunter2"],"text":"[redacted]"}}`,
		`78","tags":["a`: `{"in":{"big":12345678,"tags":["a","b hunter2"],"text":"12345678"}}`,
	} {
		registry := echo(t, echoSpec, &RegistryOptions{Redactor: mask(secret)}, nil)
		result := registry.Call(t.Context(), "echo", []byte(`{"text":"12345678","big":12345678,"tags":["a","b hunter2"]}`), CallOptions{})
		var got, expected any
		if err := json.Unmarshal(result.Metadata, &got); err != nil {
			t.Fatalf("%s: %v in %s", secret, err, result.Metadata)
		}
		if err := json.Unmarshal([]byte(want), &expected); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, expected) {
			t.Errorf("%s: %s, want %s", secret, result.Metadata, want)
		}
	}
}

func TestApprovalScopes(t *testing.T) {
	for scope, want := range map[ApprovalScope]int{ApproveOnce: 4, ApproveRun: 1, ApproveSession: 2} {
		s := &script{verdict: Ask, yes: true}
		registry := echo(t, echoSpec, &RegistryOptions{Policy: s, Approvals: scope}, nil)
		for _, session := range []string{"a", "a", "b", "b"} {
			if result := registry.Call(t.Context(), "echo", []byte(`{"text":"x"}`), CallOptions{Session: session, Approver: s}); result.Err != nil {
				t.Fatal(result.Err)
			}
		}
		if got := strings.Count(strings.Join(s.log, " "), "approver"); got != want {
			t.Errorf("%s: asked %d times, want %d", scope, got, want)
		}
	}
}

// offers remembers what was offered for consent.
type offers struct{ actions []Action }

func (*offers) Take(context.Context, string) (bool, error) { return false, nil }

func (o *offers) Offer(_ context.Context, action Action, _ string) (string, error) {
	o.actions = append(o.actions, action)
	return "id", nil
}

// TestConsentIsForOneWorkspace: the same words in two workspaces are two actions.
func TestConsentIsForOneWorkspace(t *testing.T) {
	digests := map[string]bool{}
	for _, root := range []string{"/one", "/two"} {
		o := &offers{}
		registry := echo(t, echoSpec, &RegistryOptions{Root: root, Policy: &script{verdict: Ask}, Consents: o}, nil)
		result := registry.Call(t.Context(), "echo", []byte(`{"text":"x"}`), CallOptions{})
		if result.Err == nil || len(o.actions) != 1 || o.actions[0].Root != root {
			t.Fatalf("%s: %v, offered %+v", root, result.Err, o.actions)
		}
		digests[o.actions[0].Digest()] = true
	}
	if len(digests) != 2 {
		t.Error("a consent in one workspace is one in the other")
	}
}

func TestExclusiveCallsRunAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := echoSpec
		spec.Exclusive = true
		var running atomic.Int32
		registry := echo(t, spec, nil, func(context.Context, *Call, echoIn) (*Outcome[echoOut], error) {
			if running.Add(1) > 1 {
				t.Error("two exclusive calls of one session at once")
			}
			time.Sleep(time.Second)
			running.Add(-1)
			return nil, nil
		})
		start := time.Now()
		var wait sync.WaitGroup
		for range 3 {
			wait.Go(func() { registry.Call(t.Context(), "echo", []byte(`{"text":"x"}`), CallOptions{Session: "a"}) })
		}
		wait.Wait()
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("three exclusive calls took %s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		wait.Go(func() { registry.Call(t.Context(), "echo", []byte(`{"text":"x"}`), CallOptions{Session: "a"}) })
		synctest.Wait()
		if result := registry.Call(ctx, "echo", []byte(`{"text":"x"}`), CallOptions{Session: "a"}); !errors.Is(result.Err, CodeTimeout) {
			t.Errorf("a call whose time passes while it waits: %v", result.Err)
		}
		wait.Wait()
	})
}

func TestSelect(t *testing.T) {
	registry := echo(t, echoSpec, nil, nil)
	for _, c := range []struct {
		filter Filter
		names  int
		code   Code
	}{
		{Filter{}, 1, ""},
		{Filter{ReadOnly: true}, 1, ""},
		{Filter{Exclude: []string{"echo"}}, 0, ""},
		{Filter{Toolsets: []string{"core"}}, 1, ""},
		{Filter{Toolsets: []string{"cor"}}, 0, CodeToolInput},
		{Filter{Exclude: []string{"ech"}}, 0, CodeToolInput},
	} {
		selected, err := registry.Select(c.filter)
		if c.code != "" {
			if !errors.Is(err, c.code) {
				t.Errorf("%+v: %v", c.filter, err)
			}
			continue
		}
		if err != nil || len(selected.Names()) != c.names {
			t.Errorf("%+v: %v %v", c.filter, selected, err)
		}
	}
	if _, err := NewRegistry(append(registry.Tools(), registry.Tools()...), nil); !errors.Is(err, CodeToolInput) {
		t.Errorf("two tools of one name: %v", err)
	}
}

func TestEventsNeverBlock(t *testing.T) {
	release, got := make(chan struct{}), 0
	events := NewEvents(func(Event) { <-release; got++ }, 2)
	for range 10 {
		events.Emit(Event{Kind: EventFileChanged})
	}
	if events.Dropped() < 7 {
		t.Errorf("dropped %d", events.Dropped())
	}
	close(release)
	events.Close()
	events.Close()
	events.Emit(Event{})
	if int64(got)+events.Dropped() != 11 {
		t.Errorf("delivered %d, dropped %d", got, events.Dropped())
	}
	(*Events)(nil).Emit(Event{})
}

func TestResultTextIsBounded(t *testing.T) {
	registry := echo(t, echoSpec, nil, func(context.Context, *Call, echoIn) (*Outcome[echoOut], error) {
		return Answer(strings.Repeat("é", maxText), echoOut{}), nil
	})
	result := registry.Call(t.Context(), "echo", []byte(`{"text":"a"}`), CallOptions{})
	text := result.Content[0].Text
	if len(text) > maxText+100 || !strings.Contains(text, "[truncated by bytes") || strings.ContainsRune(text, '�') {
		t.Errorf("%d bytes, end %q", len(text), text[len(text)-80:])
	}
}
