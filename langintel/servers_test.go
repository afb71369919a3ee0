package langintel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools/child"
)

// serverEnv is an environment in whose PATH are the language servers that
// testdata/servers/install.sh brings, and before all else the system's own
// programs: what people have installed in their home directories differs.
func serverEnv(t testing.TB) []string {
	t.Helper()
	dirs := append([]string{npmBin(t), "/usr/bin", "/bin"}, filepath.SplitList(os.Getenv("PATH"))...)
	return child.Environment(os.Environ(), map[string]string{"PATH": strings.Join(dirs, string(filepath.ListSeparator))})
}

// npmBin is the directory of the npm servers' programs.
func npmBin(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "testdata", "servers", "language", "node_modules", ".bin"))
	if err != nil {
		t.Fatal(err)
	}
	component(t, filepath.Join(dir, "pyright-langserver"))
	return dir
}

// component requires a file that the install script brings: without it a test
// is skipped, and where everything has to be tested, fails.
func component(t testing.TB, path string) {
	t.Helper()
	if _, err := os.Stat(path); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing: make setup installs it", path)
	}
	t.Skipf("%s is not there; make setup installs it", path)
}

// readComponent reads a file beside those that npm installs.
func readComponent(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join("..", "testdata", "servers", "language", name))
}
