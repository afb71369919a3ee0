package main

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// readInput makes the JSON of a call's input from its arguments: one JSON
// object, "-" for one on standard input, or key=value pairs.
func readInput(schema json.RawMessage, args []string, stdin io.Reader) ([]byte, error) {
	if len(args) == 1 {
		switch {
		case args[0] == "-":
			text, err := io.ReadAll(io.LimitReader(stdin, tools.InputBytes.Hard+1))
			if err != nil {
				return nil, err
			}
			if len(strings.TrimSpace(string(text))) == 0 {
				return nil, tools.Errorf(tools.CodeToolInput, "standard input is empty, must be a JSON object")
			}
			return text, nil
		case !isPair(args[0]):
			return []byte(args[0]), nil // the registry says what is wrong with it
		}
	}
	return readPairs(schema, args)
}

// isPair tells key=value from JSON: a JSON object or array never starts with a
// letter.
func isPair(arg string) bool {
	key, _, ok := strings.Cut(arg, "=")
	return ok && key != "" && !strings.ContainsAny(key, "{[\" ")
}

// property is the part of a JSON Schema that decides how a value is written.
type property struct {
	Type       string              `json:"type"`
	Properties map[string]property `json:"properties"`
	Items      *property           `json:"items"`
}

func readPairs(schema json.RawMessage, pairs []string) ([]byte, error) {
	var root property
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, tools.Errorf(tools.CodeInternal, "a tool's schema cannot be read: %w", err)
	}
	members := map[string]json.RawMessage{}
	lists := map[string][]json.RawMessage{}
	for _, pair := range pairs {
		key, text, _ := strings.Cut(pair, "=")
		if !isPair(pair) {
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
