package edit

import "bytes"

// diffSpans is diff for texts that differ only inside the spans: it compares
// windows of whole lines around them.
func diffSpans(old, new []byte, spans []Span) []region {
	var regions []region
	oldLine, newLine := 0, 0 // lines before the window
	oldAt := 0               // end of the window before
	for i := 0; i < len(spans); {
		w := spans[i]
		back := w.OldStart - (bytes.LastIndexByte(old[:w.OldStart], '\n') + 1)
		w.OldStart -= back
		w.NewStart -= back
		for i++; ; i++ {
			on := toLineStart(old, new, w)
			if i < len(spans) && spans[i].OldStart < w.OldEnd+on || i < len(spans) && spans[i].OldStart == w.OldEnd {
				w.OldEnd, w.NewEnd = spans[i].OldEnd, spans[i].NewEnd
				continue
			}
			w.OldEnd += on
			w.NewEnd += on
			break
		}
		between := bytes.Count(old[oldAt:w.OldStart], newline)
		oldLine += between
		newLine += between
		for _, r := range diff(old[w.OldStart:w.OldEnd], new[w.NewStart:w.NewEnd]) {
			r.OldStart += oldLine
			r.NewStart += newLine
			r.oldFrom += w.OldStart
			r.oldTo += w.OldStart
			r.newFrom += w.NewStart
			r.newTo += w.NewStart
			regions = append(regions, r)
		}
		oldLine += bytes.Count(old[w.OldStart:w.OldEnd], newline)
		newLine += bytes.Count(new[w.NewStart:w.NewEnd], newline)
		oldAt = w.OldEnd
	}
	return regions
}

// toLineStart returns how far beyond the end of w, where both texts go on
// alike, both are at the start of a line.
func toLineStart(old, new []byte, w Span) int {
	if startsLine(old, w.OldEnd) && startsLine(new, w.NewEnd) {
		return 0
	}
	if lf := bytes.IndexByte(old[w.OldEnd:], '\n'); lf >= 0 {
		return lf + 1
	}
	return len(old) - w.OldEnd
}
