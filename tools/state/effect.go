package state

import (
	"context"
	"encoding/json"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// EffectIdentity says which effect is meant: the same operation with the same
// arguments in the same run is one effect, however often it is asked for.
type EffectIdentity struct {
	Tenant    string          `json:"tenant"`
	Session   string          `json:"session"`
	Run       string          `json:"run"`
	Operation string          `json:"operation"`
	Arguments json.RawMessage `json:"arguments"`
}

// Key is the SHA-256, in hexadecimal, of the identity's canonical JSON. There is no
// other way to a key: a caller cannot choose one.
func (i EffectIdentity) Key() (string, error) {
	if len(i.Arguments) == 0 {
		i.Arguments = json.RawMessage("{}")
	}
	return tools.Fingerprint(i)
}

// EffectState is how far an effect has come.
type EffectState string

// The states. An effect is pending while it is claimed and nothing has happened,
// and dispatched from before its first side effect on.
const (
	EffectPending         EffectState = "pending"
	EffectDispatched      EffectState = "dispatched"
	EffectCompleted       EffectState = "completed"
	EffectFailedRetryable EffectState = "failed_retryable"
	EffectFailedTerminal  EffectState = "failed_terminal"
	EffectUnknown         EffectState = "unknown"
)

// Effect is what a store knows of one.
type Effect struct {
	Owner     Owner       `json:"owner"`
	Key       string      `json:"key"`
	Operation string      `json:"operation"`
	State     EffectState `json:"state"`
	// Attempts counts the claims that were given out.
	Attempts int64 `json:"attempts"`
	// Claim is the token of whoever may move the effect on; it only grows.
	Claim int64 `json:"-"`
	// Expires is when the claim does, by the store's clock.
	Expires time.Time `json:"expires"`
	// Witnesses are what was about to change, known from dispatch on.
	Witnesses []tools.Witness `json:"witnesses,omitempty"`
	// Result is what a completed effect returned, replayed to whoever asks again.
	Result []byte `json:"-"`
	// Reason says why it failed or is unknown, for a person.
	Reason  string    `json:"reason,omitempty"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// EffectClaim is the right to carry an effect out.
type EffectClaim struct {
	Owner Owner
	Key   string
	Token int64
}

// EffectOptions bound one claim; zero is the default.
type EffectOptions struct {
	// TTL is how long the claim lasts: EffectTime.
	TTL time.Duration
	// Attempts is how often the effect may be tried in all: EffectAttempts.
	Attempts int64
	// Dispatched has Begin do what MarkDispatched does with Witnesses, in the same
	// durable step; the effect it claims comes back dispatched.
	Dispatched bool
	Witnesses  []tools.Witness
}

// EffectResolution is a person's, or a comparison's, word on an unknown effect.
type EffectResolution struct {
	// State is completed, failed_retryable or failed_terminal.
	State  EffectState
	Result []byte
	Reason string
}

// EffectStore keeps account of effects, so that each happens once, and so that what
// became of one is never guessed. What is said of goroutines, processes, owners and
// unavailability in CheckpointStore holds here. A claim whose token is not the
// current one, or that has expired, is CodeStateFence.
type EffectStore interface {
	// Begin claims the effect, and returns it as it now is. State pending: the caller
	// has the claim (Effect.Claim), and carries it out. State completed or
	// failed_terminal: it has happened, or never will; Result and Reason say what to
	// replay. Others are errors:
	//   - CodeStateConflict: somebody has an unexpired claim on it.
	//   - CodeEffectUnknown: it is unknown, or was dispatched under a claim that has
	//     expired, which makes it unknown. Details is the Effect.
	//   - CodeStateLimit: its attempts are used up.
	// An expired pending claim, and failed_retryable, are claimed again.
	Begin(ctx context.Context, owner Owner, identity EffectIdentity, opts *EffectOptions) (Effect, error)
	// MarkDispatched records, durably and before the first side effect, what is about
	// to change. Called again, it adds to the witnesses.
	MarkDispatched(ctx context.Context, claim EffectClaim, witnesses []tools.Witness) error
	// Complete keeps the result, at most EffectResultBytes.
	Complete(ctx context.Context, claim EffectClaim, result []byte) error
	// Fail is for an effect of which nothing has happened.
	Fail(ctx context.Context, claim EffectClaim, retryable bool, reason string) error
	// MarkUnknown is for a dispatched effect whose end cannot be told.
	MarkUnknown(ctx context.Context, claim EffectClaim, reason string) error
	// ResolveUnknown ends the doubt. An effect that is not unknown, nor dispatched
	// under an expired claim, is CodeStateConflict.
	ResolveUnknown(ctx context.Context, owner Owner, key string, resolution EffectResolution) error
	// Get returns the effect, or CodeNotFound.
	Get(ctx context.Context, owner Owner, key string) (Effect, error)
	// List returns the owner's effects in those states (none: all), as CheckpointStore's
	// List does. A dispatched one whose claim has expired counts as unknown.
	List(ctx context.Context, owner Owner, states []EffectState, cursor string, limit int64) (EffectPage, error)
	// Cleanup removes the owner's effects that are completed, failed_retryable or
	// failed_terminal and were last changed before a time, and those that are pending
	// under a claim that had expired by then: at most limit of them (0: PageRecords). It
	// says how many. What is unknown or in doubt stays.
	Cleanup(ctx context.Context, owner Owner, before time.Time, limit int64) (int, error)
	// Close frees what the store holds, and is idempotent.
	Close() error
}

// EffectPage is a part of a list of effects.
type EffectPage struct {
	Effects []Effect
	Next    string
}

// The bounds of effects.
var (
	// EffectTime bounds how long a claim lasts, in seconds.
	EffectTime = tools.Limit{Name: "claimSeconds", Default: 15 * 60, Hard: 60 * 60}
	// EffectAttempts bounds how often an effect is tried.
	EffectAttempts = tools.Limit{Name: "attempts", Default: 3, Hard: 10}
	// EffectResultBytes bounds the result that is kept, and the witnesses' JSON.
	EffectResultBytes = tools.Limit{Name: "resultBytes", Default: 64 << 10, Hard: 512 << 10}
)
