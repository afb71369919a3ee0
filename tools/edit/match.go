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
	// maxListed bounds how many of their lines the message names.
	maxListed = 10
)

// locate finds where replacement number index applies.
func (s *source) locate(index int, e Replacement) ([]match, error) {
	old, text := trimBOM(e.Old), e.New
	if old != e.Old {
		text = trimBOM(text)
	}
	if !s.representable(text) {
		return nil, tools.Errorf(tools.CodeToolInput, "edits[%d].newText is not valid UTF-8, which a UTF-16 file cannot hold", index)
	}
	old, text = unifyEndings(old), unifyEndings(text)
	if e.All {
		return s.locateAll(index, old, text)
	}
	found := s.exact(old, 2)
	fuzzy := false
	if len(found) == 0 {
		found, fuzzy = s.fuzzy(old, 2), true
	}
	switch {
	case len(found) == 0:
		return nil, s.miss(index, e.Old)
	case len(found) > 1 && fuzzy:
		return nil, s.ambiguous(index, s.fuzzy(old, maxCounted+1))
	case len(found) > 1:
		return nil, s.ambiguous(index, s.exact(old, maxCounted+1))
	}
	at := found[0]
	m := match{edit: index, start: at.start, end: at.end, fuzzy: fuzzy}
	if !fuzzy && old == text {
		m.text = s.data[at.start:at.end] // asked to stay: so do its line endings
	} else {
		m.text = s.encode(text, at.start)
	}
	return []match{m}, nil
}

// locateAll finds every exact match, left to right, without overlap.
func (s *source) locateAll(index int, old, text string) ([]match, error) {
	hay := s.haystack(old)
	at := hay.all([]byte(old), -1, false)
	if len(at) == 0 || !s.representable(old) {
		return nil, s.miss(index, old)
	}
	if old == text {
		return nil, nil
	}
	matches := make([]match, len(at))
	for i, a := range at {
		start := hay.origin(a)
		matches[i] = match{edit: index, start: start, end: hay.origin(a + len(old)), text: s.encode(text, start)}
	}
	return matches, nil
}

// extent is a stretch of the file, in bytes.
type extent struct{ start, end int }

// haystack is a text to search and how its offsets map to the file's.
type haystack struct {
	*finder
	origin func(int) int
}

// haystack returns the cheapest text in which exact matches of old are those of
// the view.
func (s *source) haystack(old string) haystack {
	if s.order == nil && (!s.hasCR || strings.IndexByte(old, '\n') < 0) {
		if s.raw == nil {
			s.raw = newFinder(s.data[s.bom:])
		}
		return haystack{s.raw, func(at int) int { return s.bom + at }}
	}
	v := s.viewed()
	return haystack{v.finder, v.origin}
}

// exact returns up to limit places where the view holds old; places may
// overlap.
func (s *source) exact(old string, limit int) []extent {
	if !s.representable(old) {
		return nil
	}
	hay := s.haystack(old)
	var found []extent
	for _, at := range hay.all([]byte(old), limit, true) {
		found = append(found, extent{hay.origin(at), hay.origin(at + len(old))})
	}
	return found
}

// fuzzy returns up to limit places where the normalised view holds N of old.
// A place that starts or ends inside what N rewrote is none: no bytes of the
// file correspond to it.
func (s *source) fuzzy(old string, limit int) []extent {
	if !utf8.ValidString(old) {
		return nil
	}
	needle := normalise([]byte(old)).text()
	if len(needle) == 0 {
		return nil
	}
	v := s.viewed()
	if s.normal == nil {
		s.normal = normalise(v.text)
	}
	hay := newFinder(s.normal.text())
	var found []extent
	for from := 0; len(found) < limit; {
		at := hay.next(needle, from)
		if at < 0 {
			break
		}
		from = at + 1
		start, ok1 := s.normal.start(at)
		end, ok2 := s.normal.end(at + len(needle))
		if ok1 && ok2 {
			found = append(found, extent{v.origin(start), v.origin(end)})
		}
	}
	return found
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
