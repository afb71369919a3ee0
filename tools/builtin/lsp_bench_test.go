package builtin_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools/builtin"
)

// BenchmarkReferencesAnswer is what the references of a name that is used all over
// a large module cost a model to read: all of them on one page.
func BenchmarkReferencesAnswer(b *testing.B) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/tools").Output()
	if err != nil {
		b.Fatal(err)
	}
	h, _ := languageHost(b, strings.TrimSpace(string(out)))
	size := 0
	var m builtin.LSPLocations
	h.ok("lsp_references", args{"symbol": "analysis.Pass.TypesInfo"}, nil) // loads the module
	for b.Loop() {
		size = len(h.ok("lsp_references", args{"symbol": "analysis.Pass.TypesInfo"}, &m))
	}
	if m.Total < 146 || len(m.Files) < 48 || m.Truncated {
		b.Fatalf("%d references in %d files, truncated %t; want at least 146 in 48 on one page", m.Total, len(m.Files), m.Truncated)
	}
	b.ReportMetric(float64(size), "answer-bytes")
	b.ReportMetric(float64(m.Total), "references")
}
