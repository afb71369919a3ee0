package tools

import (
	"context"
)

// Progress is how far a call has come. Total is 0 when it is not known.
type Progress struct {
	Done, Total float64
	Message     string
}

// Question is a choice that only a person can make.
type Question struct {
	Text        string
	Options     []Choice
	Multiple    bool
	AllowCustom bool
}

// Choice is one of a Question's options.
type Choice struct {
	ID, Label  string
	Pros, Cons []string
}

// Reply is a person's choice: either IDs or, where allowed, their own words.
type Reply struct {
	IDs    []string
	Custom string
}

// Asker puts a question to a person. It returns CodeDecisionUnsupported when
// nobody can be asked.
type Asker interface {
	Ask(ctx context.Context, question Question) (Reply, error)
}

// CallOptions are what a surface knows about a call. The zero value is a call
// by nobody in particular, whom nobody can ask.
type CallOptions struct {
	// ID is the call's own name; empty means that one is made.
	ID string
	// Session groups calls of one agent; exclusive tools run alone within it.
	Session string
	// Owner is on whose behalf it happens.
	Owner string
	// Run names the piece of work that the call is a step of, in the words of whoever
	// repeats that work after a crash: within a run a mutating tool's call with the
	// same input happens once, and is answered from the account if it has happened.
	// It needs RegistryOptions.Effects. Empty: every call is another.
	Run      string
	Progress func(Progress)
	Approver Approver
	Asker    Asker
}

// Call is a running call, as the tool's function sees it.
type Call struct {
	CallOptions
	registry *Registry
	tool     *Tool
	action   Action
}

// Report passes progress on to whoever started the call.
func (c *Call) Report(done, total float64, message string) {
	if c.Progress != nil {
		c.Progress(Progress{done, total, message})
	}
}

// Emit sends a lifecycle event.
func (c *Call) Emit(event Event) {
	event.Tool = c.tool.spec.Name
	if c.registry != nil {
		c.registry.opts.Events.Emit(event)
	}
}

// Authorize puts a further action before the policy, for tools that learn what
// they will touch only while they run (a rename asked of a language server).
// Nothing of the action may have happened yet.
func (c *Call) Authorize(ctx context.Context, action Action) error {
	if c.registry == nil {
		return nil
	}
	return c.registry.gate.pass(ctx, c, action)
}

// Action returns what was authorized before the function ran.
func (c *Call) Action() Action { return c.action }
