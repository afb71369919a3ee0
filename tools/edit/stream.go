package edit

import (
	"bytes"
	"encoding/binary"
	"math"
	"sort"
	"unicode/utf8"
)

// stream turns text into what matching looks at, a window at a time: line
// endings become \n and, if normal is set, N is applied. It maps offsets of its
// output back to the text. A window is small and used again, which is far
// cheaper than a copy of a large file.
type stream struct {
	text   []byte
	normal bool // apply N
	size   int  // of the part of the window that is searched at a time

	at   int // text[:at] has been read
	lf   int // the first \n at or after at
	done int // text[:done] is in the window; text[done:at] goes there unchanged

	window []byte
	base   int // offset in the output where the window starts
	breaks []breakpoint
}

// breakpoint says that from offset out of the output on, up to the next
// breakpoint, offsets run parallel to the text's from offset in on. An atomic
// stretch is one that was rewritten: only its ends correspond to anything.
type breakpoint struct {
	out, in uint32
	atomic  bool
}

func newStream(text []byte, normal bool) *stream {
	return &stream{text: text, normal: normal, size: windowSize, lf: -1, breaks: []breakpoint{{}}}
}

// normalise returns N of a text.
func normalise(text []byte) []byte {
	s := newStream(text, true)
	s.fill(math.MaxInt)
	return s.window
}

// fill adds whole lines to the window until it holds size bytes, and reports
// whether text is left.
func (s *stream) fill(size int) bool {
	for s.at < len(s.text) && len(s.window)+s.at-s.done < size {
		s.line()
	}
	s.window = append(s.window, s.text[s.done:s.at]...)
	s.done = s.at
	return s.at < len(s.text)
}

// slide drops all but the last keep bytes of the window.
func (s *stream) slide(keep int) {
	drop := len(s.window) - keep
	if drop <= 0 {
		return
	}
	s.window = s.window[:copy(s.window, s.window[drop:])]
	s.base += drop
	first := sort.Search(len(s.breaks), func(i int) bool { return int(s.breaks[i].out) >= s.base })
	s.breaks = s.breaks[:copy(s.breaks, s.breaks[max(first-1, 0):])]
}

// line reads one line with its ending.
func (s *stream) line() {
	if s.lf < s.at {
		s.lf = len(s.text)
		if i := bytes.IndexByte(s.text[s.at:], '\n'); i >= 0 {
			s.lf = s.at + i
		}
	}
	end, next := s.lf, min(s.lf+1, len(s.text))
	cr := bytes.IndexByte(s.text[s.at:end], '\r')
	if cr >= 0 {
		end = s.at + cr
		if end+1 != s.lf || s.lf == len(s.text) {
			next = end + 1
		}
	}
	if s.normal {
		s.normaliseLine(s.at, end)
	}
	if cr >= 0 {
		s.rewrite(end, next, newline)
	}
	s.at = next
}

// normaliseLine applies N to text[at:end], a line without its ending. White
// space at its end goes first: no character that stays turns into white space,
// so the order does not matter.
func (s *stream) normaliseLine(at, end int) {
	keep := end
	for keep > at {
		r, size := rune(s.text[keep-1]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeLastRune(s.text[at:keep])
		}
		if !isTrailing(r) {
			break
		}
		keep -= size
	}
	s.segments(at, keep)
	if keep < end {
		s.rewrite(keep, end, nil)
	}
}

// segments applies N to text[at:end], segment by segment, skipping ASCII.
func (s *stream) segments(at, end int) {
	var buf [64]byte
	for i := at; i < end; {
		ascii := asciiPrefix(s.text[i:end])
		if i+ascii == end {
			return
		}
		if ascii > 0 {
			i += ascii - 1 // the next character may combine with this one
		}
		next := i + segment(s.text[i:end])
		if out := normaliseSegment(buf[:0], s.text[i:next]); out != nil {
			s.rewrite(i, next, out)
		}
		i = next
	}
}

// rewrite puts out in the place of text[start:end].
func (s *stream) rewrite(start, end int, out []byte) {
	s.window = append(s.window, s.text[s.done:start]...)
	if len(out) > 0 {
		at := uint32(s.base + len(s.window))
		if last := len(s.breaks) - 1; s.breaks[last].out == at {
			s.breaks = s.breaks[:last] // it covered nothing
		}
		s.breaks = append(s.breaks, breakpoint{at, uint32(start), true})
		s.window = append(s.window, out...)
	}
	s.breaks = append(s.breaks, breakpoint{uint32(s.base + len(s.window)), uint32(end), false})
	s.done = end
}

// start returns the offset in the text where a match starts that starts at
// offset at of the output, and whether at corresponds to one. White space
// dropped there stays outside the match.
func (s *stream) start(at int) (int, bool) {
	i := sort.Search(len(s.breaks), func(i int) bool { return int(s.breaks[i].out) > at }) - 1
	b := s.breaks[i]
	if b.atomic && int(b.out) != at {
		return 0, false
	}
	return int(b.in) + at - int(b.out), true
}

// end is start for where a match ends.
func (s *stream) end(at int) (int, bool) {
	i := sort.Search(len(s.breaks), func(i int) bool { return int(s.breaks[i].out) >= at })
	b := s.breaks[i-1] // matches are not empty, so there is one before
	if !b.atomic {
		return int(b.in) + at - int(b.out), true
	}
	if i == len(s.breaks) || int(s.breaks[i].out) != at {
		return 0, false
	}
	return int(s.breaks[i].in), true
}

// windowSize is small enough for a window to stay in a processor's cache.
const windowSize = 256 << 10

// find returns for each needle the places in the text whose output is that
// needle. A place that starts or ends inside what was rewritten is none: no
// bytes of the text correspond to it.
func (s *stream) find(needles []needle) [][]extent {
	found := make([][]extent, len(needles))
	from := make([]int, len(needles)) // offset in the output where to go on
	longest := 0
	for _, n := range needles {
		longest = max(longest, len(n.text))
	}
	for more := longest > 0; more; s.slide(longest - 1) {
		more = s.fill(longest + s.size)
		f := newFinder(s.window)
		for i, needle := range needles {
			size := len(needle.text)
			for size > 0 && len(found[i]) < needle.limit {
				at := f.next(needle.text, max(0, from[i]-s.base))
				if at < 0 {
					break
				}
				at += s.base
				from[i] = at + needle.step
				start, ok1 := s.start(at)
				end, ok2 := s.end(at + size)
				if ok1 && ok2 {
					found[i] = append(found[i], extent{start, end})
				}
			}
			from[i] = max(from[i], s.base+len(s.window)-size+1)
		}
	}
	return found
}

// asciiPrefix returns how many bytes of b come before the first non-ASCII one.
func asciiPrefix(b []byte) int {
	const high = 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if binary.LittleEndian.Uint64(b[i:])&high != 0 {
			break
		}
	}
	for i < len(b) && b[i] < utf8.RuneSelf {
		i++
	}
	return i
}
