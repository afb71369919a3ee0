package edit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// source code of about size bytes, in which line numbers make lines unique.
func sourceText(size int) []byte {
	var b bytes.Buffer
	b.Grow(size + 100)
	for i := 0; b.Len() < size; i++ {
		switch i % 5 {
		case 0:
			fmt.Fprintf(&b, "func handler%d(w io.Writer, r *Request) error {\n", i)
		case 3:
			b.WriteString("\t}\n")
		case 4:
			b.WriteString("\treturn nil // all is well\n")
		default:
			fmt.Fprintf(&b, "\tif err := step%d(w, r.Field); err != nil {\n", i)
		}
	}
	return b.Bytes()
}

func BenchmarkApply(b *testing.B) {
	short := "needle that is there once"
	long := "needle that is there once " + strings.Repeat("and goes on for a while\n\t", 20)
	for _, size := range []int{1 << 20, 8 << 20} {
		base := sourceText(size - 1000)
		lines := bytes.SplitAfter(base, newline)
		at := len(bytes.Join(lines[:len(lines)*9/10], nil))
		file := func(text string) []byte {
			return []byte(string(base[:at]) + text + "\n" + string(base[at:]))
		}
		spaced := bytes.ReplaceAll(base, []byte("{\n"), []byte("{ \n"))[:size-1000]
		chinese := bytes.Repeat([]byte("这是一行中文文本，用来测量规范化的速度。\n"), size/62)
		for _, c := range []struct {
			name  string
			file  []byte
			old   string
			fuzzy bool
		}{
			{"exact/short", file(short), short, false},
			{"exact/long", file(long), long, false},
			{"exact/crlf", bytes.ReplaceAll(file(long), newline, []byte("\r\n")), long, false},
			{"fuzzy/ascii", file(long), strings.ReplaceAll(long, "\n", " \n"), true},
			{"fuzzy/quotes", file("say “" + long + "”"), `say "` + long + `"`, true},
			{"fuzzy/spaced", append(spaced, "\n“x”\n"...), `"x"`, true},
			{"fuzzy/chinese", append(chinese, "\n“x”\n"...), `"x"`, true},
		} {
			b.Run(fmt.Sprintf("%dMiB/%s", size>>20, c.name), func(b *testing.B) {
				b.SetBytes(int64(len(c.file)))
				best := time.Duration(1 << 62)
				for b.Loop() {
					start := time.Now()
					res, err := Apply(c.file, []Replacement{{Old: c.old, New: "x"}}, &Options{MaxTargetBytes: TargetLimit.Hard})
					if err != nil || res.Fuzzy != c.fuzzy {
						b.Fatal(res, err)
					}
					best = min(best, time.Since(start))
				}
				b.ReportMetric(float64(best.Microseconds())/1000, "best-ms")
			})
		}
	}
}

// rewrite changes, inserts or deletes the given share of lines.
func rewrite(text []byte, share float64) []byte {
	r := rand.New(rand.NewPCG(1, 1))
	var out bytes.Buffer
	for i, line := range bytes.SplitAfter(text, newline) {
		if r.Float64() >= share {
			out.Write(line)
			continue
		}
		switch r.IntN(3) {
		case 0:
			fmt.Fprintf(&out, "changed %d\n", i)
		case 1:
			out.Write(line)
			fmt.Fprintf(&out, "inserted %d\n", i)
		}
	}
	return out.Bytes()
}

func repeatedText(size, kinds int) []byte {
	r := rand.New(rand.NewPCG(2, 2))
	var b bytes.Buffer
	for b.Len() < size {
		fmt.Fprintf(&b, "one of a few lines, number %d\n", r.IntN(kinds))
	}
	return b.Bytes()
}

// BenchmarkPatch reports our time and that of git diff on the same files.
func BenchmarkPatch(b *testing.B) {
	const size = 8 << 20
	base := sourceText(size)
	two, many := repeatedText(size, 2), repeatedText(size, 300)
	for _, c := range []struct {
		name     string
		old, new []byte
	}{
		{"1%", base, rewrite(base, 0.01)},
		{"10%", base, rewrite(base, 0.10)},
		{"all-differ", base, bytes.ReplaceAll(base, newline, []byte(" \n"))},
		{"shuffled", base, shuffled(base)},
		{"two-kinds-1%", two, rewrite(two, 0.01)},
		{"two-kinds-10%", two, rewrite(two, 0.10)},
		{"two-kinds-unrelated", two, shuffled(two)},
		{"300-kinds-10%", many, rewrite(many, 0.10)},
		{"300-kinds-unrelated", many, shuffled(many)},
		{"anchored-two-kinds", anchored(4, 2), anchored(5, 2)},
		{"anchored-300-kinds", anchored(4, 300), anchored(5, 300)},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkPatch(b, c.old, c.new) })
	}
}

func shuffled(text []byte) []byte {
	lines := bytes.SplitAfter(text, newline)
	r := rand.New(rand.NewPCG(3, 3))
	r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return bytes.Join(lines, nil)
}

// anchored gives leaves of the largest size the most work: unrelated text
// between lines that are unique.
func anchored(seed uint64, kinds int) []byte {
	r := rand.New(rand.NewPCG(seed, 4))
	var b bytes.Buffer
	for i := 0; b.Len() < 8<<20; i++ {
		if i%1000 == 0 {
			fmt.Fprintf(&b, "unique line %d\n", i)
		}
		fmt.Fprintf(&b, "one of a few lines, number %d\n", r.IntN(kinds))
	}
	return b.Bytes()
}

func benchmarkPatch(b *testing.B, old, new []byte) {
	dir := b.TempDir()
	for name, data := range map[string][]byte{"old": old, "new": new} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	theirs := time.Duration(1 << 62)
	for range 3 {
		start := time.Now()
		git(b, dir, "", "diff", "--no-index", "--no-color", "old", "new")
		theirs = min(theirs, time.Since(start))
	}
	c := Change{OldPath: "f", NewPath: "f", Old: old, New: new}
	ours := time.Duration(1 << 62)
	size := 0
	for b.Loop() {
		start := time.Now()
		size = len(Patch(b.Context(), c))
		ours = min(ours, time.Since(start))
	}
	b.ReportMetric(float64(theirs.Microseconds())/1000, "git-ms")
	b.ReportMetric(float64(ours.Microseconds())/1000, "ours-ms")
	b.ReportMetric(float64(ours)/float64(theirs), "ratio")
	b.ReportMetric(float64(size)/float64(len(old)), "patch/old")
}

// BenchmarkPatchSpans writes the patch and the display diff of one edit.
func BenchmarkPatchSpans(b *testing.B) {
	old := sourceText(8 << 20)
	res, err := Apply(old, []Replacement{{Old: "func handler100000(", New: "func renamed("}}, &Options{MaxTargetBytes: TargetLimit.Hard})
	if err != nil {
		b.Fatal(err)
	}
	c := Change{OldPath: "f", NewPath: "f", Old: old, New: res.Data}
	for b.Loop() {
		if len(PatchSpans(c, res.Spans)) > 1000 || len(Display(c, res.Spans)) > 1000 {
			b.Fatal("the diff of one line is not small")
		}
	}
}
