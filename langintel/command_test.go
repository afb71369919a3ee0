package langintel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
	"github.com/prism-ls/prism-ls/tools"
)

const commandCapabilities = `{"hoverProvider":true,"textDocumentSync":1,"codeActionProvider":{"resolveProvider":true},"executeCommandProvider":{"commands":["do.it"]}}`

// commandCase is an action of a server that ends in a command, what the server does
// when it is told to run it, and what comes of that.
type commandCase struct {
	action  string
	resolve string
	do      []lsptest.Action
	code    tools.Code
	message string
	want    string // of a.x
	status  langintel.Status
	applied []bool // as the server was told
	undo    int
	kinds   []string
}

// A command asks for edits while it runs: all of them are made, or none.
func TestScriptedCommands(t *testing.T) {
	t.Parallel()
	ask := func(edit string) lsptest.Action {
		return lsptest.Action{Request: `{"method":"workspace/applyEdit","params":{"label":"it","edit":` + edit + `}}`, Await: true}
	}
	changes := func(name string, edits ...string) string {
		return fmt.Sprintf(`{"changes":{"${root}/%s":[%s]}}`, name, strings.Join(edits, ","))
	}
	versioned := func(name string, version int, edits ...string) string {
		return fmt.Sprintf(`{"documentChanges":[{"textDocument":{"uri":"${root}/%s","version":%d},"edits":[%s]}]}`, name, version, strings.Join(edits, ","))
	}
	done, command := lsptest.Action{Reply: "null"}, `"command":{"title":"it","command":"do.it","arguments":[1,{"a":"é"}]}`
	one := lspEdit(0, 0, 3, "ONE")
	for name, c := range map[string]commandCase{
		"one edit":                {action: command, do: []lsptest.Action{ask(changes("a.x", one)), done}, want: "ONE two", applied: []bool{true}, undo: 1},
		"two edits":               {action: command, do: []lsptest.Action{ask(versioned("a.x", 1, one)), ask(versioned("a.x", 2, lspEdit(0, 4, 7, "TWO"))), done}, want: "ONE TWO", applied: []bool{true, true}, undo: 2},
		"asked for after the end": {action: command, do: []lsptest.Action{done, ask(changes("a.x", one))}, want: "ONE two", applied: []bool{true}, undo: 1},
		"no edit":                 {action: command, do: []lsptest.Action{done}, want: "one two", status: langintel.Partial},
		"a bare command":          {action: `"command":"do.it","arguments":[]`, do: []lsptest.Action{ask(changes("a.x", one)), done}, want: "ONE two", applied: []bool{true}, undo: 1},
		"resolved":                {action: `"data":7`, resolve: command, do: []lsptest.Action{ask(changes("a.x", one)), done}, want: "ONE two", applied: []bool{true}, undo: 1},
		"edit and command":        {action: `"edit":` + changes("a.x", one) + `,` + command, do: []lsptest.Action{ask(versioned("a.x", 2, lspEdit(0, 4, 7, "TWO"))), done}, want: "ONE TWO", applied: []bool{true}, undo: 2},
		"edit, then a failure":    {action: `"edit":` + changes("a.x", one) + `,` + command, do: []lsptest.Action{{Error: `{"code":1,"message":"no"}`}}, code: tools.CodeLSPServer, want: "one two"},
		"fails after an edit":     {action: command, do: []lsptest.Action{ask(changes("a.x", one)), {Error: `{"code":1,"message":"no"}`}}, code: tools.CodeLSPServer, want: "one two", applied: []bool{true}},
		"the second is outside":   {action: command, do: []lsptest.Action{ask(changes("a.x", one)), ask(changes("../out.x", one)), done}, code: tools.CodeLSPWorkspace, want: "one two", applied: []bool{true, false}},
		"an old version":          {action: command, do: []lsptest.Action{ask(versioned("a.x", 1, one)), ask(versioned("a.x", 1, lspEdit(0, 4, 7, "TWO"))), done}, code: tools.CodeLSPStale, want: "one two", applied: []bool{true, false}},
		"nothing after a failure": {action: command, do: []lsptest.Action{ask(changes("../out.x", one)), ask(changes("a.x", one)), done}, code: tools.CodeLSPWorkspace, want: "one two", applied: []bool{false, false}},
		"dies after an edit":      {action: command, do: []lsptest.Action{ask(changes("a.x", one)), {Exit: 3}}, code: tools.CodeLSPServer, want: "one two", applied: []bool{true}},
		"hangs after an edit":     {action: command, do: []lsptest.Action{ask(changes("a.x", one))}, code: tools.CodeLSPTimeout, want: "one two", applied: []bool{true}},
		"an editor's command":     {action: `"command":{"title":"it","command":"editor.action.rename"}`, resolve: `"command":{"title":"it","command":"editor.action.rename"}`, code: tools.CodeLSPUnsupported, message: `"editor.action.rename"`, want: "one two"},
		"edit, editor's command":  {action: `"edit":` + changes("a.x", one) + `,"command":{"title":"it","command":"editor.action.rename"}`, want: "ONE two", status: langintel.Partial, undo: 1},
		"disabled":                {action: `"disabled":{"reason":"not here"},"edit":` + changes("a.x", one), kinds: []string{"quickfix"}, code: tools.CodeLSPUnsupported, message: "not here", want: "one two"},
		"nothing at all":          {action: `"data":1`, resolve: `"data":1`, code: tools.CodeNoChange, want: "one two"},
		"wants confirmation":      {action: command, do: []lsptest.Action{ask(`{"changes":{"${root}/a.x":[` + annotated(one) + `]},"changeAnnotations":{"a":{"label":"sure?","needsConfirmation":true}}}`), done}, code: tools.CodeLSPWorkspace, message: "sure?", want: "one two", applied: []bool{false}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.resolve == "" {
				c.resolve = command
			}
			c.run(t)
		})
	}
}

func (c *commandCase) run(t *testing.T) {
	b, record := scripted(t, &lsptest.Script{Capabilities: commandCapabilities, On: append(quiet(),
		on("textDocument/codeAction", lsptest.Action{Reply: `[{"title":"it","kind":"quickfix",` + c.action + `}]`}),
		on("codeAction/resolve", lsptest.Action{Reply: `{"title":"it",` + c.resolve + `}`}),
		on("workspace/executeCommand", c.do...))}, &langintel.Options{Timeout: 1500 * time.Millisecond})
	ctx := within(t, 30*time.Second)
	before := b.read("a.x")
	list, err := b.CodeActions(ctx, langintel.CodeActionsQuery{Place: langintel.Place{Path: "a.x", Line: 1}, Kinds: c.kinds})
	if err != nil || len(list.Actions) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	asked := 0
	result, err := b.ApplyCodeAction(ctx, langintel.ApplyActionQuery{ID: list.Actions[0].ID, ChangeOptions: langintel.ChangeOptions{
		Authorise: func(context.Context, string, []string) error { asked++; return nil },
	}})
	if c.code != "" && (!errors.Is(err, c.code) || !strings.Contains(err.Error(), c.message)) || c.code == "" && err != nil {
		t.Fatalf("%+v, %v, want %q", result, err, c.code)
	}
	if got := b.read("a.x"); !strings.HasPrefix(got, c.want) {
		t.Errorf("a.x is %q", got)
	}
	var applied []bool
	for _, m := range record.Messages(t) {
		if m.Method == "" && strings.Contains(string(m.Result), "applied") {
			applied = append(applied, strings.Contains(string(m.Result), `"applied":true`))
		}
	}
	if !slices.Equal(applied, c.applied) {
		t.Errorf("the server was told %v, want %v", applied, c.applied)
	}
	if c.code == "" {
		c.succeeded(t, b, result, asked)
		if b.read("a.x") != before {
			t.Errorf("undone, a.x is %q", b.read("a.x"))
		}
	}
}

// succeeded checks the answer, and takes the change back.
func (c *commandCase) succeeded(t *testing.T, b *bench, result *langintel.ChangeResult, asked int) {
	t.Helper()
	if c.status == "" {
		c.status = langintel.Complete
	}
	if result.Status != c.status || asked != c.undo {
		t.Errorf("asked %d times: %+v", asked, result.Answer)
	}
	ids := result.UndoIDs
	if result.UndoID != "" {
		ids = append(ids, result.UndoID)
	}
	if len(ids) != c.undo {
		t.Fatalf("%d undo ids, want %d", len(ids), c.undo)
	}
	if c.undo > 0 && (result.DeltaOf.Status == "" || !strings.Contains(result.Patch, "-one two\n+"+c.want)) {
		t.Errorf("%+v\n%s", result.DeltaOf, result.Patch)
	}
	for _, id := range ids {
		if _, err := b.work.Undo(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
}

// What else a command does than editing is nobody's to see: it is allowed like a
// program, and not run to show what it would do.
func TestScriptedCommandIsAllowed(t *testing.T) {
	t.Parallel()
	b, record := scripted(t, &lsptest.Script{Capabilities: commandCapabilities, On: append(quiet(),
		on("textDocument/codeAction", lsptest.Action{Reply: `[{"title":"it","command":{"title":"it","command":"do.it","arguments":["x"]}}]`}),
		on("codeAction/resolve", lsptest.Action{Reply: `{"title":"it","command":{"title":"it","command":"do.it","arguments":["x"]}}`}),
		on("workspace/executeCommand", lsptest.Action{Reply: "null"}))}, &langintel.Options{Timeout: 2 * time.Second})
	ctx := within(t, 30*time.Second)
	list, err := b.CodeActions(ctx, langintel.CodeActionsQuery{Place: langintel.Place{Path: "a.x", Line: 1}})
	if err != nil || len(list.Actions) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	no := errors.New("no")
	q := langintel.ApplyActionQuery{ID: list.Actions[0].ID, ChangeOptions: langintel.ChangeOptions{Run: func(_ context.Context, server, command string, arguments []byte) error {
		if server != "scripted" || command != "do.it" || string(arguments) != `["x"]` {
			t.Errorf("%s %s %s", server, command, arguments)
		}
		return no
	}}}
	if _, err := b.ApplyCodeAction(ctx, q); !errors.Is(err, no) {
		t.Error(err)
	}
	q.DryRun = true
	if _, err := b.ApplyCodeAction(ctx, q); !errors.Is(err, tools.CodeLSPUnsupported) {
		t.Error(err)
	}
	if n := len(sent(record, t, "workspace/executeCommand")); n != 0 {
		t.Errorf("it was run %d times", n)
	}
}
