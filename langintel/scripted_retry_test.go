package langintel_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
	"github.com/prism-ls/prism-ls/tools"
)

func TestScriptedRetries(t *testing.T) {
	t.Parallel()
	retrigger := `{"code":-32802,"message":"later","data":{"retriggerRequest":true}}`
	for name, c := range map[string]struct {
		fault string
		times int
		want  langintel.Status
		code  tools.Code
	}{
		"content modified":          {`{"code":-32801,"message":"moved"}`, 2, langintel.Complete, ""},
		"content modified for ever": {`{"code":-32801,"message":"moved"}`, 99, langintel.Stale, ""},
		"server cancelled":          {retrigger, 2, langintel.Complete, ""},
		"server cancelled for long": {retrigger, 9, langintel.Complete, ""},
		"server cancelled for ever": {retrigger, 99, langintel.TimedOut, ""},
		"cancelled without a word":  {`{"code":-32802,"message":"later"}`, 2, langintel.Complete, ""},
		"not to be retriggered":     {`{"code":-32802,"message":"no","data":{"retriggerRequest":false}}`, 99, "", tools.CodeLSPServer},
		"other":                     {`{"code":1,"message":"no \u001b"}`, 99, "", tools.CodeLSPServer},
	} {
		t.Run(name, func(t *testing.T) {
			script := &lsptest.Script{}
			for n := range c.times {
				script.On = append(script.On, lsptest.Rule{Method: "textDocument/hover", Nth: n + 1, Do: []lsptest.Action{{Error: c.fault}}})
			}
			script.On = append(script.On, on("textDocument/hover", lsptest.Action{Reply: aHover}))
			b, _ := scripted(t, script, &langintel.Options{Timeout: 2 * time.Second})
			got, err := hover(b)
			if c.code != "" && !errors.Is(err, c.code) || c.code == "" && (err != nil || got.Status != c.want) {
				t.Fatalf("%+v, %v", got, err)
			}
		})
	}
}

// A rename that the server could not answer for the text as it was is resolved
// anew, once; nothing is written for the first answer.
func TestScriptedRenameAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault string
		times int
		code  tools.Code
		asked int
	}{
		"content modified":          {`{"code":-32801,"message":"moved"}`, 1, "", 2},
		"content modified for ever": {`{"code":-32801,"message":"moved"}`, 9, tools.CodeLSPStale, 2},
		"server cancelled":          {`{"code":-32802,"message":"later","data":{"retriggerRequest":true}}`, 1, "", 2},
		"not to be retriggered":     {`{"code":-32802,"message":"no","data":{"retriggerRequest":false}}`, 9, tools.CodeLSPServer, 1},
		"refused":                   {`{"code":-32803,"message":"no such name"}`, 9, tools.CodeLSPServer, 1},
	} {
		t.Run(name, func(t *testing.T) {
			script := &lsptest.Script{Capabilities: `{"renameProvider":{"prepareProvider":true},"textDocumentSync":1}`, On: append(quiet(),
				on("textDocument/prepareRename", lsptest.Action{Reply: `{"start":{"line":0,"character":0},"end":{"line":0,"character":3}}`}))}
			for n := range c.times {
				script.On = append(script.On, lsptest.Rule{Method: "textDocument/rename", Nth: n + 1, Do: []lsptest.Action{{Error: c.fault}}})
			}
			script.On = append(script.On, on("textDocument/rename", lsptest.Action{Reply: `{"changes":{"${root}/a.x":[` + lspEdit(0, 0, 3, "ONE") + `]}}`}))
			b, record := scripted(t, script, &langintel.Options{Timeout: 2 * time.Second})
			before := b.read("a.x")
			done, err := b.Rename(within(t, 20*time.Second), langintel.RenameQuery{Place: firstWord, NewName: "ONE"})
			if c.code != "" && (!errors.Is(err, c.code) || b.read("a.x") != before) || c.code == "" && (err != nil || !slices.Equal(done.Files, []string{"a.x"})) {
				t.Errorf("%+v, %v; %q", done, err, b.read("a.x"))
			}
			for _, method := range []string{"textDocument/rename", "textDocument/prepareRename"} {
				if n := len(record.Of(t, method)); n != c.asked {
					t.Errorf("%s was asked %d times, want %d", method, n, c.asked)
				}
			}
		})
	}
}
