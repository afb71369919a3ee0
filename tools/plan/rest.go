package plan

import (
	"bytes"
	"slices"
	"strings"
)

// rest is what a plan has besides its title, goal and items: a person's, which stays
// when those are replaced.
type rest struct {
	before  []byte // before the title
	intro   []byte // between the title and the next section
	among   []byte // among the items, and no part of one
	further []byte // the other sections
	crlf    bool
}

// rest takes a plan apart. Lines below an item are a part of it. In a section of a
// person's own its items stay.
func (d *Document) rest() *rest {
	r := &rest{crlf: bytes.Contains(d.data, []byte("\r\n"))}
	title := slices.IndexFunc(d.scan.headings, func(h heading) bool { return h.level == 1 })
	start, part, theirs := 0, &r.before, false
	if title < 0 { // it comes first
		start = len(d.data) - len(bytes.TrimPrefix(d.data, []byte("\ufeff")))
		r.before, part = d.data[:start:start], &r.intro
	}
	take := func(end int) {
		text := d.data[start:end:end]
		if !theirs {
			text = d.withoutItems(span{start, end})
		}
		*part = append(*part, text...)
	}
	for i, h := range d.scan.headings {
		if h.level > 2 {
			continue
		}
		take(h.line.start)
		start, part, theirs = h.line.end, new([]byte), false
		name := strings.ToLower(h.text)
		switch {
		case i == title:
			part = &r.intro
		case h.level == 2 && name == "goal": // replaced
		case h.level == 2 && slices.Contains(todoHeadings(), name):
			part = &r.among
		case i < title: // such as YAML, which Markdown takes for a heading
			start, part, theirs = h.line.start, &r.before, true
		default:
			start, part, theirs = h.line.start, &r.further, true
		}
	}
	take(len(d.data))
	return r
}

// withoutItems is a part of the text without the items that are in it.
func (d *Document) withoutItems(part span) []byte {
	var text []byte
	for _, box := range d.scan.found {
		if box.line.start >= part.start && box.line.start < part.end {
			text = append(text, d.data[part.start:box.line.start]...)
			part.start = min(box.end, part.end)
		}
	}
	return append(text, d.data[part.start:part.end]...)
}

// below is what stands between the title and the goal.
func (r *rest) below(eol string) string {
	if len(bytes.TrimSpace(r.intro)) == 0 {
		return eol
	}
	return ended(r.intro, eol)
}

// list is what stands between the heading of the items and the first.
func (r *rest) list(eol string) string {
	text := bytes.Trim(r.among, "\r\n")
	if len(bytes.TrimSpace(text)) == 0 {
		return eol
	}
	return eol + ended(text, eol) + eol
}

// ended is text with a line ending behind it.
func ended(text []byte, eol string) string {
	if !bytes.HasSuffix(text, []byte("\n")) {
		return string(text) + eol
	}
	return string(text)
}
