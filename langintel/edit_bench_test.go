package langintel_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
)

// BenchmarkEditDiagnostics measures what an agent waits for after each edit: the
// file is written, and its diagnostics are complete. Beside it stands the server's
// own answer to the same change over a pipe, with nothing in between.
func BenchmarkEditDiagnostics(b *testing.B) {
	for _, c := range freshCases() {
		if !c.answers() {
			continue // what it says comes by itself, in ways of its own
		}
		b.Run(c.server.name, func(b *testing.B) {
			ours := c.server.open(b, c.server.copied(b), nil)
			ctx := within(b, startTime)
			good := ours.read(c.file)
			bad := strings.Replace(good, c.old, c.new, 1)
			command := c.command(b)
			command.dir = c.server.copied(b)
			raw := startRawClient(b, command)
			raw.open(c.file, c.language(), good)
			edit := func(i int) (direct, through time.Duration) {
				text, mistakes := good, 0
				if i%2 == 0 {
					text, mistakes = bad, 1
				}
				began := time.Now()
				raw.change(c.file, text)
				c.ask(raw)
				direct = time.Since(began)
				began = time.Now()
				ours.write(c.file, text)
				got, err := ours.Diagnostics(ctx, langintel.DiagnosticsQuery{Path: c.file})
				through = time.Since(began)
				if err != nil || got.Status != langintel.Complete || count(got.Problems, c.want) != mistakes {
					b.Fatalf("%+v, %v", got, err)
				}
				return direct, through
			}
			for i := range 8 { // the first ones load and compile
				edit(i)
			}
			var direct, through []time.Duration
			for i := 0; b.Loop(); i++ {
				d, t := edit(i)
				direct, through = append(direct, d), append(through, t)
			}
			b.ReportMetric(milliseconds(p50(direct)), "raw-p50-ms")
			b.ReportMetric(milliseconds(p50(through)), "ours-p50-ms")
			b.ReportMetric(float64(p50(through))/float64(p50(direct)), "ours/raw")
		})
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (c *freshCase) language() string {
	return map[string]string{".py": "python", ".ts": "typescript", ".cpp": "cpp", ".rs": "rust"}[filepath.Ext(c.file)]
}

// answers reports whether the server gives diagnostics when it is asked.
func (c *freshCase) answers() bool {
	return c.server.name != "clangd" && c.server.name != "rust-analyzer"
}

// command runs the server as its manual says, with the settings that matter here.
func (c *freshCase) command(b testing.TB) rawCommand {
	modules := nodeModules(b)
	bin := func(name string, args ...string) []string {
		return append([]string{filepath.Join(modules, ".bin", name)}, args...)
	}
	var command rawCommand
	switch c.server.name {
	case "typescript-language-server":
		command.argv = bin("typescript-language-server", "--stdio")
		command.options = map[string]any{"tsserver": map[string]any{"path": filepath.Join(modules, "typescript/lib/tsserver.js"), "useSyntaxServer": "never"}, "disableAutomaticTypingAcquisition": true}
	case "vtsls":
		command.argv = bin("vtsls", "--stdio")
		settings := map[string]any{"typescript": map[string]any{"tsserver": map[string]any{"useSyntaxServer": "never"}, "disableAutomaticTypeAcquisition": true}}
		command.settings, command.options = map[string]any{"": settings}, settings
	case "tsgo":
		command.argv = bin("tsgo", "--lsp", "--stdio")
	case "pyright":
		command.argv = []string{filepath.Join(modules, "pyright/langserver.index.js"), "--stdio"}
	case "basedpyright":
		command.argv = bin("basedpyright-langserver", "--stdio")
	case "clangd":
		command.argv = []string{c.server.program, "--background-index", "--log=error"}
	case "rust-analyzer":
		command.argv = []string{"/usr/bin/rust-analyzer"}
		command.env = map[string]string{"PATH": "/usr/bin", "CARGO_HOME": c.server.env["CARGO_HOME"], "CARGO_NET_OFFLINE": "true"}
		settings := map[string]any{"cachePriming": map[string]any{"enable": false}, "checkOnSave": false}
		// Without this it never knows the uses that stand inside the library's macros.
		if made, err := filepath.Glob(filepath.Join(serverDir(b), "*", "rust-analyzer", "library-*")); err == nil && len(made) > 0 {
			settings["cargo"] = map[string]any{"sysrootSrc": made[0]}
		}
		command.options, command.settings = settings, map[string]any{"rust-analyzer": settings}
	}
	return command
}

// ask gets the file's diagnostics in the way that is exact for the server.
func (c *freshCase) ask(raw *rawClient) {
	if c.server.name != "typescript-language-server" && c.server.name != "vtsls" {
		raw.call("textDocument/diagnostic", map[string]any{"textDocument": map[string]any{"uri": raw.uri(c.file)}})
		return
	}
	for _, request := range []string{"syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync"} {
		var reply struct {
			Success bool `json:"success"`
		}
		answer := raw.call("workspace/executeCommand", map[string]any{
			"command": "typescript.tsserverRequest", "arguments": []any{request, map[string]string{"file": filepath.Join(raw.command.dir, c.file)}},
		})
		if err := json.Unmarshal(answer, &reply); err != nil || !reply.Success {
			raw.t.Fatalf("%s, %v", answer, err)
		}
	}
}

// BenchmarkFirstAnswer measures how long after a start the first complete answer
// across files comes, beside that of the server alone, which is asked again until
// it says all.
func BenchmarkFirstAnswer(b *testing.B) {
	for _, c := range freshCases() {
		b.Run(cmp.Or(c.server.program, c.server.name), func(b *testing.B) {
			var direct, through []time.Duration
			for b.Loop() {
				through = append(through, c.firstThrough(b))
				direct = append(direct, c.firstDirect(b))
			}
			// The best of each: other work on the machine only adds.
			theirs, mine := slices.Min(direct), slices.Min(through)
			b.ReportMetric(milliseconds(theirs), "raw-min-ms")
			b.ReportMetric(milliseconds(mine), "ours-min-ms")
			b.ReportMetric(milliseconds(mine-theirs*6/5), "over-1.2-raw-ms")
		})
	}
}

// firstThrough is how long our first complete answer takes.
func (c *freshCase) firstThrough(b *testing.B) time.Duration {
	dir := c.server.copied(b)
	began := time.Now()
	ours := c.server.open(b, dir, nil)
	got, err := ours.References(within(b, startTime), langintel.ReferencesQuery{Place: c.server.references.place})
	took := time.Since(began)
	if err != nil || got.Status != langintel.Complete || got.Total != len(c.server.references.want) {
		b.Fatalf("%+v, %v", got, err)
	}
	if err := ours.Close(); err != nil {
		b.Fatal(err)
	}
	return took
}

// firstDirect is how long the server alone takes until it says all.
func (c *freshCase) firstDirect(b *testing.B) time.Duration {
	place := c.server.references.place
	command := c.command(b)
	command.dir = c.server.copied(b)
	line := strings.Split(c.server.text(b, place.Path), "\n")[place.Line-1]
	began := time.Now()
	raw := startRawClient(b, command)
	defer raw.close()
	raw.open(place.Path, c.language(), c.server.text(b, place.Path))
	for {
		got := raw.references(place.Path, place.Line-1, strings.Index(line, place.Symbol))
		switch {
		case got == len(c.server.references.want):
			return time.Since(began)
		case time.Since(began) > startTime:
			b.Fatalf("the server alone never says all: %d of %d", got, len(c.server.references.want))
		case got == 0:
			<-time.After(10 * time.Millisecond) // it answers at once that it knows nothing yet
		}
	}
}

// text is a file of the fixture.
func (s *realServer) text(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "workspaces", s.fixture, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
