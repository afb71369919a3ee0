package langintel_test

import (
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/langintel/lsptest"
)

// A server that talks without end does not keep anybody waiting, and no memory.
func TestScriptedFlood(t *testing.T) {
	b, _ := scripted(t, &lsptest.Script{On: []lsptest.Rule{on("textDocument/hover",
		lsptest.Action{Notify: `{"method":"textDocument/publishDiagnostics","params":{"uri":"${root}/a.x","diagnostics":[]}}`, Repeat: 20_000},
		lsptest.Action{Notify: `{"method":"$/progress","params":{"token":1,"value":{"kind":"report","message":"` + strings.Repeat("m", 1000) + `"}}}`, Repeat: 5_000},
		lsptest.Action{Reply: aHover})}}, nil)
	if got, err := hover(b); err != nil || got.Text != "fine" {
		t.Fatalf("%+v, %v", got, err)
	}
}
