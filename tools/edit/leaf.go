package edit

import (
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// leaf has go-diff match a box of at most maxCells cells. Only the lines that
// have a counterpart take part, each as one code point; from the answer only
// the counts are read.
func (t *table) leaf(b box) {
	old, new := t.shared(b)
	if len(old) == 0 || t.work < len(old)*len(new) {
		return
	}
	t.work -= len(old) * len(new)
	codes := map[int32]rune{}
	code := func(class int32) rune {
		r, ok := codes[class]
		if !ok {
			r = codePoint(len(codes))
			codes[class] = r
		}
		return r
	}
	oldRunes, newRunes := make([]rune, len(old)), make([]rune, len(new))
	for i, line := range old {
		oldRunes[i] = code(t.old.class[line])
	}
	for i, line := range new {
		newRunes[i] = code(t.new.class[line])
	}
	// No timeout: it would make the result depend on the machine's load.
	differ := &diffmatchpatch.DiffMatchPatch{}
	i, j := 0, 0
	for _, d := range differ.DiffMainRunes(oldRunes, newRunes, false) {
		n := utf8.RuneCountInString(d.Text)
		switch d.Type {
		case diffmatchpatch.DiffDelete:
			i += n
		case diffmatchpatch.DiffInsert:
			j += n
		case diffmatchpatch.DiffEqual:
			for k := range n {
				t.emit(run{old[i+k], new[j+k], 1})
			}
			i += n
			j += n
		}
	}
}

// shared returns the lines of each side whose class is on the other side too.
func (t *table) shared(b box) (old, new []int) {
	for i := b.old; i < b.oldEnd; i++ {
		t.newAt[t.old.class[i]] = absent
	}
	for i := b.new; i < b.newEnd; i++ {
		t.oldAt[t.new.class[i]] = absent
		t.newAt[t.new.class[i]] = repeated
	}
	for i := b.old; i < b.oldEnd; i++ {
		t.oldAt[t.old.class[i]] = repeated
		if t.newAt[t.old.class[i]] != absent {
			old = append(old, i)
		}
	}
	for i := b.new; i < b.newEnd; i++ {
		if t.oldAt[t.new.class[i]] != absent {
			new = append(new, i)
		}
	}
	return old, new
}

// codePoint returns the n-th code point that survives the trip through a Go
// string, which surrogates do not. A leaf of maxCells cells has fewer distinct
// shared lines than there are code points.
func codePoint(n int) rune {
	const surrogates = 0xd800
	if n >= surrogates {
		n += 0x800
	}
	return rune(n)
}
