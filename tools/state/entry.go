package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
)

// entry is the account of one call.
type entry struct {
	account  *Account
	call     tools.EffectCall
	owner    Owner
	identity EffectIdentity
	replay   *tools.Result

	mu         sync.Mutex
	claim      *EffectClaim
	dispatched bool
	blind      bool // something is about to change that no witness is of
	witnesses  []tools.Witness
	lost       bool // the store failed: the call goes on without account
}

// Replay implements tools.EffectAccount.
func (e *entry) Replay() *tools.Result { return e.replay }

// takeUp looks whether the call of a run has happened. Nothing is claimed before
// something is about to change.
func (e *entry) takeUp(ctx context.Context) error {
	key, err := e.identity.Key()
	if err != nil {
		return err
	}
	effect, err := e.account.store.Get(ctx, e.owner, key)
	switch {
	case errors.Is(err, tools.CodeNotFound):
		return nil
	case err != nil:
		return e.refused(err)
	case effect.State == EffectUnknown:
		if effect, err = e.settle(ctx, effect); err != nil {
			return err
		}
	}
	switch effect.State {
	case EffectDispatched:
		return tools.Errorf(tools.CodeStateConflict, "%s is being made by somebody else for the run %q, or was cut short; what became of it can be told from %s on", e.call.Tool, e.call.Run, effect.Expires.Format(time.RFC3339))
	case EffectUnknown:
		return e.doubtful(effect)
	}
	return e.ended(effect)
}

// ended takes the result of an effect that has happened, and refuses one that never
// will.
func (e *entry) ended(effect Effect) (err error) {
	switch effect.State {
	case EffectCompleted:
		e.replay, err = replayed(e.call.Tool, effect)
	case EffectFailedTerminal:
		err = tools.Errorf(tools.CodeExecutionDenied, "%s has been given up for the run %q: %s", e.call.Tool, e.call.Run, effect.Reason)
	}
	return err
}

// settle ends the doubt about the call's effect if it can be told what became of it.
func (e *entry) settle(ctx context.Context, effect Effect) (Effect, error) {
	found, err := Reconcile(ctx, e.account.store, effect, e.account.opts.Look)
	if err != nil && !errors.Is(err, tools.CodeStateConflict) { // somebody else was faster
		return effect, e.refused(err)
	}
	if found.Finding == FoundUnknown {
		if !e.call.Repeatable {
			effect.Reason = found.Reason
			return effect, nil
		}
		again := EffectResolution{State: EffectFailedRetryable, Reason: "made again, it is no second effect"}
		if err := e.account.store.ResolveUnknown(ctx, effect.Owner, effect.Key, again); err != nil && !errors.Is(err, tools.CodeStateConflict) {
			return effect, e.refused(err)
		}
	}
	effect, err = e.account.store.Get(ctx, e.owner, effect.Key)
	return effect, e.refused(err)
}

func (e *entry) doubtful(effect Effect) error {
	return tools.Errorf(tools.CodeEffectUnknown, "whether %s has happened in the run %q is not known: %s. A person has to look, and say so: effect %s", e.call.Tool, e.call.Run, effect.Reason, effect.Key).
		WithDetails(effect)
}

// refused is why a call of a run is not made when the store fails.
func (e *entry) refused(err error) error {
	if err == nil || e.call.Run == "" || !storeFailed(err) {
		return err
	}
	return tools.Errorf(tools.CodeStateUnavailable, "%s was not carried out: it is a part of the run %q, and whether it has happened before cannot be looked up: %s", e.call.Tool, e.call.Run, tools.AsError(err).Message)
}

// begin claims the effect, or finds out that it has happened.
func (e *entry) begin(ctx context.Context, opts *EffectOptions) error {
	effect, err := e.account.store.Begin(ctx, e.owner, e.identity, opts)
	if err != nil {
		return e.refused(err)
	}
	if effect.State != EffectPending && effect.State != EffectDispatched {
		return e.ended(effect)
	}
	e.claim = &EffectClaim{Owner: effect.Owner, Key: effect.Key, Token: effect.Claim}
	e.dispatched = effect.State == EffectDispatched
	return nil
}

// replayed is the result of an effect that has happened.
func replayed(tool string, effect Effect) (*tools.Result, error) {
	if len(effect.Result) > 0 {
		return tools.DecodeResult(effect.Result)
	}
	text := tool + " has happened already; its result was lost"
	for _, w := range effect.Witnesses {
		text += "\n" + w.Name()
	}
	return &tools.Result{Tool: tool, Content: []tools.Block{tools.Text(text)}, Metadata: json.RawMessage("{}")}, nil
}

// Planned implements tools.EffectAccount. It returns when what is about to change is
// on record, unless nothing is.
func (e *entry) Planned(ctx context.Context, witnesses []tools.Witness) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	changing, blind := witnesses[:0:0], len(witnesses) == 0
	for _, w := range witnesses {
		switch {
		case w.NoChange():
		case !utf8.ValidString(w.Ref + w.Repository): // not to be written down
			blind = true
		default:
			changing = append(changing, w)
		}
	}
	if e.lost || len(changing) == 0 && !blind {
		return nil
	}
	e.blind = e.blind || blind
	if blind {
		changing = append(changing, tools.Witness{})
	}
	err := e.dispatch(ctx, changing)
	if errors.Is(err, tools.CodeStateLimit) && !e.fits(changing) {
		// More than can be kept: on record is only that something was about to change.
		e.blind = true
		err = e.dispatch(ctx, []tools.Witness{{}})
	}
	if err == nil {
		e.account.lost.Store(false)
		return nil
	}
	if e.call.Run != "" || ctx.Err() != nil {
		return err
	}
	e.lost, e.blind = e.claim == nil, true
	e.account.down.Store(time.Now().Add(retryAfter).UnixNano())
	level := slog.LevelWarn
	if e.account.lost.Swap(true) {
		level = slog.LevelDebug // once is enough
	}
	e.account.opts.Logger.Log(ctx, level, "what tools change goes without account: the state store cannot be used", "tool", e.call.Tool, "error", err)
	return nil
}

// fits reports whether a store takes that many witnesses.
func (e *entry) fits(more []tools.Witness) bool {
	text, err := json.Marshal(append(e.witnesses[:len(e.witnesses):len(e.witnesses)], more...))
	return err == nil && int64(len(text)) <= e.account.opts.ResultBytes
}

// dispatch claims the effect if that has not been done, and records that it begins.
func (e *entry) dispatch(ctx context.Context, witnesses []tools.Witness) error {
	if e.call.Run == "" {
		waiting, cancel := context.WithTimeout(ctx, e.account.opts.Wait)
		defer cancel()
		ctx = waiting
	}
	if e.claim == nil {
		opts := e.options()
		opts.Dispatched, opts.Witnesses = true, witnesses
		if err := e.begin(ctx, opts); err != nil {
			return err
		}
		if e.replay != nil {
			e.replay = nil
			return tools.Errorf(tools.CodeStateConflict, "%s has just been made by somebody else for the run %q; ask again for its result", e.call.Tool, e.call.Run)
		}
		if e.dispatched {
			e.witnesses = append(e.witnesses, witnesses...)
			return nil
		}
	}
	if err := e.account.store.MarkDispatched(ctx, *e.claim, witnesses); err != nil {
		return e.refused(err)
	}
	e.dispatched = true
	e.witnesses = append(e.witnesses, witnesses...)
	return nil
}

// endTime bounds how long the end of a call waits for the store.
const endTime = 10 * time.Second

// End implements tools.EffectAccount.
func (e *entry) End(ctx context.Context, result *tools.Result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lost || e.claim == nil && (e.call.Run == "" || result.Err != nil) {
		return // nothing happened, or nobody knows of it
	}
	record := func() {
		ctx, cancel := context.WithTimeout(ctx, endTime)
		defer cancel()
		if err := e.end(ctx, result); err != nil {
			e.account.opts.Logger.Warn("the end of an effect was not recorded; it will be in doubt", "tool", e.call.Tool, "error", err)
		}
		e.account.tidy(ctx, e.owner)
	}
	if e.call.Run == "" {
		e.account.later(record)
		return
	}
	record()
}

func (e *entry) end(ctx context.Context, result *tools.Result) error {
	if e.claim == nil {
		if err := e.begin(ctx, e.options()); err != nil || e.claim == nil {
			return err
		}
	}
	if result.Err == nil {
		return e.complete(ctx, result)
	}
	reason := string(result.Err.Code) + ": " + result.Err.Message
	switch found, why := e.became(ctx, result.Err); found {
	case FoundCommitted:
		return e.complete(ctx, result)
	case FoundNotApplied:
		return e.account.store.Fail(ctx, *e.claim, true, shortened(reason))
	default:
		return e.account.store.MarkUnknown(ctx, *e.claim, shortened(why+" ("+reason+")"))
	}
}

// became tells what a call that failed has done nevertheless.
func (e *entry) became(ctx context.Context, failure *tools.Error) (Finding, string) {
	switch {
	case !e.dispatched:
		return FoundNotApplied, ""
	case !e.blind && e.account.opts.Look != nil:
		return Compare(ctx, e.witnesses, e.account.opts.Look)
	case refusal(failure.Code):
		return FoundNotApplied, ""
	case e.call.Witnessed || failure.Code == tools.CodeInternal:
		return FoundUnknown, "it failed when it had begun"
	case e.call.Run != "" && (failure.Code == tools.CodeAborted || failure.Code == tools.CodeTimeout):
		return FoundUnknown, "it was cut short"
	}
	return FoundCommitted, "" // it ran, and the failure is what came of it
}

// refusal reports whether a code says that nothing was begun.
func refusal(code tools.Code) bool {
	switch code {
	case tools.CodeToolInput, tools.CodeExecutionDenied, tools.CodeDecisionUnsupported, tools.CodePathEscape, tools.CodeStateUnavailable,
		tools.CodeProcessPolicy, tools.CodeProcessOwnership, tools.CodeProcessState, tools.CodeProcessLimit,
		tools.CodePTYUnsupported, tools.CodePTYLimit, tools.CodeProcessUnsupported, tools.CodeCheckUnknown:
		return true
	}
	return false
}

// complete keeps the result for who asks again, which nobody does without a run.
func (e *entry) complete(ctx context.Context, result *tools.Result) error {
	var kept []byte
	if e.call.Run != "" {
		var err error
		if kept, err = result.Bounded(int(e.account.opts.ResultBytes)); err != nil {
			return fmt.Errorf("a result that cannot be kept: %w", err)
		}
	}
	return e.account.store.Complete(ctx, *e.claim, kept)
}

// shortened bounds a reason.
func shortened(reason string) string {
	const most = 1000
	if len(reason) <= most {
		return reason
	}
	cut := most
	for cut > 0 && reason[cut]&0xC0 == 0x80 {
		cut--
	}
	return reason[:cut] + "…"
}
