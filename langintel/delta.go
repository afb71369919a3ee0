package langintel

import (
	"context"
	"fmt"
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
	session *session
	paths   []string // as named before the change
	skipped int
	base    *collector
	marked  time.Time
	texts   map[string][]byte
	changed []string
}

// survey asks about every file that the plan may affect: those that it changes,
// those that depend on them, and those open at the server.
func (p *plan) survey(ctx context.Context) (*survey, error) {
	v := p.session
	s := &survey{session: v, texts: map[string][]byte{}}
	seen := map[string]bool{}
	add := func(names ...string) {
		for _, name := range names {
			switch {
			case seen[name] || v.spec.language(name) == "":
			case len(s.paths) >= maxAffected:
				s.skipped++
			default:
				s.paths = append(s.paths, name)
			}
			seen[name] = true
		}
	}
	changed := p.changed()
	add(changed...)
	if v.spec.Dependents != nil {
		files := &Files{client: v.client, ctx: ctx, all: v.client.watch.all(ctx)}
		add(v.spec.Dependents(files, changed)...)
	} else {
		add(v.docs.paths()...)
		add(v.problem.nonEmpty()...)
	}
	var err error
	if s.base, err = newCollector(v.client); err != nil {
		return nil, err
	}
	s.changed = changed
	if err := s.base.collect(ctx, v, s.paths); err != nil {
		return nil, err
	}
	for path, f := range s.base.files {
		s.texts[path] = f.text.data
	}
	s.marked = time.Now()
	return s, nil
}

// compare asks again after the change, and puts what it did into the result.
func (s *survey) compare(ctx context.Context, p *plan, rename diagnostics.SymbolRename, result *RenameResult) error {
	head, err := newCollector(s.session.client)
	if err != nil {
		return err
	}
	moved := map[string]string{}
	opts := &diagnostics.Options{Lines: diagnostics.Hunks{}, Renames: []diagnostics.SymbolRename{rename}}
	hunks := diagnostics.Hunks{}
	var files []diagnostics.FileChange
	for _, ch := range p.changes() {
		if ch.OldPath != ch.NewPath {
			files = append(files, diagnostics.FileChange{Old: ch.OldPath, New: ch.NewPath})
			moved[ch.OldPath] = ch.NewPath
		}
		if ch.OldPath != "" {
			for _, h := range edit.Lines(ch.Old, ch.New) {
				hunks[ch.OldPath] = append(hunks[ch.OldPath], diagnostics.Hunk(h))
			}
		}
	}
	opts.Lines, opts.Files = hunks, diagnostics.NewFileChanges(files...)
	opts.Contents = contents{base: s.texts, client: s.session.client}
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
	// Files that the server published for meanwhile belong to the answer; those
	// not asked about before come out as unknown.
	paths = append(paths, s.session.problem.since(s.marked)...)
	slices.Sort(paths)
	if err := head.collect(ctx, s.session, slices.Compact(paths)); err != nil {
		return err
	}
	delta, err := diagnostics.Compare(s.base.snapshot(), head.snapshot(), opts)
	if err != nil {
		return tools.Errorf(tools.CodeInternal, "%w", err)
	}
	result.Delta, result.DeltaOf = delta, s.judge(head, delta)
	result.Introduced, result.Fixed = head.problems(delta.Introduced), s.base.problems(delta.Fixed)
	return nil
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
	if answer.Status == Complete && !delta.Complete() {
		answer.Status, answer.Reason = Partial, fmt.Sprintf("%d problems cannot be compared", delta.Counts.Unknown)
	}
	return answer
}
