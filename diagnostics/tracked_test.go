package diagnostics_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// trees are the texts of both sides by path.
type trees struct{ base, head map[string]string }

func (t trees) Content(side diagnostics.Side, path string) ([]byte, bool) {
	files := t.head
	if side == diagnostics.Base {
		files = t.base
	}
	text, ok := files[path]
	return []byte(text), ok
}

func (t trees) reversed() trees { return trees{t.head, t.base} }

// planted finds the problems of a tree: "undefined: name" at every name that
// begins with missing.
func planted(files map[string]string) []diagnostics.Diagnostic {
	var list []diagnostics.Diagnostic
	for path, text := range files {
		for i, line := range strings.Split(text, "\n") {
			if at := strings.Index(line, "missing"); at >= 0 {
				name := strings.FieldsFunc(line[at:], func(r rune) bool { return strings.ContainsRune("() ,{}.", r) })[0]
				list = append(list, problem(path, i, at, "undefined: "+name))
			}
		}
	}
	return list
}

func TestCompareByContents(t *testing.T) {
	const old = "package p\n\nfunc f() {\n\tmissing()\n}\n"
	block := "func moved(alpha int) {\n\tif alpha > 0 {\n\t\tmissingHere(alpha)\n\t}\n}\n"
	between := "var a int\nvar b int\nvar c int\nvar d int\nvar e int\nvar f int\n"
	file := func(parts ...string) map[string]string { return map[string]string{"a.go": strings.Join(parts, "")} }
	tests := []struct {
		name string
		text trees
		opts diagnostics.Options
		want []string
	}{
		{
			name: "three lines above an old error",
			text: trees{file(old), file("// one\n// two\n// three\n", old)},
			want: []string{"unchanged a.go:3:1 undefined: missing -> a.go:6:1 undefined: missing via position high moved"},
		},
		{
			name: "a second identical error",
			text: trees{file(old), file(strings.Replace(old, "\tmissing()\n", "\tmissing()\n\tmissing()\n", 1))},
			want: []string{"introduced a.go:4:1 undefined: missing", "unchanged a.go:3:1 undefined: missing -> a.go:3:1 undefined: missing via position high"},
		},
		{
			name: "another indentation",
			text: trees{file(old), file(strings.ReplaceAll(old, "\t", "    "))},
			want: []string{"unchanged a.go:3:1 undefined: missing -> a.go:3:4 undefined: missing via line high"},
		},
		{
			name: "a block moved within the file",
			text: trees{file("package p\n\n", block, "\n", between), file("package p\n\n", between, "\n", block)},
			want: []string{"unchanged a.go:4:2 undefined: missingHere -> a.go:11:2 undefined: missingHere via move medium moved"},
		},
		{
			name: "a block moved to a new file, deeper",
			text: trees{file("package p\n", block), map[string]string{"a.go": "package p\n", "b.go": "package p\n" + strings.ReplaceAll(block, "\t", "\t\t")}},
			opts: diagnostics.Options{Files: diagnostics.NewFileChanges(diagnostics.FileChange{New: "b.go"})},
			want: []string{"unchanged a.go:3:2 undefined: missingHere -> b.go:3:4 undefined: missingHere via move medium moved"},
		},
		{
			name: "a file of which a block went elsewhere was deleted",
			text: trees{map[string]string{"a.go": "package p\n", "b.go": block}, file("package p\n", block)},
			opts: diagnostics.Options{Files: diagnostics.NewFileChanges(diagnostics.FileChange{Old: "b.go"})},
			want: []string{"unchanged b.go:2:2 undefined: missingHere -> a.go:3:2 undefined: missingHere via move medium moved"},
		},
		{
			name: "one unique line of forty characters is a block",
			text: trees{
				file("package p\n\nvar a = missingFunction(withSome, long, enough, arguments)\n\nvar b, c, d int\n"),
				file("package p\n\nvar b, c, d int\n\nvar a = missingFunction(withSome, long, enough, arguments)\n"),
			},
			want: []string{"unchanged a.go:2:8 undefined: missingFunction -> a.go:4:8 undefined: missingFunction via move medium moved"},
		},
		{
			name: "one short line elsewhere is another",
			text: trees{map[string]string{"a.go": "x\nmissing()\ny\n", "b.go": "z\n"}, map[string]string{"a.go": "x\ny\n", "b.go": "z\nmissing()\n"}},
			want: []string{"introduced b.go:1:0 undefined: missing", "fixed a.go:1:0 undefined: missing"},
		},
		{
			name: "a copy of the block is introduced",
			text: trees{file("package p\n", block), map[string]string{"a.go": "package p\n" + block, "b.go": "package p\n" + block}},
			opts: diagnostics.Options{Files: diagnostics.NewFileChanges(diagnostics.FileChange{New: "b.go"})},
			want: []string{"introduced b.go:3:2 undefined: missingHere", "unchanged a.go:3:2 undefined: missingHere -> a.go:3:2 undefined: missingHere via position high"},
		},
		{
			name: "a renamed symbol",
			text: trees{file("package p\n\nvar a = f(missingOld, 1)\n"), file("package p\n\nvar a = f(missingNew, 1)\n")},
			opts: diagnostics.Options{Renames: []diagnostics.SymbolRename{{Old: "missingOld", New: "missingNew"}}},
			want: []string{"unchanged a.go:2:10 undefined: missingOld -> a.go:2:10 undefined: missingNew via rename medium updated"},
		},
		{
			name: "a symbol renamed by somebody else, known by two lines that agree",
			text: trees{file("package p\n\nvar a = f(missingOld, 1)\nvar b = missingOld\nvar c = g(missingOld, 2)\n"),
				file("package p\n\nvar a = f(missingNew, 1)\nvar b = missingNew\nvar c = g(missingNew, 2)\n")},
			want: []string{
				"unchanged a.go:2:10 undefined: missingOld -> a.go:2:10 undefined: missingNew via rename low updated",
				"unchanged a.go:3:8 undefined: missingOld -> a.go:3:8 undefined: missingNew via rename low updated",
				"unchanged a.go:4:10 undefined: missingOld -> a.go:4:10 undefined: missingNew via rename low updated",
			},
		},
		{
			name: "one line with another name is another problem",
			text: trees{file("package p\n\nvar a = f(missingOld, 1)\n"), file("package p\n\nvar a = f(missingNew, 1)\n")},
			want: []string{"introduced a.go:2:10 undefined: missingNew", "fixed a.go:2:10 undefined: missingOld"},
		},
		{
			name: "lines that disagree are no rename",
			text: trees{file("package p\n\nvar a = f(missingOld, 1)\nvar b = f(missingOld, 2)\nvar c = f(missingOld, 3)\n"),
				file("package p\n\nvar a = f(missingNew, 1)\nvar b = f(missingNew, 2)\nvar c = f(missingOther, 3)\n")},
			want: []string{
				"introduced a.go:2:10 undefined: missingNew", "introduced a.go:3:10 undefined: missingNew", "introduced a.go:4:10 undefined: missingOther",
				"fixed a.go:2:10 undefined: missingOld", "fixed a.go:3:10 undefined: missingOld", "fixed a.go:4:10 undefined: missingOld",
			},
		},
		{
			name: "a block moved and a symbol in it renamed",
			text: trees{file("package p\n\n", block, "\n", between), file("package p\n\n", between, "\n", strings.ReplaceAll(block, "missingHere", "missingThere"))},
			opts: diagnostics.Options{Renames: []diagnostics.SymbolRename{{Old: "missingHere", New: "missingThere"}}},
			want: []string{"unchanged a.go:4:2 undefined: missingHere -> a.go:11:2 undefined: missingThere via rename medium moved updated"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.opts.Contents = test.text
			base, head := snapshot(t, gopls(), planted(test.text.base)...), snapshot(t, gopls(), planted(test.text.head)...)
			delta := compare(t, base, head, &test.opts)
			if diff := cmp.Diff(test.want, summary(delta)); diff != "" {
				t.Errorf("Compare (-want +got):\n%s", diff)
			}
			if !delta.Complete() {
				t.Errorf("not complete: %+v", delta)
			}
		})
	}
}

// A file whose text is not at hand is compared by line numbers, and the delta
// says so.
func TestUnreadFile(t *testing.T) {
	s := snapshot(t, gopls(), problem("a.go", 2, 0, "m"))
	delta := compare(t, s, s, &diagnostics.Options{Contents: trees{}})
	if delta.Complete() || delta.Counts.Unchanged != 1 || !cmp.Equal(delta.Unread, []string{"a.go"}) {
		t.Errorf("%+v, want one unchanged and a.go unread", delta)
	}
	none := diagnostics.RawFiles(nil) // a diff that does not mention it: it is equal
	if delta := compare(t, s, s, &diagnostics.Options{Contents: trees{}, Files: none}); !delta.Complete() {
		t.Errorf("a file that is known to be equal was read: %+v", delta)
	}
}

// randomTree has files that share many lines, so that maps are ambiguous.
func randomTree(r *rand.Rand) map[string]string {
	files := map[string]string{}
	for i := range 3 {
		var b strings.Builder
		for range r.IntN(40) {
			switch r.IntN(5) {
			case 0:
				b.WriteString("}\n")
			case 1:
				fmt.Fprintf(&b, "\tmissing%d(x%d)\n", r.IntN(3), r.IntN(9))
			default:
				fmt.Fprintf(&b, "\ty%d := z%d + %d\n", r.IntN(9), r.IntN(9), r.IntN(9))
			}
		}
		files[fmt.Sprintf("f%d.go", i)] = b.String()
	}
	return files
}

// shuffle moves, deletes and repeats blocks of a tree.
func shuffle(r *rand.Rand, files map[string]string) map[string]string {
	out := map[string]string{}
	var carried []string
	for i := range len(files) {
		path := fmt.Sprintf("f%d.go", i)
		lines := strings.Split(files[path], "\n")
		for range r.IntN(4) {
			from := r.IntN(len(lines) + 1)
			to := min(len(lines), from+r.IntN(8))
			block := append([]string{}, lines[from:to]...)
			if r.IntN(2) == 0 {
				lines = append(append([]string{}, lines[:from]...), lines[to:]...)
			}
			carried = append(carried, block...)
			at := r.IntN(len(lines) + 1)
			if r.IntN(2) == 0 {
				lines = append(append(append([]string{}, lines[:at]...), carried...), lines[at:]...)
				carried = nil
			}
		}
		out[path] = strings.Join(lines, "\n")
	}
	return out
}

func TestMetamorphicByContents(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 9))
		text := trees{base: randomTree(r)}
		text.head = shuffle(r, text.base)
		base, head := snapshot(t, gopls(), planted(text.base)...), snapshot(t, gopls(), planted(text.head)...)
		delta := compare(t, base, head, &diagnostics.Options{Contents: text})
		c := delta.Counts
		if c.Introduced+c.Unchanged != len(head.Diagnostics) || c.Fixed+c.Unchanged != len(base.Diagnostics) || c.Unknown != 0 {
			t.Fatalf("seed %d: %+v does not add up to %d and %d", seed, c, len(base.Diagnostics), len(head.Diagnostics))
		}
		back := compare(t, head, base, &diagnostics.Options{Contents: text.reversed()})
		if diff := cmp.Diff(delta.Introduced, back.Fixed); diff != "" {
			t.Fatalf("seed %d: introduced, and fixed by the reversed change:\n%s", seed, diff)
		}
		if diff := cmp.Diff(delta.Fixed, back.Introduced); diff != "" {
			t.Fatalf("seed %d: fixed, and introduced by the reversed change:\n%s", seed, diff)
		}
		same := compare(t, head, head, &diagnostics.Options{Contents: trees{text.head, text.head}})
		if same.Counts.Unchanged != len(head.Diagnostics) || same.Counts.Introduced+same.Counts.Fixed+same.Counts.Unknown != 0 {
			t.Fatalf("seed %d: a tree against itself: %+v", seed, same.Counts)
		}
	}
}

func TestBlankLineByContents(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	text := trees{base: randomTree(r)}
	base := snapshot(t, gopls(), planted(text.base)...)
	lines := strings.Split(text.base["f1.go"], "\n")
	for at := range len(lines) + 1 {
		more := append(append(append([]string{}, lines[:at]...), ""), lines[at:]...)
		text.head = map[string]string{"f0.go": text.base["f0.go"], "f1.go": strings.Join(more, "\n"), "f2.go": text.base["f2.go"]}
		delta := compare(t, base, snapshot(t, gopls(), planted(text.head)...), &diagnostics.Options{Contents: text})
		if c := delta.Counts; c.Introduced+c.Fixed+c.Unknown != 0 || c.Unchanged != len(base.Diagnostics) {
			t.Fatalf("a blank line before line %d: %+v, want nothing but unchanged", at, c)
		}
	}
}
