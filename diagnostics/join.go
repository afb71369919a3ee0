package diagnostics

// joinKey is what two entries must share to be one problem in a pass. The first
// four fields bind in every pass; line and column are -1 where a pass does not
// look at them.
type joinKey struct {
	producer string
	kind     string // the code, or the source where there is none
	coded    bool
	path     string
	line     int
	column   int
	message  string
}

// pass is one multiset join. fromBase and fromHead give the key of an entry, or
// false when the pass does not apply to it.
type pass struct {
	via      Via
	sure     Certainty
	fromBase func(*entry) (joinKey, bool)
	fromHead func(*entry) (joinKey, bool)
}

// key is the part of a key that every pass has.
func (e *entry) key(message string) joinKey {
	k := joinKey{producer: e.d.Producer, kind: e.d.Code, coded: true, path: e.path, line: -1, column: -1, message: message}
	if k.kind == "" {
		k.kind, k.coded = e.d.Source, false
	}
	return k
}

// at is key bound to a line and, unless anyColumn, to the entry's column.
func (e *entry) at(line int, message string, anyColumn bool) (joinKey, bool) {
	k := e.key(message)
	k.line = line
	if !anyColumn {
		k.column = exactKeyOf(e.d).column
	}
	return k, line >= 0
}

// onLine joins entries whose lines are the same one, as mapped.
func onLine(via Via, sure Certainty, form int, anyColumn bool) pass {
	of := func(e *entry) (joinKey, bool) { return e.at(e.line, e.keys[form], anyColumn) }
	return pass{via, sure, of, of}
}

// inGap joins a replaced line's entries with those of the line it became.
func inGap(form int) pass {
	return pass{ViaGap, Medium,
		func(e *entry) (joinKey, bool) { return e.at(e.gap, e.keys[form], true) },
		func(e *entry) (joinKey, bool) { return e.at(e.line, e.keys[form], true) },
	}
}

// renamed joins on the line known in whichever way, with the renames applied.
func renamed(form int, sure Certainty) pass {
	return pass{ViaRename, sure,
		func(e *entry) (joinKey, bool) {
			if e.renamed == nil {
				return joinKey{}, false
			}
			if e.moved != nil && e.effectiveLine() < 0 {
				k := e.key(e.renamed[form])
				k.path, k.line = e.moved.path, e.moved.line
				return k, true
			}
			return e.at(e.effectiveLine(), e.renamed[form], true)
		},
		func(e *entry) (joinKey, bool) { return e.at(e.line, e.keys[form], true) },
	}
}

// inHunk joins by count within a replaced block: a statement that was broken into
// several lines resembles none of them.
func inHunk(form int) pass {
	of := func(e *entry) (joinKey, bool) {
		k := e.key(e.keys[form])
		k.line = e.hunk
		return k, e.hunk >= 0
	}
	return pass{ViaGap, Low, of, of}
}

// inMove joins the problems of a deleted line with those of the added one that it
// was moved to.
func inMove(form int) pass {
	return pass{ViaMove, Medium,
		func(e *entry) (joinKey, bool) {
			if e.moved == nil {
				return joinKey{}, false
			}
			k := e.key(e.keys[form])
			k.path, k.line = e.moved.path, e.moved.line
			return k, true
		},
		func(e *entry) (joinKey, bool) { return e.at(e.line, e.keys[form], true) },
	}
}

// inFile joins by count within a file. keptBase and keptHead say of each side
// whether the pass looks at the lines that stand on both sides or at the others;
// one of the two must be kept: a problem that comes or goes at a line which nobody
// touched was most likely only reported elsewhere. Of two lines that were deleted
// and inserted that cannot be said; those are fixed and introduced.
func inFile(form int, keptBase, keptHead bool) pass {
	of := func(kept bool) func(*entry) (joinKey, bool) {
		return func(e *entry) (joinKey, bool) { return e.key(e.keys[form]), !e.alone && kept == (e.hunk < 0) }
	}
	return pass{ViaFile, Low, of(keptBase), of(keptHead)}
}

// join runs the passes over what the earlier ones left, in order; an earlier one
// wins. There is none for the same text anywhere in the workspace: it would hide
// a problem that was fixed in one place and made in another.
func (t *tracker) join() {
	t.leftBase, t.leftHead = t.joinable(t.base), t.joinable(t.head)
	t.run(
		onLine(ViaPosition, High, 0, false),
		onLine(ViaLine, High, 0, true),
		onLine(ViaLine, High, 1, false),
		onLine(ViaLine, Medium, 1, true),
		onLine(ViaLine, Medium, 2, false),
		onLine(ViaLine, Medium, 2, true),
		inGap(0), inGap(1), inGap(2),
	)
	t.findMoves()
	t.run(inMove(0), inMove(1), inMove(2))
	t.run(renamed(0, Medium), renamed(1, Medium), renamed(2, Medium))
	if t.inferRenames() {
		// The lines of a renamed symbol are known again, whatever else they say.
		t.findMoves()
		t.run(inGap(0), inGap(1), inGap(2), inMove(0), inMove(1), inMove(2))
		t.run(renamed(0, Low), renamed(1, Low), renamed(2, Low))
	}
	t.run(inHunk(0), inHunk(1))
	for form := range 2 {
		// In this order no choice is left that a reversed change would make otherwise.
		t.run(inFile(form, true, true), inFile(form, true, false), inFile(form, false, true))
	}
}

// run makes the passes as long as both sides have something left.
func (t *tracker) run(passes ...pass) {
	for _, p := range passes {
		if len(t.leftBase) == 0 || len(t.leftHead) == 0 {
			return
		}
		p.run(t.leftBase, t.leftHead)
		t.leftBase, t.leftHead = unmatched(t.leftBase), unmatched(t.leftHead)
	}
}

// joinable leaves out the producers that cannot be compared.
func (t *tracker) joinable(list []*entry) []*entry {
	var kept []*entry
	for _, e := range list {
		if t.cover.comparable(e.d.Producer) {
			kept = append(kept, e)
		}
	}
	return kept
}

func unmatched(list []*entry) []*entry {
	var kept []*entry
	for _, e := range list {
		if e.match == nil {
			kept = append(kept, e)
		}
	}
	return kept
}

// run pairs entries of equal key in the order of their lists.
func (p pass) run(base, head []*entry) {
	waiting := make(map[joinKey][]*entry, len(base))
	for _, e := range base {
		if key, ok := p.fromBase(e); ok {
			waiting[key] = append(waiting[key], e)
		}
	}
	for _, h := range head {
		key, ok := p.fromHead(h)
		if !ok || len(waiting[key]) == 0 {
			continue
		}
		b := waiting[key][0]
		waiting[key] = waiting[key][1:]
		b.match, h.match = h, b
		h.via, h.sure = p.via, p.sure
	}
}
