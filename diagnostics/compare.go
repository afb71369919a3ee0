package diagnostics

import (
	"cmp"
	"slices"
)

// The bound of a delta's lists together.
const (
	defaultEntries = 2000
	hardEntries    = 10000
)

// Compare follows the problems of base into head. It refuses hunks that overlap,
// go backwards or do not fit together, and MaxEntries out of range. The result
// depends on nothing but the arguments, and not on the order of diagnostics that
// differ in any way.
func Compare(base, head *Snapshot, opts *Options) (*Delta, error) {
	if opts == nil {
		opts = &Options{}
	}
	maxEntries, err := limit("MaxEntries", opts.MaxEntries, defaultEntries, hardEntries)
	if err != nil {
		return nil, err
	}
	cover := coverage{base: base.producers(), head: head.producers(), files: opts.Files}
	if cover.files == nil {
		cover.files = NewFileChanges()
	}
	t := tracker{
		opts: opts, cover: &cover, rename: newSubstitution(opts.Renames),
		files: map[string]*fileLines{}, budget: alignBudget, diffBudget: diffBudget,
	}
	delta := &Delta{Incomplete: !base.Complete() || !head.Complete()}
	if err := t.load(base, head); err != nil {
		return nil, err
	}
	t.join()
	t.sortOut(delta)
	slices.Sort(t.unread)
	delta.Unread = slices.Compact(t.unread)
	delta.cut(maxEntries)
	return delta, nil
}

// entry is a diagnostic on its way through the passes.
type entry struct {
	d       *Diagnostic
	keys    messageKeys
	renamed *messageKeys // of a base entry whose message holds a renamed symbol
	path    string       // in the head; "" where the head has no such file
	alone   bool         // the other side has no such file
	line    int          // in the head; -1 where the line was replaced
	gap     int          // the head's line that a replaced line became; -1: none
	hunk    int          // the hunk that its line is part of; -1: the line is on both sides
	moved   *place       // where in the head a deleted line stands now; nil: nowhere
	match   *entry
	via     Via
	sure    Certainty
}

// effectiveLine is the head's line, by whichever way it is known.
func (e *entry) effectiveLine() int { return max(e.line, e.gap) }

// tracker holds one comparison.
type tracker struct {
	opts       *Options
	cover      *coverage
	rename     substitution
	files      map[string]*fileLines // by base path
	base, head []*entry
	// leftBase and leftHead are what no pass has matched yet.
	leftBase, leftHead []*entry
	budget             int // tokens that alignments may still look at
	diffBudget         int // steps that line diffs may still take
	unread             []string
}

// load makes the entries of both sides, in order.
func (t *tracker) load(base, head *Snapshot) error {
	t.base, t.head = entries(base), entries(head)
	for _, e := range t.base {
		if err := t.place(e); err != nil {
			return err
		}
		t.renameKeys(e)
	}
	for _, e := range t.head {
		e.path, e.line = e.d.Path, e.d.Range.Start.Line
		basePath, ok := t.cover.files.ToBase(e.path)
		if !ok {
			e.alone = true
			continue
		}
		lines, err := t.lines(basePath, e.path)
		if err != nil {
			return err
		}
		e.hunk = lines.headHunk(e.line)
	}
	return nil
}

// renameKeys gives an entry the keys of its message after the known renames.
func (t *tracker) renameKeys(e *entry) {
	if renamed, ok := t.rename.apply(e.d.Message); ok {
		keys := keysOf(renamed)
		e.renamed = &keys
	}
}

// entries lists a snapshot's diagnostics by place.
func entries(s *Snapshot) []*entry {
	list := make([]*entry, len(s.Diagnostics))
	for i := range s.Diagnostics {
		d := &s.Diagnostics[i]
		list[i] = &entry{d: d, keys: keysOf(d.Message), line: -1, gap: -1, hunk: -1}
	}
	slices.SortStableFunc(list, func(a, b *entry) int { return placeOrder(a.d, b.d) })
	return list
}

// place finds out where a base entry stands in the head.
func (t *tracker) place(e *entry) error {
	path, ok := t.cover.files.ToHead(e.d.Path)
	if !ok {
		e.alone = true
		return nil
	}
	e.path = path
	lines, err := t.lines(e.d.Path, path)
	if err != nil {
		return err
	}
	e.line, e.gap, e.hunk = lines.toHead(e.d.Range.Start.Line)
	return nil
}

// sortOut fills the delta's lists from the matched and unmatched entries.
func (t *tracker) sortOut(delta *Delta) {
	var introduced []*entry
	for _, e := range t.head {
		reason := t.cover.ofHead(e.d)
		raised := e.match != nil && t.opts.Strict && e.d.Severity < e.match.d.Severity
		switch {
		case e.match != nil && !raised:
			delta.Unchanged = append(delta.Unchanged, matchOf(e))
		case e.match == nil && reason != "":
			delta.Unknown = append(delta.Unknown, Unknown{*e.d, Head, reason})
		case t.generated(e.d.Path):
			delta.Generated = append(delta.Generated, *e.d)
		default:
			introduced = append(introduced, e)
		}
	}
	for _, e := range t.base {
		if e.match != nil {
			continue
		}
		if reason := t.cover.ofBase(e.d); reason != "" {
			delta.Unknown = append(delta.Unknown, Unknown{*e.d, Base, reason})
			continue
		}
		delta.Fixed = append(delta.Fixed, *e.d)
	}
	slices.SortStableFunc(introduced, func(a, b *entry) int { return order(a.d, b.d) })
	for _, e := range introduced {
		delta.Introduced = append(delta.Introduced, *e.d)
		delta.OnChanged = append(delta.OnChanged, e.alone || e.hunk >= 0)
	}
	Sort(delta.Generated)
	Sort(delta.Fixed)
	slices.SortStableFunc(delta.Unchanged, func(a, b Match) int {
		return cmp.Or(order(&a.Head, &b.Head), order(&a.Base, &b.Base))
	})
	slices.SortStableFunc(delta.Unknown, func(a, b Unknown) int {
		return cmp.Or(cmp.Compare(b.Side, a.Side), order(&a.Diagnostic, &b.Diagnostic))
	})
}

// generated asks about a file of the head by the name that the base knows it by.
func (t *tracker) generated(path string) bool {
	if t.opts.Generated == nil {
		return false
	}
	if base, ok := t.cover.files.ToBase(path); ok {
		path = base
	}
	return t.opts.Generated(path)
}

func matchOf(head *entry) Match {
	b, h := head.match.d, head.d
	return Match{
		Base: *b, Head: *h, Via: head.via, Sure: head.sure,
		Moved: b.Path != h.Path || b.Range.Start.Line != h.Range.Start.Line,
		Updated: b.Message != h.Message || b.Severity != h.Severity || b.Source != h.Source ||
			b.Code != h.Code || !slices.Equal(b.Tags, h.Tags),
	}
}

// cut counts the entries and keeps the first maxEntries, the most telling lists
// first.
func (d *Delta) cut(maxEntries int) {
	d.Counts = Counts{
		Introduced: len(d.Introduced), Fixed: len(d.Fixed),
		Unchanged: len(d.Unchanged), Unknown: len(d.Unknown), Generated: len(d.Generated),
	}
	for i := range d.Introduced {
		if d.Introduced[i].Severity == Error {
			d.Counts.IntroducedErrors++
		}
	}
	left := maxEntries
	d.Introduced = keep(d.Introduced, &left)
	d.OnChanged = slices.Clip(d.OnChanged[:len(d.Introduced)])
	d.Generated = keep(d.Generated, &left)
	d.Fixed = keep(d.Fixed, &left)
	d.Unknown = keep(d.Unknown, &left)
	d.Unchanged = keep(d.Unchanged, &left)
	d.Truncated = d.Counts.entries() > maxEntries
}

func keep[T any](list []T, left *int) []T {
	n := min(len(list), *left)
	*left -= n
	return slices.Clip(list[:n])
}
