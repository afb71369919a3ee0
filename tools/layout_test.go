package tools_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/prism-ls/prism-ls"

// layers is the table of ARCHITECTURE.md: a package imports only lower layers. A
// package below one of these belongs to it, but for tools, whose every folder has
// a place of its own.
var layers = map[string]int{
	"tools": 0, "tools/child": 0, "tools/filelock": 0, "diagnostics": 0,
	"tools/workspace": 1, "tools/edit": 1, "tools/search": 1, "tools/git": 1, "tools/state": 1, "tools/policy": 1, "tools/check": 1,
	"langintel": 2, "procsess": 2, "forge": 2,
	"review": 3, "tools/plan": 3, "tools/acp": 3,
	"tools/builtin": 4,
	"cmd/prism-ls":  5,
}

// sameLayer are the arrows inside a layer.
var sameLayer = map[[2]string]bool{
	{"tools/search", "tools/workspace"}: true,
	{"tools/git", "tools/workspace"}:    true,
	{"tools/edit", "tools/workspace"}:   true,
	{"tools/search", "tools/git"}:       true,
}

// testHelpers are folders of packages that only tests import.
var testHelpers = map[string]bool{"lsptest": true, "forgetest": true, "statetest": true}

// topLevel is everything that the repository's root holds; the last three are
// made by building and git, and ignored or not part of the tree.
var topLevel = []string{
	"cmd", "langintel", "procsess", "forge", "tools", "diagnostics", "review", "testdata", "docs",
	"README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile",
	"go.mod", "go.sum", ".ci", ".editorconfig", ".gitattributes", ".gitignore",
	".git", ".cache", "bin",
}

// sourceFile is a parsed Go file of the module.
type sourceFile struct {
	name string // slash-separated, from the root
	dir  string
	fset *token.FileSet
	ast  *ast.File
}

func (f *sourceFile) place(n ast.Node) string {
	return f.name + ":" + strconv.Itoa(f.fset.Position(n.Pos()).Line)
}

// lines is how many lines a node takes.
func (f *sourceFile) lines(n ast.Node) int {
	return f.fset.Position(n.End()).Line - f.fset.Position(n.Pos()).Line + 1
}

// sources parses every file that is built into something, for every platform:
// not tests, and not the packages that only tests import.
func sources(t *testing.T) []*sourceFile {
	t.Helper()
	var list []*sourceFile
	fset := token.NewFileSet()
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			if name != ".." && (base == "testdata" || base == "bin" || strings.HasPrefix(base, ".") || testHelpers[base]) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(filepath.ToSlash(name), "../")
		list = append(list, &sourceFile{name: rel, dir: path.Dir(rel), fset: fset, ast: parsed})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 20 {
		t.Fatalf("found only %d source files; is this the module's root?", len(list))
	}
	return list
}

// unitOf finds the table's entry that a package belongs to.
func unitOf(pkg string) (string, bool) {
	for unit := pkg; unit != "." && unit != "tools"; unit = path.Dir(unit) {
		if _, ok := layers[unit]; ok {
			return unit, true
		}
	}
	return "tools", pkg == "tools"
}

// mayImport reports whether one package of the table may import another.
func mayImport(from, to string) bool {
	return from == to || layers[from] > layers[to] || sameLayer[[2]string{from, to}]
}

func TestImportsPointDown(t *testing.T) {
	for _, f := range sources(t) {
		from, ok := unitOf(f.dir)
		if !ok {
			t.Errorf("%s: package %s has no layer; give it one in the table above and in ARCHITECTURE.md", f.name, f.dir)
			continue
		}
		for _, spec := range f.ast.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(imported, "github.com/modelcontextprotocol/") && from != "cmd/prism-ls" {
				t.Errorf("%s: only cmd/prism-ls knows the Model Context Protocol", f.place(spec))
			}
			inside, ok := strings.CutPrefix(imported, module+"/")
			if !ok {
				continue
			}
			if to, ok := unitOf(inside); !ok || !mayImport(from, to) {
				t.Errorf("%s: %s (layer %d) must not import %s (layer %d)", f.place(spec), f.dir, layers[from], inside, layers[to])
			}
		}
	}
}

func TestLayerTable(t *testing.T) {
	for _, arrow := range [][2]string{{"tools", "tools/child"}, {"tools/child", "tools"}, {"diagnostics", "tools"}, {"tools/workspace", "tools/git"},
		{"tools/git", "tools/search"}, {"langintel", "tools/builtin"}, {"langintel", "procsess"}, {"review", "tools/plan"}} {
		if mayImport(arrow[0], arrow[1]) {
			t.Errorf("%s may import %s", arrow[0], arrow[1])
		}
	}
	for pkg, want := range map[string]string{"cmd/prism-ls/internal/config": "cmd/prism-ls", "tools/child/x": "tools/child", "tools": "tools"} {
		if got, ok := unitOf(pkg); !ok || got != want {
			t.Errorf("unitOf(%q) = %q, %v, want %q", pkg, got, ok, want)
		}
	}
	for _, pkg := range []string{"tools/other", "internal", "internal/x", "cmd/other"} {
		if got, ok := unitOf(pkg); ok {
			t.Errorf("unitOf(%q) = %q, want none", pkg, got)
		}
	}
}

func TestTopLevel(t *testing.T) {
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !slices.Contains(topLevel, entry.Name()) {
			t.Errorf("%s has no place at the top level", entry.Name())
		}
	}
}

// TestLockFileNamesNoHost keeps the npm lock file usable with any registry.
func TestLockFileNamesNoHost(t *testing.T) {
	lock, err := os.ReadFile("../testdata/servers/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(lock), `"resolved"`) {
		t.Error("package-lock.json says where packages were downloaded from; .npmrc beside it has the setting that leaves that out")
	}
}
