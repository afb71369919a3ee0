package langintel

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Who imports whom is read from the text, without a parser: too many files do no
// harm, since the answer only says where to ask.

// dependentsOf returns the changed files and all that import them, directly or
// through others, nearest first.
func dependentsOf(importers map[string][]string, changed []string) []string {
	reached := map[string]bool{}
	var out []string
	visit := func(file string) {
		if !reached[file] {
			reached[file] = true
			out = append(out, file)
		}
	}
	for _, file := range changed {
		visit(file)
	}
	for i := 0; i < len(out); i++ {
		next := importers[out[i]]
		slices.Sort(next)
		for _, file := range next {
			visit(file)
		}
	}
	return out
}

// modules finds files by the names under which they are imported: their paths
// without extension.
type modules struct {
	byKey map[string][]string // path without extension → files
	byEnd map[string][]string // last element → keys
}

func newModules() *modules {
	return &modules{byKey: map[string][]string{}, byEnd: map[string][]string{}}
}

func (m *modules) add(key, file string) {
	if m.byKey[key] == nil {
		m.byEnd[path.Base(key)] = append(m.byEnd[path.Base(key)], key)
	}
	m.byKey[key] = append(m.byKey[key], file)
}

// ending returns the files whose key is a name or ends in it.
func (m *modules) ending(name string) []string {
	var out []string
	for _, key := range m.byEnd[path.Base(name)] {
		if key == name || strings.HasSuffix(key, "/"+name) {
			out = append(out, m.byKey[key]...)
		}
	}
	return out
}

// tsImported matches what a JavaScript or TypeScript text imports: static and
// dynamic import, export … from, require, and references to a path.
var tsImported = regexp.MustCompile(`(?:\bfrom|\bimport|\brequire|\bpath\s*=)\s*\(?\s*["']([^"'\n]+)["']`)

// tsModule matches what makes a file a module: without it its declarations are
// everybody's.
var tsModule = regexp.MustCompile(`(?m)^\s*(?:import|export)\b`)

// tsGlobal matches what declares things for everybody.
var tsGlobal = regexp.MustCompile(`\bdeclare\s+(?:global|module)\b`)

func tsImports(source []byte) []string {
	var out []string
	for _, m := range tsImported.FindAllSubmatch(source, -1) {
		out = append(out, string(m[1]))
	}
	return out
}

func isRelative(specifier string) bool {
	return strings.HasPrefix(specifier, "./") || strings.HasPrefix(specifier, "../") || specifier == "." || specifier == ".."
}

// withoutTSExtension is the name by which other files import one; what is written
// in an import may end in the extension of the output.
func withoutTSExtension(name string) string {
	for _, ext := range []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"} {
		if stem, ok := strings.CutSuffix(name, ext); ok {
			return strings.TrimSuffix(stem, ".d")
		}
	}
	return name
}

// tsDependents are the files that import the changed ones.
func tsDependents(files *Files, changed []string) []string {
	sources := tsSources(files, tsProjects(files))
	known := newModules()
	for _, file := range sources {
		key := withoutTSExtension(file)
		known.add(key, file)
		if path.Base(key) == "index" {
			known.add(path.Dir(key), file)
		}
	}
	packages := tsPackages(files, sources)
	importers := map[string][]string{}
	for _, file := range sources {
		for _, specifier := range tsImports(files.Read(file)) {
			for _, target := range tsResolve(known, packages, file, specifier) {
				importers[target] = append(importers[target], file)
			}
		}
	}
	out := dependentsOf(importers, changed)
	for _, file := range changed {
		if text := files.Read(file); !tsModule.Match(text) || tsGlobal.Match(text) {
			out = append(out, sources...) // repeated ones are asked about once
			break
		}
	}
	return out
}

// tsResolve returns the files that a specifier may name: by path, by the name of
// a package of the workspace, or by an alias, of which the end is known.
func tsResolve(known *modules, packages map[string][]string, from, specifier string) []string {
	if isRelative(specifier) {
		name := path.Join(path.Dir(from), specifier)
		return slices.Concat(known.byKey[name], known.byKey[withoutTSExtension(name)])
	}
	for name := specifier; name != "." && name != "/"; name = path.Dir(name) {
		if inside := packages[name]; inside != nil {
			return inside
		}
	}
	name := withoutTSExtension(specifier)
	out := known.ending(name)
	if _, rest, ok := strings.Cut(name, "/"); ok {
		out = append(out, known.ending(rest)...)
	}
	return out
}

// tsPackages are the source files of the packages of the workspace, by name.
func tsPackages(files *Files, sources []string) map[string][]string {
	out := map[string][]string{}
	for _, name := range files.Match("package.json") {
		var written struct {
			Name string `json:"name"`
		}
		if strings.Contains("/"+name, "/node_modules/") || decodeJSON(files.Read(name), &written) != nil || written.Name == "" {
			continue
		}
		for _, file := range sources {
			if below(path.Dir(name), file) {
				out[written.Name] = append(out[written.Name], file)
			}
		}
	}
	return out
}

// pyImported matches Python's two import statements, up to the end of their names.
var pyImported = regexp.MustCompile(`(?m)^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+([^\n#]*))`)

var pyNames = regexp.MustCompile(`[\p{L}_][\p{L}\p{N}_.]*`)

// pyImports are the dotted names of the modules that a text may import; what is
// imported from a module may be a module itself.
func pyImports(source []byte) []string {
	var out []string
	for _, m := range pyImported.FindAllSubmatch(source, -1) {
		from := string(m[1])
		if from == "" {
			out = append(out, pyNames.FindAllString(string(m[3]), -1)...)
			continue
		}
		out = append(out, from)
		for _, name := range pyNames.FindAllString(string(m[2]), -1) {
			out = append(out, strings.TrimSuffix(from, ".")+"."+name)
		}
	}
	return out
}

// pyDependents are the files that import the changed ones.
func pyDependents(files *Files, changed []string) []string {
	sources := slices.Concat(files.Match("*.py"), files.Match("*.pyi"))
	known := newModules()
	for _, file := range sources {
		key := strings.TrimSuffix(file, path.Ext(file))
		known.add(key, file)
		if path.Base(key) == "__init__" {
			known.add(path.Dir(key), file)
		}
	}
	importers := map[string][]string{}
	for _, file := range sources {
		for _, name := range pyImports(files.Read(file)) {
			for _, target := range pyResolve(known, file, name) {
				importers[target] = append(importers[target], file)
			}
		}
	}
	return dependentsOf(importers, changed)
}

// pyResolve returns the files that a module's name may mean; leading dots go up
// from the file's package. An import runs every package on the way.
func pyResolve(known *modules, from, name string) []string {
	rest := strings.TrimLeft(name, ".")
	if up := len(name) - len(rest); up > 0 {
		dir := path.Dir(from)
		for range up - 1 {
			dir = path.Dir(dir)
		}
		return known.byKey[path.Join(dir, strings.ReplaceAll(rest, ".", "/"))]
	}
	var out []string
	for at := strings.ReplaceAll(rest, ".", "/"); at != "." && at != "/"; at = path.Dir(at) {
		out = append(out, known.ending(at)...)
	}
	return out
}
