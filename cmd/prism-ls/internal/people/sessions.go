package people

import (
	"context"
	"fmt"
	"strings"
	"syscall"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// Sessions are the sessions of a workspace, whoever owns them. Errors are those of
// procsess.Registry.
type Sessions interface {
	List(ctx context.Context) ([]procsess.Info, error)
	Output(ctx context.Context, id string, what procsess.Output) (procsess.Page, error)
	Wait(ctx context.Context, id string, what procsess.Wait) (procsess.Waited, error)
	Signal(ctx context.Context, id string, signal syscall.Signal) error
	Kill(ctx context.Context, id string) (child.KillReport, error)
	Resize(ctx context.Context, id string, columns, rows int) error
	// Attach follows a session from a cursor on; see procsess.Registry.Attach.
	Attach(ctx context.Context, id string, from int64) (Attachment, error)
}

// Attachment follows a session; see procsess.Attachment. Next is for one
// goroutine, the others are for one other.
type Attachment interface {
	Next(ctx context.Context, p []byte) (n int, at int64, err error)
	Type(ctx context.Context, p []byte) error
	Resize(ctx context.Context, columns, rows int) error
	Close() error
}

// Find returns the session that a person means by its ID, its name, or the
// beginning of its ID. Of several with one name a live one is meant.
func Find(ctx context.Context, sessions Sessions, given string) (procsess.Info, error) {
	list, err := sessions.List(ctx)
	if err != nil {
		return procsess.Info{}, err
	}
	for _, match := range []func(*procsess.Info) bool{
		func(info *procsess.Info) bool { return info.ID == given },
		func(info *procsess.Info) bool { return info.Name == given && info.State.Live() },
		func(info *procsess.Info) bool { return info.Name == given },
		func(info *procsess.Info) bool { return strings.HasPrefix(info.ID, given) },
	} {
		var found []procsess.Info
		for _, info := range list {
			if match(&info) {
				found = append(found, info)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			var ids []string
			for _, info := range found {
				ids = append(ids, info.ID)
			}
			return procsess.Info{}, tools.Errorf(tools.CodeAmbiguous, "%q is each of %s; name one by its ID", given, strings.Join(ids, ", "))
		}
	}
	var names []string
	for _, info := range list {
		names = append(names, info.ID)
		if info.Name != "" {
			names = append(names, info.Name)
		}
	}
	return procsess.Info{}, tools.Errorf(tools.CodeNotFound, "there is no session %q%s", given, tools.Nearest(given, names))
}

// Local are the sessions of a registry in this process.
func Local(registry *procsess.Registry) Sessions { return local{registry} }

type local struct{ registry *procsess.Registry }

var operator = procsess.Caller{Operator: true}

func (l local) List(ctx context.Context) ([]procsess.Info, error) {
	return l.registry.List(ctx, operator), nil
}

func (l local) Output(ctx context.Context, id string, what procsess.Output) (procsess.Page, error) {
	return l.registry.Output(ctx, operator, id, what)
}

func (l local) Wait(ctx context.Context, id string, what procsess.Wait) (procsess.Waited, error) {
	return l.registry.Wait(ctx, operator, id, what)
}

func (l local) Signal(ctx context.Context, id string, signal syscall.Signal) error {
	return l.registry.Signal(ctx, operator, id, signal)
}

func (l local) Kill(ctx context.Context, id string) (child.KillReport, error) {
	return l.registry.Kill(ctx, operator, id)
}

func (l local) Resize(ctx context.Context, id string, columns, rows int) error {
	return l.registry.Resize(ctx, operator, id, columns, rows)
}

func (l local) Attach(ctx context.Context, id string, from int64) (Attachment, error) {
	attachment, err := l.registry.Attach(ctx, operator, id, from)
	if err != nil {
		return nil, err // a nil *Attachment in an interface is not nil
	}
	return attachment, nil
}

// StateWords says how a session is, and how it ended.
func StateWords(info *procsess.Info) string {
	text := string(info.State)
	switch exit := info.Exit; {
	case exit == nil:
	case exit.Signal != "":
		text += " " + exit.Signal
	case exit.Code != nil:
		text += fmt.Sprintf(" %d", *exit.Code)
	}
	return text
}
