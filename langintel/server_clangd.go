package langintel

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// clangd serves C, C++, Objective-C and CUDA. What it knows of a project it has
// from compile_commands.json.
func clangd() Spec {
	return Spec{
		Name: "clangd", Title: "clangd",
		Languages: []Language{
			{ID: "cpp", Patterns: []string{"*.cc", "*.cpp", "*.cxx", "*.c++", "*.h", "*.hh", "*.hpp", "*.hxx", "*.h++", "*.ipp", "*.tpp", "*.inl", "*.cppm", "*.ixx"}},
			{ID: "c", Patterns: []string{"*.c"}},
			{ID: "objective-c", Patterns: []string{"*.m"}},
			{ID: "objective-cpp", Patterns: []string{"*.mm"}},
			{ID: "cuda-cpp", Patterns: []string{"*.cu", "*.cuh"}},
		},
		// It finds nested compilation databases by itself.
		Roots:   []string{"compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt"},
		Program: "clangd",
		// Debian and LLVM's own packages install it under the version's name only.
		Aliases: []string{"clangd-22", "clangd-21", "clangd-20", "clangd-19", "clangd-18", "clangd-17", "clangd-16", "clangd-15", "clangd-14"},
		Install: &Install{System: []string{"clangd"}},
		Args: []string{
			// What references and renames across files are answered from. It is kept in
			// .cache/clangd beside compile_commands.json.
			"--background-index",
			// Less than all of either would look like all: by itself it stops at 1000
			// references and 100 symbols.
			"--limit-references=0", "--limit-results=500",
			// Headers that it adds by itself would be changes that nobody asked for.
			"--header-insertion=never",
			// Its log would crowd a crash's last words out.
			"--log=error",
		},
		InitOptions: func(Project) (jsontext.Value, error) {
			return jsontext.Value(`{"clangdFileStatus":true}`), nil // see Rebuild
		},
		Prime:        clangdPrime,
		EditCommands: []string{"clangd.applyFix", "clangd.applyTweak", "clangd.applyRename"},
		Ready:        Indexed(AfterIndex("backgroundIndexProgress")),
		Fresh:        Rebuild(),
		Incomplete:   clangdIncomplete,
		Degraded:     clangdIncomplete,
		Dependents:   cppDependents,
		MaxSymbols:   500, // --limit-results
	}
}

// databases are what compilation databases are called; clangd looks for them in a
// file's directory, those above it, and a directory build in each.
func databases(files *Files) []string { return files.Match("compile_commands.json") }

// clangdIncomplete says why clangd does not know all files of a project.
func clangdIncomplete(p Project) string {
	if len(databases(p.Files)) > 0 {
		return ""
	}
	return "there is no compile_commands.json, so it knows the files that are open, and guesses how they are compiled; " +
		"cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON writes one, and so does bear -- make"
}

// clangdPrime returns a source file below each compilation database: it loads a
// project when a document of it is opened.
func clangdPrime(files *Files) []string {
	var out []string
	for _, name := range databases(files) {
		dir := path.Dir(name)
		if path.Base(dir) == "build" {
			dir = path.Dir(dir)
		}
		i := slices.IndexFunc(files.all, func(f string) bool { return below(dir, f) && cppSource(f) })
		if i >= 0 {
			out = append(out, files.all[i])
		}
	}
	return out
}

func below(dir, name string) bool { return dir == "." || strings.HasPrefix(name, dir+"/") }

// cppSource reports whether a file is compiled by itself.
func cppSource(name string) bool {
	switch path.Ext(name) {
	case ".c", ".cc", ".cpp", ".cxx", ".c++", ".m", ".mm", ".cu":
		return true
	}
	return false
}

// cppFile reports whether a file is of a language with #include.
func cppFile(name string) bool {
	if cppSource(name) {
		return true
	}
	switch path.Ext(name) {
	case ".h", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".tpp", ".inl", ".inc", ".def", ".cuh", ".cppm", ".ixx":
		return true
	}
	return false
}

// cppDependents returns the changed files and those that include one of them,
// directly or through others, nearest first. Include paths are not known: a name
// stands for every file that ends with it, since too many is harmless.
func cppDependents(files *Files, changed []string) []string {
	wanted := map[string]map[string][]string{} // base name → what is included → by which files
	for _, name := range files.all {
		if !cppFile(name) {
			continue
		}
		for _, included := range cppIncludes(files.Read(name)) {
			base := path.Base(included)
			if wanted[base] == nil {
				wanted[base] = map[string][]string{}
			}
			wanted[base][included] = append(wanted[base][included], name)
		}
	}
	seen := map[string]bool{}
	queue := slices.DeleteFunc(slices.Clone(changed), func(name string) bool { return !cppFile(name) })
	for _, name := range queue {
		seen[name] = true
	}
	for i := 0; i < len(queue); i++ {
		var next []string
		for included, by := range wanted[path.Base(queue[i])] {
			if queue[i] == included || strings.HasSuffix(queue[i], "/"+included) {
				next = append(next, by...)
			}
		}
		slices.Sort(next)
		for _, name := range next {
			if !seen[name] {
				seen[name] = true
				queue = append(queue, name)
			}
		}
	}
	return queue
}

// cppIncludes returns what a file includes, without leading "./" and "../".
func cppIncludes(source []byte) []string {
	var out []string
	for line := range bytes.Lines(source) {
		rest, ok := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), []byte("#"))
		if !ok {
			continue
		}
		rest = bytes.TrimLeft(rest, " \t")
		if rest, ok = bytes.CutPrefix(rest, []byte("in")); !ok {
			if rest, ok = bytes.CutPrefix(rest, []byte("im")); !ok {
				continue
			}
		}
		open := bytes.IndexAny(rest, `"<`)
		if open < 0 {
			continue
		}
		end := bytes.IndexAny(rest[open+1:], `">`)
		if end < 0 {
			continue
		}
		name := path.Clean(string(rest[open+1 : open+1+end]))
		for strings.HasPrefix(name, "../") {
			name = name[3:]
		}
		out = append(out, name)
	}
	return out
}
