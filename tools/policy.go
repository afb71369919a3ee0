package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
)

// Risk is how much harm an action could do.
type Risk string

// The risks.
const (
	RiskLow    Risk = "low"
	RiskMedium Risk = "medium"
	RiskHigh   Risk = "high"
)

// Action is what a call is about to do, as far as a policy needs to know. It
// is complete before anything happens.
type Action struct {
	Kind Kind `json:"kind"`
	// Operation is the tool's name, or a verb of it ("lsp_rename").
	Operation string   `json:"operation"`
	Mutation  Mutation `json:"mutation"`
	// Paths are slash-separated, relative to the workspace root, with symbolic
	// links followed.
	Paths []string `json:"paths,omitempty"`
	// Command is a shell command line, or a program's name.
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	// Env are the variables that the caller adds, as NAME=value.
	Env  []string `json:"env,omitempty"`
	Risk Risk     `json:"risk"`
	// Entries is how many files and directories a deletion takes.
	Entries   int  `json:"entries,omitempty"`
	Recursive bool `json:"recursive,omitempty"`
	// Contained: a command will run in a sandbox that can write only to the
	// workspace and reaches no network.
	Contained bool `json:"contained,omitempty"`
	// Options are the inputs that lift a safeguard ("force", "allowHardlink").
	Options []string `json:"options,omitempty"`
	// Confirm is what a language server wants a person to confirm, in its words.
	Confirm string `json:"confirm,omitempty"`
	// Root is the absolute path of the workspace that Paths are relative to. The
	// registry sets it.
	Root string `json:"root,omitempty"`
	// Content is the SHA-256 of what will be written or run beyond the above,
	// so that a consent cannot be used for something else.
	Content string `json:"content,omitempty"`
	Owner   string `json:"owner,omitempty"`
	Session string `json:"session,omitempty"`
}

// Digest identifies the exact action, without the session it happens in.
func (a Action) Digest() string {
	a.Session = ""
	text, err := encode(a)
	if err != nil { // strings, numbers and booleans always encode
		panic(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Verdict is a policy's word on an action.
type Verdict string

// The verdicts, weakest first.
const (
	Allow  Verdict = "allow"
	Ask    Verdict = "ask"
	Forbid Verdict = "forbid"
)

// Decision is a verdict with the reason that a person or model is told.
type Decision struct {
	Verdict Verdict
	Reason  string
}

// Policy decides before any side effect. It must not block on anything but
// local state, and has no side effects of its own.
type Policy interface {
	Decide(ctx context.Context, action Action) Decision
}

// Approver asks a person. It returns whether the action was approved, and
// CodeDecisionUnsupported when nobody can be asked on this surface.
type Approver interface {
	Approve(ctx context.Context, action Action, reason string) (bool, error)
}

// Consents are approvals given outside of the call, each for one exact action
// and good for one use.
type Consents interface {
	// Take uses up a consent for the action with that digest, if there is one.
	Take(ctx context.Context, digest string) (bool, error)
	// Offer records that the action waits for consent and returns the ID that a
	// person approves it by.
	Offer(ctx context.Context, action Action, reason string) (string, error)
}

// Recorder keeps the account of what was done. Intent is called before a
// mutating call runs, Outcome after; urgent intents must be durable on return.
type Recorder interface {
	Intent(ctx context.Context, call Intent) (id string, err error)
	Outcome(ctx context.Context, id string, code Code) error
}

// Intent is what a Recorder is told before a call runs.
type Intent struct {
	CallID string
	Tool   string
	Action Action
	Urgent bool
}

// Redactor takes known secrets out of text.
type Redactor interface {
	Redact(text []byte) []byte
}
