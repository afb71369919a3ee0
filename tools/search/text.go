package search

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a model is shown of one result, beside the notice.
const (
	maxTextLines = 2_000
	maxTextBytes = 50 << 10
)

const noMatches = "(no matches)"

// pager collects lines up to the bounds of a text.
type pager struct {
	b     strings.Builder
	lines int
	// full is why no more fits: byLines, byBytes or "".
	full string
}

// add appends lines that belong together, all or none.
func (p *pager) add(lines ...string) bool {
	size := len(lines)
	for _, line := range lines {
		size += len(line)
	}
	switch {
	case p.full != "":
	case p.lines+len(lines) > maxTextLines:
		p.full = byLines
	case p.b.Len()+size > maxTextBytes+1:
		p.full = byBytes
	default:
		for _, line := range lines {
			p.b.WriteString(line)
			p.b.WriteByte('\n')
		}
		p.lines += len(lines)
	}
	return p.full == ""
}

// text ends the lines with a notice. shown counts the entries that fitted.
func (p *pager) text(empty, truncatedBy string, next *int64, offset int64, shown int) string {
	if p.full != "" {
		truncatedBy = p.full
		if next != nil || offset >= 0 {
			at := offset + int64(shown)
			next = &at
		}
	}
	text := strings.TrimSuffix(p.b.String(), "\n")
	if text == "" && p.full == "" {
		text = empty
	}
	if truncatedBy == "" {
		return text
	}
	notice := "[truncated by " + truncatedBy
	if next != nil {
		notice += ". Use offset=" + strconv.FormatInt(*next, 10) + " to continue."
	}
	if text != "" {
		text += "\n"
	}
	return text + notice + "]"
}

// Text is the listing as a model sees it: "kind\tpath[\tsize]" a line, at most
// 2 000 lines and 50 KiB, and a notice when that is not all.
func (r *ListResult) Text() string {
	var p pager
	shown := 0
	for _, e := range r.Entries {
		line := e.Kind + "\t" + visibleName(e.Path)
		if e.Size != nil {
			line += "\t" + strconv.FormatInt(*e.Size, 10)
		}
		if !p.add(line) {
			break
		}
		shown++
	}
	return p.text(noMatches, r.TruncatedBy, r.NextOffset, r.Offset, shown)
}

// Text is one path a line, bounded like a listing.
func (r *GlobResult) Text() string {
	var p pager
	shown := 0
	for _, path := range r.Paths {
		if !p.add(visibleName(path)) {
			break
		}
		shown++
	}
	text := p.text(noMatches, r.TruncatedBy, r.NextOffset, r.Offset, shown)
	if len(r.Paths) == 0 && r.below {
		text += "\n[patterns are relative to the workspace root, also below a path]"
	}
	return text
}

// Text is the result in the form of its output mode: "path:line:column:text"
// with "path-" before and "path+" after for context, one path a line, or the
// totals; at most 2 000 lines and 50 KiB, and a notice when that is not all.
func (r *Result) Text() string {
	var p pager
	switch r.OutputMode {
	case OutputCount:
		p.add(fmt.Sprintf("%d matches in %d files", r.MatchCount, r.FileCount))
	case OutputFiles:
		for _, path := range r.Files {
			if !p.add(visibleName(path)) {
				break
			}
		}
	default:
		r.content(&p)
	}
	return p.text(noMatches, r.TruncatedBy, nil, -1, 0)
}

// content writes each line once, although the context of neighbours overlaps.
func (r *Result) content(p *pager) {
	path, name, written := "", "", 0
	for i := range r.Matches {
		m := &r.Matches[i]
		if i == 0 || m.Path != path {
			path, name, written = m.Path, visibleName(m.Path), 0
		}
		var lines []string
		for j, text := range m.Before {
			if m.Line-len(m.Before)+j > written {
				lines = append(lines, name+"-"+text)
			}
		}
		lines = append(lines, fmt.Sprintf("%s:%d:%d:%s", name, m.Line, m.Column, m.Text))
		written = m.Line
		next := m.Line + len(m.After) + 1
		if i+1 < len(r.Matches) && r.Matches[i+1].Path == path {
			next = r.Matches[i+1].Line
		}
		for _, text := range m.After[:min(len(m.After), next-m.Line-1)] {
			lines = append(lines, name+"+"+text)
			written++
		}
		if !p.add(lines...) {
			return
		}
	}
}

// visibleName is a path on one line: names with control characters or bytes
// that are not UTF-8 are shown quoted, with Go's escapes.
func visibleName(path string) string {
	if utf8.ValidString(path) && strings.IndexFunc(path, unicode.IsControl) < 0 {
		return path
	}
	return strconv.Quote(path)
}
