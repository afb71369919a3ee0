package langintel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
	"github.com/prism-ls/prism-ls/tools"
)

// plant writes an executable script.
func plant(t testing.TB, text string, at ...string) string {
	t.Helper()
	file := filepath.Join(at...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// impostor is a program that leaves a mark when it runs, and is no server.
func impostor(mark string) string { return "#!/bin/sh\ntouch '" + mark + "'\n" }

// info returns what is known of the one server of a catalogue.
func (b *bench) info() langintel.ServerInfo {
	b.t.Helper()
	list, err := b.Inventory(within(b.t, 20*time.Second))
	if err != nil || len(list) != 1 {
		b.t.Fatalf("%+v, %v", list, err)
	}
	return list[0]
}

// What a project brings is used where a person trusts it, nearest first, and
// nowhere else.
func TestWhereAServerIsFound(t *testing.T) {
	root, bin := t.TempDir(), t.TempDir()
	mark := filepath.Join(t.TempDir(), "ran")
	nearest := plant(t, impostor(mark), root, "app", "node_modules", ".bin", "anyls")
	plant(t, impostor(mark), root, "node_modules", ".bin", "anyls")
	onPath := plant(t, impostor(mark), bin, "anyls")
	for _, name := range []string{"app/package.json", "app/a.x"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("{}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	spec := langintel.Spec{
		Name: "anyls", Program: "anyls", Local: []string{"node_modules/.bin/anyls"},
		Roots: []string{"package.json"}, PerRoot: true,
		Languages: []langintel.Language{{ID: "x", Patterns: []string{"*.x"}}},
	}
	path := []string{"PATH=" + bin + ":/usr/bin:/bin"}
	for name, c := range map[string]struct {
		trusted       bool
		env           []string
		change        func(*langintel.Spec)
		program, from string
		missing       string
	}{
		"trusted":      {trusted: true, env: path, program: nearest, from: "local"},
		"untrusted":    {env: path, program: onPath, from: "path"},
		"nowhere":      {env: []string{"PATH=/usr/bin"}, missing: "no anyls in PATH"},
		"another name": {env: path, change: func(s *langintel.Spec) { s.Program, s.Local, s.Aliases = "anyls-1", nil, []string{"anyls"} }, program: onPath, from: "path"},
		"a stand-in":   {env: path, change: func(s *langintel.Spec) { s.Program, s.Aliases, s.Probe = "false", []string{"true"}, []string{} }, program: "/usr/bin/false", from: "path"},
		"a stand-in found": {env: path, change: func(s *langintel.Spec) {
			s.Program, s.Aliases, s.Probe = "false", []string{"true"}, []string{"--version"}
		}, program: "/usr/bin/true", from: "path"},
		"configured":                  {env: path, change: func(s *langintel.Spec) { s.Program = onPath }, program: onPath, from: "configured"},
		"configured, gone":            {env: nil, change: func(s *langintel.Spec) { s.Program = onPath + "x" }, missing: "no " + onPath},
		"configured, inside":          {change: func(s *langintel.Spec) { s.Program = nearest }, missing: "no " + nearest},
		"configured, inside, trusted": {trusted: true, env: path, change: func(s *langintel.Spec) { s.Program = nearest }, program: nearest, from: "configured"},
		"needs trust":                 {env: path, change: func(s *langintel.Spec) { s.RunsCode = "it builds" }, program: onPath, from: "path", missing: "not trusted: it builds"},
		"needs an interpreter":        {env: []string{"PATH=" + plantNode(t)}, missing: "node is not in PATH", from: "path"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := spec
			if c.change != nil {
				c.change(&spec)
			}
			b := open(t, root, &langintel.Options{Env: slices.Concat(c.env, []string{"HOME=/nowhere"}), Trusted: c.trusted, Servers: []langintel.Spec{spec}})
			got := b.info()
			if c.program != "" && got.Program != c.program || got.From != c.from || !strings.Contains(got.Missing, c.missing) || (c.missing == "") != (got.Missing == "") {
				t.Errorf("%+v", got)
			}
			if !got.Present || !got.Serves || got.Root != "app" {
				t.Errorf("present %t, serves %t, root %q", got.Present, got.Serves, got.Root)
			}
			if _, err := b.Hover(within(t, 20*time.Second), langintel.Place{Path: "app/a.x", Line: 1, Column: 1}); !errors.Is(err, tools.CodeLSPServer) {
				t.Errorf("%v", err)
			}
			if _, err := os.Stat(mark); (err == nil) != (c.missing == "" && strings.HasSuffix(c.program, "anyls")) {
				t.Errorf("ran: %v", err == nil)
			}
			_ = os.Remove(mark)
		})
	}
}

func plantNode(t *testing.T) string {
	return filepath.Dir(plant(t, "#!/usr/bin/env node\n", t.TempDir(), "anyls"))
}

// A server that is missing is no server that crashed: as soon as it is there, it
// starts.
func TestAServerThatComesLater(t *testing.T) {
	program, args, _ := lsptest.Command(t, &lsptest.Script{
		Capabilities: scriptedCapabilities,
		On:           []lsptest.Rule{on("textDocument/hover", lsptest.Action{Reply: aHover})},
	})
	dir, bin := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.x"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := open(t, dir, &langintel.Options{
		Env: []string{"PATH=" + bin},
		Servers: []langintel.Spec{{
			Name: "later", Program: "later", Args: args, Languages: []langintel.Language{{ID: "x", Patterns: []string{"*.x"}}},
			Install: &langintel.Install{Version: "1", NPM: []string{"later@1.0.0"}},
		}},
	})
	for range 6 {
		if _, err := hover(b); !errors.Is(err, tools.CodeLSPServer) || !strings.Contains(err.Error(), "prism-ls servers install later") {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(program, filepath.Join(bin, "later")); err != nil {
		t.Fatal(err)
	}
	if got, err := hover(b); err != nil || got.Text != "fine" {
		t.Errorf("%+v, %v", got, err)
	}
}

// One language without its server does not take the others' symbols away.
func TestSymbolsOfSeveralServers(t *testing.T) {
	program, args, _ := lsptest.Command(t, &lsptest.Script{
		Capabilities: `{"workspaceSymbolProvider":true,"textDocumentSync":1}`,
		On:           []lsptest.Rule{on("workspace/symbol", lsptest.Action{Reply: `[{"name":"One","kind":5,"location":{"uri":"file://${root}/a.x","range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}}}}]`})},
	})
	dir := t.TempDir()
	for _, name := range []string{"a.x", "a.y"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("One\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	there := langintel.Spec{Name: "there", Program: program, Args: args, Ready: langintel.Blocks(), Languages: []langintel.Language{{ID: "x", Patterns: []string{"*.x"}}}}
	gone := langintel.Spec{Name: "gone", Program: "gone", Languages: []langintel.Language{{ID: "y", Patterns: []string{"*.y"}}}}
	b := open(t, dir, &langintel.Options{Env: []string{"PATH=/nowhere"}, Servers: []langintel.Spec{gone, there}})
	got, err := b.Symbols(within(t, 20*time.Second), langintel.SymbolsQuery{Query: "One"})
	if err != nil || got.Status != langintel.Partial || !strings.Contains(got.Reason, "missing here: gone") {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = b.Hover(within(t, 20*time.Second), langintel.Place{Symbol: "Missing"})
	if !errors.Is(err, tools.CodeNotFound) || !strings.Contains(err.Error(), "missing here: gone") {
		t.Errorf("%v", err)
	}
	alone := open(t, dir, &langintel.Options{Env: []string{"PATH=/nowhere"}, Servers: []langintel.Spec{gone}})
	if _, err := alone.Symbols(within(t, 20*time.Second), langintel.SymbolsQuery{Query: "One"}); !errors.Is(err, tools.CodeLSPServer) {
		t.Errorf("%v", err)
	}
}

// A trusted module's own tool line decides which gopls runs.
func TestToolLine(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module example.com/a\n\ngo 1.24\n\ntool (\n\texample.com/a/anyls // ours\n)\n",
		"anyls/x.go":  "package main\n\nfunc main() {}\n",
		"anyls.go":    "package a\n",
		"b/go.mod":    "module example.com/b\n\ngo 1.24\n",
		"b/b.go":      "package b\n",
		"c/go.mod":    "module example.com/c\n\ngo 1.24\n\ntool example.com/a/anyls\n",
		"c/broken.go": "package c\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	spec := langintel.Spec{
		Name: "anyls", Program: "anyls", Languages: []langintel.Language{{ID: "go", Patterns: []string{"*.go"}}},
		Roots: []string{"go.mod"}, PerRoot: true,
		Install: &langintel.Install{Version: "1.0.0", GoPackage: "example.com/a/anyls"},
	}
	for _, trusted := range []bool{true, false} {
		b := open(t, dir, &langintel.Options{Trusted: trusted, Servers: []langintel.Spec{spec}})
		got := b.info()
		if trusted != (got.From == "local") {
			t.Errorf("trusted %t: %+v", trusted, got)
		}
		_, err := b.Hover(within(t, time.Minute), langintel.Place{Path: "anyls.go", Line: 1, Column: 1})
		if err == nil || strings.Contains(err.Error(), "not installed") == trusted {
			t.Errorf("trusted %t: %v", trusted, err) // the tool runs, and is no server
		}
	}
}

func TestOverridden(t *testing.T) {
	catalogue := []langintel.Spec{
		{Name: "one", Program: "one", Args: []string{"--stdio"}, Group: "g", Settings: []byte(`{"a":{"b":1,"c":2},"d":3}`), Local: []string{"x"}},
		{Name: "two", Program: "two", Group: "g"},
		{Name: "three", Program: "three"},
	}
	list, err := langintel.Overridden(catalogue, map[string]langintel.Override{
		"one":   {Settings: []byte(`{"a":{"c":[5]},"e":6}`), Command: []string{"mine", "-x"}},
		"two":   {Prefer: true},
		"three": {Disabled: true},
	})
	if err != nil || len(list) != 2 || list[0].Name != "two" {
		t.Fatalf("%+v, %v", list, err)
	}
	one := list[1]
	settings, err := one.Configure(langintel.Project{})
	if err != nil || string(settings) != `{"a":{"b":1,"c":[5]},"d":3,"e":6}` {
		t.Errorf("%s, %v", settings, err)
	}
	if one.Program != "mine" || !slices.Equal(one.Args, []string{"-x"}) || one.Local != nil {
		t.Errorf("%+v", one)
	}
	if string(catalogue[0].Settings) != `{"a":{"b":1,"c":2},"d":3}` || catalogue[0].Program != "one" {
		t.Errorf("the catalogue has changed: %+v", catalogue[0])
	}
	for name, c := range map[string]map[string]langintel.Override{
		`did you mean "three"`: {"tree": {Disabled: true}},
		"must be a table":      {"one": {Settings: []byte("[]")}},
		"an absolute path":     {"one": {Command: []string{"./one"}}},
	} {
		if _, err := langintel.Overridden(catalogue, c); !errors.Is(err, tools.CodeToolInput) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An installation is whole or not there, happens once, and takes nothing from
// the workspace.
func TestInstallWithNPM(t *testing.T) {
	dir, bin, servers := t.TempDir(), t.TempDir(), t.TempDir()
	log := filepath.Join(t.TempDir(), "log")
	// In npm's place: it records where it runs and with what, and fails the first
	// time half-way.
	plant(t, fmt.Sprintf(`#!/bin/sh
echo "$PWD|$*|$npm_config_registry" >> %[1]s
mkdir -p node_modules/.bin node_modules/anyls
[ "$(wc -l < %[1]s)" = 1 ] && { echo half done >&2; exit 1; }
printf '#!/bin/sh\n' > node_modules/anyls/main
chmod +x node_modules/anyls/main
ln -s ../anyls/main node_modules/.bin/anyls
`, log), bin, "npm")
	for name, text := range map[string]string{".npmrc": "registry=http://hostile.invalid/\nignore-scripts=false\n", "package.json": `{"dependencies":{"anyls":"file:evil"}}`, "a.x": "one\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	opts := func() *langintel.Options {
		return &langintel.Options{
			Env: []string{"PATH=" + bin + ":/usr/bin:/bin"}, ServerDir: servers,
			Servers: []langintel.Spec{{
				Name: "anyls", Program: "anyls", Languages: []langintel.Language{{ID: "x", Patterns: []string{"*.x"}}},
				Install: &langintel.Install{Version: "1.2.3", NPM: []string{"anyls@1.2.3", "dep@4.5.6"}},
			}},
		}
	}
	b := open(t, dir, opts())
	ctx := within(t, time.Minute)
	if _, err := b.Client.Install(ctx, "anyls"); !errors.Is(err, tools.CodeLSPServer) || !strings.Contains(err.Error(), "half done") {
		t.Fatalf("a failed installation: %v", err)
	}
	if left := visible(t, servers); len(left) != 0 {
		t.Errorf("it left %q", left)
	}
	results := make(chan error)
	for range 4 { // as many processes
		b := open(t, dir, opts())
		go func() {
			_, err := b.Client.Install(ctx, "anyls")
			results <- err
		}()
	}
	for range 4 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	want := filepath.Join(servers, "anyls@1.2.3", "node_modules", ".bin", "anyls")
	again, err := b.Client.Install(ctx, "anyls")
	if err != nil || again != (langintel.Installed{Program: want, Version: "1.2.3", Already: true}) {
		t.Errorf("%+v, %v", again, err)
	}
	if got := b.info(); got.From != "installed" || got.Program != want {
		t.Errorf("%+v", got)
	}
	if left := visible(t, servers); !slices.Equal(left, []string{"anyls@1.2.3"}) {
		t.Errorf("%q", left)
	}
	lines := strings.Split(strings.TrimSpace(string(must(os.ReadFile(log)))), "\n")
	if len(lines) != 2 {
		t.Errorf("npm ran %d times: %q", len(lines), lines)
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, servers) || !strings.Contains(line, "--ignore-scripts") || !strings.HasSuffix(line, "anyls@1.2.3 dep@4.5.6|") {
			t.Errorf("%s", line)
		}
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// visible lists what is no lock.
func visible(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			out = append(out, e.Name())
		}
	}
	return out
}

// What cannot be installed is refused with what to do instead.
func TestInstallRefuses(t *testing.T) {
	b := open(t, t.TempDir(), &langintel.Options{
		Env: []string{"PATH=" + t.TempDir()}, ServerDir: t.TempDir(),
		Servers: []langintel.Spec{
			{Name: "handmade", Program: "handmade", Install: &langintel.Install{Hint: "`gem install handmade` installs it"}},
			{Name: "system", Program: "system-ls", Install: &langintel.Install{System: []string{"system-ls", "system-data"}}},
			{Name: "npm", Program: "npm-ls", Install: &langintel.Install{Version: "1", NPM: []string{"npm-ls@1"}}},
		},
	})
	for name, want := range map[string]string{
		"handmade": "gem install handmade",
		"system":   "sudo apt-get install -y --no-install-recommends system-ls system-data",
		"npm":      "there is no npm in PATH",
		"systen":   `did you mean "system"`,
	} {
		if _, err := b.Client.Install(context.Background(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A server that is asked for an outline before it has read the file says that
// there is nothing, which is not believed.
func TestOutlineOfAServerThatLoads(t *testing.T) {
	symbols := `[{"name":"one","kind":12,"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"selectionRange":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}}}]`
	b, record := scripted(t, &lsptest.Script{
		Capabilities: `{"documentSymbolProvider":true,"textDocumentSync":1}`,
		On: []lsptest.Rule{
			{Method: "textDocument/documentSymbol", Nth: 1, Do: []lsptest.Action{{Reply: `[]`}}},
			on("textDocument/documentSymbol", lsptest.Action{Reply: symbols}),
		},
	}, nil)
	got, err := b.Symbols(within(t, 20*time.Second), langintel.SymbolsQuery{Path: "a.x"})
	if err != nil || got.Status != langintel.Complete || len(got.Symbols) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if n := len(record.Wait(t, "textDocument/documentSymbol", 2)); n != 2 {
		t.Errorf("it was asked %d times", n)
	}
}
