package parse_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/diagnostics"
	"github.com/prism-ls/prism-ls/diagnostics/parse"
)

// npm returns a program that testdata/servers/install.sh brings.
func npm(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "testdata", "servers", "language", "node_modules", ".bin", name))
	if err != nil {
		t.Fatal(err)
	}
	return needs(t, path)
}

// Columns behind 𝄞 tell UTF-16 units from characters.
var webFiles = map[string]string{
	"web/src/(group)/b.ts": `let ok: number = "𝄞"; const y: string = nothing;
function f(a: {b: {c: number}}) {}
f({b: {d: "s"}});
interface Deep { a: { b: { c: string } } }
declare const v: { a: { b: { c: number } } };
const deep: Deep = v;
`,
	"web/src/c.js":          "/* ä𝄞 */ debugger;\nvar x = 1;\n",
	"web/src/d.js":          "foo( }\n",
	"web/eslint.config.mjs": `export default [{rules: {"no-debugger": "error", "no-unused-vars": "warn"}}];`,
}

func TestTSC(t *testing.T) {
	p := newProject(t, webFiles)
	for _, compiler := range []string{"tsc", "tsgo"} {
		program := npm(t, compiler)
		for _, pretty := range []string{"false", "true"} {
			out, _ := p.run("web", program, "--noEmit", "--strict", "--pretty", pretty, "src/(group)/b.ts")
			result := p.parse("tsc", "web", out)
			var lines []string
			for i := range result.Diagnostics {
				lines = append(lines, p.line(&result.Diagnostics[i]))
			}
			got := strings.Join(lines, "\n")
			for _, want := range []string{
				"web/src/(group)/b.ts:1:5: error: Type 'string' is not assignable to type 'number'. [TS2322]",
				"web/src/(group)/b.ts:1:41: error: Cannot find name 'nothing'. [TS2304]",
				"web/src/(group)/b.ts:6:7: error: Type '{ a: { b: { c: number; }; }; }' is not assignable to type 'Deep'.\n",
				"\n    Type 'number' is not assignable to type 'string'. [TS2322]",
			} {
				if !strings.Contains(got, want) {
					t.Errorf("%s, pretty %s: not found: %s\nin %s\nof %s", compiler, pretty, want, got, out)
				}
			}
			if len(lines) != 4 || strings.Contains(got, "~") || strings.Contains(got, "\x1b") {
				t.Errorf("%s, pretty %s: %d problems:\n%s\nof %s", compiler, pretty, len(lines), got, out)
			}
		}
	}
	out, _ := p.run("web", npm(t, "tsc"), "--noEmit", "-p", ".")
	if result := p.parse("tsc", "web", out); len(result.Diagnostics) != 0 || result.Outside != 1 {
		t.Errorf("a problem of the project: %+v of %s", result, out)
	}
}

func TestESLint(t *testing.T) {
	p := newProject(t, webFiles)
	out, stderr := p.run("web", npm(t, "eslint"), "-f", "json", "src/c.js", "src/d.js")
	want := []string{
		"web/src/c.js:1:10-1:19: error: Unexpected 'debugger' statement. [no-debugger]",
		"web/src/c.js:2:5-2:6: warning: 'x' is assigned a value but never used. [no-unused-vars]",
		"web/src/d.js:1:6: error: Parsing error: Unexpected token }",
	}
	p.wants(p.parse("eslint-json", "web", out), out+stderr, want...)
	// As a package manager prints it, once for each package.
	wrapped := "\n> web@1.0.0 lint\n> eslint -f json\n[12:00] starts\n\n" + out + "\n\n> other@1.0.0 lint\n\n[]\nnpm error code 1\n"
	p.wants(p.parse("eslint-json", "web", wrapped), wrapped, want...)
}

// TestBiome: its reports have columns in characters.
func TestBiome(t *testing.T) {
	p := newProject(t, webFiles)
	biome := npm(t, "biome")
	out, stderr := p.run("web", biome, "lint", "--reporter=checkstyle", "src/c.js")
	p.wants(p.parse("checkstyle", "web", out), out+stderr,
		"web/src/c.js:1:10: error: This is an unexpected use of the debugger statement. [lint/suspicious/noDebugger]",
		"web/src/c.js:2:5: warning: This variable x is unused. [lint/correctness/noUnusedVariables]")
	out, stderr = p.run("web", biome, "lint", "--reporter=sarif", "src/c.js")
	p.wants(p.parse("sarif", "web", out), out+stderr,
		"web/src/c.js:1:10-1:19: error: This is an unexpected use of the debugger statement. [lint/suspicious/noDebugger]",
		"web/src/c.js:2:5-2:6: warning: This variable x is unused. [lint/correctness/noUnusedVariables]")
}

// TestCheckstyleForm: producers that count columns in their own ways.
func TestCheckstyleForm(t *testing.T) {
	p := newProject(t, map[string]string{"a.js": "𝄞 x;\n", "A.java": "\tint x;\n"})
	out := `npm header <not xml
<?xml version="1.0" encoding="UTF-8"?>
<checkstyle version="10.0">
<file name="a.js"><error line="1" column="4" severity="warning" message="&lt;b&gt; red" source="eslint.rules.no-x"/></file>
<file name="` + filepath.Join(p.root, "A.java") + `">
<error line="1" column="9" severity="info" message="tab" source="com.puppycrawl.tools.checkstyle.checks.whitespace.FileTabCharacterCheck"/>
<error line="1" severity="ignore" message="none" source="x"/>
<error message="no line" source="x"/>
</file>
</checkstyle>`
	p.wants(p.parse("checkstyle", "", out), out,
		"a.js:1:3: warning: <b> red [no-x]",
		"A.java:1:2: information: tab [FileTabCharacterCheck]",
		"A.java:1:1: error: no line [x]")
}

// TestSARIFForm: what the standard allows and few producers write.
func TestSARIFForm(t *testing.T) {
	p := newProject(t, map[string]string{"sub/a b.c": "𝄞 x\n", "top.c": "y\n"})
	log := `{"version": "2.1.0", "runs": [{
		"tool": {"driver": {"name": "T", "rules": [
			{"id": "R1", "messageStrings": {"m": {"text": "{0} of {1}"}}, "defaultConfiguration": {"level": "error"}},
			{"id": "R2", "defaultConfiguration": {"level": "note"}}]}},
		"columnKind": "utf16CodeUnits",
		"originalUriBaseIds": {"TOP": {"uri": "file://` + filepath.ToSlash(p.root) + `/"}, "SUB": {"uri": "sub/", "uriBaseId": "TOP"}, "LOOP": {"uri": "", "uriBaseId": "LOOP"}},
		"artifacts": [{"location": {"uri": "top.c", "uriBaseId": "TOP"}}],
		"results": [
			{"ruleId": "R1/more", "ruleIndex": 0, "message": {"id": "m", "arguments": ["one", "two"]},
			 "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a%20b.c", "uriBaseId": "SUB"}, "region": {"startLine": 1, "startColumn": 4, "endColumn": 5}}}],
			 "relatedLocations": [{"message": {"text": "see"}, "physicalLocation": {"artifactLocation": {"index": 0}, "region": {"startLine": 1}}}]},
			{"rule": {"id": "R2"}, "message": {"markdown": "*m*"}, "locations": [{"physicalLocation": {"artifactLocation": {"index": 0}, "region": {"startLine": 1}}}]},
			{"message": {"text": "plain"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "../top.c", "uriBaseId": "UNKNOWN"}}}]},
			{"ruleId": "R1", "kind": "pass", "message": {"text": "passed"}},
			{"ruleId": "R1", "baselineState": "absent", "message": {"text": "gone"}},
			{"ruleId": "R1", "suppressions": [{"kind": "inSource"}], "message": {"text": "accepted"}},
			{"ruleId": "R1", "message": {"text": "no place"}},
			{"ruleId": "R1", "message": {"text": "elsewhere"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "https://example.com/top.c"}}}]},
			{"ruleId": "R1", "message": {"text": "round and round"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "", "uriBaseId": "LOOP"}}}]}
		]}]}`
	result := p.parse("sarif", "sub", log)
	p.wants(result, log,
		"sub/a b.c:1:3-1:4: error: one of two [R1/more]",
		"top.c:1:1: information: *m* [R2]",
		"top.c:1:1: warning: plain")
	if result.Outside != 3 || len(result.Diagnostics[0].Related) != 1 || result.Diagnostics[0].Related[0].Path != "top.c" || result.Diagnostics[0].Source != "T" {
		t.Errorf("got %+v", result)
	}
	for _, wrong := range []string{"", "{}", `{"version": "3.0"}`, "no json", "{", `[{"version":"2.1.0"}]`} {
		named, _ := parse.Named("sarif")
		if result, err := named.Parse(&parse.Input{Output: []byte(wrong), Root: p.root}); err == nil || result == nil || len(result.Diagnostics) != 0 {
			t.Errorf("%q: %+v, %v", wrong, result, err)
		}
	}
}

// TestOwnSARIF: what this module writes, it reads.
func TestOwnSARIF(t *testing.T) {
	log, err := os.ReadFile(filepath.Join("..", "testdata", "delta.sarif"))
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Runs []struct {
			Results []struct {
				State string `json:"baselineState"`
			} `json:"results"`
		} `json:"runs"`
	}
	if err := json.Unmarshal(log, &said); err != nil {
		t.Fatal(err)
	}
	standing := 0
	for _, run := range said.Runs {
		for _, result := range run.Results {
			if result.State != "absent" {
				standing++
			}
		}
	}
	p := newProject(t, nil)
	result := p.parse("sarif", "", string(log))
	if standing == 0 || len(result.Diagnostics) != standing {
		t.Errorf("%d diagnostics of %d results that stand", len(result.Diagnostics), standing)
	}
	for _, d := range result.Diagnostics {
		if d.Severity < diagnostics.Error || d.Severity > diagnostics.Hint || d.Message == "" {
			t.Errorf("%+v", d)
		}
	}
}
