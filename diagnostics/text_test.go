package diagnostics_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prism-ls/prism-ls/diagnostics"
)

func TestText(t *testing.T) {
	text := sides{
		base: "package p\n",
		head: "package p\n\tvar é, 日本 = \"😀\", missing\r\nlast",
	}
	warning := problem("a.go", 2, 0, "several\nlines\tof it")
	warning.Severity, warning.Code = diagnostics.Warning, ""
	bad := problem("a.go", 1, 0, "undefined: missing")
	// In UTF-16 units: tab, "var ", é, ", ", two, ` = "`, a pair, `", `.
	bad.Range.Start.UTF16, bad.Range.Start.Byte = 19, 26
	base := snapshot(t, gopls(), problem("a.go", 0, 8, "gone"))
	delta := compare(t, base, snapshot(t, gopls(), warning, bad), &diagnostics.Options{Contents: text})

	want := `2 introduced, 1 fixed, 0 unchanged, 0 unknown

introduced:
a.go:2:19: error: undefined: missing [E1]
    var é, 日本 = "😀", missing
a.go:3:1: warning: several lines of it
    last

fixed:
a.go:1:9: error: gone [E1]
`
	if diff := cmp.Diff(want, delta.Text(&diagnostics.TextOptions{Contents: text})); diff != "" {
		t.Errorf("Text (-want +got):\n%s", diff)
	}
	want = "2 introduced, 1 fixed, 0 unchanged, 0 unknown\n\nintroduced:\na.go:2:20: error: undefined: missing [E1]\n[1 more]\n\nfixed:\n[1 more]\n"
	if diff := cmp.Diff(want, delta.Text(&diagnostics.TextOptions{MaxItems: 1})); diff != "" {
		t.Errorf("Text of one item (-want +got):\n%s", diff)
	}
}

func TestTextSaysWhatIsUnknown(t *testing.T) {
	crashed := gopls()
	crashed.Status = diagnostics.StatusCrashed
	delta := compare(t, snapshot(t, gopls(), problem("a.go", 0, 0, "m")), snapshot(t, crashed), nil)
	want := "0 introduced, 0 fixed, 0 unchanged, 1 unknown\n\nunknown (producer_incomplete): 1\n"
	if diff := cmp.Diff(want, delta.Text(nil)); diff != "" {
		t.Errorf("Text (-want +got):\n%s", diff)
	}
}

func TestLines(t *testing.T) {
	bytesOnly := problem("a.go", 0, 0, "m")
	bytesOnly.Range = diagnostics.Range{
		Start: diagnostics.Position{UTF16: -1, Byte: 4},
		End:   diagnostics.Position{UTF16: -1, Byte: 4},
	}
	past := problem("b.go", 9, 4, strings.Repeat("x", 500))
	got := diagnostics.Lines([]diagnostics.Diagnostic{bytesOnly, past}, diagnostics.Head, sides{head: "😀x"})
	want := "a.go:1:2: error: m [E1]\nb.go:10:5: error: " + strings.Repeat("x", 400) + "… [E1]\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Lines (-want +got):\n%s", diff)
	}
}
