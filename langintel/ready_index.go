package langintel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// Indexed is the readiness of a server that reads the project's files once and
// from then on follows the documents that are open, and no others: final when
// first is, and every file that changed since the server started is open at it
// and has been read in its present text. Without that it goes on answering from
// the text that it has read first.
func Indexed(first Readiness) Readiness { return indexed{first} }

type indexed struct{ first Readiness }

func (r indexed) Name() string  { return r.first.Name() + "+open" }
func (r indexed) certain() bool { return r.first.certain() }

func (r indexed) wait(ctx context.Context, v *session) string {
	if pending := r.first.wait(ctx, v); pending != "" {
		return pending
	}
	if pending := v.openChanged(ctx); pending != "" {
		return pending
	}
	// A file that is new to the server may have made it index more.
	return r.first.wait(ctx, v)
}

// listens is the text of the log that first waits for.
func (r indexed) listens() string {
	if with, ok := r.first.(interface{ listens() string }); ok {
		return with.listens()
	}
	return ""
}

// indexed reports whether a server goes on answering from the files as it has read
// them, without watching them.
func (s *Spec) indexed() bool {
	_, ok := s.Ready.(indexed)
	return ok
}

// openChanged has the server read the files that changed since it started, and
// returns what of that is not done.
func (v *session) openChanged(ctx context.Context) (pending string) {
	changed, all := v.changes.since(0)
	slices.Sort(changed)
	changed = slices.DeleteFunc(slices.Compact(changed), func(path string) bool { return v.spec.language(path) == "" })
	most := int(v.client.opts.MaxOpen) * 3 / 4
	if !all || len(changed) > most {
		return fmt.Sprintf("more than %d files changed since it started, which is as many as it can follow; restart it", most)
	}
	var docs []document
	for _, path := range changed {
		doc, err := v.docs.sync(ctx, workspace.Path{Rel: path, Real: path})
		switch {
		case errors.Is(err, tools.CodeNotFound), errors.Is(err, tools.CodeNotFile):
		case err != nil:
			return path + " cannot be read: " + oneLine(err.Error(), 200)
		default:
			docs = append(docs, doc)
		}
	}
	for _, doc := range docs {
		// It publishes for a text after the index has taken that in.
		found, err := v.check(ctx, doc)
		if err != nil || found.Status == TimedOut || found.Status == Stale {
			return doc.path + " changed and is not read again yet"
		}
	}
	return ""
}

// AfterIndex is the readiness of clangd: it looks for a project when the first
// document of it is open, and reports the indexing as progress whose token is
// named. It publishes something for every document, and by then has begun to
// index if there is something to index.
func AfterIndex(token string) Readiness { return afterIndex{token} }

type afterIndex struct{ token string }

func (afterIndex) Name() string  { return "index" }
func (afterIndex) certain() bool { return true }

func (r afterIndex) wait(ctx context.Context, v *session) string {
	return v.await(ctx, time.Time{}, func() (bool, <-chan struct{}) {
		unread, published := v.unpublished()
		if unread != "" {
			return false, published
		}
		open, _, moved := v.work.state(func(token string) bool { return strings.HasPrefix(token, r.token) })
		return open == "", moved
	})
}

// unpublished returns an open document that nothing was published for yet, and a
// channel that the next publish closes.
func (v *session) unpublished() (path string, moved <-chan struct{}) {
	open := v.docs.paths()
	v.problem.mu.Lock()
	defer v.problem.mu.Unlock()
	for _, name := range open {
		if v.problem.byPath[name] == nil {
			path = name
		}
	}
	return path, v.problem.moved
}

// projectNow is the session's project with the files that it has now.
func (v *session) projectNow() Project {
	project := v.project
	project.Files = v.client.filesNow(v.client.ctx)
	return project
}

// lacks says why the server knows less of the workspace than there is, however
// long one waits; "" when it does not say so.
func (v *session) lacks() string {
	if v.spec.Incomplete != nil {
		if reason := v.spec.Incomplete(v.projectNow()); reason != "" {
			return reason
		}
	}
	if state, _ := v.signals.status(); state.quiescent && (state.health == "warning" || state.health == "error") {
		return oneLine(state.message, 300)
	}
	return ""
}
