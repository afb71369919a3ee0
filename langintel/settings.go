package langintel

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// settings answers one workspace/configuration item: the part of the spec's
// settings that its section names, or null (LSP 3.17 §workspace_configuration).
func (v *session) settings(section string) jsontext.Value {
	null := jsontext.Value("null")
	current := v.config
	if len(current) == 0 {
		return null
	}
	if section == "" || section == v.spec.Section {
		return current
	}
	rest, ok := cutSection(section, v.spec.Section)
	if !ok {
		return null
	}
	for _, name := range rest {
		var object map[string]jsontext.Value
		if decodeJSON(current, &object) != nil {
			return null
		}
		if current, ok = object[name]; !ok {
			return null
		}
	}
	return current
}

// settingsTree puts the settings below the names of their section: those of
// "a.b" as {"a": {"b": settings}}.
func (v *session) settingsTree() jsontext.Value {
	tree := v.config
	if v.spec.Section == "" {
		return tree
	}
	names := strings.Split(v.spec.Section, ".")
	for _, name := range slices.Backward(names) {
		quoted, err := jsontext.AppendQuote(nil, name)
		if err != nil {
			return v.config // not a name: the section is the spec's own text
		}
		tree = jsontext.Value("{" + string(quoted) + ":" + string(tree) + "}")
	}
	return tree
}
