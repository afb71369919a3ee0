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
	// Begin is asked before anything else is: whether the call has happened already is
	// to be told of one, too, that could not be made any more. It claims nothing. An
	// error keeps the call from being made. The account may be nil: none is kept.
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
	// Witnessed: the tool says itself what it is about to change. Of others Planned is
	// told, without witnesses, when the policy has agreed.
	Witnessed bool
	// Repeatable: the tool itself sees to it that a call which is made again is no
	// second effect.
	Repeatable bool
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
	// End is told the result as the caller gets it, if the call was made.
	End(ctx context.Context, result *Result)
}

// maxRun bounds the name of a run, in bytes.
const maxRun = 256

// accounting is the account of a call, or nil where none is kept.
type accounting struct {
	EffectAccount
	about EffectCall
	idle  bool // the call only asks
}

func (a *accounting) replay() *Result {
	if a == nil {
		return nil
	}
	return a.Replay()
}

// begin returns the context in which changes are told of. A call of which nobody will
// hear more is on record when it returns.
func (a *accounting) begin(ctx context.Context, call *Call) (context.Context, error) {
	if a == nil {
		return ctx, nil
	}
	if a.idle = call.action.Mutation == MutatesNothing; a.idle {
		return ctx, nil
	}
	if !a.about.Witnessed {
		if err := a.Planned(ctx, nil); err != nil {
			a.idle = true
			return ctx, err
		}
	}
	return WithPlanned(ctx, a.Planned), nil
}

func (a *accounting) end(ctx context.Context, result *Result) {
	if a != nil && !a.idle {
		a.End(context.WithoutCancel(ctx), result)
	}
}

// account looks a mutating call up.
func (r *Registry) account(ctx context.Context, call *Call, in any) (*accounting, error) {
	spec := &call.tool.spec
	if !spec.Effect.Mutates() {
		return nil, nil // observing twice is no harm
	}
	about := EffectCall{
		Tool: spec.Name, ID: call.ID, Session: call.Session, Owner: call.Owner, Run: call.Run,
		Witnessed: spec.Effect.Witnessed(), Repeatable: spec.Effect.Idempotency == IdempotencyToolManaged, Timeout: spec.Timeout,
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
	account, err := r.opts.Effects.Begin(ctx, about)
	if account == nil || err != nil {
		return nil, err
	}
	return &accounting{EffectAccount: account, about: about}, nil
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
