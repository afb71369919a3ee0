package langintel

import (
	"bufio"
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// gopls is the Go team's server. It answers no cross-file question before it has
// loaded the workspace, so nothing has to be waited for.
func gopls() Spec {
	return Spec{
		Name: "gopls",
		Languages: []Language{
			{ID: "go", Patterns: []string{"*.go"}},
			{ID: "go.mod", Patterns: []string{"go.mod"}},
			{ID: "go.work", Patterns: []string{"go.work"}},
		},
		Roots:       []string{"go.work", "go.mod"}, // it finds nested modules by itself
		Program:     "gopls",
		Install:     &Install{GoPackage: "golang.org/x/tools/gopls", Version: "0.23.0", Unasked: true},
		Environment: goEnvironment,
		Section:     "gopls",
		Settings: jsontext.Value(`{` +
			// Asking is exact; what is pushed comes a delay after the change.
			`"pullDiagnostics":true,` +
			// The whole path makes a symbol's package certain.
			`"symbolStyle":"Full",` +
			// Names of dependencies would crowd out the workspace's own.
			`"symbolScope":"workspace"}`),
		Ready: Blocks(),
		// Those that work on go.mod run the go command, and are not among them.
		EditCommands: []string{
			"gopls.add_import", "gopls.add_test", "gopls.apply_fix", "gopls.change_signature",
			"gopls.extract_to_new_file", "gopls.modify_tags", "gopls.move_type",
		},
		ReadsDisk:   true,
		Reads:       []string{"go.sum", "go.work.sum"},
		SymbolQuery: func(names []string) string { return strings.Join(names, ".") + "$" },
		MaxSymbols:  100,
		Dependents:  goDependents,
		Excluded:    goExcluded,
	}
}

// goEnvironment keeps an untrusted go.mod from naming a toolchain to download and
// run, and a packages driver, which is a program that the go command's users run,
// out of it.
func goEnvironment(trusted bool) map[string]string {
	if trusted {
		return nil
	}
	return map[string]string{"GOTOOLCHAIN": "local", "GOPACKAGESDRIVER": "off"}
}

// goDependents returns the Go files in the directories of the changed files, and
// those of every package that imports one of them, directly or through others.
// It reads import clauses as text: too many is harmless, since the answer only
// says where to ask.
func goDependents(files *Files, changed []string) []string {
	dirs := map[string][]string{} // directory → files
	for _, f := range files.Match("*.go") {
		dirs[path.Dir(f)] = append(dirs[path.Dir(f)], f)
	}
	module := func(dir string) (prefix, root string) {
		for at := dir; ; at = path.Dir(at) {
			if name := goModuleName(files.Read(path.Join(at, "go.mod"))); name != "" {
				return name, at
			}
			if at == "." || at == "/" {
				return "", "."
			}
		}
	}
	importPath := func(dir string) string {
		prefix, root := module(dir)
		return path.Join(prefix, strings.TrimPrefix(strings.TrimPrefix(dir, root), "/"))
	}
	importers := map[string][]string{} // import path → directories
	for dir, list := range dirs {
		seen := map[string]bool{}
		for _, f := range list {
			for _, imported := range goImports(files.Read(f)) {
				if !seen[imported] {
					seen[imported] = true
					importers[imported] = append(importers[imported], dir)
				}
			}
		}
	}
	reached := map[string]bool{}
	var queue, out []string
	visit := func(dir string) {
		if !reached[dir] {
			reached[dir] = true
			queue = append(queue, dir)
		}
	}
	for _, f := range changed {
		visit(path.Dir(f))
	}
	for len(queue) > 0 {
		dir := queue[0]
		queue = queue[1:]
		list := dirs[dir]
		slices.Sort(list)
		out = append(out, list...) // nearest first
		next := importers[importPath(dir)]
		slices.Sort(next)
		for _, d := range next {
			visit(d)
		}
	}
	return out
}

func goModuleName(mod []byte) string {
	lines := bufio.NewScanner(bytes.NewReader(mod))
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), "module "); ok {
			name, _, _ := strings.Cut(rest, "//")
			return strings.Trim(strings.TrimSpace(name), `"`)
		}
	}
	return ""
}

// goImports returns the import paths of a file, read line by line up to the
// first declaration.
func goImports(source []byte) []string {
	var out []string
	block := false
	for line := range bytes.Lines(source) {
		text := strings.TrimSpace(string(line))
		switch {
		case strings.HasPrefix(text, "import ("):
			block = true
		case block && strings.HasPrefix(text, ")"):
			block = false
		case block || strings.HasPrefix(text, "import "):
			start, end := strings.IndexByte(text, '"'), strings.LastIndexByte(text, '"')
			if start >= 0 && end > start {
				if imported, err := strconv.Unquote(text[start : end+1]); err == nil {
					out = append(out, imported)
				}
			}
		case strings.HasPrefix(text, "func ") || strings.HasPrefix(text, "type ") ||
			strings.HasPrefix(text, "var ") || strings.HasPrefix(text, "const "):
			return out
		}
	}
	return out
}

// serverVersion shortens a version that is a whole build description: gopls
// answers with JSON that holds its module's version.
func serverVersion(version string) string {
	var build struct {
		Main struct {
			Version string `json:"Version"`
		} `json:"Main"`
		Version string `json:"Version"`
	}
	if strings.HasPrefix(version, "{") && decodeJSON([]byte(version), &build) == nil {
		if build.Main.Version != "" {
			return oneLine(build.Main.Version, 100)
		}
		return oneLine(build.Version, 100)
	}
	return oneLine(version, 100)
}
