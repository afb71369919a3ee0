package propose_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/propose"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func proposals(t *testing.T, dir string) []propose.Check {
	t.Helper()
	root, err := propose.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return root.Checks()
}

// everything is a directory in which every ecosystem has its file.
func everything(t *testing.T) string {
	dir := t.TempDir()
	write(t, dir, "go.mod", "module m\n")
	write(t, dir, "package.json", `{"scripts": {"test": "vitest", "lint": "eslint src", "typecheck": "tsc -b", "build": "eslint . && rollup", "dev": "vite", "types": "echo $(rm -rf /)"}}`)
	write(t, dir, "package-lock.json", "{}")
	write(t, dir, "pyproject.toml", "[project]\nname = \"p\"\n[tool.pytest.ini_options]\n[tool.mypy]\n[tool.ruff]\nline-length = 100\n[tool.black]\n")
	write(t, dir, "Cargo.toml", "[package]\n")
	write(t, dir, "Makefile", "build := x\ntest::= y\n.PHONY: lint\nlint check: dep ## says\n\tgo vet: ./...\n# verify: no\n$(X): y\n%.o: z\nclean:\n\trm x\n")
	return dir
}

func TestChecks(t *testing.T) {
	var lines []string
	for _, c := range proposals(t, everything(t)) {
		lines = append(lines, strings.TrimSpace(c.Name+": "+c.File+" "+strings.Join(c.Args, " ")+" "+c.Parser))
	}
	got, want := strings.Join(lines, "\n"), `go-build: go build ./... go
go-vet: go vet ./... go
go-test: go test ./... go
test: npm run test
lint: npm run lint -- --format json eslint-json
typecheck: npm run typecheck tsc
types: npm run types
build: npm run build
pytest: pytest -q
mypy: mypy --show-column-numbers --no-error-summary . gcc
ruff: ruff check --output-format sarif sarif
cargo-check: cargo check --all-targets --message-format short gcc
cargo-test: cargo test
make-check: make check
make-lint: make lint`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestManager(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "package.json", `{"scripts": {"lint": "eslint ."}}`)
	write(t, dir, "pnpm-lock.yaml", "")
	if got := proposals(t, dir); len(got) != 1 || got[0].File != "pnpm" || strings.Join(got[0].Args, " ") != "run lint --format json" {
		t.Errorf("got %+v", got)
	}
}

// TestHostileFiles: what cannot be read proposes nothing.
func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "package.json", "{not json")
	write(t, dir, "pyproject.toml", "= not toml")
	if err := os.Mkdir(filepath.Join(dir, "Makefile"), 0o755); err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	write(t, outside, "Cargo.toml", "[package]\n")
	if err := os.Symlink(filepath.Join(outside, "Cargo.toml"), filepath.Join(dir, "Cargo.toml")); err != nil {
		t.Fatal(err)
	}
	if got := proposals(t, dir); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}

// TestConfiguration: as it is written it says nothing, and without the # of its
// proposals it is a configuration that has them all.
func TestConfiguration(t *testing.T) {
	dir := everything(t)
	checks := proposals(t, dir)
	text := propose.Configuration(checks)
	for line := range strings.Lines(text) {
		if line != "\n" && !strings.HasPrefix(line, "#") {
			t.Errorf("in force: %q", line)
		}
	}
	workspace := t.TempDir()
	write(t, workspace, config.FileName, text)
	system := config.System{Home: t.TempDir()}
	cfg, err := config.Load(system, config.Flags{Root: workspace})
	if err != nil || len(cfg.Checks) != 0 {
		t.Fatalf("%v, %d checks", err, len(cfg.Checks))
	}
	_, proposed, _ := strings.Cut(text, "\n\n")
	user := strings.ReplaceAll("\n"+proposed, "\n# From", "\n#From")
	user = strings.ReplaceAll(user, "\n# ", "\n")
	file := filepath.Join(t.TempDir(), "user.toml")
	write(t, filepath.Dir(file), "user.toml", user)
	if cfg, err = config.Load(system, config.Flags{Root: t.TempDir(), File: file}); err != nil || len(cfg.Checks) != len(checks) {
		t.Fatalf("%v, %d checks of %d", err, len(cfg.Checks), len(checks))
	}
	for _, d := range cfg.Definitions() {
		if d.File == "" {
			t.Errorf("%+v", d)
		}
	}
	if !strings.Contains(propose.Configuration(nil), "Nothing that usually checks something") {
		t.Error("nothing is said where nothing was found")
	}
}
