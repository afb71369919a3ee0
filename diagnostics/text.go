package diagnostics

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	defaultItems = 50
	// sourceRunes bounds a shown source line; the column of interest is usually
	// near its start.
	sourceRunes = 200
	// textMessageBytes bounds a message in the text form; the typed one has it whole.
	textMessageBytes = 400
)

// TextOptions shape the text form. nil, and every zero field, is the default.
type TextOptions struct {
	Contents Contents // nil: no source lines, columns counted in UTF-16 units
	MaxItems int      // introduced and fixed problems shown; 0 or less: 50; what is left out is counted
}

// Text is the delta in few words for a model: a line of counts, then what was
// introduced, worst first, each with its source line, then what was fixed.
func (d *Delta) Text(opts *TextOptions) string {
	if opts == nil {
		opts = &TextOptions{}
	}
	left := opts.MaxItems
	if left <= 0 {
		left = defaultItems
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d introduced, %d fixed, %d unchanged, %d unknown\n",
		d.Counts.Introduced, d.Counts.Fixed, d.Counts.Unchanged, d.Counts.Unknown)
	w := &writer{out: &b, cache: newLineCache(opts.Contents)}
	w.limits(d)
	w.section("introduced", d.Introduced, Head, d.Counts.Introduced, &left)
	w.section("introduced in generated files", d.Generated, Head, d.Counts.Generated, &left)
	w.section("fixed", d.Fixed, Base, d.Counts.Fixed, &left)
	w.unknown(d.Unknown)
	return b.String()
}

// Lines writes one "file:line:column: severity: message" line a diagnostic, with
// 1-based numbers and columns in characters (UTF-16 units, else bytes, where
// contents, which may be nil, does not have the file).
func Lines(list []Diagnostic, side Side, contents Contents) string {
	var b strings.Builder
	w := &writer{out: &b, cache: newLineCache(contents)}
	for i := range list {
		w.line(&list[i], side)
	}
	return b.String()
}

// writer prints diagnostics.
type writer struct {
	out   *strings.Builder
	cache *lineCache
}

// limits says where the delta does not hold everything.
func (w *writer) limits(d *Delta) {
	if d.Truncated {
		fmt.Fprintf(w.out, "the lists hold %d of %d entries\n", d.held(), d.Counts.entries())
	}
	if n := len(d.Unread); n > 0 {
		first, _ := cleanText(d.Unread[0], pathBytes)
		fmt.Fprintf(w.out, "%d files could not be read, so their lines count as unchanged; the first is %s\n", n, oneLine(first))
	}
}

// section prints a heading and as many diagnostics as are left to show.
func (w *writer) section(name string, list []Diagnostic, side Side, total int, left *int) {
	if total == 0 {
		return
	}
	fmt.Fprintf(w.out, "\n%s:\n", name)
	shown := min(len(list), *left)
	*left -= shown
	for i := range list[:shown] {
		w.line(&list[i], side)
		if source := w.cache.line(side, list[i].Path, list[i].Range.Start.Line); len(source) > 0 && side == Head {
			fmt.Fprintf(w.out, "    %s\n", showSource(source))
		}
	}
	if shown < total {
		fmt.Fprintf(w.out, "[%d more]\n", total-shown)
	}
}

// unknown prints, for each reason, how many problems cannot be judged.
func (w *writer) unknown(list []Unknown) {
	count := map[Reason]int{}
	for i := range list {
		count[list[i].Reason]++
	}
	for _, reason := range []Reason{ReasonNotRun, ReasonChanged, ReasonFailed, ReasonScope} {
		if count[reason] > 0 {
			fmt.Fprintf(w.out, "\nunknown (%s): %d\n", reason, count[reason])
		}
	}
}

func (w *writer) line(d *Diagnostic, side Side) {
	message, cut := cleanText(d.Message, textMessageBytes)
	if cut {
		message += "…"
	}
	suffix := ""
	if d.Code != "" {
		suffix = " [" + d.Code + "]"
	}
	fmt.Fprintf(w.out, "%s:%d:%d: %s: %s%s\n", d.Path, d.Range.Start.Line+1,
		column(d.Range.Start, w.cache.line(side, d.Path, d.Range.Start.Line)), d.Severity, oneLine(message), suffix)
}

// column is the 1-based column in characters of a position in a line; without the
// line, or when the position is past its end, in the units that the position has.
func column(p Position, line []byte) int {
	units, target := 0, p.UTF16
	if target < 0 {
		target = p.Byte
	}
	characters := 0
	for len(line) > 0 && units < target {
		r, size := utf8.DecodeRune(line)
		line = line[size:]
		characters++
		switch {
		case p.UTF16 < 0:
			units += size
		case r > 0xffff:
			units += 2
		default:
			units++
		}
	}
	return characters + max(target-units, 0) + 1
}

// showSource makes a source line safe and short.
func showSource(line []byte) string {
	text, _ := cleanText(string(line), len(line)+utf8.UTFMax)
	text = strings.TrimSpace(strings.ReplaceAll(text, "\t", " "))
	if utf8.RuneCountInString(text) > sourceRunes {
		text = string([]rune(text)[:sourceRunes]) + "…"
	}
	return text
}

// lineCache splits each file that is shown once.
type lineCache struct {
	contents Contents
	files    map[sideFile][][]byte
}

type sideFile struct {
	side Side
	path string
}

func newLineCache(contents Contents) *lineCache {
	return &lineCache{contents: contents, files: map[sideFile][][]byte{}}
}

// line returns a line of a file, or nothing when it is not at hand.
func (c *lineCache) line(side Side, path string, n int) []byte {
	if c.contents == nil {
		return nil
	}
	key := sideFile{side, path}
	lines, ok := c.files[key]
	if !ok {
		if text, found := c.contents.Content(side, path); found {
			lines = splitLines(text)
		}
		c.files[key] = lines
	}
	if n >= len(lines) {
		return nil
	}
	return lines[n]
}
