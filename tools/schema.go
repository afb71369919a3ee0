package tools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Enum is implemented by string types that have a fixed set of values; the
// schema of a field of such a type lists them.
type Enum interface{ Values() []string }

// Shaped is implemented by types whose schema cannot be derived, such as those
// that contain themselves.
type Shaped interface{ JSONSchema() *jsonschema.Schema }

// schemaFor derives the JSON Schema of T. Field names come from json tags,
// descriptions from jsonschema tags; `check:"nonempty"` asks for at least one
// character or element, and limits name the fields that have bounds.
func schemaFor[T any](limits []Limit) (*jsonschema.Schema, error) {
	root := reflect.TypeFor[T]()
	given := map[reflect.Type]*jsonschema.Schema{}
	collectGiven(root, given, map[reflect.Type]bool{})
	schema, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: given})
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", root, err)
	}
	plain(schema)
	require(root, schema)
	for _, limit := range limits {
		if !bound(schema, limit) {
			return nil, Errorf(CodeToolInput, "limit %s names no input field of %s", limit.Name, root)
		}
	}
	return schema, nil
}

// collectGiven finds the types that say themselves what their schema is.
func collectGiven(t reflect.Type, into map[reflect.Type]*jsonschema.Schema, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	if shaped, ok := reflect.Zero(t).Interface().(Shaped); ok {
		into[t] = shaped.JSONSchema()
		return
	}
	if enum, ok := reflect.Zero(t).Interface().(Enum); ok && t.Kind() == reflect.String {
		schema := &jsonschema.Schema{Type: "string"}
		for _, value := range enum.Values() {
			schema.Enum = append(schema.Enum, value)
		}
		into[t] = schema
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		collectGiven(t.Elem(), into, seen)
	case reflect.Struct:
		for i := range t.NumField() {
			collectGiven(t.Field(i).Type, into, seen)
		}
	}
}

// plain drops the null alternative that derivation gives to pointers and
// slices: an optional field is left out, never null. A required pointer to a
// number, text or boolean keeps it, since there null is a value.
func plain(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 {
		if i := slices.Index(s.Types, "null"); i >= 0 {
			s.Type, s.Types = s.Types[1-i], nil
		}
	}
	for name, property := range s.Properties {
		value := len(property.Types) == 2 && !slices.Contains(property.Types, "array") && !slices.Contains(property.Types, "object")
		if !value || !slices.Contains(s.Required, name) {
			plain(property)
		}
	}
	plain(s.Items)
	plain(s.AdditionalProperties)
}

// require applies the check tags of a struct type, at any depth.
func require(t reflect.Type, s *jsonschema.Schema) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice && s.Items != nil {
			s = s.Items
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || s.Properties == nil {
		return
	}
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Anonymous {
			require(field.Type, s)
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := s.Properties[name]
		if property == nil {
			continue
		}
		if field.Tag.Get("check") == "nonempty" {
			one := 1
			if property.Type == "array" {
				property.MinItems = &one
			} else {
				property.MinLength = &one
			}
		}
		require(field.Type, property)
	}
}

// bound sets a limit on the property of that name, wherever it is.
func bound(s *jsonschema.Schema, limit Limit) bool {
	if s == nil {
		return false
	}
	found := false
	for name, property := range s.Properties {
		if name == limit.Name {
			setBound(property, limit)
			found = true
			continue
		}
		found = bound(property, limit) || found
	}
	return bound(s.Items, limit) || found
}

func setBound(property *jsonschema.Schema, limit Limit) {
	hard := float64(limit.Hard)
	switch property.Type {
	case "array":
		most := int(limit.Hard)
		property.MaxItems = &most
	case "integer", "number":
		lowest := 1.0
		if limit.ZeroOK {
			lowest = 0
		}
		property.Minimum, property.Maximum = &lowest, &hard
		if limit.Default != 0 {
			property.Default = json.RawMessage(fmt.Sprint(limit.Default))
		}
	}
}
