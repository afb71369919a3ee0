package search

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// TestHardCaps: beyond them, and below zero, is refused and never clamped.
func TestHardCaps(t *testing.T) {
	w, err := workspace.Open(t.TempDir(), &workspace.Options{StateDir: t.TempDir()})
	must(t, err)
	defer w.Close()
	for _, limits := range []Limits{
		{Entries: 100_001}, {Files: 100_001}, {ScanBytes: 1<<30 + 1}, {FileBytes: 64<<20 + 1}, {PatternBytes: 4097}, {LineBytes: 1<<20 + 1},
		{Time: 301 * time.Second}, {Time: time.Millisecond}, {GitOutput: 64<<20 + 1}, {Entries: -1}, {ScanBytes: -1}, {Time: -time.Second},
	} {
		if _, err := New(w, &Options{Limits: limits}); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%+v: %v", limits, err)
		}
	}
	s, err := New(w, &Options{Limits: Limits{Entries: 100_000, Files: 100_000, ScanBytes: 1 << 30, FileBytes: 64 << 20, PatternBytes: 4096, LineBytes: 1 << 20, Time: 300 * time.Second, GitOutput: 64 << 20}})
	must(t, err)
	for _, bad := range []int64{0, -1, 129, 10_001, 1 << 50} {
		_, listErr := s.List(t.Context(), ListQuery{MaxDepth: &bad})
		_, globErr := s.Glob(t.Context(), GlobQuery{Pattern: "*", MaxDepth: &bad})
		_, searchErr := s.Search(t.Context(), Query{Query: "x", Context: new(int64(21))})
		if !errors.Is(listErr, tools.CodeToolInput) || !errors.Is(globErr, tools.CodeToolInput) || !errors.Is(searchErr, tools.CodeToolInput) {
			t.Errorf("%d: %v, %v, %v", bad, listErr, globErr, searchErr)
		}
	}
	for _, query := range []Query{{Query: "a\nb"}, {Query: "a\xff"}, {Query: "x", Mode: "fuzzy"}, {Query: "x", OutputMode: "json"}, {Query: "x", MaxMatches: new(int64(10_001))}, {Query: "x", Include: []string{"["}}} {
		if _, err := s.Search(t.Context(), query); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%+v: %v", query, err)
		}
	}
	for _, mode := range []Mode{ModeIndexedLiteral, ModeSemantic} {
		if _, err := s.Search(t.Context(), Query{Query: "x", Mode: mode}); !errors.Is(err, tools.CodeIndexUnsupported) {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

// TestCapsEndACall: what was found up to a cap, and which cap it was.
func TestCapsEndACall(t *testing.T) {
	root := wide(t, 10, 10)
	for _, c := range []struct {
		limits  Limits
		by      string
		scanned int
	}{
		{Limits{Files: 42}, "files", 42},
		{Limits{ScanBytes: 27 * 10}, "scan", 10},
		{Limits{Entries: 25}, "entries", 20},
		{Limits{FileBytes: 10}, "", 0},
	} {
		r, err := open(t, root, &Options{Limits: c.limits}).Search(t.Context(), Query{Query: "needle"})
		must(t, err)
		if r.TruncatedBy != c.by || r.ScannedFiles != c.scanned || r.MatchCount != c.scanned || r.Truncated != (c.by != "") {
			t.Errorf("%+v: truncated by %q after %d files, %d matches", c.limits, r.TruncatedBy, r.ScannedFiles, r.MatchCount)
		}
		if c.by != "" && !strings.HasSuffix(r.Text(), "\n[truncated by "+c.by+"]") {
			t.Errorf("%+v: text ends in %q", c.limits, r.Text()[len(r.Text())-40:])
		}
		if c.by == "" && r.Skipped.Oversize != 100 {
			t.Errorf("%d oversize", r.Skipped.Oversize)
		}
	}
}

// TestTextPages: a listing longer than a text says where to go on.
func TestTextPages(t *testing.T) {
	files := map[string]string{}
	for i := range 900 {
		files[fmt.Sprintf("%s%03d", strings.Repeat("n", 100), i)] = ""
	}
	s := open(t, tree(t, files), nil)
	list, err := s.List(t.Context(), ListQuery{})
	must(t, err)
	text := list.Text()
	lines := strings.Split(text, "\n")
	want := fmt.Sprintf("[truncated by bytes. Use offset=%d to continue.]", len(lines)-1)
	if len(text) > 50<<10+len(want)+1 || lines[len(lines)-1] != want || list.Truncated || len(list.Entries) != 900 {
		t.Errorf("%d bytes, %d entries, ends in %q, want %q", len(text), len(list.Entries), lines[len(lines)-1], want)
	}
}

// TestGlobs: include and exclude, braces, classes, and what is refused.
func TestGlobs(t *testing.T) {
	s := open(t, tree(t, map[string]string{
		"a.go": "x", "b.ts": "x", "sub/c.go": "x", "sub/d.tsx": "x", "vendor/e.go": "x", "sub/vendor/f.go": "x", "{": "x",
	}), nil)
	yes := true
	for pattern, want := range map[string]string{
		"**/*.{go,ts}": "a.go b.ts sub/c.go sub/vendor/f.go vendor/e.go", "[ab].*": "a.go b.ts", "sub/**": "sub/c.go sub/d.tsx sub/vendor/f.go",
		`\{`: "{", "[{]": "{", "./a.go": "a.go", "**/vendor/*.go": "sub/vendor/f.go vendor/e.go", "sub": "",
	} {
		r, err := s.Glob(t.Context(), GlobQuery{Pattern: pattern, BraceExpansion: &yes})
		must(t, err)
		if got := strings.Join(r.Paths, " "); got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
	for pattern, code := range map[string]tools.Code{
		"{a,{b,c}}": tools.CodeToolInput, "{a,}": tools.CodeToolInput, "{}": tools.CodeToolInput, "a}": tools.CodeToolInput, "[a": tools.CodeToolInput,
		strings.Repeat("{a,b}", 8): tools.CodeToolInput, "/etc/*": tools.CodePathEscape, "a/../../b": tools.CodePathEscape, "{a,..}/b": tools.CodePathEscape,
		"{" + strings.Repeat("a", 200) + "," + strings.Repeat("b", 200) + "}{a,b,c,d,e,f,g,h,i,j,k,l,m}": tools.CodeToolInput,
	} {
		if r, err := s.Glob(t.Context(), GlobQuery{Pattern: pattern, BraceExpansion: &yes}); !errors.Is(err, code) {
			t.Errorf("%.40s: %+v, %v, want %s", pattern, r, err, code)
		}
	}
	for _, c := range []struct {
		include, exclude []string
		want             string
	}{
		{[]string{"*.go"}, nil, "a.go\nsub/c.go\nsub/vendor/f.go\nvendor/e.go"},
		{[]string{"*.{go,tsx}"}, []string{"vendor"}, "a.go\nsub/c.go\nsub/d.tsx"},
		{[]string{"sub/**"}, []string{"**/vendor/**"}, "sub/c.go\nsub/d.tsx"},
		{nil, []string{"*.go", `\{`}, "b.ts\nsub/d.tsx"},
	} {
		r, err := s.Search(t.Context(), Query{Query: "x", Include: c.include, Exclude: c.exclude, OutputMode: OutputFiles})
		must(t, err)
		if r.Text() != c.want {
			t.Errorf("include %q exclude %q:\n%s\nwant\n%s", c.include, c.exclude, r.Text(), c.want)
		}
	}
}
