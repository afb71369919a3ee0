package builtin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/diagnostics"
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
			Authorise: func(ctx context.Context, paths []string) error {
				sum := sha256.Sum256([]byte(in.NewName))
				return call.Authorize(ctx, tools.Action{
					Kind: tools.KindEdit, Operation: "lsp_rename", Mutation: tools.MutatesLocally, Risk: tools.RiskMedium,
					Paths: paths, Entries: len(paths), Content: hex.EncodeToString(sum[:]),
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
			UndoID: done.UndoID, Degraded: done.Degraded, Delta: lspDelta(done.Delta, done.DeltaOf),
		}
		if in.AlsoText {
			metadata.Leftovers = lspLocations(done.Leftovers)
		}
		return tools.Answer(renameText(&metadata, done.DryRun), metadata), nil
	})
}

// renameError puts a delta among an error's details into the form of the wire.
func renameError(err error) error {
	coded := tools.AsError(err)
	if delta, ok := coded.Details.(*diagnostics.Delta); ok {
		return coded.WithDetails(map[string]*LSPDelta{"delta": lspDelta(delta, langintel.Answer{Status: langintel.Status(delta.Status())})})
	}
	return err
}

func lspDelta(delta *diagnostics.Delta, of langintel.Answer) *LSPDelta {
	if delta == nil && of.Status == "" {
		return nil
	}
	out := &LSPDelta{Status: string(of.Status), Reason: of.Reason, Introduced: []LSPProblem{}, Fixed: []LSPProblem{}}
	if delta == nil {
		return out
	}
	out.Unchanged, out.Unknown = delta.Counts.Unchanged, delta.Counts.Unknown
	out.Introduced, out.Fixed = deltaProblems(delta.Introduced), deltaProblems(delta.Fixed)
	return out
}

func deltaProblems(list []diagnostics.Diagnostic) []LSPProblem {
	out := make([]LSPProblem, 0, len(list))
	for _, d := range list {
		out = append(out, LSPProblem{
			Path: d.Path, Line: d.Range.Start.Line + 1, Column: d.Range.Start.UTF16 + 1,
			EndLine: d.Range.End.Line + 1, EndColumn: d.Range.End.UTF16 + 1,
			Severity: d.Severity.String(), Source: d.Source, Code: d.Code, Message: d.Message,
		})
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
