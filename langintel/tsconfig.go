package langintel

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// tsconfig is what a tsconfig.json or jsconfig.json says about which files are
// its project's (https://www.typescriptlang.org/tsconfig, top level). Patterns
// are relative to the workspace.
type tsconfig struct {
	name                     string
	files, include, exclude  []string
	references               []string // of other configurations
	out                      string   // where the compiler writes; "" unknown
	hasFiles, hasInclude, ok bool
}

// readTSConfig reads a configuration with those that it extends.
func readTSConfig(files *Files, name string, depth int) tsconfig {
	out := tsconfig{name: name}
	var written struct {
		Extends    any       `json:"extends"` // a string, or several
		Files      *[]string `json:"files"`
		Include    *[]string `json:"include"`
		Exclude    *[]string `json:"exclude"`
		References []struct {
			Path string `json:"path"`
		} `json:"references"`
		Options struct {
			Out string `json:"outDir"`
		} `json:"compilerOptions"`
	}
	text := files.Read(name)
	if text == nil || decodeJSON(plainJSON(text), &written) != nil {
		return out
	}
	out.ok = true
	dir := path.Dir(name)
	absolute := func(list []string) []string {
		names := make([]string, len(list))
		for i, one := range list {
			names[i] = path.Join(dir, one)
		}
		return names
	}
	for _, from := range stringList(written.Extends) {
		if depth == 0 || !strings.HasPrefix(from, ".") {
			continue // in a package, which sets no files
		}
		base := path.Join(dir, from)
		if path.Ext(base) != ".json" {
			base += ".json"
		}
		inherited := readTSConfig(files, base, depth-1)
		inherited.name, inherited.references, inherited.ok = name, nil, true
		out = inherited
	}
	if written.Files != nil {
		out.files, out.hasFiles = absolute(*written.Files), true
	}
	if written.Include != nil {
		out.include, out.hasInclude = absolute(*written.Include), true
	}
	if written.Exclude != nil {
		out.exclude = absolute(*written.Exclude)
	}
	if written.Options.Out != "" {
		out.out = path.Join(dir, written.Options.Out)
	}
	for _, r := range written.References {
		to := path.Join(dir, r.Path)
		if path.Ext(to) != ".json" {
			to = path.Join(to, "tsconfig.json")
		}
		out.references = append(out.references, to)
	}
	return out
}

func stringList(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, one := range v {
			if s, ok := one.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// has reports whether a source file is named by the configuration; what only an
// import brings into the project is not.
func (c *tsconfig) has(file string) bool {
	if slices.Contains(c.files, file) {
		return true
	}
	if slices.ContainsFunc(c.exclude, func(p string) bool { return matchesTSPattern(p, file) }) ||
		c.out != "" && c.out != "." && strings.HasPrefix(file, c.out+"/") {
		return false
	}
	if !c.hasInclude {
		return !c.hasFiles && below(path.Dir(c.name), file)
	}
	return slices.ContainsFunc(c.include, func(p string) bool { return matchesTSPattern(p, file) })
}

// matchesTSPattern matches as include does: a name without wildcards is a
// directory, or one file.
func matchesTSPattern(pattern, file string) bool {
	return pattern == file || below(pattern, file) || doublestar.MatchUnvalidated(pattern, file)
}

// plainJSON takes comments and trailing commas out of JSON, as configurations of
// TypeScript may have them.
func plainJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	comma := -1 // a comma in out that nothing has followed yet
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
			out = append(out, text[i:end]...)
			i, comma = end-1, -1
		case c == '/' && i+1 < len(text) && text[i+1] == '/':
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case c == '/' && i+1 < len(text) && text[i+1] == '*':
			if end := strings.Index(string(text[i+2:]), "*/"); end >= 0 {
				i += end + 3
			} else {
				i = len(text)
			}
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			out = append(out, c)
		case c == ',':
			comma = len(out)
			out = append(out, c)
		default:
			if comma >= 0 && (c == '}' || c == ']') {
				out[comma] = ' '
			}
			out, comma = append(out, c), -1
		}
	}
	return out
}

// tsProjects are the configurations that a TypeScript server finds for the files
// beside and below them, with those that they refer to.
func tsProjects(files *Files) []tsconfig {
	names := slices.Concat(files.Match("tsconfig.json"), files.Match("jsconfig.json"))
	var out []tsconfig
	seen := map[string]bool{}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		if seen[name] || strings.Contains("/"+name, "/node_modules/") {
			continue
		}
		seen[name] = true
		const chain = 8 // of configurations that extend each other
		if c := readTSConfig(files, name, chain); c.ok {
			out = append(out, c)
			names = append(names, c.references...)
		}
	}
	return out
}

// tsSources are the source files of the workspace, without what the compiler
// wrote.
func tsSources(files *Files, projects []tsconfig) []string {
	var out []string
	for _, l := range tsLanguages() {
		for _, pattern := range l.Patterns {
			out = append(out, files.Match(pattern)...)
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(file string) bool {
		return strings.Contains("/"+file, "/node_modules/") || slices.ContainsFunc(projects, func(c tsconfig) bool {
			return c.out != "" && c.out != "." && below(c.out, file)
		})
	})
}

// tsPrime returns a file of each project: a server knows of the projects only
// whose files are open, and of what those refer to, never of those that refer to
// them. Files of no project are each their own; those that import others of the
// workspace are opened too.
func tsPrime(files *Files) []string {
	projects := tsProjects(files)
	sources := tsSources(files, projects)
	var out, loose []string
	taken := map[string]bool{}
	for _, file := range sources {
		member := false
		for i := range projects {
			if c := &projects[i]; c.has(file) {
				member = true
				if !taken[c.name] && nearestConfig(projects, file) == path.Dir(c.name) {
					taken[c.name] = true
					out = append(out, file)
				}
			}
		}
		if !member && (len(projects) == 0 || slices.ContainsFunc(tsImports(files.Read(file)), isRelative)) {
			loose = append(loose, file)
		}
	}
	out = append(out, loose...)
	slices.Sort(out)
	return slices.Compact(out)
}

// nearestConfig is the directory of the configuration that a server looks at
// first for a file.
func nearestConfig(projects []tsconfig, file string) string {
	best := ""
	for i := range projects {
		if dir := path.Dir(projects[i].name); below(dir, file) && len(dir) >= len(best) {
			best = dir
		}
	}
	return best
}
