package edit

import (
	"bytes"
	"hash/maphash"
	"math/bits"
)

// side is one of the two texts being compared: where its lines start, and for
// each line the number of its class. Lines are in one class exactly if they
// are equal.
type side struct {
	text   []byte
	starts []uint32
	class  []int32
}

// offset returns where line i starts; one past the last line, the end.
func (s *side) offset(i int) int {
	if i == len(s.starts) {
		return len(s.text)
	}
	return int(s.starts[i])
}

// table holds both sides with their lines sorted into classes.
type table struct {
	old, new side
	// For each class the line it is at on each side; see place.
	oldAt, newAt []place
	work         int // what leaves may still cost, in cells
	runs         []run
}

// place is the number of the only line of a class on one side, or absent, or
// repeated.
type place int32

const (
	absent   place = -1
	repeated place = -2
)

// see records one more line of a class.
func (p *place) see(line int) {
	if *p == absent {
		*p = place(line)
	} else {
		*p = repeated
	}
}

// run is a run of n lines that both sides share.
type run struct{ old, new, n int }

// newTable splits both texts into lines and classes. The hash is seeded anew
// each time, so that no input can be made to collide; since equal hashes are
// always checked, it has no influence on the classes.
func newTable(old, new []byte) *table {
	t := &table{old: side{text: old}, new: side{text: new}, work: maxWork}
	lines := bytes.Count(old, newline) + bytes.Count(new, newline) + 2
	slots := make([]int32, 1<<bits.Len(uint(lines+lines/2)))
	for i := range slots {
		slots[i] = -1
	}
	c := &classifier{seed: maphash.MakeSeed(), slots: slots, shift: 64 - bits.Len(uint(len(slots)-1))}
	c.read(&t.old)
	c.read(&t.new)
	t.oldAt, t.newAt = make([]place, len(c.classes)), make([]place, len(c.classes))
	return t
}

// classifier gives equal lines the same number: a hash table with open
// addressing, at most two thirds full.
type classifier struct {
	seed    maphash.Seed
	slots   []int32
	shift   int
	classes []class
}

type class struct {
	hash uint64
	line []byte // the first line seen
}

// read fills in the lines and classes of one side.
func (c *classifier) read(s *side) {
	lines := bytes.Count(s.text, newline)
	if !startsLine(s.text, len(s.text)) {
		lines++
	}
	s.starts, s.class = make([]uint32, lines), make([]int32, lines)
	at := 0
	for i := range lines {
		end := len(s.text)
		if lf := bytes.IndexByte(s.text[at:], '\n'); lf >= 0 {
			end = at + lf + 1
		}
		s.starts[i] = uint32(at)
		s.class[i] = c.of(s.text[at:end])
		at = end
	}
}

// of returns the class of a line.
func (c *classifier) of(line []byte) int32 {
	hash := maphash.Bytes(c.seed, line)
	mask := len(c.slots) - 1
	for i := int(hash >> c.shift); ; i++ {
		slot := &c.slots[i&mask]
		if *slot < 0 {
			*slot = int32(len(c.classes))
			c.classes = append(c.classes, class{hash, line})
			return *slot
		}
		if known := &c.classes[*slot]; known.hash == hash && bytes.Equal(known.line, line) {
			return *slot
		}
	}
}

// hunks returns what is between the runs that both sides share.
func (t *table) hunks() []Hunk {
	t.match(box{0, len(t.old.class), 0, len(t.new.class)}, 0)
	t.runs = append(t.runs, run{len(t.old.class), len(t.new.class), 0})
	var hunks []Hunk
	old, new := 0, 0
	for _, r := range t.runs {
		if r.old > old || r.new > new {
			hunks = append(hunks, Hunk{old, r.old - old, new, r.new - new})
		}
		old, new = r.old+r.n, r.new+r.n
	}
	return hunks
}
