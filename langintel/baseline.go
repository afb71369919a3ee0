package langintel

import (
	"context"
	"slices"

	"github.com/prism-ls/prism-ls/diagnostics"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/edit"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// Baseline is what the servers said about some files, and about those that
// depend on them, before somebody changes them.
type Baseline struct {
	survey *survey
	paths  []string
	before map[string]*file
}

// DeltaResult answers [Baseline.Delta]. Introduced and Fixed are those of Delta
// with the columns that people count: introduced problems stand where they are
// now, fixed ones where they were.
type DeltaResult struct {
	Answer
	Delta             *diagnostics.Delta
	Introduced, Fixed []Problem
}

// Baseline notes the problems in files as they are now; paths are relative to the
// root, and need not exist yet.
func (c *Client) Baseline(ctx context.Context, paths ...string) (*Baseline, error) {
	if len(paths) == 0 {
		return nil, tools.Errorf(tools.CodeToolInput, "no path is named; name the files that will change")
	}
	if err := c.watch.sweep(ctx); err != nil {
		return nil, tools.AsError(err)
	}
	out := &Baseline{before: map[string]*file{}}
	for _, name := range paths {
		p, err := c.work.Resolve(name)
		if err != nil {
			return nil, err
		}
		real := p.Real
		if f, _, err := c.files.get(ctx, p); err == nil {
			out.before[real] = f
		}
		out.paths = append(out.paths, real)
	}
	slices.Sort(out.paths)
	out.paths = slices.Compact(out.paths)
	var err error
	out.survey, err = c.survey(ctx, out.paths)
	return out, err
}

// Delta says what became of the problems since the baseline was made, whoever
// changed the files. It may be asked more than once; each answer is against the
// same baseline.
func (b *Baseline) Delta(ctx context.Context) (*DeltaResult, error) {
	c := b.survey.client
	if err := c.Changed(ctx, b.paths...); err != nil {
		return nil, err
	}
	if err := c.watch.sweep(ctx); err != nil {
		return nil, tools.AsError(err)
	}
	var changes []edit.Change
	for _, name := range b.paths {
		ch := edit.Change{}
		if f := b.before[name]; f != nil {
			ch.OldPath, ch.Old, ch.OldMode = name, f.text.data, f.mode
		}
		if f, _, err := c.files.get(ctx, workspace.Path{Rel: name, Real: name}); err == nil {
			ch.NewPath, ch.New, ch.NewMode = name, f.text.data, f.mode
		}
		if ch.OldPath != ch.NewPath || !slices.Equal(ch.Old, ch.New) {
			changes = append(changes, ch)
		}
	}
	found, err := b.survey.measure(ctx, changes, nil)
	if err != nil {
		return nil, err
	}
	return &DeltaResult{Answer: found.answer, Delta: found.delta, Introduced: found.introduced, Fixed: found.fixed}, nil
}
