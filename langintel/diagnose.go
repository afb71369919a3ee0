package langintel

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/diagnostics"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// DiagnosticsQuery asks for the problems in a file, or with an empty Path in all
// files that are open at a server, have had problems, or were made or changed
// since the client began.
type DiagnosticsQuery struct {
	Path     string
	Severity diagnostics.Severity // the mildest to show; 0: all
}

// Diagnostics returns the problems that the servers see in the files as they are
// now. No problems with status complete means that there are none.
func (c *Client) Diagnostics(ctx context.Context, q DiagnosticsQuery) (*DiagnosticsResult, error) {
	if err := c.watch.sweep(ctx); err != nil {
		return nil, tools.AsError(err)
	}
	if q.Severity < 0 || q.Severity > diagnostics.Hint {
		return nil, tools.Errorf(tools.CodeToolInput, "severity is %d, must be 1 (error) to 4 (hint), or 0 for all", q.Severity)
	}
	collector, err := newCollector(c)
	if err != nil {
		return nil, err
	}
	if q.Path != "" {
		p, err := c.work.Resolve(q.Path)
		if err == nil {
			_, err = c.serversFor(p)
		}
		if err != nil {
			answer, err := c.soften(ctx, "", err)
			return &DiagnosticsResult{Answer: answer, Snapshot: collector.snapshot()}, err
		}
		if _, err := c.work.Stat(p); err != nil {
			return nil, err
		}
		err = collector.gather(ctx, []string{p.Real})
		return collector.result(q.Severity), err
	}
	if err := collector.everywhere(ctx); err != nil {
		return nil, err
	}
	return collector.result(q.Severity), nil
}

// everywhere asks the servers about what is open and what has changed; for the
// latter they are started.
func (k *collector) everywhere(ctx context.Context) error {
	var paths []string
	for _, name := range k.client.watch.changed() {
		if len(k.client.choices(name)) > 0 {
			paths = append(paths, name)
		}
	}
	for _, v := range k.client.sessions() {
		paths = append(paths, v.docs.paths()...)
		paths = append(paths, v.problem.nonEmpty()...)
		if lost := v.problem.notKept(); lost > 0 {
			k.lower(Partial, fmt.Sprintf("%s spoke of problems in more files than are kept, %d times; name one as path", v.spec.Name, lost))
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	if more := len(paths) - maxAffected; more > 0 {
		paths = paths[:maxAffected]
		k.lower(Partial, fmt.Sprintf("%d more files are open or changed and were not asked about; name one as path", more))
	}
	if len(paths) == 0 {
		k.lower(Partial, "no file is open at a language server or has changed, so none was looked at; name a path")
	}
	return k.gather(ctx, paths)
}

// gather asks about each file every server that serves it. One beside a file's
// first that cannot be asked makes the answer partial.
func (k *collector) gather(ctx context.Context, paths []string) error {
	var order []*server
	asked := map[*server][]string{}
	second := map[*server]bool{}
	for _, name := range paths {
		servers, err := k.client.serversFor(workspace.Path{Rel: name, Real: name})
		if isUnsupported(err) {
			continue
		}
		if err != nil {
			return err
		}
		for i, s := range servers {
			if asked[s] == nil {
				order = append(order, s)
				second[s] = i > 0
			}
			asked[s] = append(asked[s], name)
		}
	}
	for _, s := range order {
		if err := k.gatherAt(ctx, s, asked[s], second[s]); err != nil {
			return err
		}
	}
	return nil
}

func (k *collector) gatherAt(ctx context.Context, s *server, paths []string, second bool) error {
	live, release, err := s.acquire(ctx)
	if err == nil {
		defer release()
		err = k.collect(ctx, live, paths)
		if err == nil {
			return nil
		}
	}
	answer, hard := k.client.soften(ctx, s.spec.Name, err)
	switch {
	case hard != nil && second && ctx.Err() == nil:
		k.lower(Partial, s.spec.Name+": "+tools.AsError(hard).Message)
	case hard != nil:
		return hard
	default:
		k.name(s.spec.Name)
		k.lower(answer.Status, answer.Reason)
	}
	return nil
}

// name adds a server to those that the answer is from.
func (k *collector) name(server string) {
	if k.answer.Server == "" {
		k.answer.Server = server
	} else if !slices.Contains(strings.Split(k.answer.Server, ", "), server) {
		k.answer.Server += ", " + server
	}
}

// contents gives a delta the text of both sides.
type contents struct {
	base, head map[string][]byte
	client     *Client
}

// Content implements diagnostics.Contents.
func (c contents) Content(side diagnostics.Side, path string) ([]byte, bool) {
	texts := c.head
	if side == diagnostics.Base {
		texts = c.base
	}
	if data, ok := texts[path]; ok {
		return data, true
	}
	f, _, err := c.client.files.get(context.Background(), workspace.Path{Rel: path, Real: path})
	if err != nil {
		return nil, false
	}
	return f.text.data, true
}
