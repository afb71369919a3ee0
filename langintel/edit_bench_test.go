package langintel_test

import (
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
		if len(c.command(b).argv) == 0 {
			continue // its raw form is not known here
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
	if filepath.Ext(c.file) == ".py" {
		return "python"
	}
	return "typescript"
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
		if len(c.command(b).argv) == 0 {
			continue
		}
		b.Run(c.server.name, func(b *testing.B) {
			place := c.server.references.place
			all := len(c.server.references.want)
			var direct, through []time.Duration
			for b.Loop() {
				command := c.command(b)
				command.dir = c.server.copied(b)
				line := strings.Split(c.server.text(b, place.Path), "\n")[place.Line-1]
				began := time.Now()
				raw := startRawClient(b, command)
				raw.open(place.Path, c.language(), c.server.text(b, place.Path))
				for raw.references(place.Path, place.Line-1, strings.Index(line, place.Symbol)) != all {
					if time.Since(began) > startTime {
						b.Fatal("the server alone never says all")
					}
				}
				direct = append(direct, time.Since(began))
				raw.close()

				dir := c.server.copied(b)
				began = time.Now()
				ours := c.server.open(b, dir, nil)
				got, err := ours.References(within(b, startTime), langintel.ReferencesQuery{Place: place})
				through = append(through, time.Since(began))
				if err != nil || got.Status != langintel.Complete || got.Total != all {
					b.Fatalf("%+v, %v", got, err)
				}
				if err := ours.Close(); err != nil {
					b.Fatal(err)
				}
			}
			// The best of each: other work on the machine only adds.
			theirs, mine := slices.Min(direct), slices.Min(through)
			b.ReportMetric(milliseconds(theirs), "raw-min-ms")
			b.ReportMetric(milliseconds(mine), "ours-min-ms")
			b.ReportMetric(milliseconds(mine-theirs*6/5), "over-1.2-raw-ms")
		})
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
