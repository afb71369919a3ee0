package langintel_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
	"github.com/prism-ls/prism-ls/tools"
)

// Servers do the base protocol in many ways.
func TestScriptedFraming(t *testing.T) {
	t.Parallel()
	body := `{"jsonrpc":"2.0","method":"window/logMessage","params":{"type":3,"message":"日本 😀"}}`
	for name, c := range map[string]struct {
		do   []lsptest.Action
		want tools.Code
	}{
		"split anywhere":    {do: []lsptest.Action{{Reply: aHover, Split: 1}}},
		"split in threes":   {do: []lsptest.Action{{Notify: `{"method":"x","params":{"s":"日本"}}`, Split: 3}, {Reply: aHover, Split: 7}}},
		"extra headers":     {do: []lsptest.Action{{Raw: fmt.Sprintf("Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:%d\r\nX: y\r\n\r\n%s", len(body), body)}, {Reply: aHover}}},
		"unknown messages":  {do: []lsptest.Action{{Notify: `{"method":"$/strange"}`}, {Request: `{"method":"strange/request"}`, Await: true}, {Reply: aHover}}},
		"noise":             {do: []lsptest.Action{{Raw: "starting up...\nplease wait\n"}, {Reply: aHover}}, want: tools.CodeLSPFraming},
		"not JSON":          {do: []lsptest.Action{{Raw: "Content-Length: 4\r\n\r\n{{{{"}, {Reply: aHover}}, want: tools.CodeLSPFraming},
		"no length":         {do: []lsptest.Action{{Raw: "Content-Type: x\r\n\r\n{}"}, {Reply: aHover}}, want: tools.CodeLSPFraming},
		"huge length":       {do: []lsptest.Action{{Raw: "Content-Length: 99999999999\r\n\r\n{}"}, {Reply: aHover}}, want: tools.CodeLSPFraming},
		"negative length":   {do: []lsptest.Action{{Raw: "Content-Length: -1\r\n\r\n{}"}, {Reply: aHover}}, want: tools.CodeLSPFraming},
		"endless line":      {do: []lsptest.Action{{Raw: strings.Repeat("x", 100_000)}, {Reply: aHover}}, want: tools.CodeLSPFraming},
		"end in a message":  {do: []lsptest.Action{{Raw: "Content-Length: 400\r\n\r\n{"}, {Exit: 1}}, want: tools.CodeLSPServer},
		"answer of another": {do: []lsptest.Action{{Raw: "Content-Length: 38\r\n\r\n" + `{"jsonrpc":"2.0","id":99,"result":{} }`}, {Reply: aHover}}},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := scripted(t, &lsptest.Script{On: []lsptest.Rule{on("textDocument/hover", c.do...)}}, nil)
			got, err := hover(b)
			if c.want == "" && (err != nil || got.Text != "fine") || c.want != "" && !errors.Is(err, c.want) {
				t.Fatalf("%+v, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestScriptedMessageCap(t *testing.T) {
	t.Parallel()
	// Half of it is markup, and what a terminal would take for orders.
	big := `{"contents":"` + strings.Repeat("x", 1000) + strings.Repeat(`<b onclick=x>\u001b[31m\u202e\u0007`, 1<<15) + `"}`
	script := &lsptest.Script{On: []lsptest.Rule{on("textDocument/hover", lsptest.Action{Reply: big})}}
	b, _ := scripted(t, script, nil)
	got, err := hover(b)
	if err != nil || len(got.Text) > 17<<10 || !strings.HasPrefix(got.Text, "xxx") {
		t.Fatalf("%d bytes, %v", len(got.Text), err)
	}
	if i := strings.IndexAny(got.Text, "\x1b\x07\u202e"); i >= 0 || !strings.Contains(got.Text, `<b onclick=x>\x1b[31m\u202e\a`) {
		t.Errorf("%q", got.Text[990:1100])
	}
	b, _ = scripted(t, script, &langintel.Options{MaxMessageBytes: 1 << 20})
	if _, err = hover(b); !errors.Is(err, tools.CodeLSPFraming) {
		t.Fatal(err)
	}
}

func TestScriptedTextIsData(t *testing.T) {
	t.Parallel()
	b, _ := scripted(t, &lsptest.Script{On: []lsptest.Rule{on("textDocument/hover", lsptest.Action{Reply: `{"contents":["a\u001b[31m\u202eb",{"language":"x","value":"c\u0000"}]}`})}}, nil)
	got, err := hover(b)
	if want := "a\\x1b[31m\\u202eb\n\n```x\nc\\x00\n```"; err != nil || got.Text != want {
		t.Fatalf("%q, %v; want %q", got.Text, err, want)
	}
}

// A message may arrive in two pieces at any byte, whatever its header looks like.
func TestScriptedBorders(t *testing.T) {
	t.Parallel()
	const body = `{"contents":"日本 😀 fine"}`
	for name, head := range map[string]string{
		"plain":          "Content-Length: %d\r\n\r\n",
		"no space":       "Content-Length:%d\r\n\r\n",
		"lower case":     "content-length: %d \r\n\r\n",
		"type first":     "Content-Type: application/vscode-jsonrpc; charset=utf8\r\nContent-Length: %d\r\n\r\n",
		"type last":      "CONTENT-LENGTH:\t%d\r\nContent-Type: a\r\n\r\n",
		"bare line feed": "Content-Length: %d\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := len(fmt.Sprintf(head, 100)) + len(`{"jsonrpc":"2.0","id":100,"result":}`) + len(body)
			script := &lsptest.Script{}
			for cut := 1; cut < whole; cut++ {
				script.On = append(script.On, lsptest.Rule{Method: "textDocument/hover", Nth: cut, Do: []lsptest.Action{{Reply: body, Cut: cut, Head: head}}})
			}
			b, _ := scripted(t, script, nil)
			for cut := 1; cut < whole; cut++ {
				if got, err := hover(b); err != nil || got.Text != "日本 😀 fine" {
					t.Fatalf("cut at %d: %+v, %v", cut, got, err)
				}
			}
		})
	}
}
