package host

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// Reference is the page that explains every tool of a registry, in Markdown.
func Reference(registry *tools.Registry) string {
	var page strings.Builder
	page.WriteString(referenceHead)
	sets := map[string][]*tools.Tool{}
	for _, tool := range registry.Tools() {
		sets[tool.Spec().Toolset] = append(sets[tool.Spec().Toolset], tool)
	}
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		fmt.Fprintf(&page, "\n## Toolset `%s`\n", set)
		for _, tool := range sets[set] {
			writeTool(&page, tool)
		}
	}
	return page.String()
}

const referenceHead = `# Tools

Every tool, as an MCP client sees it and ` + "`prism-ls call`" + ` takes it. A failed call
carries a stable code, ` + "`ERR_PRISM_…`" + `. Numbers beyond a limit are refused, never
shortened silently.
`

func writeTool(page *strings.Builder, tool *tools.Tool) {
	spec := tool.Spec()
	fmt.Fprintf(page, "\n### `%s`\n\n%s\n\n", spec.Name, spec.Description)
	fmt.Fprintf(page, "Kind %s; effect %s, idempotency %s.", spec.Kind, strings.ReplaceAll(string(spec.Effect.Mutation), "_", " "), strings.ReplaceAll(string(spec.Effect.Idempotency), "_", " "))
	if spec.Exclusive {
		page.WriteString(" Runs alone within its session.")
	}
	page.WriteString("\n")
	writeFields(page, "input", tool.InputSchema())
	writeFields(page, "metadata", tool.OutputSchema())
}

// types are the JSON types that a value may have, as the page shows them.
type types string

// UnmarshalJSON takes one type or a list of them (JSON Schema validation §6.1.1).
func (t *types) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = types(one)
		return nil
	}
	var list []string
	err := json.Unmarshal(text, &list)
	if len(list) > 0 && list[0] == "null" {
		list = append(list[1:], list[0])
	}
	*t = types(strings.Join(list, " or "))
	return err
}

// field is the part of a JSON Schema that the page shows.
type field struct {
	Type        types            `json:"type"`
	Description string           `json:"description"`
	Properties  map[string]field `json:"properties"`
	Items       *field           `json:"items"`
	Required    []string         `json:"required"`
	Enum        []any            `json:"enum"`
	Minimum     *float64         `json:"minimum"`
	Maximum     *float64         `json:"maximum"`
	MaxItems    *int             `json:"maxItems"`
	Default     json.RawMessage  `json:"default"`
}

func writeFields(page *strings.Builder, title string, schema json.RawMessage) {
	var root field
	if len(schema) == 0 {
		return // it may be anything
	}
	if err := json.Unmarshal(schema, &root); err != nil {
		panic(err) // our own schema
	}
	if len(root.Properties) == 0 {
		return
	}
	fmt.Fprintf(page, "\n| %s | | |\n|---|---|---|\n", title)
	writeRows(page, "", root)
}

func writeRows(page *strings.Builder, prefix string, object field) {
	for _, name := range slices.Sorted(maps.Keys(object.Properties)) {
		f := object.Properties[name]
		optional := "?"
		if slices.Contains(object.Required, name) {
			optional = ""
		}
		fmt.Fprintf(page, "| `%s%s`%s | %s | %s |\n", prefix, name, optional, f.kind(), strings.ReplaceAll(f.Description, "|", "\\|"))
		switch {
		case len(f.Properties) > 0:
			writeRows(page, prefix+name+".", f)
		case f.Items != nil && len(f.Items.Properties) > 0:
			writeRows(page, prefix+name+"[].", *f.Items)
		}
	}
}

// kind is the type with its bounds, as a reader wants it.
func (f field) kind() string {
	text := string(f.Type)
	if f.Items != nil && f.Items.Type != "" {
		text = string(f.Items.Type) + "[]"
	}
	if len(f.Enum) > 0 {
		words := make([]string, 0, len(f.Enum))
		for _, value := range f.Enum {
			words = append(words, fmt.Sprint(value))
		}
		text = strings.Join(words, " \\| ")
	}
	switch {
	case f.Minimum != nil && f.Maximum != nil:
		text += fmt.Sprintf(", %.0f–%.0f", *f.Minimum, *f.Maximum)
	case f.MaxItems != nil:
		text += fmt.Sprintf(", at most %d", *f.MaxItems)
	}
	if len(f.Default) > 0 {
		text += fmt.Sprintf(", default %s", f.Default)
	}
	return text
}
