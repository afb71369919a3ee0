package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/langintel"
)

// CatalogueTable is the table of the language servers that prism-ls knows, in
// Markdown.
func CatalogueTable() string {
	var page strings.Builder
	page.WriteString("| server | files | how to get it | loaded | diagnostics | in a workspace that is not trusted |\n|---|---|---|---|---|---|\n")
	for _, s := range langintel.Catalogue() {
		name := "`" + s.Name + "`"
		switch {
		case s.Group != "":
			name += " (" + s.Group + ")"
		case s.Lint:
			name += " (beside another)"
		}
		ready, fresh := s.Strategies()
		fmt.Fprintf(&page, "| %s | %s | %s | `%s` | `%s` | %s |\n", name, cataloguePatterns(&s), catalogueInstall(s.Install), ready, fresh, catalogueTrust(&s))
	}
	return page.String()
}

func cataloguePatterns(s *langintel.Spec) string {
	var out []string
	for _, l := range s.Languages {
		for _, p := range l.Patterns {
			if p = "`" + p + "`"; !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	text := strings.Join(out, " ")
	if s.NeedsRoot {
		text += " below " + shortList(s.Roots)
	}
	return text
}

// shortList names two of a list.
func shortList(list []string) string {
	text := "`" + strings.Join(list[:min(2, len(list))], "`, `") + "`"
	if len(list) > 2 {
		text += " or the like"
	}
	return text
}

func catalogueInstall(i *langintel.Install) string {
	switch {
	case i == nil:
		return ""
	case i.Unasked:
		return "by itself, `go install` at " + i.Version
	case i.GoPackage != "":
		return "`servers install`: Go module, " + i.Version
	case len(i.NPM) > 0:
		return "`servers install`: npm, " + i.Version
	case len(i.System) > 0:
		return "`servers install`: Debian's " + strings.Join(i.System, ", ")
	}
	return i.Hint
}

func catalogueTrust(s *langintel.Spec) string {
	if s.RunsCode != "" {
		return "does not start: " + s.RunsCode
	}
	return "starts"
}
