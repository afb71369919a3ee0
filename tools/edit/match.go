package edit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
)

const (
	// maxCounted bounds how many places of an ambiguous text are looked at.
	maxCounted = 1000
	// maxReplaced bounds how many places one replacement of all may have.
	maxReplaced = 1 << 20
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

// needle is what to look for in a text in which w's old text reads as text.
func (w *wanted) needle(text string) needle {
	if w.all {
		return needle{text: []byte(text), limit: maxReplaced + 1, step: len(text)}
	}
	return needle{text: []byte(text), limit: maxCounted + 1, step: 1}
}

// settle turns what was found for replacement number index into matches.
func (s *source) settle(index int, w *wanted) ([]match, error) {
	switch {
	case len(w.found) == 0:
		return nil, s.miss(index, w.old)
	case len(w.found) > 1 && !w.all:
		return nil, s.ambiguous(index, w.found)
	case len(w.found) > maxReplaced:
		return nil, tools.Errorf(tools.CodeLimit, "edits[%d].oldText is in the file more than %d times, which is the most that replaceAll replaces", index, maxReplaced)
	case int64(len(w.found))*int64(len(w.new)) > TargetLimit.Hard:
		return nil, tools.Errorf(tools.CodeLimit, "edits[%d] would insert %d × %d bytes; a file can have at most %d", index, len(w.found), len(w.new), TargetLimit.Hard)
	}
	texts := map[string][]byte{} // by line ending
	matches := make([]match, len(w.found))
	for i, at := range w.found {
		m := match{edit: index, start: at.start, end: at.end, fuzzy: w.fuzzy}
		if !w.fuzzy && w.old == w.new {
			m.text = s.data[at.start:at.end] // asked to stay: so do its line endings
		} else {
			ending := s.ending(at.start)
			text, ok := texts[ending]
			if !ok {
				text = s.encode(w.new, ending)
				texts[ending] = text
			}
			m.text = text
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
		switch {
		case !s.representable(w.old):
		case s.order == nil && s.hasCR && strings.IndexByte(w.old, '\n') >= 0:
			folded = append(folded, w)
		default:
			// Without line breaks in it, a text is in the view where it is in
			// the file itself.
			text, origin := s.plain()
			for _, at := range text.all(w.needle(w.old)) {
				w.found = append(w.found, extent{origin(at), origin(at + len(w.old))})
			}
		}
	}
	s.search(folded, newStream(s.data[s.bom:], false), func(old string) string { return old }, func(at int) int { return s.bom + at })
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
	s.search(rest, newStream(text.text, true), func(old string) string { return string(normalise([]byte(old))) }, origin)
}

// search fills in the places that a stream finds. text is what to look for in
// it; origin maps the stream's offsets to the file's.
func (s *source) search(list []*wanted, in *stream, text func(string) string, origin func(int) int) {
	if len(list) == 0 {
		return
	}
	needles := make([]needle, len(list))
	for i, w := range list {
		needles[i] = w.needle(text(w.old))
	}
	for i, places := range in.find(needles) {
		for _, p := range places {
			list[i].found = append(list[i].found, extent{origin(p.start), origin(p.end)})
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
