package langintel

import (
	"context"
	"fmt"
	"slices"

	"github.com/prism-ls/prism-ls/diagnostics"
	"github.com/prism-ls/prism-ls/tools"
)

// reject takes what is written back when it introduced errors, or when nobody can
// say that it did not.
func (w *written) reject(ctx context.Context, result *ChangeResult) error {
	var why string
	details := &Rejection{Delta: result.Delta, DeltaOf: result.DeltaOf, Introduced: result.Introduced, Fixed: result.Fixed}
	switch delta := result.Delta; {
	case delta == nil:
		why = "whether it introduces errors is not known: " + result.DeltaOf.Reason
	case delta.Counts.IntroducedErrors > 0:
		first := result.Introduced[firstError(delta.Introduced)]
		why = fmt.Sprintf("it introduces %d errors, the first in %s:%d:%d: %s", delta.Counts.IntroducedErrors, first.Path, first.Line, first.Column, oneLine(first.Message, 300))
	case unattributed(delta) > 0 || result.DeltaOf.Status == TimedOut || result.DeltaOf.Status == Stale:
		why = "whether it introduces errors is not known: " + result.DeltaOf.Reason
	default:
		return nil
	}
	if err := w.rollback(ctx); err != nil {
		return tools.Errorf(tools.CodeLSPWorkspace, "the change should have been taken back (%s) and could not be: %w; undo ids %q", why, err, w.undoIDs()).WithDetails(details)
	}
	return tools.Errorf(tools.CodeLSPWorkspace, "the change was taken back: %s", why).WithDetails(details)
}

func firstError(list []diagnostics.Diagnostic) int {
	return max(0, slices.IndexFunc(list, func(d diagnostics.Diagnostic) bool { return d.Severity == diagnostics.Error }))
}

// unattributed counts errors of the head that may or may not be new.
func unattributed(delta *diagnostics.Delta) int {
	n := 0
	for _, u := range delta.Unknown {
		if u.Side == diagnostics.Head && u.Severity == diagnostics.Error {
			n++
		}
	}
	return n
}
