package langintel

import (
	"bufio"
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// rustAnalyzer serves Rust. It loads a project with cargo, finds some problems by
// itself and has cargo check find the others.
func rustAnalyzer() Spec {
	return Spec{
		Name: "rust-analyzer", Title: "rust-analyzer",
		Languages: []Language{{ID: "rust", Patterns: []string{"*.rs"}}},
		Roots:     []string{"Cargo.toml", "rust-project.json"},
		MultiRoot: true, // it does not look for projects deeper than one directory down
		Program:   "rust-analyzer",
		// rustup puts a stand-in into PATH, which fails where the component is missing.
		Probe:   []string{"--version"},
		Install: &Install{System: []string{"rust-web-analyzer", "rust-web-src"}},
		Environment: func(trusted bool) map[string]string {
			if trusted {
				return nil
			}
			return map[string]string{
				// A repository's .cargo/config.toml can name the compiler, and programs
				// that run it; these stand above it.
				"RUSTC": "rustc", "RUSTC_WRAPPER": "", "RUSTC_WORKSPACE_WRAPPER": "",
				// It can name registries too, to which cargo would speak, with credentials
				// that it has for them.
				"CARGO_NET_OFFLINE": "true",
				// rust-toolchain.toml can name a directory with a toolchain, or one to
				// download; this stands above it.
				"RUSTUP_TOOLCHAIN": "stable", "RUSTUP_AUTO_INSTALL": "0",
			}
		},
		Section:   "rust-analyzer",
		Configure: rustSettings,
		Ready:     Quiescent(),
		Fresh: Flycheck(FlycheckOptions{
			Request: "rust-analyzer/runFlycheck", Token: "rust-analyzer/flycheck", Source: "rustc",
			Checks:  func(p Project) bool { return p.Trusted },
			Blocked: rustBlocked,
		}),
		Degraded:   rustDegraded,
		Dependents: rustDependents,
		MaxSymbols: rustSymbols,
	}
}

// rustSymbols is how many workspace symbols are asked for; by itself it stops at
// 128.
const rustSymbols = 500

func rustDegraded(p Project) string {
	if p.Trusted {
		return ""
	}
	return "the workspace is not trusted: build scripts, procedural macros and cargo check do not run, and nothing is downloaded"
}

// rustSettings are rust-analyzer's, for one project.
func rustSettings(p Project) (jsontext.Value, error) {
	type object = map[string]any // the server's own tree of settings
	cargo := object{
		// Build scripts are programs of the workspace and of what it depends on.
		"buildScripts": object{"enable": p.Trusted},
		// A directory of its own: with cargo's, a build of somebody else and the
		// server's would wait for each other.
		"targetDir": true,
	}
	if dir := rustLibrary(p); dir != "" {
		cargo["sysrootSrc"] = dir
	}
	return json.Marshal(object{
		"cargo":     cargo,
		"procMacro": object{"enable": p.Trusted},
		// Runs are asked for when somebody wants to know, not after each save.
		"checkOnSave": false,
		// What nobody asks about need not be computed before the first answer.
		"cachePriming": object{"enable": false},
		"workspace":    object{"symbol": object{"search": object{"kind": "all_symbols", "limit": rustSymbols}}},
	})
}

// rustLibrary makes a directory that is like the toolchain's library sources but
// for the manifest, and returns it; "" where the sources are all right as they
// are. Distributions ship the sources with the crates that they use, but without
// telling cargo so: it would look for them in the network, and without an answer
// the server knows none of the standard library's macros, and nothing that is
// written inside them. Without a manifest it takes the crates as they lie there.
func rustLibrary(p Project) string {
	rustc := p.Command("rustc")
	if rustc == "" || p.Cache == "" {
		return ""
	}
	library := filepath.Join(filepath.Dir(filepath.Dir(rustc)), "lib", "rustlib", "src", "rust", "library")
	real, err := filepath.EvalSymlinks(library)
	if err != nil {
		return ""
	}
	if _, err := os.Stat(filepath.Join(real, "vendor")); err != nil {
		return ""
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		return ""
	}
	dir := filepath.Join(p.Cache, "library-"+path.Base(filepath.ToSlash(filepath.Dir(real))))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return ""
	}
	for _, entry := range entries {
		if !entry.IsDir() || entry.Name() == "vendor" {
			continue
		}
		if err := os.Symlink(filepath.Join(real, entry.Name()), filepath.Join(dir, entry.Name())); err != nil && !os.IsExist(err) {
			return ""
		}
	}
	return dir
}

// crates are the packages of a workspace.
type crates struct {
	names map[string]string   // directory → name
	needs map[string][]string // directory → names that its manifest mentions as dependencies
}

func rustCrates(files *Files) *crates {
	out := &crates{names: map[string]string{}, needs: map[string][]string{}}
	for _, manifest := range files.Match("Cargo.toml") {
		name, needs := parseManifest(files.Read(manifest))
		if name != "" {
			out.names[path.Dir(manifest)], out.needs[path.Dir(manifest)] = name, needs
		}
	}
	return out
}

// of returns the directory of the package that a file belongs to; "" if none.
func (c *crates) of(file string) string {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if c.names[dir] != "" {
			return dir
		}
		if dir == "." || dir == "/" {
			return ""
		}
	}
}

// users returns the directories of packages and of all that depend on them,
// nearest first.
func (c *crates) users(dirs []string) []string {
	queue := slices.Clone(dirs)
	for i := 0; i < len(queue); i++ {
		var next []string
		for dir, needs := range c.needs {
			if slices.Contains(needs, c.names[queue[i]]) && !slices.Contains(queue, dir) {
				next = append(next, dir)
			}
		}
		slices.Sort(next)
		queue = append(queue, next...)
	}
	return queue
}

// parseManifest reads a package's name and the names of what it depends on from
// Cargo.toml (the Cargo Book, "Specifying Dependencies"), line by line: too many
// is harmless.
func parseManifest(manifest []byte) (name string, needs []string) {
	section := ""
	lines := bufio.NewScanner(bytes.NewReader(manifest))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if header, ok := strings.CutPrefix(line, "["); ok {
			section = strings.Trim(strings.TrimRight(header, "] "), "[ ")
			if at := strings.LastIndex(section, "dependencies."); at >= 0 {
				needs = append(needs, strings.Trim(section[at+len("dependencies."):], `"' `))
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.Trim(key, `"' `), strings.TrimSpace(value)
		switch {
		case !ok || strings.HasPrefix(line, "#"):
		case section == "package" && key == "name":
			name = strings.Trim(value, `"' `)
		case strings.HasSuffix(section, "dependencies"):
			key, _, _ = strings.Cut(key, ".") // serde.workspace = true
			needs = append(needs, key)
			fallthrough
		default:
			if _, renamed, ok := strings.Cut(line, "package"); ok && strings.Contains(section, "dependencies") {
				if parts := strings.SplitN(renamed, `"`, 3); len(parts) == 3 {
					needs = append(needs, parts[1])
				}
			}
		}
	}
	return name, needs
}

// rustDependents returns the files of the changed files' packages and of those
// that depend on them.
func rustDependents(files *Files, changed []string) []string {
	crates := rustCrates(files)
	var dirs []string
	for _, name := range changed {
		if base := path.Base(name); path.Ext(name) != ".rs" && base != "Cargo.toml" && base != "Cargo.lock" {
			continue
		}
		if dir := crates.of(name); dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	byCrate := map[string][]string{}
	for _, name := range files.Match("*.rs") {
		dir := crates.of(name)
		byCrate[dir] = append(byCrate[dir], name)
	}
	var out []string
	for _, dir := range crates.users(dirs) {
		out = append(out, byCrate[dir]...)
	}
	return out
}

// rustBlocked says that cargo did not check a file's package, because one that it
// depends on has errors.
func rustBlocked(files *Files, file string, failing []string) string {
	if len(failing) == 0 {
		return ""
	}
	crates := rustCrates(files)
	own := crates.of(file)
	for _, name := range failing {
		dir := crates.of(name)
		if dir != "" && dir != own && slices.Contains(crates.users([]string{dir}), own) {
			return "cargo check did not get to it: there are errors in " + name + ", which it depends on"
		}
	}
	return ""
}
