package langintel

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/prism-ls/prism-ls/diagnostics"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/edit"
)

// maxAffected bounds the files that are asked about before and after a change;
// the nearest to it come first.
const maxAffected = 400

// survey is the state of the problems around a change before it is made.
type survey struct {
	client  *Client
	paths   []string // as named before the change
	skipped int
	base    *collector
	marked  time.Time
	texts   map[string][]byte
	changed []string
}

// survey asks about every file that a change may affect: those that it changes,
// those that depend on them, and those open at a server.
func (c *Client) survey(ctx context.Context, changed []string) (*survey, error) {
	s := &survey{client: c, texts: map[string][]byte{}, changed: changed}
	seen := map[string]bool{}
	add := func(names ...string) {
		for _, name := range names {
			switch {
			case seen[name] || len(c.choices(name)) == 0:
			case len(s.paths) >= maxAffected:
				s.skipped++
			default:
				s.paths = append(s.paths, name)
			}
			seen[name] = true
		}
	}
	add(changed...)
	add(c.dependents(ctx, changed)...)
	var err error
	if s.base, err = newCollector(c); err != nil {
		return nil, err
	}
	if err := s.base.gather(ctx, s.paths); err != nil {
		return nil, err
	}
	for path, f := range s.base.files {
		s.texts[path] = f.text.data
	}
	s.marked = time.Now()
	return s, nil
}

// dependents returns the files whose problems may change with others: what the
// specs know of them, nearest first, and for a server that knows nothing of that
// what is open at it or has problems.
func (c *Client) dependents(ctx context.Context, changed []string) []string {
	var out []string
	files := c.filesNow(ctx)
	asked := map[*Spec]bool{}
	for _, name := range changed {
		for _, choice := range c.choices(name) {
			spec := choice.spec
			if asked[spec] {
				continue
			}
			asked[spec] = true
			if spec.Dependents != nil {
				out = append(out, spec.Dependents(files, changed)...)
			}
		}
	}
	for _, v := range c.sessions() {
		if v.spec.Dependents == nil && !v.spec.Lint {
			out = append(out, v.docs.paths()...)
			out = append(out, v.problem.nonEmpty()...)
		}
	}
	return out
}

// comparison is what became of the problems after a change.
type comparison struct {
	delta             *diagnostics.Delta
	answer            Answer
	introduced, fixed []Problem
}

// measure asks again, after changes that are known exactly.
func (s *survey) measure(ctx context.Context, changes []edit.Change, renames []diagnostics.SymbolRename) (*comparison, error) {
	head, err := newCollector(s.client)
	if err != nil {
		return nil, err
	}
	head.silent = maps.Clone(s.base.silent) // what they say now has nothing to be compared with
	moved := map[string]string{}
	texts := maps.Clone(s.texts)
	var files []diagnostics.FileChange
	for _, ch := range changes {
		if ch.OldPath != ch.NewPath {
			files = append(files, diagnostics.FileChange{Old: ch.OldPath, New: ch.NewPath})
			moved[ch.OldPath] = ch.NewPath
		}
		if ch.OldPath != "" {
			texts[ch.OldPath] = ch.Old
		}
	}
	opts := &diagnostics.Options{
		Files: diagnostics.NewFileChanges(files...), Renames: renames,
		Contents: contents{base: texts, client: s.client},
	}
	if err := head.gather(ctx, s.after(head, moved)); err != nil {
		return nil, err
	}
	delta, err := diagnostics.Compare(s.base.snapshot(), head.snapshot(), opts)
	if err != nil {
		return nil, tools.Errorf(tools.CodeInternal, "%w", err)
	}
	return &comparison{
		delta: delta, answer: s.judge(head, delta),
		introduced: head.problems(delta.Introduced), fixed: s.base.problems(delta.Fixed),
	}, nil
}

// after returns the files to ask about once the change is made.
func (s *survey) after(head *collector, moved map[string]string) []string {
	// What the server would say nothing about before, it says nothing about now,
	// and it takes long over that.
	head.skip = map[string]string{}
	for _, left := range s.base.refused {
		if !slices.Contains(s.changed, left.path) {
			head.skip[left.path] = left.reason
		}
	}
	var paths []string
	for _, name := range s.paths {
		if to, ok := moved[name]; ok {
			name = to
		}
		if name != "" {
			paths = append(paths, name)
		}
	}
	for _, name := range moved {
		if name != "" {
			paths = append(paths, name)
		}
	}
	// Files that a server published for meanwhile belong to the answer; those not
	// asked about before come out as unknown.
	for _, v := range s.client.sessions() {
		paths = append(paths, v.problem.since(s.marked)...)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// judge says how far a delta can be relied on.
func (s *survey) judge(head *collector, delta *diagnostics.Delta) Answer {
	answer := head.answer
	if s.base.answer.Status != Complete {
		answer.Status, answer.Reason = s.base.answer.Status, "before the change: "+s.base.answer.Reason
	}
	if answer.Status == Complete && s.skipped > 0 {
		answer.Status, answer.Reason = Partial, fmt.Sprintf("%d more files depend on the change and were not asked about", s.skipped)
	}
	if answer.Status == Complete && len(delta.Unread) > 0 {
		answer.Status, answer.Reason = Partial, delta.Unread[0]+" can no longer be read, so which of its lines changed is not known"
	}
	if answer.Status == Complete && !delta.Complete() {
		answer.Status, answer.Reason = Partial, fmt.Sprintf("%d problems cannot be compared", delta.Counts.Unknown)
	}
	return answer
}
