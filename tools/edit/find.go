package edit

import "bytes"

// finder searches one text for one needle after another. bytes.Index compares
// at nearly every byte for needles of up to 63 bytes; looking for the needle's
// byte that is rarest in the text, and comparing only there, is several times
// faster on anything like text.
type finder struct {
	text  []byte
	count *[256]int32 // how often each byte is in the sample; nil for short texts
}

const (
	// sampleStep and sampleSize: how far apart and how long the pieces of text
	// are in which bytes are counted.
	sampleStep = 64 << 10
	sampleSize = 512
	// maxUseless is how many candidates may fail in a row, beyond one for
	// every usefulGap bytes, before bytes.Index takes over.
	maxUseless = 64
	usefulGap  = 24
)

func newFinder(text []byte) *finder {
	f := &finder{text: text}
	if len(text) < sampleStep/4 {
		return f
	}
	f.count = new([256]int32)
	for at := 0; at < len(text); at += sampleStep {
		for _, c := range text[at:min(len(text), at+sampleSize)] {
			f.count[c]++
		}
	}
	return f
}

// next returns the offset of the first needle at or after from, or -1.
func (f *finder) next(needle []byte, from int) int {
	if len(needle) > len(f.text)-from {
		return -1
	}
	if f.count == nil || len(needle) < 2 {
		return after(from, bytes.Index(f.text[from:], needle))
	}
	rare := 0
	for i, c := range needle {
		if f.count[c] < f.count[needle[rare]] {
			rare = i
		}
	}
	last := len(f.text) - len(needle)
	useless := 0
	for at := from; at <= last; {
		i := bytes.IndexByte(f.text[at+rare:last+rare+1], needle[rare])
		if i < 0 {
			return -1
		}
		at += i
		if bytes.Equal(f.text[at:at+len(needle)], needle) {
			return at
		}
		at++
		if useless++; useless > maxUseless+(at-from)/usefulGap {
			return after(at, bytes.Index(f.text[at:], needle))
		}
	}
	return -1
}

// needle is something to find, at most limit times, each place at least step
// bytes after the one before: its length for places that do not overlap, else
// 1.
type needle struct {
	text        []byte
	limit, step int
}

// all returns the offsets where a needle is.
func (f *finder) all(n needle) []int {
	var found []int
	for at := 0; len(found) < n.limit; at += n.step {
		if at = f.next(n.text, at); at < 0 {
			break
		}
		found = append(found, at)
	}
	return found
}

// after turns an offset relative to from into an absolute one.
func after(from, i int) int {
	if i < 0 {
		return -1
	}
	return from + i
}
