package builtin_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/check"
	"github.com/prism-ls/prism-ls/tools/policy"
)

// newChecks is a host with coding_check over those definitions.
func newChecks(t *testing.T, rules tools.Policy, list ...check.Definition) *host {
	t.Helper()
	h := newHost(t, nil)
	source := builtin.SourceOf(h.ws)
	runner, err := check.New(list, &check.Options{Owner: h.owner, Root: h.root, Environment: os.Environ(), Content: source, Lines: 50_000, Names: 20})
	must(t, err)
	set, err := builtin.CodingCheck(&builtin.CheckDeps{Checks: runner, Content: source, SpillDir: t.TempDir()})
	must(t, err)
	h.registry, err = tools.NewRegistry(set, &tools.RegistryOptions{Policy: rules, Root: h.root})
	must(t, err)
	return h
}

func script(name, text string) check.Definition {
	return check.Definition{Name: name, File: "/bin/sh", Args: []string{"-c", text}}
}

func TestCodingCheck(t *testing.T) {
	parsed := script("lint", `printf 'a.c:2:17: error: bad [x]\na.c:1:1: warning: odd\n/usr/x.c:1:1: error: far\n'; exit 2`)
	parsed.Parser = "gcc"
	document := script("doc", `echo '[{"filePath":"a.c","messages":[{"ruleId":"r","severity":1,"message":"m","line":2,"column":8,"endLine":2,"endColumn":9}]}]'`)
	document.Parser = "eslint-json"
	clean := script("clean", `echo '[]'`)
	clean.Parser = "eslint-json"
	h := newChecks(t, nil, script("ok", "true"), script("bad", "printf 'x\\033[31my\\001'; exit 3"), script("killed", "kill -KILL $$"),
		script("long", "seq 1 3000"), parsed, document, clean)
	h.write("a.c", "x\n\t/* ä𝄞 */ y\n")

	for name, want := range map[string]string{
		"ok":     "(no output)\n[Check ok passed in 0.",
		"bad":    "xy\\x01\n[Command exited with code 3]",
		"killed": "(no output)\n[Command killed by signal: killed]",
		"clean":  "(no problems)\n[Check clean passed in 0.",
		"lint":   "a.c:2:10: error: bad (x)\na.c:1:1: warning: odd\n\n[The end of the output:]\na.c:2:17: error: bad [x]\n",
		"doc":    "a.c:2:7: warning: m (r)\n[Check doc passed in",
	} {
		if text := h.ok("coding_check", args{"name": name}, nil); !strings.HasPrefix(text, want) {
			t.Errorf("%s: %q, want %q", name, text, want)
		}
	}
	var m builtin.CheckMetadata
	h.ok("coding_check", args{"name": "lint"}, &m)
	if m.Name != "lint" || m.ExitCode == nil || *m.ExitCode != 2 || m.Passed || m.Diagnostics == nil || len(*m.Diagnostics) != 2 || m.ParseError != "problems without a place in the workspace: 1" {
		t.Errorf("metadata is %+v", m)
	}
	h.ok("coding_check", args{"name": "doc"}, &m)
	if got, want := (*m.Diagnostics)[0], (builtin.CheckProblem{Path: "a.c", Line: 2, Column: 7, EndLine: 2, EndColumn: 8, Severity: "warning", Source: "eslint", Code: "r", Message: "m"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	result := h.call("coding_check", args{"name": "killed"})
	if !strings.Contains(string(result.Metadata), `"exitCode":null`) || strings.Contains(string(result.Metadata), "diagnostics") {
		t.Errorf("metadata is %s", result.Metadata)
	}
	text := h.ok("coding_check", args{"name": "long"}, &m)
	whole, err := os.ReadFile(m.FullOutputPath)
	if err != nil || len(whole) != 13893 || !m.Truncation.Truncated || m.Truncation.TruncatedBy != "lines" || !strings.HasPrefix(text, "1001\n") || m.TotalOutputBytes != 13893 {
		t.Errorf("%v, %d bytes, %+v, %.20q", err, len(whole), m, text)
	}
}

func TestCodingCheckRefuses(t *testing.T) {
	slow := script("slow", "echo begun; sleep 60")
	slow.Timeout = 200 * time.Millisecond
	h := newChecks(t, nil, script("test", "touch ran"), slow)
	result := h.fails("coding_check", args{"name": "tset"}, tools.CodeCheckUnknown)
	if !strings.Contains(result.Err.Message, `"test"?`) {
		t.Errorf("got %v", result.Err)
	}
	h.fails("coding_check", args{"name": ""}, tools.CodeToolInput)
	h.fails("coding_check", args{"name": "test", "args": []string{"x"}}, tools.CodeToolInput)
	h.fails("coding_check", args{"name": "test; touch ran"}, tools.CodeCheckUnknown)
	if _, err := os.Stat(h.path("ran")); err == nil {
		t.Error("a refused call ran the check")
	}
	result = h.fails("coding_check", args{"name": "slow"}, tools.CodeTimeout)
	if textOf(result) != "begun" || !strings.Contains(string(result.Metadata), `"passed":false`) {
		t.Errorf("%q, %s", textOf(result), result.Metadata)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if result := h.callAs(ctx, "coding_check", args{"name": "test"}, callOptions()); result.Err == nil || result.Err.Code != tools.CodeAborted {
		t.Errorf("cancelled: %v", result.Err)
	}
	if _, err := builtin.CodingCheck(nil); err == nil {
		t.Error("made without checks")
	}
}

// TestCodingCheckPolicy: the user has fixed what runs, so guarded does not ask;
// rules see the program; read-only runs nothing.
func TestCodingCheckPolicy(t *testing.T) {
	for _, c := range []struct {
		opts policy.Options
		code tools.Code
	}{
		{policy.Options{Profile: policy.Guarded}, ""},
		{policy.Options{Profile: policy.Unattended}, ""},
		{policy.Options{Profile: policy.ReadOnly}, tools.CodeExecutionDenied},
		{policy.Options{Profile: policy.Trusted, Rules: []policy.Rule{{Verdict: tools.Forbid, Operation: "coding_check"}}}, tools.CodeExecutionDenied},
	} {
		rules, err := policy.New(&c.opts)
		must(t, err)
		h := newChecks(t, rules, script("test", "touch ran"))
		result := h.call("coding_check", args{"name": "test"})
		_, err = os.Stat(h.path("ran"))
		if ran := err == nil; ran != (c.code == "") || (result.Err == nil) != ran || result.Err != nil && result.Err.Code != c.code {
			t.Errorf("%+v: %v, ran %v", c.opts, result.Err, ran)
		}
	}
}

// TestCodingCheckDescription: a model learns the names without a call.
func TestCodingCheckDescription(t *testing.T) {
	h := newChecks(t, nil, script("test", "true"), script("lint", "true"))
	if spec := h.registry.Tool("coding_check").Spec(); !strings.HasSuffix(spec.Description, "Declared: lint, test.") || spec.Toolset != "git" {
		t.Errorf("got %+v", spec)
	}
	h = newChecks(t, nil)
	if spec := h.registry.Tool("coding_check").Spec(); !strings.HasSuffix(spec.Description, "None is declared.") {
		t.Errorf("got %+v", spec)
	}
	h.fails("coding_check", args{"name": "test"}, tools.CodeCheckUnknown)
	var schema struct{ Properties map[string]json.RawMessage }
	must(t, json.Unmarshal(h.registry.Tool("coding_check").InputSchema(), &schema))
	if len(schema.Properties) != 1 {
		t.Errorf("a caller can say more than a name: %s", h.registry.Tool("coding_check").InputSchema())
	}
}
