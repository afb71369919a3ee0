package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// Effects keeps account of what mutating calls do to the world: so that what became
// of one can be told after a crash, and so that a call of a run happens once.
type Effects interface {
	// Begin is asked when the policy has agreed, before the call runs. An error keeps
	// the call from being made. The account may be nil: then none is kept of it.
	Begin(ctx context.Context, call EffectCall) (EffectAccount, error)
}

// EffectCall is a mutating call that is about to be made.
type EffectCall struct {
	Tool    string
	ID      string
	Session string
	Owner   string
	// Run is CallOptions.Run, within bounds.
	Run string
	// Arguments are the input as the tool gets it; nil without a run.
	Arguments json.RawMessage
	// Witnessed: the tool says itself what it is about to change.
	Witnessed bool
	// Timeout is the longest that the call takes; zero is that nobody knows.
	Timeout time.Duration
}

// EffectAccount is the account of one call. Planned may be called by several
// goroutines, and not after End.
type EffectAccount interface {
	// Replay is the result of the call if it has happened before; it is not made again
	// then, and neither Planned nor End is called. nil: it is to be made.
	Replay() *Result
	// Planned is a PlannedFunc.
	Planned(ctx context.Context, witnesses []Witness) error
	// End is told the result as the caller gets it.
	End(ctx context.Context, result *Result)
}

// maxRun bounds the name of a run, in bytes.
const maxRun = 256

// effect makes the call, and keeps account of it.
func (r *Registry) effect(ctx context.Context, call *Call, in any) *Result {
	account, err := r.account(ctx, call, in)
	if err != nil {
		return r.finish(call.tool.spec.Name, nil, nil, err)
	}
	if account == nil {
		content, metadata, err := r.run(ctx, call, in)
		return r.finish(call.tool.spec.Name, content, metadata, err)
	}
	if before := account.Replay(); before != nil {
		return before
	}
	content, metadata, err := r.run(WithPlanned(ctx, account.Planned), call, in)
	result := r.finish(call.tool.spec.Name, content, metadata, err)
	account.End(context.WithoutCancel(ctx), result)
	return result
}

// account begins the account of a mutating call.
func (r *Registry) account(ctx context.Context, call *Call, in any) (EffectAccount, error) {
	spec := &call.tool.spec
	if !spec.Effect.Mutates() || call.action.Mutation == MutatesNothing {
		return nil, nil // observing twice is no harm
	}
	about := EffectCall{
		Tool: spec.Name, ID: call.ID, Session: call.Session, Owner: call.Owner, Run: call.Run,
		Witnessed: spec.Effect.Witnessed(), Timeout: spec.Timeout,
	}
	if call.Run != "" {
		if len(call.Run) > maxRun || !utf8.ValidString(call.Run) {
			return nil, Errorf(CodeToolInput, "a run has a name of at most %d bytes of UTF-8", maxRun)
		}
		if r.opts.Effects == nil {
			return nil, Errorf(CodeStateUnavailable, "no account of effects is kept here, so %s cannot be made as a part of the run %q", spec.Name, call.Run)
		}
		var err error
		if about.Arguments, err = encode(in); err != nil {
			return nil, err
		}
	}
	if r.opts.Effects == nil {
		return nil, nil
	}
	return r.opts.Effects.Begin(ctx, about)
}

// Bounded returns the result's JSON in at most that many bytes, of which it needs a
// thousand. What is too long is cut, texts and lists alike, the longest first, and
// images are left out; it stays a result whose metadata has its form.
func (r *Result) Bounded(most int) ([]byte, error) {
	text, err := encode(r)
	if err != nil || len(text) <= most {
		return text, err
	}
	for bound := most / 2; bound >= 16; bound /= 2 {
		if text, err = encode(r.cut(bound)); err != nil || len(text) <= most {
			return text, err
		}
	}
	return encode(&Result{Tool: r.Tool, Content: []Block{Text("[the result was too long to keep]")}, Metadata: json.RawMessage("{}")})
}

// cut returns a copy of r in which nothing is longer than bound.
func (r *Result) cut(bound int) *Result {
	short := &Result{Tool: r.Tool, Metadata: json.RawMessage(cutJSON(r.Metadata, bound))}
	for i, block := range r.Content {
		if i*16 > bound {
			short.Content = append(short.Content, Text(fmt.Sprintf("[%d more blocks were not kept]", len(r.Content)-i)))
			break
		}
		if block.Type != "text" {
			block = Text(fmt.Sprintf("[%s of %d bytes, which was not kept]", block.MIMEType, len(block.Data)))
		}
		block.Text = cutText(block.Text, bound, "\n[the rest was not kept]")
		short.Content = append(short.Content, block)
	}
	if r.Err != nil {
		short.Err = &Error{Code: r.Err.Code, Message: cutText(r.Err.Message, bound, "…")}
		if details, err := encode(r.Err.Details); err == nil && len(details) <= bound {
			short.Err.Details = json.RawMessage(details)
		}
	}
	return short
}

// cutText cuts text to at most bound bytes, between characters, and says so.
func cutText(text string, bound int, note string) string {
	if len(text) <= bound {
		return text
	}
	for bound > 0 && text[bound]&0xC0 == 0x80 {
		bound--
	}
	return text[:bound] + note
}

func cutJSON(text []byte, bound int) []byte {
	value, err := decodeJSON(text)
	if err != nil {
		return []byte("{}")
	}
	short, err := encode(cutValue(value, bound))
	if err != nil {
		return []byte("{}")
	}
	return short
}

func cutValue(value any, bound int) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = cutValue(member, bound)
		}
	case []any:
		v = v[:min(len(v), bound/16)]
		for i, element := range v {
			v[i] = cutValue(element, bound)
		}
		return v
	case string:
		return cutText(v, bound, "…")
	}
	return value
}

// DecodeResult reads what Result.Bounded wrote.
func DecodeResult(text []byte) (*Result, error) {
	var wire struct {
		Tool     string          `json:"tool"`
		Content  []Block         `json:"content"`
		Metadata json.RawMessage `json:"metadata"`
		Error    *struct {
			Code    Code            `json:"code"`
			Message string          `json:"message"`
			Details json.RawMessage `json:"details"`
		} `json:"error"`
	}
	if err := json.Unmarshal(text, &wire); err != nil {
		return nil, Errorf(CodeStateUnavailable, "a result that was kept cannot be read: %w", err)
	}
	result := &Result{Tool: wire.Tool, Content: wire.Content, Metadata: wire.Metadata}
	if result.Content == nil {
		result.Content = []Block{}
	}
	if wire.Error != nil {
		result.Err = &Error{Code: wire.Error.Code, Message: wire.Error.Message}
		if len(wire.Error.Details) > 0 {
			result.Err.Details = wire.Error.Details
		}
	}
	return result, nil
}
