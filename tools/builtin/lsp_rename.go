package builtin

import (
	"context"
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

type rejectIf string

// Values lists what a rename can be taken back for.
func (rejectIf) Values() []string { return []string{langintel.RejectNewErrors} }

type lspRenameInput struct {
	lspPlace
	NewName  string   `json:"newName" check:"nonempty"`
	DryRun   bool     `json:"dryRun,omitempty"`
	RejectIf rejectIf `json:"rejectIf,omitempty" jsonschema:"take it back if it introduces errors"`
	AlsoText bool     `json:"alsoText,omitempty" jsonschema:"list where text still has the old name"`
}

// LSPDelta is what a change did to the problems. Unchanged and Unknown are counts.
type LSPDelta struct {
	Status     string       `json:"status"`
	Reason     string       `json:"reason,omitempty"`
	Introduced []LSPProblem `json:"introduced"`
	Fixed      []LSPProblem `json:"fixed"`
	Unchanged  int          `json:"unchanged"`
	Unknown    int          `json:"unknown"`
}

// LSPRename is the metadata of `lsp_rename`.
type LSPRename struct {
	LSPAnswer
	Files     []string      `json:"files"`
	Edits     int           `json:"edits"`
	Patch     string        `json:"patch"`
	UndoID    string        `json:"undoId,omitempty"`
	Degraded  string        `json:"degraded,omitempty"`
	Delta     *LSPDelta     `json:"delta,omitempty"`
	Leftovers []LSPLocation `json:"leftovers,omitempty"`
}

func (l *language) rename() (*tools.Tool, error) {
	spec := tools.Spec{
		Name: "lsp_rename", Title: "Rename symbol", Toolset: "lsp", Kind: tools.KindEdit, Effect: tools.ChangesFiles,
		Description: "Rename a symbol everywhere or nowhere; says which problems that introduced.",
		Limits:      []tools.Limit{lspLine, lspColumn},
	}
	return lspTool(l, spec, func(ctx context.Context, call *tools.Call, in lspRenameInput) (*tools.Outcome[LSPRename], error) {
		done, err := l.client.Rename(ctx, langintel.RenameQuery{
			Place: in.place(), NewName: in.NewName, DryRun: in.DryRun, RejectIf: string(in.RejectIf), AlsoText: in.AlsoText,
			Authorise: func(ctx context.Context, patch string, paths []string) error {
				return call.Authorize(ctx, tools.Action{
					Kind: tools.KindEdit, Operation: "lsp_rename", Mutation: tools.MutatesLocally, Risk: tools.RiskMedium,
					Paths: paths, Entries: len(paths), Content: hexHash([]byte(patch)),
				})
			},
		})
		if err != nil {
			return nil, renameError(err)
		}
		if !done.DryRun {
			changed(call, done.Files)
		}
		metadata := LSPRename{
			LSPAnswer: lspAnswer(done.Answer), Files: orEmpty(done.Files), Edits: done.Edits, Patch: done.Patch,
			UndoID: done.UndoID, Degraded: done.Degraded, Delta: lspDelta(&langintel.Rejection{Delta: done.Delta, DeltaOf: done.DeltaOf, Introduced: done.Introduced, Fixed: done.Fixed}),
		}
		if in.AlsoText {
			metadata.Leftovers = lspLocations(done.Leftovers)
		}
		return tools.Answer(renameText(&metadata, done.DryRun), metadata), nil
	})
}

// renameError puts what a rename that was taken back had done into the form of
// the wire.
func renameError(err error) error {
	coded := tools.AsError(err)
	if back, ok := coded.Details.(*langintel.Rejection); ok {
		return coded.WithDetails(map[string]*LSPDelta{"delta": lspDelta(back)})
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

func renameText(m *LSPRename, dryRun bool) string {
	var b strings.Builder
	b.WriteString(m.caveat())
	verb := "Renamed"
	if dryRun {
		verb = "Would rename"
	}
	fmt.Fprintf(&b, "%s: %d edits in %d files\n", verb, m.Edits, len(m.Files))
	for _, file := range m.Files {
		fmt.Fprintf(&b, "  %s\n", file)
	}
	if m.UndoID != "" {
		fmt.Fprintf(&b, "undoId %s\n", m.UndoID)
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
