package parse_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// goFiles is a module below the root, with problems of each kind. Columns behind
// ä and 𝄞 tell bytes from characters.
var goFiles = map[string]string{
	"mod/go.mod": "module example.com/m // a comment\n\ngo 1.26\n",
	"mod/a.go": `package m

import "fmt"

func F() {
	s := "ä𝄞"; fmt.Printf("%d\n", "x")
	_ = s
}
`,
	"mod/broken/b.go": `package broken

func G() int {
	return undefinedThing + 1
}

func H(a int) {}
func I() { H("s", 2); var x int }
`,
	"mod/deep/tests/t_test.go": `package tests

import "testing"

func TestOne(t *testing.T) {
	t.Log("just said")
	t.Errorf("bad: %d\nsecond line", 3)
	t.Run("sub x", func(t *testing.T) { t.Error("in sub") })
	helper(t)
}

func helper(t *testing.T) { t.Helper(); t.Error("from helper") }

func TestPass(t *testing.T) { t.Log("fine") }

func TestSkip(t *testing.T) { t.Skip("not now") }
`,
	"mod/panics/p_test.go": `package panics

import "testing"

func TestBefore(t *testing.T) { t.Log("fine") }

func TestPanic(t *testing.T) {
	var p *int
	*p = 1
}
`,
	"mod/outer/p_test.go": `package outer

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 0 {
		panic("before all tests")
	}
}
`,
}

var goBuild = []string{
	"mod/broken/b.go:4:9: error: undefined: undefinedThing",
	"mod/broken/b.go:8:19: error: too many arguments in call to H\n\thave (string, number)\n\twant (int)",
	"mod/broken/b.go:8:27: error: declared and not used: x",
}

var goTests = []string{
	"mod/deep/tests/t_test.go:6:1: information: just said [TestOne]",
	"mod/deep/tests/t_test.go:7:1: error: bad: 3\nsecond line [TestOne]",
	"mod/deep/tests/t_test.go:8:1: error: in sub [TestOne/sub_x]",
	"mod/deep/tests/t_test.go:9:1: error: from helper [TestOne]",
	"mod/panics/p_test.go:9:1: error: panic: runtime error: invalid memory address or nil pointer dereference [recovered, repanicked] [TestPanic]",
	"mod/outer/p_test.go:10:1: error: panic: before all tests",
}

func TestGo(t *testing.T) {
	goCommand := needs(t, "go")
	p := newProject(t, goFiles)
	run := func(args ...string) string {
		stdout, stderr := p.run("mod", goCommand, args...)
		return stderr + stdout
	}
	out := run("vet", "./...")
	p.wants(p.parse("go", "mod", out), out,
		"mod/a.go:6:25: error: fmt.Printf format %d has arg \"x\" of wrong type string", goBuild[0])
	out = run("vet", "-json", "./...")
	p.wants(p.parse("go", "mod", out), out,
		"mod/a.go:6:25-6:27: error: fmt.Printf format %d has arg \"x\" of wrong type string [printf]", goBuild[0])
	for _, args := range [][]string{{"build", "./..."}, {"build", "-json", "./..."}, {"test", "-vet=off", "./broken"}, {"test", "-vet=off", "-json", "./broken"}} {
		out = run(args...)
		p.wants(p.parse("go", "mod", out), out, goBuild...)
	}
	for _, flag := range []string{"-json", "-v", "-short"} { // the last changes nothing
		out = run("test", "-vet=off", flag, "./...")
		result := p.parse("go", "mod", out)
		p.wants(result, out, append(append([]string{}, goBuild...), goTests...)...)
		if result.Outside != 0 || result.Dropped != 0 {
			t.Errorf("%s: %d outside, %d dropped", flag, result.Outside, result.Dropped)
		}
	}
}

// TestGoWork: each package is found through its own module.
func TestGoWork(t *testing.T) {
	goCommand := needs(t, "go")
	p := newProject(t, map[string]string{
		"go.work":          "go 1.26\n\nuse (\n\t./one\n\t./nested/two\n)\n",
		"one/go.mod":       "module example.com/one\n\ngo 1.26\n",
		"one/in/x_test.go": "package in\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) { t.Fatal(\"x\") }\n",
		"nested/two/go.mod": `module "example.com/one/two"

go 1.26
`,
		"nested/two/y_test.go": "package two\n\nimport \"testing\"\n\nfunc TestY(t *testing.T) { t.Fatal(\"y\") }\n",
	})
	cmd := exec.Command(goCommand, "test", "example.com/one/...", "example.com/one/two/...")
	cmd.Dir = p.root
	out, _ := cmd.CombinedOutput()
	p.wants(p.parse("go", "", string(out)), string(out),
		"one/in/x_test.go:5:1: error: x [TestX]", "nested/two/y_test.go:5:1: error: y [TestY]")
}

// TestStaticcheck: it prints as vet does, and as SARIF, with columns in bytes.
func TestStaticcheck(t *testing.T) {
	goCommand := needs(t, "go")
	build, err := exec.Command(goCommand, "tool", "-n", "staticcheck").Output()
	if err != nil {
		t.Fatal(err)
	}
	staticcheck := strings.TrimSpace(string(build))
	p := newProject(t, map[string]string{"mod/go.mod": "module example.com/m\n\ngo 1.26\n", "mod/s.go": `package m

import "strings"

func F(s string) bool {
	/* ä𝄞 */ strings.Replace(s, "a", "b", -1)
	return s == s
}
`})
	stdout, stderr := p.run("mod", staticcheck, "./...")
	p.wants(p.parse("go", "mod", stdout), stdout+stderr,
		"mod/s.go:6:11: error: Replace doesn't have side effects and its return value is ignored [SA4017]",
		"mod/s.go:7:9: error: identical expressions on the left and right side of the '==' operator [SA4000]")
	stdout, stderr = p.run("mod", staticcheck, "-f", "sarif", "./...")
	p.wants(p.parse("sarif", "mod", stdout), stderr,
		"mod/s.go:6:11-6:43: warning: Replace doesn't have side effects and its return value is ignored [SA4017]",
		"mod/s.go:7:9-7:15: warning: identical expressions on the left and right side of the '==' operator [SA4000]")
}

// TestGoForm: what else the go command and programs under test may print.
func TestGoForm(t *testing.T) {
	p := newProject(t, map[string]string{"go.mod": "module m\n", "x.go": "package m\n"})
	out := strings.Join([]string{
		`go: errors parsing go.mod:`,
		`go.mod:5:2: unknown directive: requires`,
		`{"not":"an event"}`,
		`{`,
		`no object at all`,
		`}`,
		filepath.Join(p.root, "x.go") + ":1:1: absolute",
		`/usr/lib/go/src/fmt/print.go:1:1: outside`,
		`127.0.0.1:8080: connection refused`,
		`main.go: no number`,
		`x.go:7: an (issue) in words (maybe)`,
		`    x.go:8: an example of a log that no test has`,
	}, "\n")
	result := p.parse("go", "", out)
	p.wants(result, out, "go.mod:5:2: error: unknown directive: requires", "x.go:1:1: error: absolute", "x.go:7:1: error: an (issue) in words (maybe)")
	if result.Outside != 1 {
		t.Errorf("%d outside, want 1", result.Outside)
	}
}
