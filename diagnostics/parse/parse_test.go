package parse_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/diagnostics"
	"github.com/prism-ls/prism-ls/diagnostics/parse"
)

// project is a root with files of a test.
type project struct {
	t    testing.TB
	root string
}

func newProject(t testing.TB, files map[string]string) *project {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t, root}
	for name, text := range files {
		p.write(name, text)
	}
	return p
}

func (p *project) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) content(path string) ([]byte, bool) {
	text, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(path)))
	return text, err == nil
}

// run runs a real tool in a directory of the project, and returns both streams.
func (p *project) run(dir, name string, args ...string) (stdout, stderr string) {
	p.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = filepath.Join(p.root, dir)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "GOFLAGS=-mod=mod", "GOWORK=")
	var out, problems strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); cmd.ProcessState == nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	return out.String(), problems.String()
}

// parse reads an output with a named parser; the tool ran in dir.
func (p *project) parse(parser, dir, output string) *parse.Result {
	p.t.Helper()
	named, ok := parse.Named(parser)
	if !ok {
		p.t.Fatalf("there is no parser %s", parser)
	}
	result, err := named.Parse(&parse.Input{Output: []byte(output), Producer: "p", Root: p.root, Dir: dir, Content: p.content})
	if err != nil {
		p.t.Fatalf("%v\n%s", err, output)
	}
	return result
}

// wants compares what was found with lines such as
// "a.c:3:5-3:7: error: text [code]", columns in characters, in any order.
func (p *project) wants(result *parse.Result, output string, want ...string) {
	p.t.Helper()
	got := map[string]int{}
	for i := range result.Diagnostics {
		got[p.line(&result.Diagnostics[i])]++
	}
	for _, line := range want {
		if got[line] == 0 {
			p.t.Errorf("not found: %s", line)
		}
		got[line]--
	}
	for line, n := range got {
		if n > 0 {
			p.t.Errorf("found %d more: %s", n, line)
		}
	}
	if p.t.Failed() {
		p.t.Logf("of this output:\n%s", output)
	}
}

func (p *project) line(d *diagnostics.Diagnostic) string {
	end := ""
	if d.Range.End != d.Range.Start {
		end = fmt.Sprintf("-%d:%d", d.Range.End.Line+1, p.column(d.Path, d.Range.End))
	}
	code := ""
	if d.Code != "" {
		code = " [" + d.Code + "]"
	}
	return fmt.Sprintf("%s:%d:%d%s: %s: %s%s", d.Path, d.Range.Start.Line+1, p.column(d.Path, d.Range.Start), end, d.Severity, d.Message, code)
}

// column is a position's column in characters, which bytes and UTF-16 units have
// to agree on.
func (p *project) column(path string, at diagnostics.Position) int {
	p.t.Helper()
	text, _ := p.content(path)
	lines := strings.Split(string(text), "\n")
	if at.Line >= len(lines) {
		return max(at.UTF16, at.Byte) + 1
	}
	units, column := 0, 1
	for i, r := range lines[at.Line] {
		if i == at.Byte {
			if units != at.UTF16 {
				p.t.Errorf("%s: byte %d of line %d is UTF-16 unit %d, got %d", path, at.Byte, at.Line+1, units, at.UTF16)
			}
			return column
		}
		column++
		units++
		if r > 0xffff {
			units++
		}
	}
	return column + at.Byte - len(lines[at.Line])
}

// needs skips a test whose tool is missing, but not where all have to be there.
func needs(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing: %v", program, err)
	}
	t.Skipf("%s is missing: %v", program, err)
	return ""
}
