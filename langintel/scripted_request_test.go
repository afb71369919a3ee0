package langintel_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
)

// A server may ask before it has answered initialize, and as many items as it
// likes.
func TestScriptedAsksBeforeInitialized(t *testing.T) {
	t.Parallel()
	ask := func(text string) lsptest.Action { return lsptest.Action{Request: text, Await: true} }
	b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{
		on("initialize",
			ask(`{"method":"workspace/configuration","params":{"items":[{"section":"scripted.b.c"},{"section":"other"},{"section":"scripted"},{"section":"scripted.a"}]}}`),
			ask(`{"method":"workspace/workspaceFolders"}`),
			ask(`{"method":"client/registerCapability","params":{"registrations":[{"id":"w","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[{"globPattern":"**/*.{x,y}"},{"globPattern":{"baseUri":"${root}/sub","pattern":"*.z"},"kind":4}]}}]}}`),
			ask(`{"method":"window/workDoneProgress/create","params":{"token":7}}`),
			ask(`{"method":"window/showMessageRequest","params":{"type":1,"message":"?","actions":[{"title":"yes"}]}}`),
			ask(`{"method":"window/showDocument","params":{"uri":"file:///x"}}`),
			ask(`{"method":"workspace/applyEdit","params":{"edit":{"changes":{}}}}`),
			ask(`{"method":"workspace/codeLens/refresh"}`),
			ask(`{"method":"no/such"}`),
			lsptest.Action{Reply: `{"capabilities":` + scriptedCapabilities + `}`}),
		on("textDocument/hover", lsptest.Action{Reply: aHover}),
	}}, nil)
	if got, err := hover(b); err != nil || got.Text != "fine" {
		t.Fatalf("%+v, %v", got, err)
	}
	var answers []string
	for _, m := range record.Messages(t) {
		if m.Method == "" {
			answers = append(answers, string(m.Result)+string(m.Error))
		}
	}
	want := []string{`[[true],null,{"a":1,"b":{"c":[true]}},1]`, `[{"uri":"file:`, `null`, `null`, `null`, `{"success":false}`, `"applied":false`, `null`, `-32601`}
	if len(answers) != len(want) {
		t.Fatalf("%q", answers)
	}
	for i, part := range want {
		if !strings.Contains(answers[i], part) {
			t.Errorf("answer %d is %s, want %s", i, answers[i], part)
		}
	}
	// What was registered is watched: braces, and a relative pattern for deletions.
	b.write("sub/b.y", "new")
	b.write("sub/c.z", "new")
	ctx := within(t, 20*time.Second)
	if err := b.Changed(ctx, "sub/b.y", "sub/c.z", "a.x"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(b.dir, "sub", "c.z")); err != nil {
		t.Fatal(err)
	}
	if err := b.Changed(ctx, "sub/c.z"); err != nil {
		t.Fatal(err)
	}
	events := record.Wait(t, "workspace/didChangeWatchedFiles", 2)
	if first := string(events[0].Params); !strings.Contains(first, "b.y") || strings.Contains(first, "c.z") || !strings.Contains(first, "a.x") {
		t.Errorf("first: %s", first)
	}
	if second := string(events[1].Params); !strings.Contains(second, "c.z") || !strings.Contains(second, `"type":3`) {
		t.Errorf("second: %s", second)
	}
}

// What a server registers holds until it takes it back, in every form a pattern
// has.
func TestScriptedRegistrations(t *testing.T) {
	t.Parallel()
	register := func(id, method, options string) lsptest.Action {
		return lsptest.Action{Await: true, Request: `{"method":"client/registerCapability","params":{"registrations":[{"id":"` + id + `","method":"` + method + `","registerOptions":` + options + `}]}}`}
	}
	unregister := func(id, method string) lsptest.Action {
		return lsptest.Action{Await: true, Request: `{"method":"client/unregisterCapability","params":{"unregisterations":[{"id":"` + id + `","method":"` + method + `"}]}}`}
	}
	watch := func(id, watchers string) lsptest.Action {
		return register(id, "workspace/didChangeWatchedFiles", `{"watchers":[`+watchers+`]}`)
	}
	b, record := scripted(t, &lsptest.Script{Capabilities: `{"textDocumentSync":1}`, On: []lsptest.Rule{
		on("initialized",
			register("h", "textDocument/hover", "{}"),
			watch("braces", `{"globPattern":"{one,two}/**/*.{p,q}"}`),
			watch("relative", `{"globPattern":{"baseUri":"${root}/sub","pattern":"*.{r,s}"}}`),
			watch("folder", `{"globPattern":{"baseUri":{"uri":"${root}/dir/","name":"n"},"pattern":"**/deep.{t,u}"},"kind":3}`),
			watch("absolute", `{"globPattern":"**/abs/[ab].v"}`),
			watch("broken", `{"globPattern":"[{"},{"globPattern":7},{"globPattern":"*.w"}`)),
		{Method: "textDocument/hover", Nth: 2, Do: []lsptest.Action{
			unregister("braces", "workspace/didChangeWatchedFiles"), unregister("never", "x/y"), {Reply: aHover}, unregister("h", "textDocument/hover"),
		}},
		on("textDocument/hover", lsptest.Action{Reply: aHover}),
	}}, nil)
	ctx := within(t, 20*time.Second)
	fine(t, b) // it offered nothing when it started
	answered := func(n int) {
		t.Helper()
		record.Wait(t, "", n)
	}
	answered(6)
	marks := 0
	told := func(name string) bool {
		t.Helper()
		marks++
		mark := fmt.Sprintf("mark%d.w", marks)
		for _, one := range []string{name, mark} {
			b.write(one, "new "+one)
			if err := b.Changed(ctx, one); err != nil {
				t.Fatal(err)
			}
		}
		for n := 1; ; n++ { // what was sent before the mark has arrived with it
			var all strings.Builder
			for _, m := range record.Wait(t, "workspace/didChangeWatchedFiles", n) {
				all.Write(m.Params)
			}
			if strings.Contains(all.String(), "/"+mark) {
				return strings.Contains(all.String(), "/root/"+name)
			}
		}
	}
	for name, want := range map[string]bool{
		"one/a.p": true, "two/x/y/a.q": true, "three/a.p": false, "one/a.r": false,
		"sub/a.r": true, "sub/a.s": true, "sub/x/a.r": false, "dir/deep.t": true, "dir/x/y/deep.u": true, "deep.t": false,
		"abs/a.v": true, "x/abs/b.v": true, "abs/c.v": false,
	} {
		if got := told(name); got != want {
			t.Errorf("%s: told %v, want %v", name, got, want)
		}
	}
	fine(t, b)
	answered(9)
	if told("one/b.p") {
		t.Error("told of what is not watched any more")
	}
	if got, err := hover(b); err != nil || got.Status != langintel.Unsupported {
		t.Errorf("hover after it was unregistered: %+v, %v", got, err)
	}
}

// The id of a server's request comes back as it was, whatever it is.
func TestScriptedRequestIDs(t *testing.T) {
	t.Parallel()
	ids := []string{`0`, `-7`, `"x"`, `"日本"`, `9007199254740993`, `1.5`, `""`, `"7"`, `7`}
	var asks []lsptest.Action
	for _, id := range ids {
		asks = append(asks, raw(`{"jsonrpc":"2.0","id":`+id+`,"method":"workspace/workspaceFolders"}`))
	}
	b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{on("textDocument/hover", append(asks, lsptest.Action{Reply: aHover})...)}}, nil)
	fine(t, b)
	answers := record.Wait(t, "", len(ids))
	for i, id := range ids {
		if string(answers[i].ID) != id || len(answers[i].Result) == 0 {
			t.Errorf("the answer to %s is to %s: %s %s", id, answers[i].ID, answers[i].Result, answers[i].Error)
		}
	}
}
