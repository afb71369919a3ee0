package diagnostics

import (
	"maps"
	"slices"
)

// renameLines is how many edited lines must agree before a name counts as renamed:
// one alone may as well use another symbol now.
const renameLines = 2

// votes count the edited lines that have a name in the place of another.
type votes map[string]map[string]int

func (v votes) add(from, to string) {
	if v[from] == nil {
		v[from] = map[string]int{}
	}
	v[from][to]++
}

// inferRenames looks for names that were replaced consistently: in at least
// renameLines edited lines, by one and the same name, which stands for no other.
// It adds them to the known renames, places the entries that are left anew, and
// reports whether there are any.
func (t *tracker) inferRenames() bool {
	if len(t.leftBase) == 0 || len(t.leftHead) == 0 {
		return false
	}
	forth, back := votes{}, votes{}
	for _, f := range t.editedFiles() {
		for i := range f.hunks {
			f.vote(i, forth, back)
		}
	}
	found := substitution{}
	for from, to := range forth {
		if len(to) != 1 || t.rename[from] != "" {
			continue
		}
		for name, n := range to {
			if n >= renameLines && len(back[name]) == 1 && back[name][from] > 0 {
				found[from] = name
			}
		}
	}
	if len(found) == 0 {
		return false
	}
	maps.Copy(found, t.rename)
	t.rename = found
	for _, f := range t.files {
		f.rename = found
		clear(f.gaps)
	}
	for _, e := range t.leftBase {
		if f := t.files[e.d.Path]; f != nil && e.hunk >= 0 {
			_, e.gap, _ = f.toHead(e.d.Range.Start.Line)
		}
		t.renameKeys(e)
	}
	return true
}

// editedFiles are the files with problems left in replaced hunks, by name, as the
// budget for alignments must be spent in the same order every time.
func (t *tracker) editedFiles() []*fileLines {
	names := map[string]bool{}
	for _, e := range t.leftBase {
		if f := t.files[e.d.Path]; f != nil && f.base != nil && e.hunk >= 0 {
			names[e.d.Path] = true
		}
	}
	var list []*fileLines
	for _, name := range slices.Sorted(maps.Keys(names)) {
		list = append(list, t.files[name])
	}
	return list
}

// vote compares the paired lines of a hunk. A pair votes when it differs in words
// alone; a name that stayed votes for itself.
func (f *fileLines) vote(hunk int, forth, back votes) {
	h := f.hunks[hunk]
	if h.OldLines == 0 || h.NewLines == 0 {
		return
	}
	for i, j := range f.pairs(hunk) {
		if j < 0 {
			continue
		}
		from, to := visibleTokens(f.base.lines[h.OldStart+i]), visibleTokens(f.head.lines[j])
		if len(from) != len(to) {
			continue
		}
		said := map[[2]string]bool{}
		names := true
		for k := range from {
			if isName(from[k]) && isName(to[k]) {
				said[[2]string{from[k], to[k]}] = true
			} else if from[k] != to[k] {
				names = false
				break
			}
		}
		if !names {
			continue
		}
		for pair := range said {
			forth.add(pair[0], pair[1])
			back.add(pair[1], pair[0])
		}
	}
}

func isName(token string) bool {
	return isWord(rune(token[0])) && !isDigit(token[0]) || token[0] >= 0x80
}
