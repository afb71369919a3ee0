package edit

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"
)

// TestStreamWindows requires that the size of the window does not show: places
// that cross from one to the next are found, once, and map to the same bytes.
func TestStreamWindows(t *testing.T) {
	alphabet := []rune("aab  \t\n\n\r“’…\u0301\u3000中ﬃ")
	r := rand.New(rand.NewPCG(15, 16))
	for range 5000 {
		var text []byte
		for range r.IntN(80) {
			text = utf8.AppendRune(text, alphabet[r.IntN(len(alphabet))])
		}
		normal := r.IntN(2) == 0
		whole := newStream(text, normal)
		whole.fill(math.MaxInt)
		var needles []needle
		for range 4 {
			from := r.IntN(len(whole.window) + 1)
			piece := whole.window[from : from+r.IntN(min(12, len(whole.window)-from+1))]
			needles = append(needles, needle{bytes.Clone(piece), 1 + r.IntN(5), 1 + r.IntN(2)*max(0, len(piece)-1)})
		}
		want := newStream(text, normal).find(needles)
		for _, size := range []int{1, 3, 10, 30} {
			s := newStream(text, normal)
			s.size = size
			got := s.find(needles)
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("%v in %+q: windows of %d find %v, one window %v", needles, text, size, got, want)
			}
		}
		for i, places := range want {
			for _, p := range places {
				out := newStream(text[p.start:p.end], normal)
				out.fill(math.MaxInt)
				// White space dropped at the end of a line may be outside.
				if !normal && !bytes.Equal(out.window, needles[i].text) {
					t.Fatalf("%q in %+q: found %q", needles[i].text, text, text[p.start:p.end])
				}
			}
		}
	}
}

// TestFinder compares with bytes.Index, also where the rarest byte is common.
func TestFinder(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for range 60 {
		kinds := 1 + r.IntN(6)
		text := make([]byte, 40_000+r.IntN(100_000))
		for i := range text {
			text[i] = 'a' + byte(r.IntN(kinds))
		}
		f := newFinder(text)
		for range 20 {
			from := r.IntN(len(text))
			needle := bytes.Clone(text[from : from+min(len(text)-from, 1+r.IntN(100))])
			if r.IntN(3) == 0 {
				needle[r.IntN(len(needle))] = 'z'
			}
			start := r.IntN(len(text))
			if got, want := f.next(needle, start), after(start, bytes.Index(text[start:], needle)); got != want {
				t.Fatalf("got %d, want %d", got, want)
			}
		}
	}
}
