package diagnostics

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	idA    = "d68dd4031d2ad5b7a3829ad7df6635e27a7daa22"
	idB    = "bca70f35318f31dd1d1d1d2d2e64c19b880899ff"
	noBlob = "0000000000000000000000000000000000000000"
)

// rawDiff is what git writes for every kind of record, with -C too.
var rawDiff = strings.Join([]string{
	":100644 100644 " + idA + " " + idA + " R100", "moved.go", "new place/moved.go",
	":100644 100755 " + idA + " " + idB + " R086", "edited.go", "sub/edited.go",
	":100644 100644 " + idA + " " + idA + " C100", "kept.go", "copy.go",
	":000000 100644 " + noBlob + " " + idB + " A", "added\n.go",
	":100644 000000 " + idA + " " + noBlob + " D", "gone.go",
	":100644 100644 " + idA + " " + idB + " M", "changed.go",
	":100644 120000 " + idA + " " + idB + " T", "link.go", "",
}, "\x00")

func TestParseRawDiff(t *testing.T) {
	changes, err := ParseRawDiff([]byte(rawDiff))
	if err != nil {
		t.Fatal(err)
	}
	want := []RawChange{
		{'R', 100, "100644", "100644", idA, idA, "moved.go", "new place/moved.go"},
		{'R', 86, "100644", "100755", idA, idB, "edited.go", "sub/edited.go"},
		{'C', 100, "100644", "100644", idA, idA, "kept.go", "copy.go"},
		{'A', 0, "000000", "100644", noBlob, idB, "", "added\n.go"},
		{'D', 0, "100644", "000000", idA, noBlob, "gone.go", ""},
		{'M', 0, "100644", "100644", idA, idB, "changed.go", "changed.go"},
		{'T', 0, "100644", "120000", idA, idB, "link.go", "link.go"},
	}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Fatalf("ParseRawDiff (-want +got):\n%s", diff)
	}
	m := RawFiles(changes)
	for _, test := range []struct {
		base, head string
		identical  bool
	}{
		{"moved.go", "new place/moved.go", true},
		{"edited.go", "sub/edited.go", false},
		{"kept.go", "kept.go", true},
		{"gone.go", "", false},
		{"changed.go", "changed.go", false},
		{"link.go", "link.go", false},
		{"not mentioned.go", "not mentioned.go", true},
	} {
		if head, ok := m.ToHead(test.base); head != test.head || ok != (head != "") {
			t.Errorf("ToHead(%q) = %q, %v", test.base, head, ok)
		}
		if got := m.Identical(test.base); got != test.identical {
			t.Errorf("Identical(%q) = %v", test.base, got)
		}
	}
	for _, name := range []string{"copy.go", "added\n.go", "moved.go", "gone.go"} {
		if base, ok := m.ToBase(name); ok {
			t.Errorf("ToBase(%q) = %q, want a file that is new or not there", name, base)
		}
	}
	if one, err := ParseRawDiff([]byte(idB + "\x00" + rawDiff)); err != nil || len(one) != len(changes) {
		t.Errorf("the raw diff of one commit: %d changes, %v", len(one), err)
	}
	if none, err := ParseRawDiff(nil); err != nil || len(none) != 0 {
		t.Errorf("an empty diff: %v, %v", none, err)
	}
}

func TestParseRawDiffRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"lines instead of NUL": ":100644 100644 " + idA + " " + idB + " M\tx\n",
		"abbreviated ids":      ":100644 100644 d68dd40 bca70f3 M\x00x\x00",
		"combined":             "::100644 100644 100644 " + idA + " " + idB + " " + idB + " MM\x00x\x00",
		"no path":              ":100644 100644 " + idA + " " + idB + " M\x00",
		"no second path":       ":100644 100644 " + idA + " " + idB + " R100\x00x\x00",
		"empty path":           ":100644 100644 " + idA + " " + idB + " M\x00\x00",
		"unknown status":       ":100644 100644 " + idA + " " + idB + " Q\x00x\x00",
		"score out of range":   ":100644 100644 " + idA + " " + idB + " R101\x00x\x00y\x00",
		"signed score":         ":100644 100644 " + idA + " " + idB + " R+50\x00x\x00y\x00",
	} {
		if changes, err := ParseRawDiff([]byte(text)); err == nil {
			t.Errorf("%s: parsed as %+v", name, changes)
		}
	}
}

func TestRawFilesAreOneToOne(t *testing.T) {
	m := RawFiles([]RawChange{
		{Status: 'R', Score: 60, OldID: idA, NewID: idB, Old: "a.go", New: "x.go"},
		{Status: 'R', Score: 90, OldID: idA, NewID: idB, Old: "a.go", New: "y.go"},
		{Status: 'R', Score: 80, OldID: idA, NewID: idB, Old: "b.go", New: "y.go"},
	})
	if head, _ := m.ToHead("a.go"); head != "y.go" {
		t.Errorf("a.go became %q, want the more similar y.go", head)
	}
	for name, got := range map[string]func(string) (string, bool){"b.go": m.ToHead, "x.go": m.ToBase} {
		if partner, ok := got(name); ok {
			t.Errorf("%s has the partner %q, which has another", name, partner)
		}
	}
}

func FuzzParseRawDiff(f *testing.F) {
	f.Add([]byte(rawDiff))
	f.Fuzz(func(t *testing.T, text []byte) {
		changes, err := ParseRawDiff(text)
		if err != nil {
			return
		}
		m := RawFiles(changes)
		for _, c := range changes {
			if head, ok := m.ToHead(c.Old); c.Old != "" && ok {
				if base, back := m.ToBase(head); !back || base != c.Old {
					t.Fatalf("%q became %q, which was %q", c.Old, head, base)
				}
			}
		}
	})
}
