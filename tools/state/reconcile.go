package state

import (
	"context"
	"fmt"

	"github.com/prism-ls/prism-ls/tools"
)

// Looker tells what is at a witness's path or ref now. An error is that it cannot be
// told.
type Looker func(ctx context.Context, witness tools.Witness) (tools.Seen, error)

// Finding is what a comparison of witnesses with the world says about a change.
type Finding string

// The findings.
const (
	// FoundCommitted: all is as it was to become.
	FoundCommitted Finding = "committed"
	// FoundNotApplied: all is as it was before, and the change may be tried again.
	FoundNotApplied Finding = "not_applied"
	// FoundUnknown: anything else, which is for a person.
	FoundUnknown Finding = "unknown"
)

// Compare looks at what a change was about to make different. The reason says, for a
// person, why nothing is certain. That something is gone proves nothing by itself:
// only what is exactly as planned, all of it, counts.
func Compare(ctx context.Context, witnesses []tools.Witness, look Looker) (Finding, string) {
	witnesses = folded(witnesses)
	if len(witnesses) == 0 {
		return FoundUnknown, "it left nothing behind that could be looked at"
	}
	before, after := true, true
	for _, w := range witnesses {
		if w.Path == "" && w.Ref == "" { // it is there so that the others do not pass for all
			return FoundUnknown, "a part of it cannot be looked at"
		}
		now, err := look(ctx, w)
		if err != nil {
			return FoundUnknown, fmt.Sprintf("%s cannot be looked at: %s", w.Name(), tools.AsError(err).Message)
		}
		was, is := matches(now, w.Before), matches(now, w.After)
		if !was && !is {
			return FoundUnknown, w.Name() + " is neither as it was before nor as it was to become"
		}
		before, after = before && was, after && is
	}
	switch {
	case before: // also what is the same again: a change that was taken back
		return FoundNotApplied, ""
	case after:
		return FoundCommitted, ""
	}
	return FoundUnknown, "a part of it is as it was to become, and a part as it was before"
}

// folded makes one witness of several of the same thing, of which each goes on where
// the one before has ended, and leaves out what proves nothing.
func folded(witnesses []tools.Witness) []tools.Witness {
	type thing struct{ path, ref, repository string }
	at := map[thing]int{}
	var list []tools.Witness
	for _, w := range witnesses {
		if w.Aside {
			continue
		}
		key := thing{w.Path, w.Ref, w.Repository}
		if i, seen := at[key]; seen {
			list[i].After = w.After
			continue
		}
		at[key] = len(list)
		list = append(list, w)
	}
	return list
}

// The bits of a mode (stat(2)).
const (
	modeType    = 0o170000
	modeRegular = 0o100000
	modeLink    = 0o120000
)

// matches reports whether what is there now certainly is what a witness says.
func matches(now, said tools.Seen) bool {
	if now.Exists != said.Exists || now.ID != said.ID {
		return false
	}
	if now.Mode != said.Mode && (said.Mode&^modeType != 0 || now.Mode&modeType != said.Mode&modeType) {
		return false
	}
	if kind := said.Mode & modeType; kind == modeRegular || kind == modeLink {
		return said.SHA256 != "" && said.SHA256 == now.SHA256
	}
	return true
}

// Reconciled is what was found out about an effect.
type Reconciled struct {
	Effect  Effect
	Finding Finding
	// Reason says why nothing is certain.
	Reason string
}

// Reconcile ends the doubt about an effect if it can be told what became of it: one
// that has happened is completed, one that has not may be tried again. What cannot be
// told stays as it is. look nil knows nothing. CodeStateConflict: the effect is not in
// doubt, because somebody is at it, or has ended it.
func Reconcile(ctx context.Context, store EffectStore, effect Effect, look Looker) (Reconciled, error) {
	done := Reconciled{Effect: effect, Finding: FoundUnknown, Reason: "nobody can look"}
	if look != nil {
		done.Finding, done.Reason = Compare(ctx, effect.Witnesses, look)
	}
	if err := ctx.Err(); err != nil {
		return done, err
	}
	resolution := EffectResolution{State: EffectCompleted, Reason: "all is as it was to become"}
	switch done.Finding {
	case FoundUnknown:
		return done, nil
	case FoundNotApplied:
		resolution = EffectResolution{State: EffectFailedRetryable, Reason: "all is as it was before"}
	}
	return done, store.ResolveUnknown(ctx, effect.Owner, effect.Key, resolution)
}
