package config

import (
	"fmt"
	"reflect"
	"strings"
)

// Reference is the page that explains every key, in Markdown.
func Reference() string {
	var page strings.Builder
	page.WriteString(referenceHead)
	described := keys()
	defaults := Defaults()
	writeTable(&page, described, reflect.ValueOf(defaults), "")
	return page.String()
}

const referenceHead = `# Configuration

Settings come from four places; later ones win, tables merge, arrays replace:

1. built-in values;
2. the user's file, ` + "`prism-ls/prism-ls.toml`" + ` in ` + "`$XDG_CONFIG_HOME`" + ` (else ` + "`~/.config`" + `), or the one that ` + "`--config`" + ` names;
3. ` + "`prism-ls.toml`" + ` in the workspace root;
4. flags.

A workspace's file may only narrow: the keys marked *workspace* below, and those
only towards less. Anything else in it is an error until a person has run
` + "`prism-ls trust`" + ` in that workspace, which holds for the file as it was then.
An unknown key is an error.

`

func writeTable(page *strings.Builder, described map[string]key, table reflect.Value, prefix string) {
	if prefix == "" {
		page.WriteString("## Top level\n\n")
	} else {
		fmt.Fprintf(page, "\n## `[%s]`\n\n", strings.TrimSuffix(prefix, "."))
	}
	page.WriteString("| key | default | set by | |\n|---|---|---|---|\n")
	var nested []int
	for i := range table.NumField() {
		field := table.Type().Field(i)
		if field.Type.Kind() == reflect.Struct || mapOfTables(field.Type) {
			nested = append(nested, i)
			continue
		}
		known := described[prefix+field.Tag.Get("toml")]
		by := "user"
		if known.who == "narrow" {
			by = "user, workspace"
		}
		fmt.Fprintf(page, "| `%s` | %s | %s | %s |\n", field.Tag.Get("toml"), shown(table.Field(i)), by, known.doc)
	}
	for _, i := range nested {
		field := table.Type().Field(i)
		name := prefix + field.Tag.Get("toml") + "."
		if mapOfTables(field.Type) {
			writeTable(page, described, reflect.New(field.Type.Elem()).Elem(), name+anyName+".")
			if doc := described[strings.TrimSuffix(name, ".")].doc; doc != "" {
				page.WriteString("\n" + doc + "\n")
			}
			continue
		}
		writeTable(page, described, table.Field(i), name)
	}
	if prefix == "" {
		page.WriteString(referenceRules)
	}
}

func mapOfTables(t reflect.Type) bool {
	return t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct
}

const referenceRules = `
## ` + "`[[rules]]`" + `

| key | |
|---|---|
| ` + "`verdict`" + ` | allow, ask or forbid |
| ` + "`operation`" + ` | a tool's name; without it, any |
| ` + "`command`" + ` | the start of a simple command, word by word: ` + "`*`" + ` is any one word, ` + "`a\\|b`" + ` is either |
| ` + "`paths`" + ` | globs over paths relative to the root |
| ` + "`reason`" + ` | what a person or model is told |
| ` + "`match`, `not_match`" + ` | examples that the rule must and must not match, checked when the file is read |

All the conditions that are given must hold. Rules are a convenience, since a
shell can write any command in another way; the sandbox is the boundary.
`

func shown(value reflect.Value) string {
	if value.IsZero() {
		switch value.Kind() {
		case reflect.Bool:
			return "`false`"
		case reflect.Slice, reflect.Map, reflect.String:
			return "empty"
		case reflect.Pointer:
			return "unset"
		}
	}
	if value.Kind() == reflect.String {
		return fmt.Sprintf("`%q`", value.String())
	}
	return fmt.Sprintf("`%v`", value.Interface())
}
