package edit

import "bytes"

// Hunk is a run of lines that was replaced: OldLines lines from line OldStart
// of the old text became NewLines lines from line NewStart of the new. Lines
// count from 0 and end at \n.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
}

// Lines returns the hunks that turn old into new, in order. Lines outside the
// hunks are identical, byte for byte. The result is the same on every run. It
// is short rather than shortest: where finding less would take too long, whole
// stretches are replaced.
func Lines(old, new []byte) []Hunk {
	regions := diff(old, new)
	hunks := make([]Hunk, len(regions))
	for i, r := range regions {
		hunks[i] = r.Hunk
	}
	return hunks
}

// region is a hunk together with the bytes it covers.
type region struct {
	Hunk
	oldFrom, oldTo int
	newFrom, newTo int
}

// diff compares two texts by lines.
func diff(old, new []byte) []region {
	head := commonHead(old, new)
	tail := commonTail(old[head:], new[head:])
	oldMid, newMid := old[head:len(old)-tail], new[head:len(new)-tail]
	if len(oldMid) == 0 && len(newMid) == 0 {
		return nil
	}
	first := bytes.Count(old[:head], newline)
	t := newTable(oldMid, newMid)
	var regions []region
	for _, h := range t.hunks() {
		regions = append(regions, region{
			Hunk:    Hunk{first + h.OldStart, h.OldLines, first + h.NewStart, h.NewLines},
			oldFrom: head + t.old.offset(h.OldStart), oldTo: head + t.old.offset(h.OldStart+h.OldLines),
			newFrom: head + t.new.offset(h.NewStart), newTo: head + t.new.offset(h.NewStart+h.NewLines),
		})
	}
	return regions
}

var newline = []byte{'\n'}

// block is how much bytes.Equal compares at a time when looking for the first
// difference.
const block = 4096

// commonHead returns the length of the whole lines that a and b start with.
func commonHead(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+block <= n && bytes.Equal(a[i:i+block], b[i:i+block]) {
		i += block
	}
	for i < n && a[i] == b[i] {
		i++
	}
	if i == len(a) && i == len(b) {
		return i
	}
	return bytes.LastIndexByte(a[:i], '\n') + 1
}

// commonTail returns the length of the whole lines that a and b end with.
func commonTail(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+block <= n && bytes.Equal(a[len(a)-i-block:len(a)-i], b[len(b)-i-block:len(b)-i]) {
		i += block
	}
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	// The run of i bytes may start inside a line; on one side or both.
	if startsLine(a, len(a)-i) && startsLine(b, len(b)-i) {
		return i
	}
	lf := bytes.IndexByte(a[len(a)-i:], '\n')
	if lf < 0 {
		return 0
	}
	return i - lf - 1
}

// startsLine reports whether offset at of text is where a line starts.
func startsLine(text []byte, at int) bool { return at == 0 || text[at-1] == '\n' }
