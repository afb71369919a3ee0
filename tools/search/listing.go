package search

import (
	"slices"
	"strings"
)

// listing reads directories, one after the other, with buffers that stay. Each
// worker has its own.
type listing struct {
	buf   []byte
	arena []byte
	refs  []nameRef
}

type nameRef struct {
	offset uint32
	length uint16
	kind   kind
}

func newListing() *listing { return &listing{buf: make([]byte, direntBuffer)} }

func (l *listing) reset() {
	l.arena, l.refs = l.arena[:0], l.refs[:0]
}

func (l *listing) add(name string, k kind) {
	l.refs = append(l.refs, nameRef{uint32(len(l.arena)), uint16(len(name)), k})
	l.arena = append(l.arena, name...)
}

// entries returns what was read, sorted by name. All names of a directory
// share one string.
func (l *listing) entries() []entry {
	if len(l.refs) == 0 {
		return nil
	}
	text := string(l.arena)
	name := func(r nameRef) string { return text[r.offset : r.offset+uint32(r.length)] }
	slices.SortFunc(l.refs, func(a, b nameRef) int { return strings.Compare(name(a), name(b)) })
	entries := make([]entry, len(l.refs))
	for i, ref := range l.refs {
		entries[i] = entry{name: name(ref), kind: ref.kind}
	}
	return entries
}
