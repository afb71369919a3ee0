package langintel_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

// startCase is a workspace, with one mistake in a file, that is asked about from
// the moment on that nothing runs yet.
type startCase struct {
	name     string
	server   realServer
	without  string // a file that is taken out before
	mistake  string // a file, and what is added to it
	line     string
	says     string
	nothing  string // a symbol that there is not
	callable langintel.Place
}

func startCases() []startCase {
	var out []startCase
	for _, s := range typescriptServers() {
		c := startCase{s.name, s, "", "app/main.ts", "\nnonsense();\n", "Cannot find name 'nonsense'.", "Nowhere", langintel.Place{Path: "core/money.ts", Line: 7, Symbol: "price"}}
		out = append(out, c)
		// Without the configuration that lists all projects, a server knows of those
		// only whose files are open. No question names a file of one that refers to
		// others.
		c.name, c.without, c.mistake = c.name+" without a solution", "tsconfig.json", "core/money.ts"
		out = append(out, c)
	}
	for _, s := range pythonServers() {
		out = append(out, startCase{s.name, s, "", "tests/test_till.py", "\nnonsense()\n", `"nonsense" is not defined`, "Nowhere", s.references.place})
	}
	for _, s := range asAsked(clangdServers()[1:], clangdServers()[0]) {
		out = append(out, startCase{cmp.Or(s.program, s.name), s, "", "src/main.cpp", "\nint broken = nonsense;\n", "Use of undeclared identifier 'nonsense'", "Nowhere", s.references.place})
	}
	for _, s := range rustServers() {
		out = append(out, startCase{s.name, s, "", "label/src/main.rs", "\nfn broken() { nonsense(); }\n", "cannot find function `nonsense`", "Nowhere", s.references.place})
	}
	return out
}

// errNotYet says that an answer does not pretend to be complete.
var errNotYet = errors.New("not complete yet")

// From the first moment on, what calls itself complete is right: four questions
// are asked at once and over again while the server starts.
func TestRealStart(t *testing.T) {
	t.Parallel()
	for _, c := range startCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := c.server.copied(t)
			if c.without != "" {
				if err := os.Remove(filepath.Join(dir, c.without)); err != nil {
					t.Fatal(err)
				}
			}
			b := c.server.open(t, dir, nil)
			b.write(c.mistake, b.read(c.mistake)+c.line)
			asking, ctx := errgroup.WithContext(within(t, startTime))
			for _, ask := range []func(context.Context, *bench) error{c.references, c.symbols, c.rename, c.diagnostics} {
				asking.Go(func() error {
					for {
						err := ask(ctx, b)
						if !errors.Is(err, errNotYet) || ctx.Err() != nil {
							return err
						}
					}
				})
			}
			if err := asking.Wait(); err != nil {
				t.Error(err)
			}
			// What is not there is "none" only now.
			got, err := b.Symbols(within(t, startTime), langintel.SymbolsQuery{Query: c.nothing})
			if err != nil || got.Status != langintel.Complete || len(got.Symbols) != 0 {
				t.Errorf("a symbol that there is not: %+v, %v", got, err)
			}
		})
	}
}

func wrong(what string, answer langintel.Answer, list []string) error {
	return errors.New(what + ": " + string(answer.Status) + ", " + answer.Reason + "\n" + strings.Join(list, "\n"))
}

func (c *startCase) references(ctx context.Context, b *bench) error {
	got, err := b.References(ctx, langintel.ReferencesQuery{Place: c.callable})
	switch {
	case err != nil:
		return err
	case got.Status != langintel.Complete:
		return errNotYet
	case !slices.Equal(spans(got.Locations), c.server.references.want):
		return wrong("references", got.Answer, spans(got.Locations))
	}
	return nil
}

func (c *startCase) symbols(ctx context.Context, b *bench) error {
	got, err := b.Symbols(ctx, langintel.SymbolsQuery{Query: c.server.workspace})
	switch {
	case err != nil:
		return err
	case got.Status != langintel.Complete:
		return errNotYet
	}
	names := flatten(nil, "", got.Symbols)
	if !slices.ContainsFunc(got.Symbols, func(one langintel.Symbol) bool {
		return strings.HasPrefix(c.server.workspaceIs, one.Path+":") && one.Name == c.server.workspace
	}) {
		return wrong("symbols", got.Answer, names)
	}
	return nil
}

func (c *startCase) rename(ctx context.Context, b *bench) error {
	got, err := b.Rename(ctx, langintel.RenameQuery{Place: c.callable, NewName: "cost", DryRun: true})
	switch {
	case errors.Is(err, tools.CodeLSPTimeout), errors.Is(err, tools.CodeLSPStale):
		return errNotYet
	case err != nil:
		return err
	case got.Status != langintel.Complete:
		return errNotYet
	case got.Edits != len(c.server.references.want):
		return wrong("rename", got.Answer, append(got.Files, got.Patch))
	}
	return nil
}

func (c *startCase) diagnostics(ctx context.Context, b *bench) error {
	got, err := b.Diagnostics(ctx, langintel.DiagnosticsQuery{Path: c.mistake})
	switch {
	case err != nil:
		return err
	case got.Status != langintel.Complete:
		return errNotYet
	case count(got.Problems, c.says) != 1:
		return wrong("diagnostics", got.Answer, problems(got.Problems))
	}
	return nil
}
