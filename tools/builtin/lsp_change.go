package builtin

import (
	"context"
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

// LSPDelta is what a change did to the problems. Unchanged and Unknown are counts.
type LSPDelta struct {
	Status     string       `json:"status"`
	Reason     string       `json:"reason,omitempty"`
	Introduced []LSPProblem `json:"introduced"`
	Fixed      []LSPProblem `json:"fixed"`
	Unchanged  int          `json:"unchanged"`
	Unknown    int          `json:"unknown"`
}

// LSPChange is the metadata of what changes files through language servers.
type LSPChange struct {
	LSPAnswer
	Files         []string      `json:"files"`
	Edits         int           `json:"edits"`
	Patch         string        `json:"patch"`
	UndoID        string        `json:"undoId,omitempty"`
	UndoIDs       []string      `json:"undoIds,omitempty"`
	Degraded      string        `json:"degraded,omitempty"`
	Confirmations []string      `json:"confirmations,omitempty"`
	Delta         *LSPDelta     `json:"delta,omitempty"`
	Leftovers     []LSPLocation `json:"leftovers,omitempty"`
}

// LSPApplied is what a tool that changes files only when it is told to says about
// the change, as LSPChange does.
type LSPApplied struct {
	Files         []string  `json:"files,omitempty"`
	Edits         *int      `json:"edits,omitempty"`
	Patch         string    `json:"patch,omitempty"`
	UndoID        string    `json:"undoId,omitempty"`
	UndoIDs       []string  `json:"undoIds,omitempty"`
	Degraded      string    `json:"degraded,omitempty"`
	Confirmations []string  `json:"confirmations,omitempty"`
	Delta         *LSPDelta `json:"delta,omitempty"`
}

func (m *LSPChange) applied() LSPApplied {
	return LSPApplied{m.Files, &m.Edits, m.Patch, m.UndoID, m.UndoIDs, m.Degraded, m.Confirmations, m.Delta}
}

// changeSpec is a tool of this group that changes files.
func changeSpec(name, title, description string) tools.Spec {
	return tools.Spec{
		Name: name, Title: title, Description: description, Toolset: "lsp",
		Kind: tools.KindEdit, Effect: tools.ChangesFiles, Limits: []tools.Limit{lspLine, lspColumn},
	}
}

// changeTool declares a tool of this group that changes files, but for the calls
// that only ask: those need nobody's leave.
func changeTool[In, Out any](l *language, spec tools.Spec, asks func(In) bool, run tools.RunFunc[In, Out]) (*tools.Tool, error) {
	plan := func(_ context.Context, _ *tools.Call, in In) (tools.Action, error) {
		if asks(in) {
			return tools.Action{Kind: tools.KindSearch, Mutation: tools.MutatesNothing}, nil
		}
		return tools.Action{}, nil
	}
	return tools.New(spec, plan, func(ctx context.Context, call *tools.Call, in In) (*tools.Outcome[Out], error) {
		defer l.progress.follow(call)()
		return run(ctx, call, in)
	})
}

// changeOptions put what a server is about to change before the policy, whole,
// before anything is written.
func changeOptions(call *tools.Call, operation string, dryRun bool, reject rejectIf) langintel.ChangeOptions {
	action := func(patch string, paths []string) tools.Action {
		return tools.Action{
			Kind: tools.KindEdit, Operation: operation, Mutation: tools.MutatesLocally, Risk: tools.RiskMedium,
			Paths: paths, Entries: len(paths), Content: hexHash([]byte(patch)),
		}
	}
	return langintel.ChangeOptions{
		DryRun: dryRun, RejectIf: string(reject),
		Authorise: func(ctx context.Context, patch string, paths []string) error {
			return call.Authorize(ctx, action(patch, paths))
		},
		Confirm: func(ctx context.Context, patch string, paths, reasons []string) error {
			a := action(patch, paths)
			a.Risk, a.Confirm = tools.RiskHigh, strings.Join(reasons, "; ")
			return call.Authorize(ctx, a)
		},
		Run: func(ctx context.Context, server, command string, arguments []byte) error {
			err := call.Authorize(ctx, tools.Action{
				Kind: tools.KindExecute, Operation: operation, Mutation: tools.MutatesLocally, Risk: tools.RiskHigh,
				Command: server, Args: []string{command}, Content: hexHash(arguments),
			})
			if err != nil {
				return err
			}
			return tools.Unwitnessed(ctx) // nobody knows what a server's command does
		},
	}
}

// changeOutcome is the result of a change; verb says what was done, or would be.
func changeOutcome(call *tools.Call, done *langintel.ChangeResult, did, would string) *tools.Outcome[LSPChange] {
	metadata := LSPChange{
		LSPAnswer: lspAnswer(done.Answer), Files: orEmpty(done.Files), Edits: done.Edits, Patch: done.Patch,
		UndoID: done.UndoID, UndoIDs: done.UndoIDs, Degraded: done.Degraded, Confirmations: done.Confirmations,
		Delta: lspDelta(&langintel.Rejection{Delta: done.Delta, DeltaOf: done.DeltaOf, Introduced: done.Introduced, Fixed: done.Fixed}),
	}
	if len(done.Leftovers) > 0 {
		metadata.Leftovers = lspLocations(done.Leftovers)
	}
	verb := would
	if !done.DryRun {
		changed(call, done.Files)
		verb = did
	}
	return tools.Answer(metadata.text(verb, done.DryRun), metadata)
}

// changeError puts what a change that was taken back had done into the form of
// the wire.
func changeError(err error) error {
	coded := tools.AsError(err)
	if back, ok := coded.Details.(*langintel.Rejection); ok {
		return coded.WithDetails(map[string]*LSPDelta{"delta": lspDelta(back)})
	}
	if list, ok := coded.Details.([]langintel.Location); ok {
		return coded.WithDetails(map[string][]LSPLocation{"references": lspLocations(list)})
	}
	return err
}

func lspDelta(of *langintel.Rejection) *LSPDelta {
	if of.Delta == nil && of.DeltaOf.Status == "" {
		return nil
	}
	out := &LSPDelta{
		Status: string(of.DeltaOf.Status), Reason: of.DeltaOf.Reason,
		Introduced: lspProblems(of.Introduced), Fixed: lspProblems(of.Fixed),
	}
	if of.Delta != nil {
		out.Unchanged, out.Unknown = of.Delta.Counts.Unchanged, of.Delta.Counts.Unknown
	}
	return out
}

func (m *LSPChange) text(verb string, dryRun bool) string {
	var b strings.Builder
	b.WriteString(m.caveat())
	fmt.Fprintf(&b, "%s: %d edits in %d files\n", verb, m.Edits, len(m.Files))
	for _, file := range m.Files {
		fmt.Fprintf(&b, "  %s\n", file)
	}
	for _, reason := range m.Confirmations {
		fmt.Fprintf(&b, "To be confirmed: %s\n", reason)
	}
	if m.UndoID != "" {
		fmt.Fprintf(&b, "undoId %s\n", m.UndoID)
	}
	if len(m.UndoIDs) > 0 {
		fmt.Fprintf(&b, "undoIds, in this order: %s\n", strings.Join(m.UndoIDs, " "))
	}
	if m.Delta != nil {
		fmt.Fprintf(&b, "Problems (%s): %d introduced, %d fixed, %d unchanged, %d unknown\n",
			strings.TrimSuffix(m.Delta.Status+": "+m.Delta.Reason, ": "), len(m.Delta.Introduced), len(m.Delta.Fixed), m.Delta.Unchanged, m.Delta.Unknown)
		if lines := problemLines(m.Delta.Introduced); lines != "" {
			b.WriteString(lines + "\n")
		}
	}
	if len(m.Leftovers) > 0 {
		fmt.Fprintf(&b, "Left in text, unchanged:\n%s", groupedLocations(m.Leftovers, 100))
	}
	if dryRun {
		b.WriteString(m.Patch)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
