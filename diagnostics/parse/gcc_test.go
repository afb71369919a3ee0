package parse_test

import (
	"strings"
	"testing"
)

const cSource = `#include "lib/a.h"
int f(void) {
	int unused = 1;
	/* ä漢𝄞	x */ return nowhere;
}
int g(int a) { return h(a, "s"); }
`

func TestGCC(t *testing.T) {
	gcc := needs(t, "gcc")
	p := newProject(t, map[string]string{"src/a.c": cSource, "src/lib/a.h": "int h(int a);\n", "src/b.c": "#include \"none.h\"\n"})
	_, out := p.run("src", gcc, "-Wall", "-c", "-o", "/dev/null", "-fdiagnostics-color=always", "a.c")
	if !strings.Contains(out, "\x1b[") {
		t.Errorf("gcc did not colour this:\n%s", out)
	}
	result := p.parse("gcc", "src", out)
	var lines []string
	for i := range result.Diagnostics {
		lines = append(lines, p.line(&result.Diagnostics[i]))
	}
	for _, want := range []string{
		"src/a.c:4:21: error: ‘nowhere’ undeclared (first use in this function)",
		"src/a.c:6:23: error: too many arguments to function ‘h’",
		"src/a.c:3:6: warning: unused variable ‘unused’ [-Wunused-variable]",
	} {
		if !strings.Contains(strings.Join(lines, "\n"), want) {
			t.Errorf("not found: %s\nin %s\nof %s", want, strings.Join(lines, "\n"), out)
		}
	}
	if first := result.Diagnostics[0]; first.Source != "gcc" || len(first.Related) != 1 || !strings.Contains(first.Related[0].Message, "reported only once") {
		t.Errorf("the first is %+v", first)
	}
	_, out = p.run("src", gcc, "-c", "-o", "/dev/null", "b.c")
	p.wants(p.parse("gcc", "src", out), out, "src/b.c:1:10: error: none.h: No such file or directory")
}

// TestGCCForm: others that write in this form, and what only looks like it.
func TestGCCForm(t *testing.T) {
	p := newProject(t, map[string]string{"x.py": "a = 'ä' + b\n", "t.c": "\tx;\n"})
	out := strings.Join([]string{
		`x.py:1:11: error: Name "b" is not defined  [name-defined]`,
		`x.py:1: note: See the manual`,
		`x.py:1: warning: no column`,
		`src/main.rs:2:18: error[E0308]: mismatched types: expected u8 [sic]`,
		`/etc/passwd:1:1: error: outside`,
		`../up.c:1:1: error: outside`,
		`12:30:11: error: a file with a number for a name`,
		`make: *** [Makefile:3: all] Error 1`,
		`   4 | x:1:1: error: a source line`,
		`x.py:99999999999: error: no line has such a number`,
		`x.py: error: no place`,
	}, "\n")
	result := p.parse("gcc", "", out)
	p.wants(result, out,
		`x.py:1:11: error: Name "b" is not defined [name-defined]`,
		`x.py:1:1: warning: no column`,
		`src/main.rs:2:18: error: mismatched types: expected u8 [sic] [E0308]`,
		`12:30:11: error: a file with a number for a name`)
	if result.Outside != 2 {
		t.Errorf("%d outside, want 2", result.Outside)
	}
	// clang counts bytes, and says at the end what it generated.
	out = "t.c:1:2: error: use of undeclared identifier 'x'\n1 error generated.\n"
	p.wants(p.parse("gcc", "", out), out, "t.c:1:2: error: use of undeclared identifier 'x'")
	out = "t.c:1:9: error: 'x' undeclared\n"
	p.wants(p.parse("gcc", "", out), out, "t.c:1:2: error: 'x' undeclared")
}
