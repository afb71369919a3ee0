package git

import (
	"testing"
)

// FuzzParsers: whatever comes instead of git's output is an error or a result, and no
// more than that.
func FuzzParsers(f *testing.F) {
	for _, seed := range []string{
		":100644 100755 422c2b7 0000000 M\x00a\x00:100644 100644 587be6b 587be6b R100\x00x\x00y\x001\t1\ta\x000\t0\t\x00x\x00y\x00\x00diff --git a/a b/a\n",
		"::100644 100644 100644 1 2 3 MM\x00a\x00", "1 M. N... 100644 100644 100644 1 2 a\x00", "2 R. N... 1 1 1 1 2 R100 b\x00a\x00", "u UU N... 1 1 1 1 1 2 3 a\x00? b\x00# branch.ab +1 -2\x00",
		"8e2347272588bf63cb2a8faebb0f1188c4f08c01 1 1 1\nauthor A\nauthor-time 1\nauthor-tz +0200\n\tx\n", "diff --git a/.env b/.env\nold mode 1\nnew mode 2\ndiff --cc \"a\n* Unmerged path x\n",
		"100644 blob 8e2347272588bf63cb2a8faebb0f1188c4f08c01       5\ta\x00",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	g := &Repository{top: "/", prefix: "sub"}
	f.Fuzz(func(t *testing.T, text []byte, cut bool) {
		d := &Diff{}
		raw := rawDiff{diff: d, g: g}
		if raw.parse(text, cut) == nil {
			d.bound(2, 100, func(path string) bool { return path == ".env" })
			if len(d.Patch) > 100 || len(d.Files) > 2 {
				t.Fatalf("%d bytes and %d files", len(d.Patch), len(d.Files))
			}
		}
		kept := withheld(text, func(string) bool { return false })
		if string(kept) != string(text) {
			t.Fatalf("nothing is withheld, and %q has become %q", text, kept)
		}
		status := statusParser{status: &Status{}, g: g, most: 2}
		var records [][]byte
		for len(text) > 0 {
			records = append(records, text[:len(text)/2+1])
			text = text[len(text)/2+1:]
		}
		_ = status.parse(records)
		_, _ = parseBlame(kept, cut)
		_, _ = findEntry(kept, "a")
		_, _ = logPlace{}.page(&Output{Stdout: append(kept, 0), Truncated: cut}, 3)
	})
}
