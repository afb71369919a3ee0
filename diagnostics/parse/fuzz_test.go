package parse_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/diagnostics"
	"github.com/prism-ls/prism-ls/diagnostics/parse"
)

// seeds are outputs of each form, whole and broken off.
var seeds = []string{
	"a.c:1:2: error: x [-Wy]\na.c:1:3: note: z\n1 error generated.\n",
	"\x1b[1ma.c:1:2: \x1b[31merror:\x1b[0m x\n",
	"a(1,2): error TS1: x\n  more\nb:1:2 - error TS2: y\n",
	`[{"filePath":"/root/a","messages":[{"ruleId":null,"severity":1,"message":"m","line":1,"column":2,"endLine":0,"endColumn":-4}]}]`,
	`<?xml version="1.0"?><checkstyle><file name="a"><error line="1" column="99999999999" severity="x" message="m"/></file></checkstyle>`,
	`{"version":"2.1.0","runs":[{"originalUriBaseIds":{"A":{"uri":"","uriBaseId":"A"}},"results":[{"ruleIndex":-1,"message":{"id":"x","arguments":["y"]},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"%zz","uriBaseId":"A","index":7},"region":{"startLine":-1,"endColumn":3}}}]}]}]}`,
	"=== RUN   TestX\n    x_test.go:1: a\n        b\n--- FAIL: TestX (0.00s)\npanic: x\n\t/root/x_test.go:3 +0x1\nFAIL\tm\t0.1s\n",
	"--- FAIL: TestX (0.00s)\n    --- FAIL: TestX/s (0.00s)\n        x_test.go:1: a\nFAIL\tm/p\t0.1s\n",
	`{"Action":"output","Package":"m","Test":"TestX","Output":"    x_test.go:1: a\n"}` + "\n" + `{"Action":"fail","Package":"m","Test":"TestX"}` + "\n{\n\t\"m\": {\"p\": [{\"posn\": \"/root/x.go:1:1\"}]}\n}\n",
	"./a.go:1:2: x\n\thave\nvet: ../b.go:1:1: y (SA1)\n../../../etc/passwd.go:1:1: z\n",
	strings.Repeat("[\n", 300) + strings.Repeat("{\n", 300) + strings.Repeat("<x>\n", 300),
	"a\x00b.go:1:1: x\n\xff\xfe.go:1:2: y\n\u202e.go:1:3: z\n",
}

// FuzzParsers: whatever a tool prints, what comes out is bounded, lies in the root
// and says nothing of the terminal.
func FuzzParsers(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
		f.Add([]byte(seed[:len(seed)/2]))
	}
	content := func(path string) ([]byte, bool) {
		if !fs.ValidPath(path) {
			return nil, false
		}
		if path == "go.mod" {
			return []byte("module m\n"), true
		}
		return []byte("ä\tx𝄞\r\n\xffline\n"), len(path)%3 > 0
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		for _, name := range parse.Names() {
			parser, _ := parse.Named(name)
			for _, in := range []*parse.Input{
				{Output: output, Root: "/root", Content: content, Max: 5},
				{Output: output, Root: "/root", Dir: "sub/dir", Producer: "p"},
			} {
				result, _ := parser.Parse(in)
				checkResult(t, name, in, result)
			}
		}
	})
}

func checkResult(t *testing.T, name string, in *parse.Input, result *parse.Result) {
	t.Helper()
	if result == nil || result.Diagnostics == nil {
		t.Fatalf("%s: no result", name)
	}
	if most := cmp.Or(in.Max, 1000); len(result.Diagnostics) > most {
		t.Errorf("%s: %d diagnostics, at most %d", name, len(result.Diagnostics), most)
	}
	builder, err := diagnostics.NewBuilder(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range result.Diagnostics {
		if d.Producer != in.Producer || !fs.ValidPath(d.Path) || strings.ContainsRune(d.Message+d.Code+d.Source+d.Path, 0x1b) {
			t.Errorf("%s: %+v", name, d)
		}
		if !builder.Add(d) { // it refuses paths and ranges that a snapshot must not have
			t.Errorf("%s: not fit for a snapshot: %+v", name, d)
		}
	}
}

// TestMax: the worst are kept, and the others counted.
func TestMax(t *testing.T) {
	var out strings.Builder
	for i := range 12_000 {
		severity := "warning"
		if i%100 == 0 {
			severity = "error"
		}
		fmt.Fprintf(&out, "f%d.c:%d:1: %s: x\n", i%40, i+1, severity)
	}
	parser, _ := parse.Named("gcc")
	for _, size := range []int{0, 50, 10_000} {
		result, err := parser.Parse(&parse.Input{Output: []byte(out.String()), Root: "/root", Max: size})
		if err != nil {
			t.Fatal(err)
		}
		want := size
		if size == 0 {
			want = 1000
		}
		if len(result.Diagnostics) != want || result.Dropped != 12_000-want || result.Diagnostics[0].Severity != diagnostics.Error || result.Diagnostics[49].Severity != diagnostics.Error {
			t.Errorf("Max %d: %d kept, %d dropped", size, len(result.Diagnostics), result.Dropped)
		}
	}
	for _, size := range []int{-1, 10_001} {
		if _, err := parser.Parse(&parse.Input{Max: size}); err == nil {
			t.Errorf("Max %d was taken", size)
		}
	}
	if result, err := parser.Parse(&parse.Input{Output: []byte("a.c:1:1: error: x\na.c:1:1: error: x\n"), Root: "/root"}); err != nil || len(result.Diagnostics) != 1 {
		t.Errorf("the same twice: %+v, %v", result, err)
	}
}

// TestLargeOutputs: the time is in proportion to the output, whatever it is made of.
func TestLargeOutputs(t *testing.T) {
	const size = 1 << 20
	for _, piece := range []string{"[\n", "{\n", "<a>\n", "[{\"filePath\":\"a\",\"messages\":[\n", "a:1:", "a(1,", "\x1b[", "    x.go:1: y\n", "--- FAIL: a (0s)\n", "=== RUN   a\n  x\n", "x.go:1:1: y\n\tz\n", "((((", "::::"} {
		output := []byte(strings.Repeat(piece, size/len(piece)))
		for _, name := range parse.Names() {
			parser, _ := parse.Named(name)
			start := time.Now()
			_, _ = parser.Parse(&parse.Input{Output: output, Root: "/root"})
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("%s took %v for %d bytes of %q", name, took, len(output), piece)
			} else if took > time.Second {
				t.Logf("%s took %v for %d bytes of %q", name, took, len(output), piece)
			}
		}
	}
}
