package edit

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"unicode/utf8"
)

// patchContext is how many unchanged lines stand around a hunk of a patch.
const patchContext = 3

// Patch returns a patch in git's extended format (git-diff(1), "Generating
// patch text with -p") that git apply turns Old into New with, byte for byte,
// for every content and path. It is empty when nothing changes.
//
// A patch is valid UTF-8, so that it survives JSON: contents that git takes for
// binary, or whose hunks would hold invalid UTF-8, are written as a binary
// patch (git-apply(1), --binary), which works in both directions too.
//
// A context that ends makes Patch stop between files; the patch is then short,
// so look at ctx.Err.
func Patch(ctx context.Context, changes ...Change) string {
	var b strings.Builder
	for i := range changes {
		if ctx.Err() != nil {
			break
		}
		writeChange(&b, &changes[i], func(c *Change) []region { return diff(c.Old, c.New) })
	}
	return b.String()
}

// PatchSpans is [Patch] for one change whose spans are known, as [Apply]
// returns them. It compares only the lines that hold a span.
func PatchSpans(c Change, spans []Span) string {
	var b strings.Builder
	writeChange(&b, &c, func(c *Change) []region { return diffSpans(c.Old, c.New, spans) })
	return b.String()
}

// writeChange writes the patch of one file, whose regions compare finds.
func writeChange(b *strings.Builder, c *Change, compare func(*Change) []region) {
	if c.OldPath != "" && c.NewPath != "" && !c.sameType() {
		writeChange(b, &Change{OldPath: c.OldPath, OldMode: c.OldMode, Old: c.Old}, compareWhole)
		writeChange(b, &Change{NewPath: c.NewPath, NewMode: c.NewMode, New: c.New}, compareWhole)
		return
	}
	var head strings.Builder
	differs := c.header(&head)
	if !differs {
		b.WriteString(head.String())
		return
	}
	regions := compare(c)
	if !isBinary(c.Old) && !isBinary(c.New) {
		body := newHunks(c, regions)
		if body.valid() {
			b.Grow(head.Len() + body.size())
			b.WriteString(head.String())
			c.names(b)
			body.write(b)
			return
		}
	}
	b.WriteString(head.String())
	writeBinary(b, c, regions)
}

func compareWhole(c *Change) []region { return diff(c.Old, c.New) }

// isBinary is git's own rule: a NUL among the first 8000 bytes.
func isBinary(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0
}

// hunks are the regions of a change gathered into groups that share context.
type hunks struct {
	old, new []byte
	groups   []group
}

// group is what stands under one @@ line. from and to are the bytes of the old
// text it covers, context included; before and after count the context lines.
type group struct {
	regions       []region
	from, to      int
	before, after int
}

func newHunks(c *Change, regions []region) *hunks {
	h := &hunks{old: c.Old, new: c.New}
	for start := 0; start < len(regions); {
		end := start + 1
		for end < len(regions) && regions[end].OldStart-regions[end-1].OldStart-regions[end-1].OldLines <= 2*patchContext {
			end++
		}
		g := group{regions: regions[start:end]}
		g.from, g.before = linesBack(c.Old, regions[start].oldFrom, patchContext)
		g.to, g.after = linesOn(c.Old, regions[end-1].oldTo, patchContext)
		h.groups = append(h.groups, g)
		start = end
	}
	return h
}

// linesBack returns where up to n lines before the line start at begin, and
// how many there are.
func linesBack(text []byte, at, n int) (int, int) {
	for k := range n {
		if at == 0 {
			return at, k
		}
		at = bytes.LastIndexByte(text[:at-1], '\n') + 1
	}
	return at, n
}

// linesOn is linesBack in the other direction.
func linesOn(text []byte, at, n int) (int, int) {
	for k := range n {
		if at == len(text) {
			return at, k
		}
		if lf := bytes.IndexByte(text[at:], '\n'); lf >= 0 {
			at += lf + 1
		} else {
			at = len(text)
		}
	}
	return at, n
}

// valid reports whether all that the hunks show is UTF-8.
func (h *hunks) valid() bool {
	for _, g := range h.groups {
		if !utf8.Valid(h.old[g.from:g.to]) {
			return false
		}
		for _, r := range g.regions {
			if !utf8.Valid(h.new[r.newFrom:r.newTo]) {
				return false
			}
		}
	}
	return true
}

// size estimates the length of the hunks.
func (h *hunks) size() int {
	n := 0
	for _, g := range h.groups {
		n += 64 + g.to - g.from + g.before + g.after
		for _, r := range g.regions {
			n += r.newTo - r.newFrom + r.OldLines + r.NewLines + 8
		}
	}
	return n + n/64
}

func (h *hunks) write(b *strings.Builder) {
	for _, g := range h.groups {
		first, last := g.regions[0], g.regions[len(g.regions)-1]
		oldLines := last.OldStart + last.OldLines + g.after - (first.OldStart - g.before)
		newLines := last.NewStart + last.NewLines + g.after - (first.NewStart - g.before)
		b.WriteString("@@ -")
		writeRange(b, first.OldStart-g.before, oldLines)
		b.WriteString(" +")
		writeRange(b, first.NewStart-g.before, newLines)
		b.WriteString(" @@\n")
		at := g.from
		for _, r := range g.regions {
			writeLines(b, ' ', h.old[at:r.oldFrom])
			writeLines(b, '-', h.old[r.oldFrom:r.oldTo])
			writeLines(b, '+', h.new[r.newFrom:r.newTo])
			at = r.oldTo
		}
		writeLines(b, ' ', h.old[at:g.to])
	}
}

// writeRange writes a start line and a count. Starts count from 1; one of no
// lines is the line before it.
func writeRange(b *strings.Builder, start, lines int) {
	if lines > 0 {
		start++
	}
	var buf [48]byte
	out := strconv.AppendInt(buf[:0], int64(start), 10)
	if lines != 1 {
		out = strconv.AppendInt(append(out, ','), int64(lines), 10)
	}
	b.Write(out)
}

// writeLines writes each line of text behind a sign.
func writeLines(b *strings.Builder, sign byte, text []byte) {
	for len(text) > 0 {
		b.WriteByte(sign)
		lf := bytes.IndexByte(text, '\n')
		if lf < 0 {
			b.Write(text)
			b.WriteString("\n\\ No newline at end of file\n")
			return
		}
		b.Write(text[:lf+1])
		text = text[lf+1:]
	}
}
