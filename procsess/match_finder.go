package procsess

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"sync/atomic"
	"unicode/utf8"
)

// finder runs a compiled expression over text that comes piece by piece: the
// simulation of all its states at once (Thompson, Pike), because package regexp
// cannot stop in the middle and go on, and looking at what there is again for each
// piece would cost the square of the output.
type finder struct {
	program *syntax.Prog
	// prefix is what every match begins with, if that is known.
	prefix []byte
	// first are the bytes that a match can begin with; nil where one may be empty.
	first *[256]bool
	// threads are states in the order in which they are preferred.
	threads []thread
	// before is the last character, -1 in the beginning.
	before rune
	at     int64 // how many bytes of text there were
	offset int64 // where in the output they end

	matched  bool
	from, to int64 // of the match, in bytes of text
	end      int64 // of the match, in the output

	scratch *finderScratch
}

// thread is a state that a match has reached which began at a place.
type thread struct {
	pc   uint32
	from int64
}

// finderScratch is memory for one step, shared by the copies of a finder.
type finderScratch struct {
	seen  []uint32 // the step in which an instruction was reached
	step  uint32
	stack []uint32
	next  []thread
	ready []thread
}

// newFinder makes a finder for text from an offset of the output on.
func newFinder(program *syntax.Prog, offset int64) finder {
	f := finder{program: program, before: -1, offset: offset, scratch: &finderScratch{seen: make([]uint32, len(program.Inst))}}
	if prefix, _ := program.Prefix(); prefix != "" {
		f.prefix = []byte(prefix)
	}
	f.first = f.firstBytes()
	return f
}

// firstBytes finds what a match can begin with, whatever stands before it.
func (f *finder) firstBytes() *[256]bool {
	f.scratch.step++
	anything := ^syntax.EmptyOp(0)
	if f.follow(thread{pc: uint32(f.program.Start)}, anything) {
		f.matched = false
		return nil
	}
	var first [256]bool
	for b := range first {
		first[b] = b >= utf8.RuneSelf || slices.ContainsFunc(f.scratch.ready, func(t thread) bool {
			return f.program.Inst[t.pc].MatchRune(rune(b))
		})
	}
	return &first
}

// clone makes a finder that goes on from the same state.
func (f *finder) clone() finder {
	c := *f
	c.threads = slices.Clone(f.threads)
	return c
}

// feed takes text, made of output from begin to end: byte by byte if that is as
// long, else as a whole. It stops early when it is told to quit.
func (f *finder) feed(text []byte, begin, end int64, quit *atomic.Bool) {
	verbatim := int64(len(text)) == end-begin
	for i := 0; i < len(text); {
		if f.matched && len(f.threads) == 0 || quit.Load() {
			return
		}
		if len(f.threads) == 0 && f.first != nil {
			if skip := f.skip(text[i:]); skip > 0 {
				f.before, _ = utf8.DecodeLastRune(text[:i+skip])
				f.pass(skip, offsetOf(i+skip, begin, end, verbatim))
				i += skip
				continue
			}
		}
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		f.step(r)
		f.pass(size, offsetOf(i+size, begin, end, verbatim))
		i += size
	}
}

// pass moves the place behind n bytes of text, which end at an offset. Where text
// was overwritten, what stands behind may have been there before.
func (f *finder) pass(n int, offset int64) { f.at, f.offset = f.at+int64(n), max(f.offset, offset) }

// offsetOf is where in the output n bytes of text end that were made of it from
// begin to end.
func offsetOf(n int, begin, end int64, verbatim bool) int64 {
	if verbatim {
		return begin + int64(n)
	}
	return end
}

// skip is how many bytes no match begins in, whatever follows.
func (f *finder) skip(text []byte) int {
	if len(f.prefix) == 0 {
		for i, b := range text {
			if f.first[b] {
				return i
			}
		}
		return len(text)
	}
	if i := bytes.Index(text, f.prefix); i >= 0 {
		return i
	}
	// The beginning of the prefix may be the end of the text.
	tail := max(0, len(text)-len(f.prefix)+1)
	for i := tail; i < len(text); i++ {
		next := bytes.IndexByte(text[i:], f.prefix[0])
		if next < 0 {
			return len(text)
		}
		if i += next; bytes.HasPrefix(f.prefix, text[i:]) {
			return i
		}
	}
	return len(text)
}

// step takes a character.
func (f *finder) step(r rune) {
	s := f.scratch
	f.close(r)
	next := s.next[:0]
	for _, t := range s.ready {
		if f.program.Inst[t.pc].MatchRune(r) {
			next = append(next, thread{f.program.Inst[t.pc].Out, t.from})
		}
	}
	s.next = next
	f.threads = append(f.threads[:0], next...)
	f.before = r
}

// finish takes the end of the text.
func (f *finder) finish() {
	f.close(-1)
	f.threads = f.threads[:0]
}

// close follows what needs no character, between the last one and r, into ready,
// and notes a match. A match ends what is less preferred than it.
func (f *finder) close(r rune) {
	s := f.scratch
	s.step++
	if s.step == 0 {
		clear(s.seen)
		s.step = 1
	}
	s.ready = s.ready[:0]
	flags := syntax.EmptyOpContext(f.before, r)
	for _, t := range f.threads {
		if f.at-t.from <= matchWindow && f.follow(t, flags) {
			return
		}
	}
	if !f.matched {
		f.follow(thread{uint32(f.program.Start), f.at}, flags)
	}
}

// follow adds a thread and what it leads to. It reports whether that is a match.
func (f *finder) follow(t thread, flags syntax.EmptyOp) bool {
	s := f.scratch
	stack := append(s.stack[:0], t.pc)
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if s.seen[pc] == s.step {
			continue
		}
		s.seen[pc] = s.step
		switch inst := &f.program.Inst[pc]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, inst.Arg, inst.Out)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^flags == 0 {
				stack = append(stack, inst.Out)
			}
		case syntax.InstMatch:
			f.matched, f.from, f.to, f.end = true, t.from, f.at, f.offset
			s.stack = stack
			return true
		case syntax.InstFail:
		default:
			s.ready = append(s.ready, thread{pc, t.from})
		}
	}
	s.stack = stack
	return false
}
