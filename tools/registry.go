package tools

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"time"
)

// RegistryOptions are what stands around every call. The zero value allows
// everything, records nothing and redacts nothing, which suits a Go program
// that makes the calls itself.
type RegistryOptions struct {
	// Root is the workspace that the tools are bound to: an approval given in one
	// workspace is none in another. "" suits a program that has only one.
	Root string
	// Policy decides before any side effect; nil allows.
	Policy Policy
	// Consents are approvals given outside of a call; nil means there are none.
	Consents Consents
	// Approvals is how long an approval stands; "" means ApproveOnce.
	Approvals ApprovalScope
	// ApprovalTimeout is how long a person is waited for; zero means 30 s.
	ApprovalTimeout time.Duration
	// Recorder keeps the account of mutating calls; nil keeps none.
	Recorder Recorder
	// Effects keeps account of what mutating calls change; nil keeps none, and refuses
	// calls of a run.
	Effects Effects
	// Redactor takes secrets out of results; nil takes out nothing.
	Redactor Redactor
	// Events receives lifecycle events; nil drops them.
	Events *Events
	// Logger gets what a person who runs the host should know; nil discards.
	Logger *slog.Logger
}

// Registry holds tools by name and makes every call to them. It is safe for
// concurrent use.
type Registry struct {
	opts  RegistryOptions
	tools map[string]*Tool
	gate  *gate
	lanes *lanes
}

// NewRegistry makes a registry of those tools. Two tools of one name, or an
// option out of range, are a CodeToolInput error.
func NewRegistry(list []*Tool, opts *RegistryOptions) (*Registry, error) {
	r := &Registry{tools: map[string]*Tool{}, lanes: newLanes()}
	if opts != nil {
		r.opts = *opts
	}
	if r.opts.Logger == nil {
		r.opts.Logger = slog.New(slog.DiscardHandler)
	}
	wait, err := ApprovalTime.Option(r.opts.ApprovalTimeout.Milliseconds())
	if err != nil {
		return nil, err
	}
	r.gate = &gate{policy: r.opts.Policy, consents: r.opts.Consents, scope: r.opts.Approvals, root: r.opts.Root, wait: time.Duration(wait) * time.Millisecond}
	for _, tool := range list {
		if _, taken := r.tools[tool.spec.Name]; taken {
			return nil, Errorf(CodeToolInput, "two tools are named %s", tool.spec.Name)
		}
		r.tools[tool.spec.Name] = tool
	}
	return r, nil
}

// Filter selects tools. The zero value selects all.
type Filter struct {
	// Toolsets, if not empty, are the only ones selected.
	Toolsets []string
	// ReadOnly leaves out tools that can change anything.
	ReadOnly bool
	// Exclude leaves out tools by name.
	Exclude []string
}

// Select returns a registry of the tools that pass the filter. It shares
// everything else with r: policy, approvals and the lanes of exclusive tools.
// An excluded name or a toolset that does not exist is a CodeToolInput error.
func (r *Registry) Select(filter Filter) (*Registry, error) {
	sets := map[string]bool{}
	for _, tool := range r.tools {
		sets[tool.spec.Toolset] = true
	}
	for _, set := range filter.Toolsets {
		if !sets[set] {
			return nil, Errorf(CodeToolInput, "there is no toolset %q%s", set, Nearest(set, slices.Collect(maps.Keys(sets))))
		}
	}
	for _, name := range filter.Exclude {
		if r.tools[name] == nil {
			return nil, Errorf(CodeToolInput, "there is no tool %q to exclude%s", name, Nearest(name, r.Names()))
		}
	}
	selected := *r
	selected.tools = map[string]*Tool{}
	for name, tool := range r.tools {
		switch {
		case len(filter.Toolsets) > 0 && !slices.Contains(filter.Toolsets, tool.spec.Toolset):
		case filter.ReadOnly && tool.spec.Effect.Mutates():
		case slices.Contains(filter.Exclude, name):
		default:
			selected.tools[name] = tool
		}
	}
	return &selected, nil
}

// Names returns the names of the tools, sorted.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(r.tools)) }

// Tools returns the tools, sorted by name.
func (r *Registry) Tools() []*Tool {
	list := make([]*Tool, 0, len(r.tools))
	for _, name := range r.Names() {
		list = append(list, r.tools[name])
	}
	return list
}

// Tool returns the tool of that name, or nil.
func (r *Registry) Tool(name string) *Tool { return r.tools[name] }

// Call makes one call. It never fails beside its Result: whatever goes wrong is
// Result.Err. The order below is the security model: nothing of a call happens
// before the policy has agreed to it and the intent is on record.
func (r *Registry) Call(ctx context.Context, name string, input []byte, opts CallOptions) *Result {
	tool := r.tools[name]
	if tool == nil {
		return r.finish(name, nil, nil, Errorf(CodeToolUnknown, "there is no tool %q%s", clip(name), Nearest(name, r.Names())))
	}
	if opts.ID == "" {
		opts.ID = rand.Text()
	}
	call := &Call{CallOptions: opts, registry: r, tool: tool}
	in := tool.newInput()
	if err := tool.decoder.decode(input, in); err != nil {
		return r.finish(name, nil, nil, err)
	}
	if tool.spec.Timeout > 0 {
		deadline, cancel := context.WithTimeout(ctx, tool.spec.Timeout)
		defer cancel()
		ctx = deadline
	}
	leave, err := r.lanes.enter(ctx, opts.Session, tool.spec.Exclusive)
	if err != nil {
		return r.finish(name, nil, nil, err)
	}
	defer leave()
	account, err := r.account(ctx, call, in)
	if err != nil {
		return r.finish(name, nil, nil, err)
	}
	if before := account.replay(); before != nil {
		return before // nothing happens, and what it changed may be what it needs
	}
	if err := r.authorize(ctx, call, in); err != nil {
		return r.finish(name, nil, nil, err)
	}
	recorded := r.intend(ctx, call)
	content, metadata, err := r.run(ctx, call, in, account)
	recorded(AsError(err))
	result := r.finish(name, content, metadata, err)
	account.end(ctx, result)
	return result
}

// authorize asks the tool what it is about to do, and the policy about that.
func (r *Registry) authorize(ctx context.Context, call *Call, in any) (err error) {
	defer r.guard(call, &err)
	if call.action, err = call.tool.plan(ctx, call, in); err != nil {
		return err
	}
	call.action.Root = r.opts.Root
	return r.gate.pass(ctx, call, call.action)
}

// intend records a mutating call before it runs, and returns what records its
// outcome. An account that cannot be written never takes a tool down.
func (r *Registry) intend(ctx context.Context, call *Call) func(*Error) {
	if r.opts.Recorder == nil || !call.tool.spec.Effect.Mutates() {
		return func(*Error) {}
	}
	kind := call.tool.spec.Kind
	action := call.action
	action.Owner, action.Session = call.Owner, call.Session
	urgent := kind == KindExecute || kind == KindDelete
	id, err := r.opts.Recorder.Intent(ctx, Intent{CallID: call.ID, Tool: call.tool.spec.Name, Action: action, Urgent: urgent})
	if err != nil {
		r.opts.Logger.Warn("the audit log could not be written", "tool", call.tool.spec.Name, "error", err)
		return func(*Error) {}
	}
	return func(failure *Error) {
		var code Code
		if failure != nil {
			code = failure.Code
		}
		if err := r.opts.Recorder.Outcome(context.WithoutCancel(ctx), id, code); err != nil {
			r.opts.Logger.Warn("the audit log could not be written", "tool", call.tool.spec.Name, "error", err)
		}
	}
}

func (r *Registry) run(ctx context.Context, call *Call, in any, account *accounting) (content []Block, metadata any, err error) {
	defer r.guard(call, &err)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if ctx, err = account.begin(ctx, call); err != nil {
		return nil, nil, err
	}
	return call.tool.run(ctx, call, in)
}

// guard turns a panic of a tool into an error of that call.
func (r *Registry) guard(call *Call, err *error) {
	if p := recover(); p != nil {
		r.opts.Logger.Error("a tool panicked", "tool", call.tool.spec.Name, "panic", p, "stack", string(debug.Stack()))
		*err = Errorf(CodeInternal, "%s failed by a fault of its own: %v", call.tool.spec.Name, p)
	}
}

// finish bounds and redacts, and puts the result into the form of every surface.
func (r *Registry) finish(name string, content []Block, metadata any, err error) *Result {
	result := &Result{Tool: name, Content: content, Metadata: json.RawMessage("{}"), Err: AsError(err)}
	if result.Content == nil {
		result.Content = []Block{}
	}
	if metadata != nil {
		text, encodeErr := encode(metadata)
		if encodeErr != nil {
			result.Err = Errorf(CodeInternal, "the metadata of %s cannot be encoded: %w", name, encodeErr)
		} else {
			result.Metadata = text
		}
	}
	if result.Err != nil && errors.Is(result.Err, CodeInternal) {
		r.opts.Logger.Error("a call failed by a fault of prism-ls", "tool", name, "error", result.Err)
	}
	for i := range result.Content {
		result.Content[i].Text = boundText(result.Content[i].Text)
	}
	r.redact(result)
	return result
}

func (r *Registry) redact(result *Result) {
	if r.opts.Redactor == nil {
		return
	}
	for i, block := range result.Content {
		if block.Type == "text" {
			result.Content[i].Text = string(r.opts.Redactor.Redact([]byte(block.Text)))
		}
	}
	result.Metadata = redactJSON(r.opts.Redactor, result.Metadata)
	if result.Err != nil {
		clean := *result.Err
		clean.Message = string(r.opts.Redactor.Redact([]byte(clean.Message)))
		if details, err := encode(clean.Details); err == nil && clean.Details != nil {
			clean.Details = json.RawMessage(redactJSON(r.opts.Redactor, details))
		}
		result.Err = &clean
	}
}

// maxText bounds the text of one block, whatever the tool's own limits were:
// the hard cap of a displayed page, with room for notices.
const maxText = 1<<20 + 4096

func boundText(text string) string {
	if len(text) <= maxText {
		return text
	}
	cut := maxText
	for cut > 0 && text[cut]&0xC0 == 0x80 { // never inside a UTF-8 sequence
		cut--
	}
	return text[:cut] + fmt.Sprintf("\n[truncated by bytes: %d of %d shown]", cut, len(text))
}
