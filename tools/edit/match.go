package edit

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
)

const (
	// maxCounted bounds how many places of an ambiguous text are looked at.
	maxCounted = 1000
	// maxListed bounds how many of their lines the message names.
	maxListed = 10
)

// wanted is a replacement as matching takes it.
type wanted struct {
	old, new string // without byte order mark, lines ending in \n
	all      bool
	found    []extent // in bytes of the file
	fuzzy    bool
}

// extent is a stretch of text, in bytes.
type extent struct{ start, end int }

// locate finds where each replacement applies: exactly, or, for those that
// exact matching does not find, normalised.
func (s *source) locate(edits []Replacement) ([]match, error) {
	list := make([]wanted, len(edits))
	for i, e := range edits {
		w := wanted{old: trimBOM(e.Old), new: e.New, all: e.All}
		if w.old != e.Old {
			w.new = trimBOM(w.new)
		}
		if !s.representable(w.new) {
			return nil, tools.Errorf(tools.CodeToolInput, "edits[%d].newText is not valid UTF-8, which a UTF-16 file cannot hold", i)
		}
		w.old, w.new = unifyEndings(w.old), unifyEndings(w.new)
		list[i] = w
	}
	s.exact(list)
	s.fuzzy(list)
	var matches []match
	for i := range list {
		found, err := s.settle(i, &list[i])
		if err != nil {
			return nil, err
		}
		matches = append(matches, found...)
	}
	return matches, nil
}

// settle turns what was found for replacement number index into matches.
func (s *source) settle(index int, w *wanted) ([]match, error) {
	switch {
	case len(w.found) == 0:
		return nil, s.miss(index, w.old)
	case len(w.found) > 1 && !w.all:
		return nil, s.ambiguous(index, w.found)
	}
	matches := make([]match, len(w.found))
	for i, at := range w.found {
		m := match{edit: index, start: at.start, end: at.end, fuzzy: w.fuzzy}
		if !w.fuzzy && w.old == w.new {
			m.text = s.data[at.start:at.end] // asked to stay: so do its line endings
		} else {
			m.text = s.encode(w.new, at.start)
		}
		matches[i] = m
	}
	return matches, nil
}

// exact fills in the places that hold a text as it is.
func (s *source) exact(list []wanted) {
	var folded []*wanted // to be found where line endings are folded
	for i := range list {
		w := &list[i]
		limit, step := maxCounted+1, 1
		if w.all {
			limit, step = -1, len(w.old)
		}
		switch {
		case !s.representable(w.old):
		case s.order == nil && s.hasCR && strings.IndexByte(w.old, '\n') >= 0:
			folded = append(folded, w)
		default:
			// Without line breaks in it, a text is in the view where it is in
			// the file itself.
			text, origin := s.plain()
			for _, at := range text.all([]byte(w.old), limit, step) {
				w.found = append(w.found, extent{origin(at), origin(at + len(w.old))})
			}
		}
	}
	s.search(folded, newStream(s.data[s.bom:], false), func(old string) []byte { return []byte(old) }, func(at int) int { return s.bom + at })
}

// fuzzy fills in the places where what exact matching has not found is found
// normalised.
func (s *source) fuzzy(list []wanted) {
	var rest []*wanted
	for i := range list {
		if w := &list[i]; len(w.found) == 0 && !w.all && utf8.ValidString(w.old) {
			w.fuzzy = true
			rest = append(rest, w)
		}
	}
	text, origin := s.plain()
	s.search(rest, newStream(text.text, true), func(old string) []byte { return normalise([]byte(old)) }, origin)
}

// search fills in the places that a stream finds. text is what to look for in
// it; origin maps the stream's offsets to the file's.
func (s *source) search(list []*wanted, in *stream, text func(string) []byte, origin func(int) int) {
	if len(list) == 0 {
		return
	}
	needles := make([]needle, len(list))
	for i, w := range list {
		needles[i] = needle{text(w.old), maxCounted + 1}
		if w.all {
			needles[i].limit = math.MaxInt
		}
	}
	for i, places := range in.find(needles) {
		w := list[i]
		for _, p := range places {
			p = extent{origin(p.start), origin(p.end)}
			if n := len(w.found); w.all && n > 0 && p.start < w.found[n-1].end {
				continue // left to right, without overlap
			}
			w.found = append(w.found, p)
		}
	}
}

// plain returns the text of the file after its byte order mark, in UTF-8 but
// with its line endings unless it had to be decoded, and how its offsets map
// to the file's.
func (s *source) plain() (*finder, func(int) int) {
	if s.order != nil {
		return s.viewed().finder, s.viewed().origin
	}
	if s.raw == nil {
		s.raw = newFinder(s.data[s.bom:])
	}
	return s.raw, func(at int) int { return s.bom + at }
}

// Ambiguity is the Details of a CodeAmbiguous error.
type Ambiguity struct {
	Edit  int   `json:"edit"`  // index of the replacement, from 0
	Lines []int `json:"lines"` // 1-based lines where matches start, one a match
}

// ambiguous says on which lines a text that should be unique stands.
func (s *source) ambiguous(index int, found []extent) error {
	lines := make([]int, 0, len(found))
	line, last := 1, 0
	for _, f := range found[:min(len(found), maxCounted)] {
		line += s.countLines(s.data, last, f.start)
		last = f.start
		lines = append(lines, line)
	}
	count := fmt.Sprint(len(lines))
	if len(found) > maxCounted {
		count = fmt.Sprintf("more than %d", maxCounted)
	}
	list := make([]string, 0, maxListed)
	for _, l := range lines[:min(len(lines), maxListed)] {
		list = append(list, fmt.Sprint(l))
	}
	more := ""
	if len(lines) > maxListed {
		more = ", …"
	}
	return tools.Errorf(tools.CodeAmbiguous, "edits[%d].oldText is in the file %s times, at lines %s%s; give more surrounding text so that it is unique, or set replaceAll",
		index, count, strings.Join(list, ", "), more).WithDetails(Ambiguity{Edit: index, Lines: lines})
}
