package edit

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// displayContext is how many unchanged lines [Display] shows around a change.
const displayContext = 4

// Display returns a diff for reading: for each line its sign (+, - or space),
// its number, right-aligned, a space and its text. Added lines carry their new
// number, all others their old one. Around changes stand up to four
// unchanged lines; a line with ... stands for those left out. Contents are
// decoded, without byte order mark; invalid UTF-8 shows as U+FFFD.
//
// With spans, as [Apply] returns them, only the lines that hold one are
// compared; nil compares everything.
func Display(c Change, spans []Span) string {
	old, new := newSource(c.Old), newSource(c.New)
	oldText, newText := c.Old, c.New
	if old.order != nil || new.order != nil || old.separator() == '\r' || new.separator() == '\r' {
		oldText, newText, spans = old.viewed().text, new.viewed().text, nil
	}
	d := &display{old: oldText, new: newText}
	var regions []region
	if spans == nil {
		regions = diff(oldText, newText)
	} else {
		regions = diffSpans(oldText, newText, spans)
	}
	d.width = len(strconv.Itoa(max(lineCount(oldText), lineCount(newText))))
	d.regions(regions)
	return strings.ToValidUTF8(d.b.String(), "\ufffd")
}

// lineCount counts lines as a person does.
func lineCount(text []byte) int {
	n := bytes.Count(text, newline)
	if !startsLine(text, len(text)) {
		n++
	}
	return n
}

type display struct {
	b        strings.Builder
	old, new []byte
	width    int
}

func (d *display) regions(regions []region) {
	shown := 0 // old bytes shown or left out so far
	for i, r := range regions {
		from, before := linesBack(d.old, r.oldFrom, displayContext)
		if from > shown {
			d.skip()
		} else {
			from = shown
			before = bytes.Count(d.old[from:r.oldFrom], newline)
		}
		d.lines(' ', d.old[from:r.oldFrom], r.OldStart-before, false)
		crs := endingsDiffer(d.old[r.oldFrom:r.oldTo], d.new[r.newFrom:r.newTo])
		d.lines('-', d.old[r.oldFrom:r.oldTo], r.OldStart, crs)
		d.lines('+', d.new[r.newFrom:r.newTo], r.NewStart, crs)
		to, _ := linesOn(d.old, r.oldTo, displayContext)
		if i+1 < len(regions) {
			to = min(to, regions[i+1].oldFrom)
		}
		d.lines(' ', d.old[r.oldTo:to], r.OldStart+r.OldLines, false)
		shown = to
	}
	if len(regions) > 0 && shown < len(d.old) {
		d.skip()
	}
}

func (d *display) skip() { fmt.Fprintf(&d.b, " %*s ...\n", d.width, "") }

// lines writes text, whose first line has the given number from 0.
func (d *display) lines(sign byte, text []byte, number int, endings bool) {
	for len(text) > 0 {
		number++
		line, rest, _ := bytes.Cut(text, newline)
		text = rest
		cr := ""
		if trimmed, ok := bytes.CutSuffix(line, []byte{'\r'}); ok {
			line = trimmed
			if endings {
				cr = `\r`
			}
		}
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte(bomUTF8))
		}
		fmt.Fprintf(&d.b, "%c%*d %s%s\n", sign, d.width, number, line, cr)
	}
}

// endingsDiffer reports whether carriage returns at line ends are part of what
// changed, so that they have to show.
func endingsDiffer(old, new []byte) bool {
	crlf := []byte("\r\n")
	oldCR, newCR := bytes.Count(old, crlf), bytes.Count(new, crlf)
	return (oldCR > 0 || newCR > 0) && len(old) > 0 && len(new) > 0 &&
		(oldCR != bytes.Count(old, newline) || newCR != bytes.Count(new, newline))
}
