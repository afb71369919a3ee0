package langintel_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/langintel"
)

// typescript opens one of the TypeScript servers on a directory.
func typescript(t *testing.T, name, dir string) *bench {
	t.Helper()
	s := typescriptServers()[0]
	s.name = name
	if dir == "" {
		dir = s.copied(t)
	}
	return s.open(t, dir, nil)
}

// What imports a file follows it, in one change with the move, and the project
// builds as before.
func TestRealRenameFile(t *testing.T) {
	t.Parallel()
	files := []string{"app/main.ts", "core/label.ts", "core/text/label.ts", "core/tsconfig.json", "stock/shelf.ts"}
	for _, name := range []string{"typescript-language-server", "tsgo"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := typescript(t, name, "")
			ctx := within(t, startTime)
			before := treeOf(t, b.dir)
			q := langintel.RenameFileQuery{From: "core/label.ts", To: "core/text/label.ts", AlsoText: true, ChangeOptions: langintel.ChangeOptions{DryRun: true}}
			dry, err := b.RenameFile(ctx, q)
			if err != nil || dry.Status != langintel.Complete || !slices.Equal(dry.Files, files) {
				t.Fatalf("%+v, %v", dry, err)
			}
			sameTree(t, treeOf(t, b.dir), before)
			q.DryRun = false
			q.RejectIf = langintel.RejectNewErrors
			done, err := b.RenameFile(ctx, q)
			if err != nil || done.Patch != dry.Patch || done.UndoID == "" || done.DeltaOf.Status == "" || done.Delta.Counts.IntroducedErrors != 0 {
				t.Fatalf("%+v, %v", done, err)
			}
			if text := b.read("stock/shelf.ts"); !strings.HasPrefix(text, `import { mark } from "../core/text/label.js";`) {
				t.Errorf("%s", text)
			}
			b.run([]string{"tsc", "-b"}, []string{"node", "out/app/main.js"})
			// And back: the server was told where everything is now.
			back, err := b.RenameFile(ctx, langintel.RenameFileQuery{From: "core/text/label.ts", To: "core/label.ts"})
			if err != nil || back.Status != langintel.Complete || b.read("stock/shelf.ts") != before["stock/shelf.ts"] || b.read("app/main.ts") != before["app/main.ts"] {
				t.Fatalf("%+v, %v", back, err)
			}
			for _, id := range []string{back.UndoID, done.UndoID} {
				if _, err := b.work.Undo(ctx, id); err != nil {
					t.Fatal(err)
				}
			}
			after := filesOf(treeOf(t, b.dir))
			for name, text := range filesOf(before) {
				if after[name] != text {
					t.Errorf("undone, %s is %q", name, after[name])
				}
			}
		})
	}
}

func TestRealRenameDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := typescript(t, "typescript-language-server", dir)
	for name, text := range map[string]string{
		"tsconfig.json":      `{"compilerOptions":{"module":"NodeNext","target":"ES2022","strict":true,"noEmit":true,"types":[]},"include":["src/**/*.ts"]}`,
		"src/main.ts":        "import { é } from \"./util/a.js\";\nexport const all = é();\n",
		"src/util/a.ts":      "import { b } from \"./deep/b.js\";\nimport { base } from \"../base.js\";\nexport const é = () => b + base;\n",
		"src/util/deep/b.ts": "import { base } from \"../../base.js\";\nexport const b = base;\n",
		"src/base.ts":        "export const base = 1;\n",
	} {
		b.write(name, text)
	}
	ctx := within(t, startTime)
	done, err := b.RenameFile(ctx, langintel.RenameFileQuery{From: "src/util", To: "src/lib/text", ChangeOptions: langintel.ChangeOptions{RejectIf: langintel.RejectNewErrors}})
	if err != nil || done.Status != langintel.Complete || done.UndoID == "" {
		t.Fatalf("%+v, %v", done, err)
	}
	want := []string{"src/lib/text", "src/lib/text/a.ts", "src/lib/text/deep/b.ts", "src/main.ts", "src/util", "src/util/a.ts", "src/util/deep/b.ts"}
	if !slices.Equal(done.Files, want) {
		t.Errorf("%q", done.Files)
	}
	if text := b.read("src/lib/text/a.ts"); !strings.Contains(text, `"../../base.js"`) || !strings.Contains(text, `"./deep/b.js"`) || !strings.Contains(b.read("src/main.ts"), `"./lib/text/a.js"`) {
		t.Errorf("%s\n%s", text, b.read("src/main.ts"))
	}
	b.run([]string{"tsc", "--noEmit", "-p", "."})
	if _, err := b.work.Undo(ctx, done.UndoID); err != nil {
		t.Fatal(err)
	}
	b.run([]string{"tsc", "--noEmit", "-p", "."})
}

// vtsls takes no part before a rename; that is said.
func TestRealRenameFileUnaided(t *testing.T) {
	t.Parallel()
	b := typescript(t, "vtsls", "")
	got, err := b.RenameFile(within(t, startTime), langintel.RenameFileQuery{From: "core/label.ts", To: "core/text/label.ts", ChangeOptions: langintel.ChangeOptions{DryRun: true}})
	if err != nil || got.Status != langintel.Partial || !strings.Contains(got.Reason, "references to its path are as they were") {
		t.Fatalf("%+v, %v", got, err)
	}
}

// A refactoring of tsserver comes as a command, which asks for the edit; organizing
// imports as an edit, or by resolving.
func TestRealCodeActions(t *testing.T) {
	t.Parallel()
	servers := map[string][]string{
		"typescript-language-server": {"refactor.extract.constant", "source.organizeImports"},
		"tsgo":                       {"source.organizeImports"},
	}
	if soak() {
		servers["vtsls"] = servers["typescript-language-server"]
	}
	for name, kinds := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := typescript(t, name, "")
			ctx := within(t, startTime)
			const text = "import { total, price } from \"./money.js\";\nexport function f(a: number) {\n  return \"😀\".length + a * 2 + total([price(a)]).cents;\n}\n"
			b.write("core/extra.ts", text)
			for _, kind := range kinds {
				q := langintel.CodeActionsQuery{Place: langintel.Place{Path: "core/extra.ts", Line: 3, Column: 23}, EndColumn: 28, Kinds: []string{kind}}
				list, err := b.CodeActions(ctx, q)
				if err != nil || list.Status != langintel.Complete || len(list.Actions) == 0 {
					t.Fatalf("%s: %+v, %v", kind, list, err)
				}
				chosen := list.Actions[slices.IndexFunc(list.Actions, func(a langintel.CodeAction) bool { return a.Disabled == "" })]
				asked := 0
				done, err := b.ApplyCodeAction(ctx, langintel.ApplyActionQuery{ID: chosen.ID, ChangeOptions: langintel.ChangeOptions{
					Authorise: func(_ context.Context, _ string, paths []string) error {
						if asked++; !slices.Equal(paths, []string{"core/extra.ts"}) {
							t.Errorf("asked for %q", paths)
						}
						return nil
					},
					Run: func(_ context.Context, _, command string, _ []byte) error {
						t.Errorf("%s is known to edit only", command)
						return nil
					},
				}})
				if err != nil || done.UndoID == "" || asked != 1 || done.Delta == nil || done.Delta.Counts.IntroducedErrors != 0 {
					t.Fatalf("%s: %+v, %v", kind, done, err)
				}
				want := map[string]string{"refactor.extract.constant": "const newLocal = a * 2;", "source.organizeImports": "import { price, total } from"}[kind]
				if got := b.read("core/extra.ts"); !strings.Contains(got, want) {
					t.Errorf("%s: %s", kind, got)
				}
				if _, err := b.work.Undo(ctx, done.UndoID); err != nil || b.read("core/extra.ts") != text {
					t.Errorf("%v", err)
				}
				if err := b.Changed(ctx, "core/extra.ts"); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// A declaration of TypeScript as a whole, and its neighbours.
func TestRealSymbolBody(t *testing.T) {
	t.Parallel()
	names := []string{"typescript-language-server", "tsgo"}
	if soak() {
		names = append(names, "vtsls")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := typescript(t, name, "")
			ctx := within(t, startTime)
			before := b.read("core/label.ts")
			do := func(op langintel.BodyOp, symbol, text string) *langintel.SymbolBodyResult {
				t.Helper()
				got, err := b.SymbolBody(ctx, langintel.SymbolBodyQuery{Place: langintel.Place{Path: "core/label.ts", Symbol: symbol}, Op: op, Text: text})
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			if got := do(langintel.ReadBody, "shop", "").Text; got != `export const shop = "日本" + mark("b");` {
				t.Errorf("%q", got)
			}
			if got := do(langintel.ReadBody, "mark", "").Text; got != "export function mark(text: string): string {\n  return `‹${text}›`;\n}" {
				t.Errorf("%q", got)
			}
			do(langintel.InsertAfter, "mark", "/** spare is not used. */\nexport function spare(): void {}")
			if want := strings.Replace(before, "}\n\n", "}\n\n/** spare is not used. */\nexport function spare(): void {}\n\n", 1); b.read("core/label.ts") != want {
				t.Errorf("%s", b.read("core/label.ts"))
			}
			do(langintel.DeleteBody, "spare", "")
			if b.read("core/label.ts") != before {
				t.Errorf("%s", b.read("core/label.ts"))
			}
			_, err := b.SymbolBody(ctx, langintel.SymbolBodyQuery{Place: langintel.Place{Path: "core/label.ts", Symbol: "mark"}, Op: langintel.DeleteBody})
			if err == nil || !strings.Contains(err.Error(), "mark is used in") {
				t.Error(err)
			}
		})
	}
}
