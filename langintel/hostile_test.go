package langintel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools/child"
)

// hostile is a workspace that tries to have its own code run in every way that a
// language server knows of. Each way leaves a mark of its own.
type hostile struct {
	t     testing.TB
	root  string
	marks string
}

func newHostile(t testing.TB) *hostile {
	h := &hostile{t: t, root: t.TempDir(), marks: t.TempDir()}
	h.sources()
	h.node()
	h.python()
	h.native()
	h.others()
	h.programs()
	return h
}

func (h *hostile) file(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	mode := os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		h.t.Fatal(err)
	}
}

// script, javaScript and python are programs that leave a mark.
func (h *hostile) script(mark string) string {
	return fmt.Sprintf("#!/bin/sh\n/usr/bin/touch '%s/%s'\nexit 1\n", h.marks, mark)
}

func (h *hostile) javaScript(mark string) string {
	return fmt.Sprintf("require('fs').writeFileSync(%q, '');\nmodule.exports = {};\n", filepath.Join(h.marks, mark))
}

func (h *hostile) module(mark string) string {
	return fmt.Sprintf("import fs from 'node:fs';\nfs.writeFileSync(%q, '');\nexport default {};\n", filepath.Join(h.marks, mark))
}

// ran lists the marks, and takes them away.
func (h *hostile) ran() []string {
	h.t.Helper()
	entries, err := os.ReadDir(h.marks)
	if err != nil {
		h.t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
		if err := os.Remove(filepath.Join(h.marks, e.Name())); err != nil {
			h.t.Fatal(err)
		}
	}
	return out
}

// sources are a file or two of each language.
func (h *hostile) sources() {
	for name, text := range map[string]string{
		"main.go": "package main\n\nfunc main() { helper() }\n\nfunc helper() {}\n", "app.templ": "package main\n\ntempl hello() {\n\t<p>hi</p>\n}\n",
		"src/a.ts": "import { b } from './b';\nexport const a: number = b;\n", "src/b.ts": "export const b = 1;\n",
		"src/c.js": "const c = 1;\nmodule.exports = c;\n", "src/d.tsx": "export const d = 1;\n",
		"src/App.svelte": "<script lang=\"ts\">\n  let name: string = 'x';\n</script>\n<h1>{name}</h1>\n<style lang=\"scss\">h1 { color: red }</style>\n",
		"src/App.vue":    "<script setup lang=\"ts\">\nconst a = 1\n</script>\n", "src/App.astro": "---\nconst a = 1;\n---\n<p>{a}</p>\n",
		"app.py": "import helper\n\ndef f() -> int:\n    return helper.g()\n", "helper.py": "def g() -> int:\n    return 1\n",
		"src/main.rs": "use hostile_macro::evil;\n\nevil!();\n\nfn main() {}\n",
		"main.c":      "#include \"a.h\"\nint main(void) { return a(); }\n", "a.h": "int a(void);\n", "main.cpp": "int main() { return 0; }\n",
		"run.sh": "#!/bin/bash\nf() { echo hi; }\nf\n", "conf.yaml": "# yaml-language-server: $schema=./schema.json\na: 1\n", "data.json": "{\"a\": 1}\n",
		"index.html": "<html><body><script>let a = 1</script></body></html>\n", "style.css": "a { color: red }\n",
		"index.php": "<?php\nfunction f() { return 1; }\nf();\n", "Dockerfile": "FROM scratch\n", "api.proto": "syntax = \"proto3\";\nmessage A {}\n",
		"schema.prisma":  "generator client {\n  provider = \"./evil.sh\"\n}\n\ndatasource db {\n  provider = \"sqlite\"\n  url = \"file:x\"\n}\n\nmodel A {\n  id Int @id\n}\n",
		"schema.graphql": "type Query { a: Int }\n", "conf.toml": "a = 1\n", "code.f90": "program p\nend program p\n", "script.lua": "local a = 1\nprint(a)\n",
		"Main.java": "class Main {}\n", "main.rb": "def f = 1\n", "main.zig": "pub fn main() void {}\n", "doc.md": "# Title\n", "main.tf": "variable \"a\" {}\n",
	} {
		h.file(name, text)
	}
}

// programs are impostors under the names of servers, and of what they run.
func (h *hostile) programs() {
	names := []string{"node", "npm", "tsserver", "eslint", "prettier", "shellcheck", "shfmt", "cargo", "rustc", "rustup", "clang", "cc", "go", "gopls", "php", "python", "python3", "terraform", "java", "git"}
	for _, s := range langintel.Catalogue() {
		names = append(append(names, s.Program), s.Aliases...)
	}
	for _, dir := range []string{"node_modules/.bin", ".venv/bin", "bin", "vendor/bin"} {
		for _, name := range names {
			h.file(dir+"/"+name, h.script("program-"+name))
		}
	}
	for _, s := range langintel.Catalogue() {
		for _, local := range s.Local {
			h.file(local, h.script("local-"+filepath.Base(local)))
		}
		// Of every language something.
		for _, name := range append([]string{s.Languages[0].Patterns[0]}, s.Roots[:min(1, len(s.Roots))]...) {
			if name = strings.ReplaceAll(name, "*", "any"); len(h.matches(name)) == 0 {
				h.file(name, "\n")
			}
		}
	}
}

func (h *hostile) matches(pattern string) []string {
	list, err := filepath.Glob(filepath.Join(h.root, pattern))
	if err != nil {
		h.t.Fatal(err)
	}
	return list
}

// node is what servers of JavaScript load from a project.
func (h *hostile) node() {
	plugins := `"plugins": [{"name": "evil-plugin"}, {"name": "./evil-plugin.js"}, {"name": "../evil-plugin.js"}]`
	h.file("tsconfig.json", `{"compilerOptions": {"allowJs": true, `+plugins+`}, "vueCompilerOptions": {"plugins": ["./evil-plugin.js"]}}`)
	h.file("jsconfig.json", `{"compilerOptions": {`+plugins+`}}`)
	h.file("package.json", `{"name": "hostile", "dependencies": {"typescript": "*", "svelte": "*"}, "eslintConfig": {"extends": "./.eslintrc.js"}, "prettier": "evil-plugin", "biome": {}}`)
	h.file("package-lock.json", `{"name": "hostile", "lockfileVersion": 3}`)
	for _, name := range []string{"evil-plugin.js", "src/evil-plugin.js", ".eslintrc.js", ".prettierrc.js", "svelte.config.js", "tailwind.config.js", ".pnp.cjs", "graphql.config.js", "vite.config.js", "node_modules/evil-plugin/index.js"} {
		h.file(name, h.javaScript(strings.ReplaceAll(name, "/", "_")))
	}
	for _, name := range []string{"eslint.config.mjs", ".prettierrc.mjs", "svelte.config.mjs", ".pnp.loader.mjs", "astro.config.mjs"} {
		h.file(name, h.module(name))
	}
	h.file("biome.json", `{"plugins": ["./evil.grit"], "linter": {"enabled": true}}`)
	for name, main := range map[string]string{
		"typescript": "lib/typescript.js", "eslint": "lib/api.js", "prettier": "index.cjs", "svelte": "compiler.cjs", "svelte-preprocess": "index.js",
		"prettier-plugin-svelte": "plugin.js", "sass": "sass.js", "typescript-language-server": "lib/cli.mjs", "@astrojs/compiler": "index.js", "@biomejs/biome": "bin/biome",
	} {
		h.file("node_modules/"+name+"/package.json", fmt.Sprintf(`{"name": %q, "version": "5.9.9", "main": %q}`, name, main))
		h.file("node_modules/"+name+"/"+main, h.javaScript("module-"+strings.ReplaceAll(name, "/", "_")))
	}
	for _, name := range []string{"tsserver.js", "_tsserver.js", "tsserverlibrary.js", "tsc.js", "typingsInstaller.js"} {
		h.file("node_modules/typescript/lib/"+name, h.javaScript("typescript-"+name))
	}
	h.file("node_modules/eslint/lib/unsupported-api.js", h.javaScript("module-eslint-unsupported"))
	h.file(".vscode/settings.json", `{"typescript.tsdk": "node_modules/typescript/lib", "eslint.nodePath": "node_modules", "rust-analyzer.server.path": "bin/rust-analyzer", "python.defaultInterpreterPath": ".venv/bin/python"}`)
}

// python is an interpreter of the project's own.
func (h *hostile) python() {
	h.file("pyrightconfig.json", `{"venvPath": ".", "venv": ".venv", "pythonPath": "./.venv/bin/python"}`)
	h.file("pyproject.toml", "[tool.pyright]\nvenvPath = \".\"\nvenv = \".venv\"\n\n[tool.pylsp]\nplugins = []\n")
	h.file(".venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11\n")
	for _, dir := range []string{".venv/lib/python3.11/site-packages/", ""} {
		h.file(dir+"sitecustomize.py", fmt.Sprintf("open(%q, 'w')\n", filepath.Join(h.marks, "sitecustomize.py")))
	}
	h.file(".venv/lib/python3.11/site-packages/evil.pth", fmt.Sprintf("import os; open(%q, 'w')\n", filepath.Join(h.marks, "evil.pth")))
}

// native is a toolchain, a compiler and build scripts.
func (h *hostile) native() {
	h.file("rust-toolchain.toml", "[toolchain]\npath = \""+filepath.ToSlash(filepath.Join(h.root, "toolchain"))+"\"\n")
	for _, name := range []string{"cargo", "rustc", "rust-analyzer", "rustdoc", "rustfmt"} {
		h.file("toolchain/bin/"+name, h.script("toolchain-"+name))
	}
	h.file(".cargo/config.toml", "[build]\nrustc = \"./evil.sh\"\nrustc-wrapper = \"./evil.sh\"\nrustc-workspace-wrapper = \"./evil.sh\"\n\n[target.'cfg(all())']\nrunner = \"./evil.sh\"\nlinker = \"./evil.sh\"\n\n[alias]\ncheck = \"run\"\n")
	h.file("evil.sh", h.script("evil.sh"))
	h.file("Cargo.toml", "[package]\nname = \"hostile\"\nversion = \"0.1.0\"\nedition = \"2021\"\nbuild = \"build.rs\"\n\n[dependencies]\nhostile_macro = { path = \"hostile_macro\" }\n")
	h.file("build.rs", fmt.Sprintf("fn main() { let _ = std::fs::write(%q, \"\"); }\n", filepath.Join(h.marks, "build.rs")))
	h.file("hostile_macro/Cargo.toml", "[package]\nname = \"hostile_macro\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[lib]\nproc-macro = true\n")
	h.file("hostile_macro/src/lib.rs", fmt.Sprintf("use proc_macro::TokenStream;\n\n#[proc_macro]\npub fn evil(_: TokenStream) -> TokenStream {\n    let _ = std::fs::write(%q, \"\");\n    TokenStream::new()\n}\n", filepath.Join(h.marks, "proc_macro")))
	h.file("rust-analyzer.toml", "[cargo.buildScripts]\noverrideCommand = [\"./evil.sh\"]\n\n[check]\noverrideCommand = [\"./evil.sh\"]\n\n[rustfmt]\noverrideCommand = [\"./evil.sh\"]\n\n[procMacro]\nserver = \"./evil.sh\"\n")
	h.file(".clangd", "CompileFlags:\n  Compiler: "+filepath.Join(h.root, "evil.sh")+"\n  Add: [-fplugin=./evil.so]\n")
	command, err := json.Marshal([]map[string]any{
		{"directory": h.root, "file": "main.c", "arguments": []string{filepath.Join(h.root, "evil.sh"), "-c", "main.c"}},
		{"directory": h.root, "file": "main.cpp", "arguments": []string{filepath.Join(h.root, "bin", "clang"), "-fplugin=./evil.so", "-c", "main.cpp"}},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.file("compile_commands.json", string(command))
	h.file("go.mod", "module example.com/hostile\n\ngo 1.24\n\ntoolchain go1.99.9\n\ntool golang.org/x/tools/gopls\n")
	h.file(".envrc", h.script("envrc"))
}

// others have a configuration that is a program, or names one.
func (h *hostile) others() {
	h.file(".bashrc", h.script("bashrc"))
	h.file(".shellcheckrc", "external-sources=true\n")
	h.file("vendor/autoload.php", fmt.Sprintf("<?php file_put_contents(%q, '');\n", filepath.Join(h.marks, "autoload.php")))
	h.file("composer.json", `{"name": "a/b", "autoload": {"files": ["vendor/autoload.php"]}}`)
	h.file(".phpactor.json", `{"language_server_phpstan.bin": "./evil.sh"}`)
	h.file("buf.yaml", "version: v2\nplugins:\n  - plugin: ./evil.sh\n")
	h.file("build.zig", "pub fn build() void {}\n")
	h.file("Gemfile", fmt.Sprintf("File.write(%q, '')\n", filepath.Join(h.marks, "Gemfile")))
	h.file(".luarc.json", `{"runtime.plugin": "./evil.lua", "workspace.library": ["."]}`)
	h.file("evil.lua", fmt.Sprintf("io.open(%q, 'w')\n", filepath.Join(h.marks, "evil.lua")))
	h.file(".fortls", `{"pp_suffixes": [".f90"], "incremental_sync": true}`)
	h.file("tombi.toml", "[lint]\n")
	h.file(".taplo.toml", "include = [\"*.toml\"]\n")
	h.file("schema.json", `{"type": "object"}`)
	h.file("build.gradle", "println 'evil'\n")
}

// env has the servers of the tests, and before them what the workspace brings.
func (h *hostile) env() []string {
	var dirs []string
	for _, dir := range []string{"node_modules/.bin", ".venv/bin", "bin", "vendor/bin", "toolchain/bin"} {
		dirs = append(dirs, filepath.Join(h.root, filepath.FromSlash(dir)))
	}
	dirs = append(dirs, "node_modules/.bin", ".")
	path := ""
	for _, entry := range serverEnv(h.t) {
		if rest, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = rest
		}
	}
	return child.Environment(os.Environ(), map[string]string{
		"PATH": strings.Join(dirs, ":") + ":" + path, "VIRTUAL_ENV": filepath.Join(h.root, ".venv"),
	})
}

// ask has a server do what makes it load a project.
func ask(b *bench, file string) (failed error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	_, failed = b.Symbols(ctx, langintel.SymbolsQuery{Path: file})
	for _, err := range []error{
		second(b.Diagnostics(ctx, langintel.DiagnosticsQuery{Path: file})),
		second(b.Hover(ctx, langintel.Place{Path: file, Line: 1, Column: 1})),
		second(b.Symbols(ctx, langintel.SymbolsQuery{Query: "main"})),
	} {
		if failed == nil {
			failed = err
		}
	}
	return failed
}

func second[T any](_ T, err error) error { return err }

// Nothing of a workspace that nobody trusts runs, whichever server looks at it.
// Those of the test components are really started.
func TestUntrustedWorkspaceRunsNothing(t *testing.T) {
	t.Parallel()
	h := newHostile(t)
	env := h.env()
	started := 0
	for _, spec := range langintel.Catalogue() {
		t.Run(spec.Name, func(t *testing.T) {
			b := open(t, h.root, &langintel.Options{Env: env, Servers: []langintel.Spec{spec}})
			info := b.info()
			if !info.Present {
				t.Fatal("there is no file of its languages in the hostile workspace")
			}
			file := h.fileOf(&spec)
			err := ask(b, file)
			if info.Missing == "" {
				started++
				if err != nil {
					t.Errorf("%s, asked about %s: %v", info.Program, file, err)
				}
			} else if err == nil && !spec.Lint {
				t.Errorf("it answered, and should be missing: %s", info.Missing)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			if marks := h.ran(); len(marks) > 0 {
				t.Errorf("%s (%s) ran the workspace's %q", spec.Name, info.Program, marks)
			}
			t.Logf("%s (%s): %s%v", info.Program, info.From, info.Missing, err)
		})
	}
	if started < 3 {
		t.Errorf("only %d servers were really started", started)
	}
}

// fileOf returns a file that a server serves.
func (h *hostile) fileOf(spec *langintel.Spec) string {
	var found []string
	for _, l := range spec.Languages {
		for _, p := range l.Patterns {
			for _, dir := range []string{"", "src"} {
				found = append(found, h.matches(filepath.Join(dir, p))...)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b string) int { return strings.Count(b, ".") - strings.Count(a, ".") })
	if len(found) == 0 {
		h.t.Fatalf("no file for %s", spec.Name)
	}
	rel, err := filepath.Rel(h.root, found[len(found)-1])
	if err != nil {
		h.t.Fatal(err)
	}
	return filepath.ToSlash(rel)
}

// The traps work: where the workspace is trusted, they are stepped into.
func TestTrustedWorkspaceRunsItsOwn(t *testing.T) {
	t.Parallel()
	h := newHostile(t)
	env := serverEnv(t)
	for _, spec := range langintel.Catalogue() {
		want := "local-"
		switch spec.Name {
		default:
			continue
		case "dockerfile":
		case "svelte":
			// Its own server, and the project's configuration.
			spec.Local, want = nil, "svelte.config"
		case "eslint":
			spec.Local, want = nil, "module-eslint"
		case "rust-analyzer":
			spec.Local, want = nil, "evil.sh"
		}
		b := open(t, h.root, &langintel.Options{Env: env, Trusted: true, Servers: []langintel.Spec{spec}})
		err := ask(b, h.fileOf(&spec))
		if marks := h.ran(); !slices.ContainsFunc(marks, func(m string) bool { return strings.HasPrefix(m, want) }) {
			t.Errorf("%s ran %q, want %s…; %v", spec.Name, marks, want, err)
		}
	}
}
