package langintel_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
	"github.com/prism-ls/prism-ls/tools"
)

// several makes specs of one script each for files with the name as ending.
func several(t *testing.T, script lsptest.Script, names ...string) ([]langintel.Spec, map[string]*lsptest.Record) {
	t.Helper()
	var specs []langintel.Spec
	records := map[string]*lsptest.Record{}
	for _, name := range names {
		own := script
		spec, record := scriptedSpec(t, &own)
		spec.Name, spec.Languages = name, []langintel.Language{{ID: name, Patterns: []string{"*." + name}}}
		specs, records[name] = append(specs, spec), record
	}
	return specs, records
}

func hoverAt(b *bench, path string) (*langintel.HoverResult, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return b.Hover(ctx, langintel.Place{Path: path, Line: 1, Column: 1})
}

// As many servers run as may: the one unused for longest makes room, those at work
// do not.
func TestScriptedMaxServers(t *testing.T) {
	t.Parallel()
	specs, records := several(t, lsptest.Script{On: []lsptest.Rule{
		{Method: "textDocument/hover", Has: "slow", Do: []lsptest.Action{later(1500, lsptest.Action{Reply: aHover})}},
		on("textDocument/hover", lsptest.Action{Reply: aHover}),
	}}, "p", "q", "r", "s")
	b := open(t, scriptedRoot(t), &langintel.Options{Servers: specs, MaxServers: 2})
	up := func() string {
		var out []string
		for _, s := range specs {
			if statusOf(t, b, s.Name).State == "ready" {
				out = append(out, s.Name)
			}
		}
		return strings.Join(out, " ")
	}
	for _, name := range []string{"a.p", "a.q", "a.r", "a.s", "slow.p", "slow.q", "slow.r"} {
		b.write(name, "one two\n")
	}
	for _, step := range []struct{ ask, want string }{{"a.p", "p"}, {"a.q", "p q"}, {"a.p", "p q"}, {"a.r", "p r"}, {"a.q", "q r"}} {
		if got, err := hoverAt(b, step.ask); err != nil || got.Text != "fine" {
			t.Fatalf("%s: %+v, %v", step.ask, got, err)
		}
		if got := up(); got != step.want {
			t.Errorf("after %s: %s, want %s", step.ask, got, step.want)
		}
	}
	records["p"].Wait(t, "exit", 1)
	// Both are busy: a third is refused, and none is stopped.
	var busy sync.WaitGroup
	for _, name := range []string{"slow.q", "slow.r"} {
		busy.Go(func() {
			if got, err := hoverAt(b, name); err != nil || got.Text != "fine" {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		})
	}
	records["q"].Wait(t, "textDocument/hover", 3)
	records["r"].Wait(t, "textDocument/hover", 2)
	if _, err := hoverAt(b, "a.s"); !errors.Is(err, tools.CodeLSPLimit) {
		t.Errorf("a third: %v", err)
	}
	busy.Wait()
	// Of several that want to start at once two get in.
	for _, s := range specs {
		if err := b.Restart(t.Context(), s.Name); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	answered := 0
	for _, name := range []string{"slow.p", "slow.q", "slow.r"} {
		busy.Go(func() {
			got, err := hoverAt(b, name)
			mu.Lock()
			defer mu.Unlock()
			if err == nil && got.Text == "fine" {
				answered++
			} else if !errors.Is(err, tools.CodeLSPLimit) {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		})
	}
	busy.Wait()
	if answered < 2 {
		t.Errorf("%d of three were answered, though two have room", answered)
	}
}

// Each project gets its own server, or one server is told of all of them.
func TestScriptedRoots(t *testing.T) {
	t.Parallel()
	folders := `{"hoverProvider":true,"textDocumentSync":1,"workspace":{"workspaceFolders":{"supported":true,"changeNotifications":"id"}}}`
	for name, c := range map[string]struct {
		capabilities   string
		perRoot, multi bool
		servers        int
		told           []string
		wantStarts     int
	}{
		"per root":                {perRoot: true, servers: 3, wantStarts: 3},
		"many folders":            {capabilities: folders, multi: true, servers: 1, wantStarts: 1, told: []string{"/two", "/three"}},
		"folders only at a start": {multi: true, servers: 1, wantStarts: 3},
		"the workspace":           {servers: 1, wantStarts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			spec, record := scriptedSpec(t, &lsptest.Script{Capabilities: c.capabilities, On: []lsptest.Rule{on("textDocument/hover", lsptest.Action{Reply: aHover})}})
			spec.Roots, spec.PerRoot, spec.MultiRoot = []string{"mark.toml"}, c.perRoot, c.multi
			b := open(t, scriptedRoot(t), &langintel.Options{Servers: []langintel.Spec{spec}})
			for _, dir := range []string{"one", "two", "three"} {
				b.write(dir+"/mark.toml", "")
				b.write(dir+"/src/a.x", "one two\n")
			}
			for _, dir := range []string{"one", "two", "three", "one"} {
				if got, err := hoverAt(b, dir+"/src/a.x"); err != nil || got.Text != "fine" {
					t.Fatalf("%s: %+v, %v", dir, got, err)
				}
			}
			list, err := b.Status(t.Context())
			if err != nil || len(list) != c.servers {
				t.Errorf("%+v, %v", list, err)
			}
			started := record.Of(t, "initialize")
			if len(started) != c.wantStarts {
				t.Errorf("started %d times, want %d", len(started), c.wantStarts)
			}
			told := record.Of(t, "workspace/didChangeWorkspaceFolders")
			if len(told) != len(c.told) {
				t.Fatalf("told of folders %d times, want %d", len(told), len(c.told))
			}
			for i, want := range c.told {
				if text := string(told[i].Params); !strings.Contains(text, want+`"`) {
					t.Errorf("%s, want %s", text, want)
				}
			}
			// Whatever the way, the server that answers for a file knows its root.
			if c.perRoot || c.multi {
				last := string(started[len(started)-1].Params)
				if len(c.told) == 0 && !strings.Contains(last, `/three","name":"three"`) {
					t.Errorf("%s", last)
				}
			}
		})
	}
}

// A linter adds to what a file's server says, and its failure is a reason, never an
// error.
func TestScriptedLinters(t *testing.T) {
	t.Parallel()
	say := func(message string) []lsptest.Rule {
		return []lsptest.Rule{on("textDocument/didOpen", publishes("${uri}", `"version":${version},`+problemsOf(message)))}
	}
	for name, c := range map[string]struct {
		lint   []lsptest.Rule
		status langintel.Status
		want   []string
		reason string
	}{
		"both":                {say("unused"), langintel.Complete, []string{"type", "unused"}, ""},
		"the linter crashes":  {[]lsptest.Rule{on("initialize", lsptest.Action{Stderr: "no config\n"}, lsptest.Action{Exit: 1})}, langintel.Partial, []string{"type"}, "lint: "},
		"it dies later":       {[]lsptest.Rule{on("textDocument/didOpen", lsptest.Action{Exit: 1})}, langintel.Partial, []string{"type"}, "lint: "},
		"it breaks framing":   {[]lsptest.Rule{on("textDocument/didOpen", lsptest.Action{Raw: "lint!\n"})}, langintel.Partial, []string{"type"}, "lint: "},
		"it says nothing":     {[]lsptest.Rule{on("textDocument/didOpen")}, langintel.TimedOut, []string{"type"}, "a.x: "},
		"it refuses to start": {[]lsptest.Rule{on("initialize", lsptest.Action{Error: `{"code":-32603,"message":"no licence"}`})}, langintel.Partial, []string{"type"}, "no licence"},
	} {
		t.Run(name, func(t *testing.T) {
			main, _ := scriptedSpec(t, &lsptest.Script{On: append(say("type"), on("textDocument/hover", lsptest.Action{Reply: aHover}))})
			// It offers an outline, so that what is only asked to be answered in order is
			// not a hover.
			lint, record := scriptedSpec(t, &lsptest.Script{Capabilities: `{"textDocumentSync":1,"hoverProvider":true,"documentSymbolProvider":true}`, On: c.lint})
			lint.Name, lint.Lint = "lint", true
			b := open(t, scriptedRoot(t), &langintel.Options{Servers: []langintel.Spec{lint, main}, Timeout: time.Second})
			got, err := b.Diagnostics(within(t, 30*time.Second), langintel.DiagnosticsQuery{Path: "a.x"})
			if err != nil || got.Status != c.status || !strings.Contains(got.Reason, c.reason) {
				t.Fatalf("%+v, %v", got, err)
			}
			var messages []string
			for _, p := range got.Problems {
				messages = append(messages, p.Message)
			}
			slices.Sort(messages)
			if !slices.Equal(messages, c.want) {
				t.Errorf("%q, want %q; %+v", messages, c.want, got.Answer)
			}
			before := len(record.Of(t, "textDocument/hover"))
			fine(t, b) // symbols are the other's
			if len(record.Of(t, "textDocument/hover")) > before {
				t.Error("the linter was asked about a symbol")
			}
		})
	}
}

// Of a group the first that is there serves.
func TestScriptedGroups(t *testing.T) {
	t.Parallel()
	specs, records := several(t, lsptest.Script{On: []lsptest.Rule{on("textDocument/hover", lsptest.Action{Reply: aHover})}}, "first", "second", "third")
	for i := range specs {
		specs[i].Group, specs[i].Languages = "x", []langintel.Language{{ID: "x", Patterns: []string{"*.x"}}}
	}
	specs[0].Program = filepath.Join(t.TempDir(), "not-there")
	b := open(t, scriptedRoot(t), &langintel.Options{Servers: specs})
	fine(t, b)
	if len(records["second"].Of(t, "textDocument/hover")) != 1 || len(records["third"].Messages(t)) != 0 {
		t.Error("the second serves when the first is missing")
	}
	// With none of them there, the error says what is missing.
	specs[1].Program, specs[2].Program = specs[0].Program, specs[0].Program
	b = open(t, scriptedRoot(t), &langintel.Options{Servers: specs})
	if _, err := hover(b); err == nil || !strings.Contains(err.Error(), "not-there") {
		t.Errorf("%v", err)
	}
}

// A marker that is a link to a file elsewhere marks a root too, from the moment
// that it is there.
func TestScriptedMarkerIsALink(t *testing.T) {
	t.Parallel()
	spec, _ := scriptedSpec(t, &lsptest.Script{On: []lsptest.Rule{on("textDocument/hover", lsptest.Action{Reply: aHover})}})
	spec.Roots, spec.NeedsRoot = []string{"x.toml"}, true
	dir := scriptedRoot(t)
	b := open(t, dir, &langintel.Options{Servers: []langintel.Spec{spec}})
	if got, err := b.Hover(within(t, 20*time.Second), firstWord); err != nil || got.Status != langintel.Unsupported {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := os.Symlink(filepath.Join(t.TempDir(), "x.toml"), filepath.Join(dir, "x.toml")); err != nil {
		t.Fatal(err)
	}
	fine(t, b)
}
