package edit

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// contents are texts whose every pair must survive git apply.
var contents = []string{
	"", "a", "a\n", "\n", "a\nb", "a\nb\n", "a\r\nb\r\n", "a\rb\r", "a\r\nb\nc\r", "\r", "\r\n", "\n\n\n",
	"\xef\xbb\xbfa\nb\n", "\xff\xfea\x00\n\x00b\x00", "\xfe\xff\x00a\x00\n", "a\x00b\nc\n", "\x00",
	strings.Repeat("long\n", 2000) + "\x00 late\n", "caf\xe9\na\n", "a\ncaf\xe9", "\xc3\x28\n",
	"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\nten", "--- a\n+++ b\n@@ -1 +1 @@\n", "diff --git a/x b/x\n-\n+\n \n",
	"\\ No newline at end of file", " \t \n trailing \n", "\u2028\u0085\n", strings.Repeat("x", 70000), "GIT binary patch\n",
}

func TestPatchEveryPair(t *testing.T) {
	var changes []Change
	for i, old := range contents {
		for j, new := range contents {
			path := fmt.Sprintf("f/%d-%d", i, j)
			changes = append(changes, Change{OldPath: path, NewPath: path, Old: []byte(old), New: []byte(new)})
		}
		changes = append(changes,
			Change{NewPath: fmt.Sprintf("new/%d", i), NewMode: 0o755, New: []byte(old)},
			Change{OldPath: fmt.Sprintf("gone/%d", i), Old: []byte(old)},
			Change{OldPath: fmt.Sprintf("from/%d", i), NewPath: fmt.Sprintf("to/%d", i), Old: []byte(old), New: []byte(old + "x")},
		)
	}
	patch := Patch(t.Context(), changes...)
	if !utf8.ValidString(patch) {
		t.Error("the patch is not valid UTF-8")
	}
	roundTrip(t, patch, changes)
}

func TestPatchPathsAndModes(t *testing.T) {
	text := []byte("one\ntwo\n")
	names := []string{
		"plain", "with space", " lead", "tail ", "tab\there", "new\nline", `quo"te`, `back\slash`, "caf\u00e9", "caf\xe9", "bell\a\b\v\f\r\x7f\x01",
		"-dash", "a b/c d", "deep/er/still", "b/file", "a/file", "\u65e5\u672c", "semi;colon", "dev null", "x => y", "{a => b}", "t\ttab/space here",
	}
	var changes []Change
	for i, name := range names {
		dir := func(kind string) string { return fmt.Sprintf("%s%d/%s", kind, i, name) }
		changes = append(changes,
			Change{OldPath: dir("m"), NewPath: dir("m"), Old: text, New: []byte("one\n2\n")},
			Change{OldPath: dir("x"), NewPath: dir("x"), OldMode: 0o644, NewMode: 0o755, Old: text, New: text},
			Change{OldPath: dir("xm"), NewPath: dir("xm"), OldMode: 0o755, NewMode: 0o644, Old: text, New: []byte("2\n")},
			Change{NewPath: dir("n"), New: text},
			Change{NewPath: dir("ne")},
			Change{OldPath: dir("d"), OldMode: 0o755, Old: text},
			Change{OldPath: dir("de")},
			Change{OldPath: dir("r"), NewPath: dir("s"), Old: text, New: text},
			Change{OldPath: dir("rm"), NewPath: dir("sm"), NewMode: 0o755, Old: text, New: []byte("one\n2")},
			Change{OldPath: dir("bin"), NewPath: dir("bin"), OldMode: 0o644, NewMode: 0o755, Old: []byte("\x00"), New: []byte("\x00\x01")},
			Change{OldPath: dir("l"), NewPath: dir("l"), OldMode: fs.ModeSymlink | 0o777, NewMode: fs.ModeSymlink | 0o777, Old: []byte("here"), New: []byte("there")},
			Change{OldPath: dir("t"), NewPath: dir("t"), OldMode: fs.ModeSymlink | 0o777, NewMode: 0o644, Old: []byte("here"), New: []byte("there")},
		)
	}
	roundTrip(t, Patch(t.Context(), changes...), changes)
}

func TestPatchNothing(t *testing.T) {
	same := Change{OldPath: "a", NewPath: "a", Old: []byte("x"), New: []byte("x")}
	if got := Patch(t.Context(), same); got != "" {
		t.Errorf("got %q for no change", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Patch(ctx, Change{NewPath: "a", New: []byte("x")}); got != "" {
		t.Errorf("got %q after the context ended", got)
	}
}

func TestPatchText(t *testing.T) {
	var old strings.Builder
	for i := 1; i <= 20; i++ {
		fmt.Fprintf(&old, "l%d\n", i)
	}
	new := strings.Replace(strings.Replace(old.String(), "l10\n", "L10\nmore\n", 1), "l20\n", "l20", 1)
	got := Patch(t.Context(), Change{OldPath: "a b", NewPath: "a b", Old: []byte(old.String()), New: []byte(new)})
	want := "diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n" +
		"@@ -7,7 +7,8 @@\n l7\n l8\n l9\n-l10\n+L10\n+more\n l11\n l12\n l13\n" +
		"@@ -17,4 +18,4 @@\n l17\n l18\n l19\n-l20\n+l20\n\\ No newline at end of file\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// randomText returns lines drawn from few or many, with endings and final
// lines of all sorts.
func randomText(r *rand.Rand) []byte {
	kinds := 1 + r.IntN(40)
	var b bytes.Buffer
	for range r.IntN(60) {
		fmt.Fprintf(&b, "line %d", r.IntN(kinds))
		switch r.IntN(30) {
		case 0:
			b.WriteString("\r")
		case 1:
			b.WriteString("\r\n")
		case 2:
			b.WriteString(" \t\u00e9\n")
		case 3:
			if r.IntN(20) == 0 {
				b.WriteString("\xff\n")
			}
		case 4:
			if r.IntN(20) == 0 {
				b.WriteByte(0)
			}
		default:
			b.WriteString("\n")
		}
	}
	if r.IntN(12) == 0 {
		return append([]byte(bomUTF8), b.Bytes()...)
	}
	return b.Bytes()
}

// mutate inserts, deletes and changes a few lines.
func mutate(r *rand.Rand, text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	for range r.IntN(8) {
		i := r.IntN(len(lines))
		switch r.IntN(3) {
		case 0:
			lines = append(lines[:i:i], lines[i+1:]...)
		case 1:
			lines = append(lines[:i:i], append([][]byte{[]byte("new line\n")}, lines[i:]...)...)
		default:
			lines = append(lines[:i:i], append([][]byte{randomText(r)}, lines[i+1:]...)...)
		}
		if len(lines) == 0 {
			return nil
		}
	}
	return bytes.Join(lines, nil)
}

func TestPatchRandomPairs(t *testing.T) {
	n := 200
	if soak() {
		n = 2000
	}
	r := rand.New(rand.NewPCG(1, 2))
	var changes []Change
	for i := range n {
		old := randomText(r)
		new := mutate(r, old)
		if i%7 == 0 {
			new = randomText(r)
		}
		path := fmt.Sprintf("d%d/f%d", i%10, i)
		c := Change{OldPath: path, NewPath: path, Old: old, New: new}
		switch r.IntN(20) {
		case 0:
			c.NewMode = 0o755
		case 1:
			c.OldPath += " moved"
		}
		changes = append(changes, c)
	}
	roundTrip(t, Patch(t.Context(), changes...), changes)
}

// TestPatchSpans edits random texts at random places and requires that the
// windows give a patch as good as the whole.
func TestPatchSpans(t *testing.T) {
	n := 200
	if soak() {
		n = 2000
	}
	r := rand.New(rand.NewPCG(3, 4))
	var changes []Change
	var patch strings.Builder
	for i := range n {
		old := append(randomText(r), randomText(r)...)
		var matches []match
		for at := 0; at < len(old); {
			start := at + r.IntN(len(old)-at+1)
			end := min(len(old), start+r.IntN(20))
			if end > start || r.IntN(2) == 0 {
				matches = append(matches, match{start: start, end: end, text: randomText(r)[:0:0]})
				matches[len(matches)-1].text = []byte(strings.Repeat("y\n", r.IntN(3)) + strings.Repeat("z", r.IntN(2)))
			}
			at = end + r.IntN(60) + 1
		}
		res := splice(old, matches)
		path := fmt.Sprintf("f%d", i)
		c := Change{OldPath: path, NewPath: path, Old: old, New: res.Data}
		changes = append(changes, c)
		patch.WriteString(PatchSpans(c, res.Spans))
	}
	roundTrip(t, patch.String(), changes)
}

func FuzzPatch(f *testing.F) {
	for i, c := range contents {
		f.Add([]byte(c), []byte(contents[(i*7+3)%len(contents)]))
	}
	f.Fuzz(func(t *testing.T, old, new []byte) {
		checkHunks(t, old, new, Lines(old, new))
		c := Change{OldPath: "f", NewPath: "f", Old: old, New: new}
		if len(old)+len(new) < 4096 {
			roundTrip(t, Patch(t.Context(), c), []Change{c})
		}
		Display(c, nil)
	})
}
