package host

import (
	"crypto/sha256"
	"encoding/json"
	"os"
	"strings"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools/child"
)

// Identity is what of a client's settings and environment a [Shared] depends on.
// Two clients can have the same one if theirs fit.
type Identity struct {
	root      os.FileInfo // a workspace that was removed and made again is another
	settings  [sha256.Size]byte
	variables map[string]string
}

// Identify looks at a client's settings.
func Identify(cfg *config.Config) (Identity, error) {
	root, err := os.Stat(cfg.Root)
	if err != nil {
		return Identity{}, err
	}
	text, err := json.Marshal(struct {
		Root, StateDir string
		Trusted        bool
		ReadRoots      []string
		Git            config.Git
		Undo           config.Undo
		Language       config.Language
		Environment    map[string]string
		StateDSN       string
		Effects        config.Effects
	}{cfg.Root, cfg.StateDir, cfg.Trusted, cfg.ReadRoots, cfg.Git, cfg.Undo, cfg.Language, cfg.Environment, cfg.StateDSN(), cfg.Effects})
	if err != nil {
		return Identity{}, err
	}
	id := Identity{root: root, settings: sha256.Sum256(text), variables: map[string]string{}}
	for _, entry := range environment(cfg) {
		if name, value, _ := strings.Cut(entry, "="); decides(name) {
			id.variables[name] = value
		}
	}
	return id, nil
}

// SameSettings reports whether both come from the same configuration, trust and
// directory.
func (id Identity) SameSettings(other Identity) bool {
	return id.settings == other.settings && os.SameFile(id.root, other.root)
}

// Fits reports whether what was opened for one serves the other as well: the
// settings are the same, no variable says one thing here and another there, and
// programs are found in the same places. A variable that only one of them has is
// no difference: clients give their servers more or less of a person's
// environment, and would never share. VIRTUAL_ENV is, since without it Python is
// another.
func (id Identity) Fits(other Identity) bool {
	if !id.SameSettings(other) || id.variables["VIRTUAL_ENV"] != other.variables["VIRTUAL_ENV"] {
		return false
	}
	for name, value := range id.variables {
		if there, both := other.variables[name]; name != "PATH" && both && there != value {
			return false
		}
	}
	here, there := id.variables["PATH"], other.variables["PATH"]
	return here == there || samePrograms(here, there)
}

// decides tells the variables that a language server's answers may depend on
// from those of a terminal or a login.
func decides(name string) bool {
	switch name {
	case "TERM", "LANG", "USER", "XDG_CACHE_HOME":
		return false
	case "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME":
		return true
	}
	return !strings.HasPrefix(name, "XDG_") && !strings.HasPrefix(name, "LC_")
}

// samePrograms reports whether two lists of directories lead to the same
// language servers, and to the same tools that those run.
func samePrograms(here, there string) bool {
	names := []string{
		"git", "go", "node", "npm", "python", "python3", "cargo", "rustc", "rustup", "cc", "clang", "gcc", "java",
		"ruby", "php", "dotnet", "deno", "dart", "elixir", "erl", "ghc", "julia", "lua", "zig", "make", "cmake",
	}
	for _, spec := range langintel.Catalogue() {
		names = append(append(names, spec.Program), spec.Aliases...)
	}
	for _, name := range names {
		if found(name, here) != found(name, there) {
			return false
		}
	}
	return true
}

// found is where a program is, or "".
func found(name, path string) string {
	file, err := child.LookPath(name, []string{"PATH=" + path})
	if err != nil {
		return ""
	}
	return file
}
