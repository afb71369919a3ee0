package langintel_test

import (
	"errors"
	"testing"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
	"github.com/prism-ls/prism-ls/tools"
)

func TestScriptedRetries(t *testing.T) {
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
		"not to be retriggered":     {`{"code":-32802,"message":"no","data":{"retriggerRequest":false}}`, 99, "", tools.CodeLSPServer},
		"other":                     {`{"code":1,"message":"no \u001b"}`, 99, "", tools.CodeLSPServer},
	} {
		t.Run(name, func(t *testing.T) {
			script := &lsptest.Script{}
			for n := range min(c.times, 10) {
				script.On = append(script.On, lsptest.Rule{Method: "textDocument/hover", Nth: n + 1, Do: []lsptest.Action{{Error: c.fault}}})
			}
			script.On = append(script.On, on("textDocument/hover", lsptest.Action{Reply: aHover}))
			b, _ := scripted(t, script, nil)
			got, err := hover(b)
			if c.code != "" && !errors.Is(err, c.code) || c.code == "" && (err != nil || got.Status != c.want) {
				t.Fatalf("%+v, %v", got, err)
			}
		})
	}
}
