// Package keyvalue reads a tool's input from the key=value pairs of a command line,
// typed by the tool's schema.
package keyvalue

import (
	"encoding/json"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// IsPair tells key=value from JSON: a JSON object or array never starts with a
// letter.
func IsPair(arg string) bool {
	key, _, ok := strings.Cut(arg, "=")
	return ok && key != "" && !strings.ContainsAny(key, "{[\" ")
}

// property is the part of a JSON Schema that decides how a value is written.
type property struct {
	Type       string              `json:"type"`
	Properties map[string]property `json:"properties"`
	Items      *property           `json:"items"`
}

// Read makes the JSON of an input from pairs. Errors are CodeToolInput.
func Read(schema json.RawMessage, pairs []string) ([]byte, error) {
	var root property
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, tools.Errorf(tools.CodeInternal, "a tool's schema cannot be read: %w", err)
	}
	members := map[string]json.RawMessage{}
	lists := map[string][]json.RawMessage{}
	for _, pair := range pairs {
		key, text, _ := strings.Cut(pair, "=")
		if !IsPair(pair) {
			return nil, tools.Errorf(tools.CodeToolInput, "%q is not key=value", pair)
		}
		known := root.Properties[key]
		if known.Type == "array" && !strings.HasPrefix(strings.TrimSpace(text), "[") {
			lists[key] = append(lists[key], typed(*itemsOf(known), text)) // paths=a paths=b
			continue
		}
		if _, twice := members[key]; twice {
			return nil, tools.Errorf(tools.CodeToolInput, "%s is given twice", key)
		}
		members[key] = typed(known, text)
	}
	for key, list := range lists {
		if _, twice := members[key]; twice {
			return nil, tools.Errorf(tools.CodeToolInput, "%s is given both as a list and one by one", key)
		}
		joined, err := json.Marshal(list)
		if err != nil {
			return nil, tools.Errorf(tools.CodeToolInput, "%s: %w", key, err)
		}
		members[key] = joined
	}
	return json.Marshal(members)
}

func itemsOf(p property) *property {
	if p.Items == nil {
		return &property{Type: "string"}
	}
	return p.Items
}

// typed writes a value as its schema wants it. Text that is no such value
// stays a string, for the registry to name what is wrong.
func typed(p property, text string) json.RawMessage {
	if p.Type != "string" && p.Type != "" && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil { // strings always encode
		panic(err)
	}
	return quoted
}
