package langintel

import (
	"path/filepath"
	"runtime"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

func pyLanguages() []Language {
	return []Language{{ID: "python", Patterns: []string{"*.py", "*.pyi"}}}
}

func pyRoots() []string {
	return []string{"pyrightconfig.json", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"}
}

// pyReady: the first refresh comes when the configuration is read, the second when
// the files are listed. Before that a reference is found in open files only, and no
// symbol at all.
func pyReady() Readiness { return AfterRefreshes(2, 3*time.Second) }

// pyright is Microsoft's type checker.
func pyright() Spec {
	return Spec{
		Name: "pyright", Title: "Pyright", Group: "python",
		Languages: pyLanguages(), Roots: pyRoots(),
		Program: "pyright-langserver", Args: []string{"--stdio"},
		Local:     []string{".venv/bin/pyright-langserver", "venv/bin/pyright-langserver", "node_modules/.bin/pyright-langserver"},
		Install:   &Install{NPM: []string{"pyright@1.1.414"}, Version: "1.1.414"},
		Configure: pySettings("pyright"),
		Degraded:  pyDegraded,
		// Others of its commands make stubs, and run the interpreter.
		EditCommands: []string{"*pyright.organizeimports", "*pyright.addoptionalforparam"},
		Ready:        pyReady(), Fresh: Pulls(), Prime: pyPrime,
		Dependents: pyDependents,
	}
}

// basedpyright is a fork of it with more checks.
func basedpyright() Spec {
	return Spec{
		Name: "basedpyright", Title: "basedpyright", Group: "python",
		Languages: pyLanguages(), Roots: pyRoots(),
		Program: "basedpyright-langserver", Args: []string{"--stdio"},
		Local:     []string{".venv/bin/basedpyright-langserver", "venv/bin/basedpyright-langserver", "node_modules/.bin/basedpyright-langserver"},
		Install:   &Install{NPM: []string{"basedpyright@1.40.1"}, Version: "1.40.1"},
		Configure: pySettings("basedpyright"),
		Degraded:  pyDegraded,
		// Others of its commands make stubs, and run the interpreter.
		EditCommands: []string{"*pyright.organizeimports", "*pyright.addoptionalforparam"},
		Ready:        pyReady(), Fresh: Pulls(), Prime: pyPrime,
		Dependents: pyDependents,
	}
}

// pyPrime returns one file, for pyReady to ask about.
func pyPrime(files *Files) []string {
	for _, l := range pyLanguages() {
		for _, pattern := range l.Patterns {
			if list := files.Match(pattern); len(list) > 0 {
				return list[:1]
			}
		}
	}
	return nil
}

// pySettings answers the sections python and, by its name, the server's own.
func pySettings(section string) func(p Project) (jsontext.Value, error) {
	type analysis struct {
		// The whole workspace would be checked again after each edit, before the
		// answer; what depends on an edit is asked about by name.
		Mode string `json:"diagnosticMode"`
		// Packages in src are found without configuration.
		Search bool `json:"autoSearchPaths"`
	}
	type own struct {
		Analysis analysis `json:"analysis"`
	}
	type python struct {
		own
		Interpreter string `json:"pythonPath,omitzero"`
	}
	return func(p Project) (jsontext.Value, error) {
		settings := own{analysis{Mode: "openFilesOnly", Search: true}}
		return encodeJSON(map[string]any{
			"python": python{settings, pyInterpreter(p)},
			section:  settings,
		})
	}
}

// pyInterpreter is the interpreter of the project's virtual environment, which
// the server runs to ask where packages are. It is the workspace's code, so an
// untrusted one's is not run: the one in PATH is, and packages of the
// environment are not known.
func pyInterpreter(p Project) string {
	if !p.Trusted {
		return ""
	}
	return pyVenv(p)
}

func pyVenv(p Project) string {
	program := "bin/python"
	if runtime.GOOS == "windows" {
		program = "Scripts/python.exe"
	}
	for _, dir := range []string{".venv", "venv"} {
		if name := dir + "/" + program; p.Has(name) {
			return filepath.Join(p.Root, filepath.FromSlash(name))
		}
	}
	return ""
}

func pyDegraded(p Project) string {
	if !p.Trusted && pyVenv(p) != "" {
		return "the workspace is not trusted, so the interpreter of its virtual environment is not run, and packages installed there are not known"
	}
	return ""
}
