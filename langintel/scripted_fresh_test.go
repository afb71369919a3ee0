package langintel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
)

// A publish counts only when it is of the text that was asked about.
func TestScriptedPublishedVersions(t *testing.T) {
	publish := func(version int, message string) lsptest.Action {
		return lsptest.Action{Notify: fmt.Sprintf(`{"method":"textDocument/publishDiagnostics","params":{"uri":"${root}/a.x","version":%d,"diagnostics":[{"range":{"start":{"line":1,"character":6},"end":{"line":1,"character":11}},"severity":1,"code":7,"message":%q}]}}`, version, message)}
	}
	b, _ := scripted(t, &lsptest.Script{On: []lsptest.Rule{
		on("textDocument/didOpen", publish(1, "first")),
		{Method: "textDocument/didChange", Nth: 1, Do: []lsptest.Action{publish(1, "late"), {Sleep: 100}, publish(2, "second"), publish(1, "overtaken")}},
		{Method: "textDocument/didChange", Nth: 2},
	}}, &langintel.Options{Timeout: 2 * time.Second})
	check := func(status langintel.Status, message string) {
		t.Helper()
		got, err := b.Diagnostics(within(t, 20*time.Second), langintel.DiagnosticsQuery{Path: "a.x"})
		if err != nil || got.Status != status || len(got.Problems) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		if p := got.Problems[0]; p.Message != message || p.Line != 2 || p.Column != 6 || p.EndColumn != 11 || p.Code != "7" {
			t.Errorf("%+v, want %q", p, message)
		}
	}
	check(langintel.Complete, "first")
	b.write("a.x", "zero\n"+"é日本😀 three\n")
	check(langintel.Complete, "second")
	b.write("a.x", "silence\n"+"é日本😀 three\n")
	check(langintel.Stale, "second")
}
