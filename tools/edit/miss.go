package edit

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
)

const (
	// maxNearby is how many nearby lines a miss shows.
	maxNearby = 3
	// maxShown is how many characters of a line a miss shows.
	maxShown = 120
	// minNeedle is how many characters a line needs to be worth looking for.
	minNeedle = 4
	// maxCandidates bounds how many lines are compared before the best are shown.
	maxCandidates = 256
	// maxCompared bounds how much of a line is compared, in bytes.
	maxCompared = 2048
)

// Miss is the Details of a CodeNoMatch error.
type Miss struct {
	Edit   int      `json:"edit"` // index of the replacement, from 0
	Nearby []Nearby `json:"nearby,omitempty"`
}

// Nearby is a line of the file that resembles a line of the text not found.
// Where the two differ, tabs show as →, spaces as ·, and other characters that
// may be mistaken carry their code point.
type Nearby struct {
	Line     int    `json:"line"`     // 1-based line of the file
	Text     string `json:"text"`     // that line
	Expected string `json:"expected"` // the line of oldText it was compared with
}

// miss explains why replacement number index matches nowhere.
func (s *source) miss(index int, old string) error {
	nearby := s.nearby(unifyEndings(trimBOM(old)))
	var b strings.Builder
	fmt.Fprintf(&b, "edits[%d].oldText is not in the file; it must match the file's text, white space included", index)
	if len(nearby) > 0 {
		b.WriteString(". Nearby lines:")
	}
	for _, n := range nearby {
		fmt.Fprintf(&b, "\n  line %d: %s\n  oldText: %s", n.Line, n.Text, n.Expected)
	}
	return tools.Errorf(tools.CodeNoMatch, "%s", b.String()).WithDetails(Miss{Edit: index, Nearby: nearby})
}

// candidate is a line of the view that may be what was meant.
type candidate struct {
	start int
	score float64
}

// nearby looks for lines like the first line of old that has any.
func (s *source) nearby(old string) []Nearby {
	wanted := strings.Split(old, "\n")
	tried := 0
	for i, line := range wanted {
		needle := strings.TrimSpace(line)
		if utf8.RuneCountInString(needle) < minNeedle {
			continue
		}
		if tried++; tried > maxNearby {
			break
		}
		if found := s.candidates(needle); len(found) > 0 {
			return s.compare(found, wanted[i:])
		}
	}
	return nil
}

// candidates returns the best few lines that share a word with needle, in the
// order of the file. A word narrows the search to what bytes.Index can do.
func (s *source) candidates(needle string) []candidate {
	hay := s.viewed().finder
	words := strings.FieldsFunc(needle, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	profile := newProfile([]byte(needle))
	for _, word := range words[:min(len(words), maxNearby)] {
		if len(word) < 2 {
			break
		}
		var found []candidate
		for from := 0; len(found) < maxCandidates; {
			at := hay.next([]byte(word), from)
			if at < 0 {
				break
			}
			start := bytes.LastIndexByte(hay.text[:at], '\n') + 1
			line := lineFrom(hay.text, start)
			if score := profile.similarity(line); score >= 0.4 {
				found = append(found, candidate{start, score})
			}
			from = start + len(line) + 1
			if from > len(hay.text) {
				break
			}
		}
		if len(found) > 0 {
			slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
			found = found[:min(len(found), maxNearby)]
			slices.SortFunc(found, func(a, b candidate) int { return cmp.Compare(a.start, b.start) })
			return found
		}
	}
	return nil
}

// lineFrom returns the line of text that starts at start, without its \n.
func lineFrom(text []byte, start int) []byte {
	if end := bytes.IndexByte(text[start:], '\n'); end >= 0 {
		return text[start : start+end]
	}
	return text[start:]
}

// compare sets each candidate beside what was wanted there. When a candidate
// and lines after it are as wanted, the first line that is not is the news.
func (s *source) compare(found []candidate, wanted []string) []Nearby {
	v := s.viewed()
	var nearby []Nearby
	for _, c := range found {
		at, line, want := c.start, lineFrom(v.text, c.start), wanted[0]
		for _, next := range wanted[1:] {
			if !sameNormalised(line, want) || at+len(line) >= len(v.text) {
				break
			}
			at += len(line) + 1
			line, want = lineFrom(v.text, at), next
		}
		text, expected := showDifference(string(line), want)
		nearby = append(nearby, Nearby{Line: s.lineAt(v.origin(at)), Text: text, Expected: expected})
	}
	return nearby
}

func sameNormalised(line []byte, want string) bool {
	return bytes.Equal(normalise(line), normalise([]byte(want)))
}

// profile counts the pairs of neighbouring characters of a text, white space
// and case aside.
type profile struct {
	pairs map[[2]rune]int
	total int
}

func newProfile(text []byte) profile {
	p := profile{pairs: map[[2]rune]int{}}
	eachPair(text, func(pair [2]rune) {
		p.pairs[pair]++
		p.total++
	})
	return p
}

func eachPair(text []byte, yield func([2]rune)) {
	last := rune(-1)
	for _, r := range string(text[:min(len(text), maxCompared)]) {
		if unicode.IsSpace(r) {
			continue
		}
		r = unicode.ToLower(r)
		if last >= 0 {
			yield([2]rune{last, r})
		}
		last = r
	}
}

// similarity is how much of the profile the line has, from 0 to 1; a long line
// that contains all of it is as good as an equal one.
func (p profile) similarity(line []byte) float64 {
	if p.total == 0 {
		return 0
	}
	left := make(map[[2]rune]int, len(p.pairs))
	for pair, n := range p.pairs {
		left[pair] = n
	}
	shared := 0
	eachPair(line, func(pair [2]rune) {
		if left[pair] > 0 {
			left[pair]--
			shared++
		}
	})
	return float64(shared) / float64(p.total)
}
