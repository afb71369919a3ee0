package langintel_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prism-ls/prism-ls/langintel"
)

// pinned is an npm package at one version: no range, no tag.
var pinned = regexp.MustCompile(`^(@[a-z0-9.-]+/)?[a-z0-9.-]+@\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// The catalogue is data; this is its grammar.
func TestCatalogue(t *testing.T) {
	groups := map[string][]langintel.Spec{}
	names := map[string]bool{}
	list := langintel.Catalogue()
	for _, s := range list {
		if s.Name == "" || names[s.Name] || s.Name != strings.ToLower(s.Name) {
			t.Errorf("%q: names are unique and in lower case", s.Name)
		}
		names[s.Name] = true
		if s.Group != "" {
			groups[s.Group] = append(groups[s.Group], s)
		}
		checkSpec(t, &s)
	}
	for name, members := range groups {
		for _, s := range members[1:] {
			if !slices.ContainsFunc(patterns(&s), func(p string) bool { return slices.Contains(patterns(&members[0]), p) }) {
				t.Errorf("group %s: %s and %s have no file in common", name, members[0].Name, s.Name)
			}
			if s.Lint != members[0].Lint {
				t.Errorf("group %s: %s and %s cannot stand for each other", name, members[0].Name, s.Name)
			}
		}
		for _, s := range list {
			if s.Group == "" && !s.Lint && slices.ContainsFunc(patterns(&s), func(p string) bool { return slices.Contains(patterns(&members[0]), p) }) {
				t.Errorf("%s serves the files of group %s, and is not of it", s.Name, name)
			}
		}
	}
	if len(list) < 30 {
		t.Errorf("%d servers", len(list))
	}
}

func patterns(s *langintel.Spec) []string {
	var out []string
	for _, l := range s.Languages {
		out = append(out, l.Patterns...)
	}
	return out
}

func checkSpec(t *testing.T, s *langintel.Spec) {
	t.Helper()
	all := patterns(s)
	for _, l := range s.Languages {
		if l.ID == "" || len(l.Patterns) == 0 {
			t.Errorf("%s: language %+v", s.Name, l)
		}
	}
	for i, p := range all {
		if !doublestar.ValidatePattern(p) || strings.Contains(p, "/") || slices.Contains(all[:i], p) {
			t.Errorf("%s: pattern %q", s.Name, p)
		}
	}
	if len(all) == 0 || s.Program == "" || strings.Contains(s.Program, "/") {
		t.Errorf("%s: %d patterns, program %q", s.Name, len(all), s.Program)
	}
	if (s.PerRoot || s.MultiRoot || s.NeedsRoot) && len(s.Roots) == 0 || s.PerRoot && s.MultiRoot {
		t.Errorf("%s: roots %q", s.Name, s.Roots)
	}
	for _, name := range slices.Concat(s.Roots, s.Local) {
		if strings.HasPrefix(name, "/") || strings.Contains(name, "..") {
			t.Errorf("%s: %q leaves the project", s.Name, name)
		}
	}
	if s.Settings != nil && !s.Settings.IsValid() {
		t.Errorf("%s: settings %s", s.Name, s.Settings)
	}
	for method, answer := range s.Answers {
		if !answer.IsValid() {
			t.Errorf("%s: answer to %s", s.Name, method)
		}
	}
	checkInstall(t, s)
}

// checkInstall: exactly one way, each at one version.
func checkInstall(t *testing.T, s *langintel.Spec) {
	t.Helper()
	i := s.Install
	if i == nil {
		t.Errorf("%s: nothing says how to get it", s.Name)
		return
	}
	ways := 0
	for _, given := range []bool{i.GoPackage != "", len(i.NPM) > 0, len(i.System) > 0, i.Hint != ""} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		t.Errorf("%s: %d ways to install it: %+v", s.Name, ways, *i)
	}
	for _, p := range i.NPM {
		if !pinned.MatchString(p) {
			t.Errorf("%s: %q is not pinned", s.Name, p)
		}
	}
	if (i.GoPackage != "" || len(i.NPM) > 0) && !regexp.MustCompile(`^\d+\.\d+\.\d+`).MatchString(i.Version) {
		t.Errorf("%s: version %q", s.Name, i.Version)
	}
	if len(i.NPM) > 0 && !strings.HasSuffix(i.NPM[0], "@"+i.Version) {
		t.Errorf("%s: version %s of %s", s.Name, i.Version, i.NPM[0])
	}
	if i.Unasked && i.GoPackage == "" || i.Unasked != (s.Name == "gopls") {
		t.Errorf("%s: only gopls is installed without being asked for", s.Name)
	}
}

// What installs our own test servers and what the catalogue installs are one.
func TestCatalogueInstallsWhatIsTested(t *testing.T) {
	lock := string(must(readComponent("package.json")))
	for _, s := range langintel.Catalogue() {
		if s.Install == nil {
			continue
		}
		for _, p := range s.Install.NPM {
			name, version := p[:strings.LastIndex(p, "@")], p[strings.LastIndex(p, "@")+1:]
			if strings.Contains(lock, `"`+name+`"`) && !strings.Contains(lock, `"`+name+`": "`+version+`"`) {
				t.Errorf("%s: %s is not what testdata/servers/language has", s.Name, p)
			}
		}
	}
}
