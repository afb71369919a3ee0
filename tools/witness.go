package tools

import (
	"context"
)

// Witness is one thing that a change is about to make different, as it is before
// and as it will be: a path of the workspace, or a ref of its repository. Whoever
// looks at both later can tell what became of a change whose end nobody saw.
type Witness struct {
	// Path is relative to the root and slash-separated, links followed. It is empty
	// for a ref.
	Path string `json:"path,omitempty"`
	// Ref is the full name of a ref, or "HEAD". It is empty for a path.
	Ref string `json:"ref,omitempty"`
	// Repository is the absolute path of the work tree that Ref is of.
	Repository string `json:"repository,omitempty"`
	// Aside: it comes before the change, and proves nothing of it, as a copy for safety.
	Aside  bool `json:"aside,omitempty"`
	Before Seen `json:"before"`
	After  Seen `json:"after"`
}

// Seen is what is, or will be, at a Witness's path or ref.
type Seen struct {
	Exists bool `json:"exists"`
	// Mode is the file's type and permission bits, as stat(2) has them. Without
	// permission bits it says the type alone.
	Mode uint32 `json:"mode,omitempty"`
	// SHA256 is of a file's content, or of a symbolic link's target. A file without
	// it was not read, being too large: what became of it cannot be told.
	SHA256 string `json:"sha256,omitempty"`
	// ID is a ref's object, or what a symbolic ref names.
	ID string `json:"id,omitempty"`
}

// Name is what w is of, for a person. A Witness of nothing stands for what cannot be
// looked at.
func (w Witness) Name() string {
	switch {
	case w.Ref != "":
		return w.Ref + " of " + w.Repository
	case w.Path != "":
		return w.Path
	}
	return "something that cannot be looked at"
}

// NoChange reports whether w is the same before and after.
func (w Witness) NoChange() bool { return w.Before == w.After }

type plannedKey struct{}

// PlannedFunc keeps account of what is about to change; no witnesses is something
// that cannot be looked at. An error stops the change before it begins.
type PlannedFunc func(ctx context.Context, witnesses []Witness) error

// WithPlanned returns a context in which planned hears of every change; nil is that
// nobody does, for a part of a change of which the whole is told by itself.
func WithPlanned(ctx context.Context, planned PlannedFunc) context.Context {
	return context.WithValue(ctx, plannedKey{}, planned)
}

// Planned tells whoever keeps account in ctx what is about to change. It is called
// when all is worked out, and before the first effect. Without anybody who keeps
// account it does nothing; PlannedWanted tells whether there is somebody, for
// callers to whom witnesses are work.
func Planned(ctx context.Context, witnesses []Witness) error {
	planned, ok := ctx.Value(plannedKey{}).(PlannedFunc)
	if !ok || planned == nil || len(witnesses) == 0 {
		return nil
	}
	return planned(ctx, witnesses)
}

// PlannedWanted reports whether Planned has anybody to tell.
func PlannedWanted(ctx context.Context) bool {
	planned, ok := ctx.Value(plannedKey{}).(PlannedFunc)
	return ok && planned != nil
}

// Unwitnessed tells whoever keeps account in ctx that something is about to change
// which nobody can look at later: an editor's buffer, a remote machine.
func Unwitnessed(ctx context.Context) error {
	planned, ok := ctx.Value(plannedKey{}).(PlannedFunc)
	if !ok || planned == nil {
		return nil
	}
	return planned(ctx, nil)
}
