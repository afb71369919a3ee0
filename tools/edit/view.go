package edit

import (
	"bytes"
	"sort"
	"unicode/utf16"
	"unicode/utf8"
)

// view is a file as matching sees it: UTF-8 without a byte order mark, every
// line ending a \n. It maps its offsets back to the file's.
//
// What has no code point stays unmatchable instead of becoming U+FFFD: invalid
// UTF-8 is kept as it is, half a surrogate pair becomes the three bytes that
// UTF-8 forbids for it, an odd last byte of UTF-16 becomes 0xFF.
type view struct {
	*finder
	src *source
	// folded are the offsets in text of each \n that stands for \r\n (UTF-8).
	folded []uint32
	// marks[i] is the offset in text of code unit i*markUnits (UTF-16).
	marks []uint32
}

// markUnits is a trade between the size of the offset map and the walk to
// resolve an offset.
const markUnits = 256

func (s *source) viewed() *view {
	if s.view != nil {
		return s.view
	}
	v := &view{finder: &finder{}, src: s}
	switch {
	case s.order != nil:
		v.decode()
	case s.hasCR:
		v.fold()
	default:
		v.text = s.data[s.bom:]
	}
	v.finder = newFinder(v.text)
	s.view = v
	return v
}

// fold fills the view of UTF-8 text that has carriage returns.
func (v *view) fold() {
	rest := v.src.data[v.src.bom:]
	v.text = make([]byte, 0, len(rest))
	for {
		cr := bytes.IndexByte(rest, '\r')
		if cr < 0 {
			v.text = append(v.text, rest...)
			return
		}
		v.text = append(v.text, rest[:cr]...)
		rest = rest[cr+1:]
		if len(rest) > 0 && rest[0] == '\n' {
			v.folded = append(v.folded, uint32(len(v.text)))
			rest = rest[1:]
		}
		v.text = append(v.text, '\n')
	}
}

// decode fills the view of UTF-16 text.
func (v *view) decode() {
	units := v.src.data[v.src.bom:]
	v.text = make([]byte, 0, len(units))
	for i, n := 0, len(units)/2; i < n; i++ {
		if i%markUnits == 0 {
			v.marks = append(v.marks, uint32(len(v.text)))
		}
		v.text = v.appendUnit(v.text, i)
	}
	if len(units)%2 == 1 {
		v.text = append(v.text, 0xff)
	}
}

// unit returns UTF-16 code unit i after the byte order mark, 0 outside.
func (v *view) unit(i int) rune {
	at := v.src.bom + 2*i
	if i < 0 || at+1 >= len(v.src.data) {
		return 0
	}
	return rune(v.src.order.Uint16(v.src.data[at:]))
}

// appendUnit writes what code unit i contributes to the view: nothing for the
// second half of a pair or of \r\n, whose first half has already written it.
func (v *view) appendUnit(text []byte, i int) []byte {
	switch u := v.unit(i); {
	case u < 0x80:
		if u == '\n' && v.unit(i-1) == '\r' {
			return text
		}
		if u == '\r' {
			u = '\n'
		}
		return append(text, byte(u))
	case u < 0xd800 || u > 0xdfff:
		return utf8.AppendRune(text, u)
	case u < 0xdc00: // first half
		if r := utf16.DecodeRune(u, v.unit(i+1)); r != utf8.RuneError {
			return utf8.AppendRune(text, r)
		}
		return append(text, 0xed, byte(0x80|u>>6&0x3f), byte(0x80|u&0x3f))
	default:
		if first := v.unit(i - 1); first >= 0xd800 && first < 0xdc00 {
			return text
		}
		return append(text, 0xed, byte(0x80|u>>6&0x3f), byte(0x80|u&0x3f))
	}
}

// origin returns the offset in the file of a character boundary of the view.
func (v *view) origin(at int) int {
	if v.src.order == nil {
		before := sort.Search(len(v.folded), func(i int) bool { return int(v.folded[i]) >= at })
		return v.src.bom + at + before
	}
	if len(v.marks) == 0 {
		return v.src.bom + at
	}
	mark := sort.Search(len(v.marks), func(i int) bool { return int(v.marks[i]) > at }) - 1
	i, pos := mark*markUnits, int(v.marks[mark])
	units := (len(v.src.data) - v.src.bom) / 2
	var scratch [utf8.UTFMax]byte
	for i < units {
		size := len(v.appendUnit(scratch[:0], i))
		if pos == at && size > 0 {
			return v.src.bom + 2*i
		}
		pos += size
		i++
	}
	return v.src.bom + 2*units + (at - pos)
}
