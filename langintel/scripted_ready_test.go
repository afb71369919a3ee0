package langintel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
)

// loading is a server that knows nothing until some milliseconds after its start,
// and answers as if that were all there is.
func loading(ms int, signals ...lsptest.Action) []lsptest.Rule {
	const rng = `{"start":{"line":0,"character":0},"end":{"line":0,"character":3}}`
	return []lsptest.Rule{
		on("initialized", signals...),
		{Method: "textDocument/references", Until: ms, Do: []lsptest.Action{{Reply: "[]"}}},
		{Method: "workspace/symbol", Until: ms, Do: []lsptest.Action{{Reply: "[]"}}},
		on("textDocument/references", lsptest.Action{Reply: `[{"uri":"${root}/a.x","range":` + rng + `}]`}),
		on("workspace/symbol", lsptest.Action{Reply: `[{"name":"one","kind":12,"location":{"uri":"${root}/a.x","range":` + rng + `}}]`}),
	}
}

func progresses(token, value string) lsptest.Action {
	return lsptest.Action{Notify: `{"method":"$/progress","params":{"token":` + token + `,"value":` + value + `}}`}
}

// Asked from the first moment, a server that is loading is never taken at its word
// that there is nothing: either the answer waits, or it says that it may not be all.
func TestScriptedReadiness(t *testing.T) {
	t.Parallel()
	begin, end := func(token string) lsptest.Action { return progresses(token, `{"kind":"begin","title":"indexing"}`) },
		func(token string) lsptest.Action { return progresses(token, `{"kind":"end"}`) }
	status := func(quiescent string) lsptest.Action {
		return lsptest.Action{Notify: `{"method":"experimental/serverStatus","params":{"health":"ok","quiescent":` + quiescent + `}}`}
	}
	const loads = 500
	for name, c := range map[string]struct {
		ready   langintel.Readiness
		signals []lsptest.Action
		loads   int
		status  langintel.Status
		some    bool   // the answer holds what there is
		reason  string // of a partial one
	}{
		"progress":                     {langintel.AfterProgress(5 * time.Second), []lsptest.Action{begin(`"i"`), later(loads+50, end(`"i"`))}, loads, langintel.Complete, true, ""},
		"progress, late":               {langintel.AfterProgress(5 * time.Second), []lsptest.Action{later(200, begin("1")), later(loads+50, end("1"))}, loads, langintel.Complete, true, ""},
		"progress of another kind":     {langintel.AfterProgress(5*time.Second, "index"), []lsptest.Action{begin(`"other"`), end(`"other"`), later(100, begin(`"index/1"`)), later(loads+50, end(`"index/1"`))}, loads, langintel.Complete, true, ""},
		"progress in two steps":        {langintel.AfterProgress(5 * time.Second), []lsptest.Action{begin("1"), later(100, begin("2")), later(150, end("1")), later(loads+50, end("2"))}, loads, langintel.Complete, true, ""},
		"progress among many":          {langintel.AfterProgress(5*time.Second, "index"), append([]lsptest.Action{{Notify: begin(`"t${n}"`).Notify, Repeat: 1200}, {Notify: end(`"t${n}"`).Notify, Repeat: 1200}, begin(`"index"`)}, later(loads+50, end(`"index"`))), loads, langintel.Complete, true, ""},
		"progress never begins":        {langintel.AfterProgress(300 * time.Millisecond), nil, 100, langintel.Complete, true, ""},
		"progress never ends":          {langintel.AfterProgress(time.Second), []lsptest.Action{begin("1")}, 60_000, langintel.Partial, false, "indexing"},
		"status":                       {langintel.Quiescent(), []lsptest.Action{status("false"), later(loads+50, status("true"))}, loads, langintel.Complete, true, ""},
		"status never":                 {langintel.Quiescent(), []lsptest.Action{status("false")}, 60_000, langintel.Partial, false, "still loading"},
		"status not said":              {langintel.Quiescent(), nil, 60_000, langintel.Partial, false, "still loading"},
		"notification":                 {langintel.AfterNotification("x/loaded"), []lsptest.Action{later(loads+50, lsptest.Action{Notify: `{"method":"x/loaded"}`})}, loads, langintel.Complete, true, ""},
		"notification never":           {langintel.AfterNotification("x/loaded"), []lsptest.Action{{Notify: `{"method":"x/other"}`}}, 60_000, langintel.Partial, false, "still loading"},
		"unknown, with progress":       {nil, []lsptest.Action{begin("1"), later(loads+50, end("1"))}, loads, langintel.Complete, true, ""},
		"unknown, progress while asks": {nil, []lsptest.Action{later(10, begin("1")), later(loads+50, end("1"))}, loads, "", false, ""},
		"unknown, silent":              {nil, nil, 60_000, langintel.Partial, false, "does not say"},
		"unknown, never ends":          {nil, []lsptest.Action{begin("1")}, 60_000, langintel.Partial, false, "indexing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judge := func(what string, answer langintel.Answer, found int) {
				t.Helper()
				if found == 0 && answer.Status == langintel.Complete {
					t.Errorf("%s: a final answer of nothing: %+v", what, answer)
				}
				if c.status == "" { // either is honest
					return
				}
				if answer.Status != c.status || c.some != (found == 1) || !strings.Contains(answer.Reason, c.reason) {
					t.Errorf("%s: %d, %+v, want %s", what, found, answer, c.status)
				}
			}
			for _, what := range []string{"references", "symbols"} {
				spec, _ := scriptedSpec(t, &lsptest.Script{
					Capabilities: `{"referencesProvider":true,"workspaceSymbolProvider":true,"textDocumentSync":1}`, On: loading(c.loads, c.signals...),
				})
				spec.Ready = c.ready
				b := open(t, scriptedRoot(t), &langintel.Options{Servers: []langintel.Spec{spec}, StartTimeout: 2 * time.Second, Timeout: 10 * time.Second})
				if what == "references" {
					got, err := b.References(within(t, 30*time.Second), langintel.ReferencesQuery{Place: firstWord})
					if err != nil {
						t.Fatal(err)
					}
					judge(what, got.Answer, len(got.Locations))
					continue
				}
				got, err := b.Symbols(within(t, 30*time.Second), langintel.SymbolsQuery{Query: "one"})
				if err != nil {
					t.Fatal(err)
				}
				judge(what, got.Answer, len(got.Symbols))
			}
		})
	}
}

// A server that blocks until it has loaded is waited for, and its nothing is
// nothing.
func TestScriptedBlocks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply string
		found int
	}{"something": {`[{"uri":"${root}/a.x","range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}}}]`, 1}, "nothing": {"[]", 0}} {
		spec, record := scriptedSpec(t, &lsptest.Script{On: []lsptest.Rule{on("textDocument/references", later(400, lsptest.Action{Reply: c.reply}))}})
		spec.Ready = langintel.Blocks()
		b := open(t, scriptedRoot(t), &langintel.Options{Servers: []langintel.Spec{spec}})
		got, err := b.References(within(t, 20*time.Second), langintel.ReferencesQuery{Place: firstWord})
		if err != nil || got.Status != langintel.Complete || len(got.Locations) != c.found {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if asked := len(record.Of(t, "textDocument/references")); asked != 2-c.found {
			t.Errorf("%s: asked %d times; nothing is asked for once more", name, asked)
		}
	}
}

// A name that a loading server does not know yet is not called unknown, and the
// answer says what the server is doing.
func TestScriptedNameWhileLoading(t *testing.T) {
	t.Parallel()
	spec, _ := scriptedSpec(t, &lsptest.Script{
		Capabilities: `{"referencesProvider":true,"workspaceSymbolProvider":true,"textDocumentSync":1}`,
		On:           loading(60_000, progresses("1", `{"kind":"begin","title":"indexing"}`)),
	})
	spec.Ready = langintel.AfterProgress(time.Second)
	b := open(t, scriptedRoot(t), &langintel.Options{Servers: []langintel.Spec{spec}, StartTimeout: time.Second})
	got, err := b.References(within(t, 20*time.Second), langintel.ReferencesQuery{Place: langintel.Place{Symbol: "one"}})
	if err != nil || got.Status != langintel.Partial || !strings.Contains(got.Reason, "so far") || !strings.Contains(got.Reason, "indexing") {
		t.Errorf("%+v, %v", got, err)
	}
}
