package state

import (
	"slices"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// The steps of effects, for those who implement stores: each takes an effect as it is
// kept, and returns it as it is to be kept from then on, or why it is not to change.

// ReasonBytes bounds the reason of a failure or doubt.
var ReasonBytes = tools.Limit{Name: "reasonBytes", Default: 4 << 10, Hard: 4 << 10}

// EffectAttempt is a claim that is asked for.
type EffectAttempt struct {
	Owner     Owner
	Key       string
	Operation string
	// Dispatched and Witnesses are those of EffectOptions.
	Dispatched bool
	Witnesses  []tools.Witness
	// Most bounds the witnesses' JSON: the store's EffectResultBytes, or zero for the
	// default.
	Most int64
	// Token is the claim's, if it is given.
	Token    int64
	Now      time.Time
	TTL      time.Duration
	Attempts int64
}

// NewEffectAttempt checks what Begin was given. Token and Now are the store's to fill in.
func NewEffectAttempt(owner Owner, identity EffectIdentity, opts *EffectOptions) (EffectAttempt, error) {
	if opts == nil {
		opts = &EffectOptions{}
	}
	if err := owner.Check(); err != nil {
		return EffectAttempt{}, err
	}
	if err := checkName("operation", identity.Operation, true); err != nil {
		return EffectAttempt{}, err
	}
	ttl, err := EffectTime.Duration(opts.TTL)
	if err != nil {
		return EffectAttempt{}, err
	}
	attempts, err := EffectAttempts.Option(opts.Attempts)
	if err != nil {
		return EffectAttempt{}, err
	}
	key, err := identity.Key()
	if err != nil {
		return EffectAttempt{}, err
	}
	return EffectAttempt{
		Owner: owner, Key: key, Operation: identity.Operation, TTL: ttl, Attempts: attempts,
		Dispatched: opts.Dispatched, Witnesses: opts.Witnesses,
	}, nil
}

// Begin decides what becomes of the effect that is kept (nil: none). The effect is to
// be kept if changed, even with an error, which is what Begin of a store returns.
func (a *EffectAttempt) Begin(kept *Effect) (next Effect, changed bool, err error) {
	if kept == nil {
		return a.claim(Effect{Owner: a.Owner, Key: a.Key, Operation: a.Operation, Created: a.Now})
	}
	e := *kept
	if err := e.Own(a.Owner); err != nil {
		return Effect{}, false, err
	}
	expired := !a.Now.Before(e.Expires)
	switch e.State {
	case EffectCompleted, EffectFailedTerminal:
		return e, false, nil
	case EffectPending, EffectDispatched:
		if !expired {
			return Effect{}, false, tools.Errorf(tools.CodeStateConflict, "%s is being carried out by somebody, whose claim lasts until %s", e.Operation, e.Expires.Format(time.RFC3339))
		}
		if e.State == EffectDispatched {
			e = e.Seen(a.Now)
			e.Updated = a.Now
			return e, true, e.doubt()
		}
	case EffectUnknown:
		return e, false, e.doubt()
	}
	if e.Attempts >= a.Attempts {
		return Effect{}, false, tools.Errorf(tools.CodeStateLimit, "%s was tried %d times, and may be %d times", e.Operation, e.Attempts, a.Attempts)
	}
	return a.claim(e)
}

// claim has nothing of an earlier attempt left.
func (a *EffectAttempt) claim(e Effect) (next Effect, changed bool, err error) {
	e.State, e.Attempts, e.Claim = EffectPending, e.Attempts+1, a.Token
	e.Expires, e.Updated = a.Now.Add(a.TTL), a.Now
	e.Witnesses, e.Result, e.Reason = nil, nil, ""
	if !a.Dispatched {
		return e, true, nil
	}
	most, err := EffectResultBytes.Option(a.Most)
	if err != nil {
		return Effect{}, false, err
	}
	claim := EffectClaim{Owner: e.Owner, Key: e.Key, Token: e.Claim}
	if e, err = e.Dispatch(claim, a.Now, a.Witnesses, most); err != nil {
		return Effect{}, false, err
	}
	return e, true, nil
}

// Own refuses an effect of another owner.
func (e Effect) Own(owner Owner) error {
	if e.Owner != owner {
		return tools.Errorf(tools.CodeStateOwnership, "this effect belongs to another owner")
	}
	return nil
}

func (e Effect) doubt() error {
	return tools.Errorf(tools.CodeEffectUnknown, "whether %s happened is not known: %s", e.Operation, e.Reason).WithDetails(e)
}

// Seen is the effect as it is to be shown: a dispatched one whose claim has expired is
// unknown, whether or not anybody has noticed yet.
func (e Effect) Seen(now time.Time) Effect {
	if e.State == EffectDispatched && !now.Before(e.Expires) {
		e.State = EffectUnknown
		e.Reason = "whoever carried it out was not heard of again"
	}
	return e
}

// claimed checks that the claim is the current one.
func (e Effect) claimed(claim EffectClaim, now time.Time, from ...EffectState) error {
	if err := e.Own(claim.Owner); err != nil {
		return err
	}
	if claim.Token != e.Claim {
		return tools.Errorf(tools.CodeStateFence, "%s has been claimed by somebody else since", e.Operation)
	}
	for _, state := range from {
		if e.State != state {
			continue
		}
		if !now.Before(e.Expires) {
			return tools.Errorf(tools.CodeStateFence, "the claim on %s ended at %s", e.Operation, e.Expires.Format(time.RFC3339))
		}
		return nil
	}
	return tools.Errorf(tools.CodeStateConflict, "%s is %s already", e.Operation, e.State)
}

// Dispatch is the step of MarkDispatched.
func (e Effect) Dispatch(claim EffectClaim, now time.Time, witnesses []tools.Witness, most int64) (Effect, error) {
	if err := e.claimed(claim, now, EffectPending, EffectDispatched); err != nil {
		return Effect{}, err
	}
	e.Witnesses = append(e.Witnesses[:len(e.Witnesses):len(e.Witnesses)], witnesses...)
	text, err := EncodeWitnesses(e.Witnesses)
	if err != nil {
		return Effect{}, err
	}
	if int64(len(text)) > most {
		return Effect{}, tools.Errorf(tools.CodeStateLimit, "the witnesses of %s have %d bytes, may have %d", e.Operation, len(text), most)
	}
	e.State, e.Updated = EffectDispatched, now
	return e, nil
}

// Complete is the step of Complete.
func (e Effect) Complete(claim EffectClaim, now time.Time, result []byte, most int64) (Effect, error) {
	if err := e.claimed(claim, now, EffectPending, EffectDispatched); err != nil {
		return Effect{}, err
	}
	if err := checkResult(result, most); err != nil {
		return Effect{}, err
	}
	e.State, e.Result, e.Updated = EffectCompleted, result, now
	return e, nil
}

func checkResult(result []byte, most int64) error {
	if int64(len(result)) > most {
		return tools.Errorf(tools.CodeStateLimit, "a result has %d bytes, may have %d", len(result), most)
	}
	return nil
}

func checkReason(reason string) error {
	if int64(len(reason)) > ReasonBytes.Hard {
		return tools.Errorf(tools.CodeStateLimit, "a reason has %d bytes, may have %d", len(reason), ReasonBytes.Hard)
	}
	return checkText("reason", reason)
}

// Fail is the step of Fail.
func (e Effect) Fail(claim EffectClaim, now time.Time, retryable bool, reason string) (Effect, error) {
	to := EffectFailedTerminal
	if retryable {
		to = EffectFailedRetryable
	}
	return e.end(claim, now, to, reason, EffectPending, EffectDispatched)
}

// Doubt is the step of MarkUnknown.
func (e Effect) Doubt(claim EffectClaim, now time.Time, reason string) (Effect, error) {
	return e.end(claim, now, EffectUnknown, reason, EffectDispatched)
}

func (e Effect) end(claim EffectClaim, now time.Time, to EffectState, reason string, from ...EffectState) (Effect, error) {
	if err := e.claimed(claim, now, from...); err != nil {
		return Effect{}, err
	}
	if err := checkReason(reason); err != nil {
		return Effect{}, err
	}
	e.State, e.Reason, e.Updated = to, reason, now
	return e, nil
}

// Resolve is the step of ResolveUnknown.
func (e Effect) Resolve(owner Owner, now time.Time, resolution EffectResolution, most int64) (Effect, error) {
	if err := e.Own(owner); err != nil {
		return Effect{}, err
	}
	switch resolution.State {
	case EffectCompleted, EffectFailedRetryable, EffectFailedTerminal:
	default:
		return Effect{}, tools.Errorf(tools.CodeToolInput, "an effect is resolved as %s, %s or %s, not %q", EffectCompleted, EffectFailedRetryable, EffectFailedTerminal, resolution.State)
	}
	if err := checkResult(resolution.Result, most); err != nil {
		return Effect{}, err
	}
	if err := checkReason(resolution.Reason); err != nil {
		return Effect{}, err
	}
	if e = e.Seen(now); e.State != EffectUnknown {
		return Effect{}, tools.Errorf(tools.CodeStateConflict, "%s is %s, and there is no doubt to end", e.Operation, e.State)
	}
	e.State, e.Result, e.Reason, e.Updated = resolution.State, resolution.Result, resolution.Reason, now
	return e, nil
}

// Settled reports whether Cleanup may remove the effect.
func (e Effect) Settled(before time.Time) bool {
	switch e.State {
	case EffectCompleted, EffectFailedTerminal, EffectFailedRetryable:
		return e.Updated.Before(before)
	case EffectPending:
		return e.Expires.Before(before)
	}
	return false
}

// NoEffect is the error for an effect that is not there.
func NoEffect(key string) error {
	return tools.Errorf(tools.CodeNotFound, "there is no effect %s", key)
}

// CheckStates checks the states that a list is asked for, and returns six: all of them
// if none is asked for, else those that are, some of them twice.
func CheckStates(states []EffectState) ([6]EffectState, error) {
	wanted := [...]EffectState{EffectPending, EffectDispatched, EffectCompleted, EffectFailedRetryable, EffectFailedTerminal, EffectUnknown}
	for _, state := range states {
		if !slices.Contains(wanted[:], state) {
			return wanted, tools.Errorf(tools.CodeToolInput, "there is no state %q of effects", state)
		}
	}
	if len(states) > 0 {
		asked := slices.Compact(slices.Sorted(slices.Values(states)))
		for i := range wanted {
			wanted[i] = asked[i%len(asked)]
		}
	}
	return wanted, nil
}
