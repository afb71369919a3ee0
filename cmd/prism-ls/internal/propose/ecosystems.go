package propose

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// usual are the scripts and targets that check something, as people name them.
var usual = []string{
	"test", "tests", "unit", "check", "lint", "vet", "typecheck", "type-check", "types", "tsc", "build", "compile", "verify", "format-check", "fmt-check",
}

func (r *Root) golang() []Check {
	if _, ok := r.read("go.mod"); !ok && !r.has("go.work") {
		return nil
	}
	from := "go.mod"
	return []Check{
		{Name: "go-build", File: "go", Args: []string{"build", "./..."}, Parser: "go", From: from},
		{Name: "go-vet", File: "go", Args: []string{"vet", "./..."}, Parser: "go", From: from},
		{Name: "go-test", File: "go", Args: []string{"test", "./..."}, Parser: "go", From: from},
	}
}

// managers are package managers by the lock file that each leaves.
var managers = []struct{ lock, program string }{
	{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"}, {"package-lock.json", "npm"},
}

func (r *Root) node() []Check {
	text, ok := r.read("package.json")
	if !ok {
		return nil
	}
	var described struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal(text, &described) != nil {
		return nil
	}
	program := "npm"
	for _, m := range managers {
		if r.has(m.lock) {
			program = m.program
			break
		}
	}
	var list []Check
	for _, name := range usual {
		script, ok := described.Scripts[name]
		if !ok {
			continue
		}
		c := Check{Name: name, File: program, Args: []string{"run", name}, From: "package.json, script " + name}
		switch words := strings.Fields(script); {
		case slices.Contains(words, "tsc") || slices.Contains(words, "vue-tsc"):
			c.Parser = "tsc"
		case len(words) > 0 && words[0] == "eslint" && !strings.ContainsAny(script, "&|;"):
			c.Parser = "eslint-json"
			if program == "npm" {
				c.Args = append(c.Args, "--")
			}
			c.Args = append(c.Args, "--format", "json")
		}
		list = append(list, c)
	}
	return list
}

func (r *Root) python() []Check {
	text, ok := r.read("pyproject.toml")
	if !ok {
		return nil
	}
	var described struct {
		Tool map[string]any `toml:"tool"`
	}
	if _, err := toml.Decode(string(text), &described); err != nil {
		return nil
	}
	var list []Check
	for _, tool := range []struct {
		name string
		Check
	}{
		{"pytest", Check{Name: "pytest", File: "pytest", Args: []string{"-q"}}},
		{"mypy", Check{Name: "mypy", File: "mypy", Args: []string{"--show-column-numbers", "--no-error-summary", "."}, Parser: "gcc"}},
		{"ruff", Check{Name: "ruff", File: "ruff", Args: []string{"check", "--output-format", "sarif"}, Parser: "sarif"}},
		{"pyright", Check{Name: "pyright", File: "pyright"}},
	} {
		if _, there := described.Tool[tool.name]; there {
			tool.From = "pyproject.toml, [tool." + tool.name + "]"
			list = append(list, tool.Check)
		}
	}
	return list
}

func (r *Root) rust() []Check {
	if _, ok := r.read("Cargo.toml"); !ok {
		return nil
	}
	return []Check{
		{Name: "cargo-check", File: "cargo", Args: []string{"check", "--all-targets", "--message-format", "short"}, Parser: "gcc", From: "Cargo.toml"},
		{Name: "cargo-test", File: "cargo", Args: []string{"test"}, From: "Cargo.toml"},
	}
}

// makefile finds the usual targets: names before a colon at the start of a line (GNU
// make manual, "Rule Syntax"), not of an assignment.
func (r *Root) makefile() []Check {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} { // as make looks for them
		text, ok := r.read(name)
		if !ok {
			continue
		}
		found := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			targets, rest, isRule := strings.Cut(line, ":")
			if !isRule || strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, ":=") || strings.ContainsAny(targets, "\t#=$%") {
				continue
			}
			for _, target := range strings.Fields(targets) {
				found[target] = true
			}
		}
		var list []Check
		for _, target := range usual {
			if found[target] {
				list = append(list, Check{Name: "make-" + target, File: "make", Args: []string{target}, From: name + ", target " + target})
			}
		}
		return list
	}
	return nil
}
