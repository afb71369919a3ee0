package tools

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestRunWithoutAccount(t *testing.T) {
	spec := echoSpec
	spec.Effect = ChangesFiles
	registry := echo(t, spec, nil, nil)
	got := registry.Call(t.Context(), "echo", []byte(`{"text":"a"}`), CallOptions{Run: "r"})
	if !errors.Is(got.Err, CodeStateUnavailable) {
		t.Errorf("got %v", got.Err)
	}
	if got := echo(t, echoSpec, nil, nil).Call(t.Context(), "echo", []byte(`{"text":"a"}`), CallOptions{Run: "r"}); got.Err != nil {
		t.Errorf("observing is no effect: %v", got.Err)
	}
}

// scribe is an account of one call.
type scribe struct {
	begun  []EffectCall
	ended  []*Result
	refuse error
	replay *Result
}

func (s *scribe) Begin(_ context.Context, call EffectCall) (EffectAccount, error) {
	s.begun = append(s.begun, call)
	return s, s.refuse
}
func (s *scribe) Replay() *Result                          { return s.replay }
func (s *scribe) Planned(context.Context, []Witness) error { return s.refuse }
func (s *scribe) End(_ context.Context, result *Result)    { s.ended = append(s.ended, result) }

// hiding is a Redactor.
type hiding struct{}

func (hiding) Redact(text []byte) []byte {
	return []byte(strings.ReplaceAll(string(text), "secret", "******"))
}

func TestAccountOfACall(t *testing.T) {
	spec := echoSpec
	spec.Effect = ChangesFiles
	ran := 0
	account := &scribe{}
	run := func(ctx context.Context, _ *Call, in echoIn) (*Outcome[echoOut], error) {
		ran++
		if !PlannedWanted(ctx) {
			t.Error("nobody hears of changes")
		}
		return Answer(in.Text, echoOut{in}), nil
	}
	registry := echo(t, spec, &RegistryOptions{Effects: account, Redactor: hiding{}}, run)
	got := registry.Call(t.Context(), "echo", []byte(` {"count": 2.0, "text": "secret"}`), CallOptions{Run: "r", Owner: "o", Session: "s"})
	if got.Err != nil || len(account.begun) != 1 || len(account.ended) != 1 {
		t.Fatalf("%v, %+v", got.Err, account)
	}
	if call := account.begun[0]; string(call.Arguments) != `{"text":"secret","count":2}` || !call.Witnessed || call.Owner != "o" || call.Session != "s" || call.ID == "" {
		t.Errorf("begun with %+v, arguments %s", call, call.Arguments)
	}
	if kept := account.ended[0]; kept != got || kept.Content[0].Text != "******" {
		t.Errorf("kept is %+v", kept)
	}
	account.replay = &Result{Tool: "echo", Content: []Block{Text("before")}}
	if got := registry.Call(t.Context(), "echo", []byte(`{"text":"a"}`), CallOptions{Run: "r"}); got != account.replay || ran != 1 || len(account.ended) != 1 {
		t.Errorf("replayed %+v, ran %d times", got, ran)
	}
	account.refuse = Errorf(CodeEffectUnknown, "who knows")
	if got := registry.Call(t.Context(), "echo", []byte(`{"text":"a"}`), CallOptions{Run: "r"}); !errors.Is(got.Err, CodeEffectUnknown) || ran != 1 {
		t.Errorf("refused with %v, ran %d times", got.Err, ran)
	}
}

func TestBoundedResult(t *testing.T) {
	small := &Result{Tool: "t", Content: []Block{Text("a")}, Metadata: json.RawMessage(`{"a":9007199254740993}`), Err: Errorf(CodeIO, "b").WithDetails(map[string]int{"c": 1})}
	text, err := small.Bounded(1000)
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeResult(text)
	if err != nil || back.Content[0].Text != "a" || string(back.Metadata) != `{"a":9007199254740993}` || !errors.Is(back.Err, CodeIO) {
		t.Errorf("%v: %+v", err, back)
	}
	again, _ := back.Bounded(1000)
	if string(again) != string(text) {
		t.Errorf("got  %s\nwant %s", again, text)
	}
	list, _ := json.Marshal(map[string]any{"lines": strings.Fields(strings.Repeat("word ", 20_000)), "deep": map[string]any{"text": strings.Repeat("ä", 50_000)}})
	large := &Result{Tool: "t", Metadata: list, Err: Errorf(CodeIO, "%s", strings.Repeat("m", 40_000))}
	for range 200 {
		large.Content = append(large.Content, Text(strings.Repeat("z", 1000)), Image("image/png", make([]byte, 5000)))
	}
	for _, most := range []int{200_000, 64 << 10, 5000, 1000} {
		text, err := large.Bounded(most)
		if err != nil || len(text) > most {
			t.Fatalf("%d: %d bytes, %v", most, len(text), err)
		}
		back, err := DecodeResult(text)
		if err != nil {
			t.Fatal(err)
		}
		var metadata struct {
			Lines []string `json:"lines"`
			Deep  struct {
				Text string `json:"text"`
			} `json:"deep"`
		}
		if err := json.Unmarshal(back.Metadata, &metadata); err != nil || most >= 5000 && (len(metadata.Lines) == 0 || !errors.Is(back.Err, CodeIO) || len(text) < most/8) {
			t.Errorf("%d: %v, %d lines, %v, %d bytes", most, err, len(metadata.Lines), back.Err, len(text))
		}
	}
	if _, err := DecodeResult([]byte("{")); !errors.Is(err, CodeStateUnavailable) {
		t.Errorf("got %v", err)
	}
}
