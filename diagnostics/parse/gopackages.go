package parse

import (
	"path"
	"strings"
)

// goPackages finds the directories of packages by their import paths: tests name
// files without one.
type goPackages struct {
	in      *Input
	modules []goModule // nil until they are needed
	looked  bool
}

// goModule is a module of the workspace. Its dir is relative to the root.
type goModule struct{ path, dir string }

// maxModules bounds how many go.mod files are read.
const maxModules = 200

func newGoPackages(in *Input) *goPackages { return &goPackages{in: in} }

// file returns a file of a package as a path relative to where the check ran, or
// absolute: below the module that holds the package, else as it was given.
func (p *goPackages) file(pkg, name string) string {
	if path.IsAbs(name) || strings.Contains(name, "/") || pkg == "" {
		return name
	}
	if !p.looked {
		p.look()
	}
	best := goModule{}
	for _, m := range p.modules {
		if (pkg == m.path || strings.HasPrefix(pkg, m.path+"/")) && len(m.path) > len(best.path) {
			best = m
		}
	}
	if best.path == "" {
		return name
	}
	return path.Join(strings.TrimSuffix(p.in.Root, "/")+"/"+best.dir, strings.TrimPrefix(pkg, best.path), name)
}

// look reads the go.mod that holds for the directory of the run, and those that a
// go.work there lists.
func (p *goPackages) look() {
	p.looked = true
	if p.in.Content == nil {
		return
	}
	dir := path.Clean(p.in.Dir)
	for haveModule, haveWork := false, false; ; dir = path.Dir(dir) {
		if !haveModule {
			haveModule = p.module(dir)
		}
		if text, ok := p.in.Content(path.Join(dir, "go.work")); ok && !haveWork {
			haveWork = true
			for _, use := range directives(string(text), "use") {
				if !path.IsAbs(use) && len(p.modules) < maxModules {
					p.module(path.Join(dir, use))
				}
			}
		}
		if dir == "." {
			return
		}
	}
}

func (p *goPackages) module(dir string) bool {
	text, ok := p.in.Content(path.Join(dir, "go.mod"))
	if !ok {
		return false
	}
	if names := directives(string(text), "module"); len(names) > 0 {
		p.modules = append(p.modules, goModule{names[0], dir})
	}
	return true
}

// directives returns the first argument of each line of a directive in a go.mod or
// go.work file, factored into a block or not (Go Modules Reference, "go.mod files").
func directives(text, name string) []string {
	var list []string
	block := false
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case block && fields[0] == ")":
			block = false
		case block:
			list = append(list, strings.Trim(fields[0], "\"`"))
		case fields[0] == name && len(fields) > 1 && fields[1] == "(":
			block = true
		case fields[0] == name && len(fields) > 1:
			list = append(list, strings.Trim(fields[1], "\"`"))
		}
	}
	return list
}
