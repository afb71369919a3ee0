package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// decoder turns the JSON text of an input into a value that fits a schema.
type decoder struct {
	schema   *jsonschema.Schema
	resolve  func() (*jsonschema.Resolved, error) // once, at the first call
	maxBytes int64
}

func newDecoder(schema *jsonschema.Schema, maxBytes int64) *decoder {
	resolve := sync.OnceValues(func() (*jsonschema.Resolved, error) { return schema.Resolve(nil) })
	return &decoder{schema, resolve, maxBytes}
}

// decode fills into, a pointer to the input struct. Every failure is a
// CodeToolInput error that names the field.
func (d *decoder) decode(raw []byte, into any) error {
	if int64(len(raw)) > d.maxBytes {
		return Errorf(CodeToolInput, "the input is %d bytes of JSON, at most %d are taken", len(raw), d.maxBytes)
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = []byte("{}")
	}
	value, err := parse(raw)
	if err != nil {
		return err
	}
	value, repaired := repair(d.schema, value)
	resolved, err := d.resolve()
	if err != nil {
		return Errorf(CodeInternal, "the input schema is not sound: %w", err)
	}
	if err := resolved.Validate(value); err != nil {
		if reason := explain(d.schema, value, ""); reason != "" {
			return Errorf(CodeToolInput, "%s", reason)
		}
		return Errorf(CodeToolInput, "%w", err)
	}
	if repaired {
		if raw, err = encode(value); err != nil {
			return Errorf(CodeToolInput, "%w", err)
		}
	}
	if err := jsonv2.Unmarshal(raw, into, jsonv2.RejectUnknownMembers(true)); err != nil {
		return inputError(err)
	}
	return nil
}

// parse reads one JSON value with unique member names, valid UTF-8, nesting of
// at most MaxDepth, and numbers kept as they are written.
func parse(raw []byte) (any, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	value, err := parseValue(dec)
	if err != nil {
		return nil, inputError(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, Errorf(CodeToolInput, "there is more after the end of the input's JSON value")
	}
	return value, nil
}

func parseValue(dec *jsontext.Decoder) (any, error) {
	token, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	if dec.StackDepth() > MaxDepth {
		return nil, Errorf(CodeToolInput, "the input nests deeper than %d", MaxDepth)
	}
	switch token.Kind() {
	case '{':
		object := map[string]any{}
		for dec.PeekKind() != '}' {
			name, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String()
			if object[key], err = parseValue(dec); err != nil {
				return nil, err
			}
		}
		_, err := dec.ReadToken()
		return object, err
	case '[':
		array := []any{}
		for dec.PeekKind() != ']' {
			element, err := parseValue(dec)
			if err != nil {
				return nil, err
			}
			array = append(array, element)
		}
		_, err := dec.ReadToken()
		return array, err
	case '"':
		return token.String(), nil
	case '0':
		return number(token.String()), nil
	case 't', 'f':
		return token.Bool(), nil
	}
	return nil, nil
}

// number keeps a number exact: an int64 where it is written as an integer that
// fits, else a float64, else its text.
func number(text string) any {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, ".eE") {
		return f
	}
	return json.Number(text)
}

func inputError(err error) error {
	var coded *Error
	if errors.As(err, &coded) {
		return coded
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return Errorf(CodeToolInput, "the input is not sound JSON%s: %w", at(string(syntax.JSONPointer)), syntax.Err)
	}
	var semantic *jsonv2.SemanticError
	if errors.As(err, &semantic) {
		field := strings.ReplaceAll(strings.TrimPrefix(string(semantic.JSONPointer), "/"), "/", ".")
		return Errorf(CodeToolInput, "%s: %s does not fit: %v", field, semantic.JSONValue, semantic.Err)
	}
	return Errorf(CodeToolInput, "the input is not sound JSON: %w", err)
}

func at(pointer string) string {
	if pointer == "" {
		return ""
	}
	return fmt.Sprintf(" at %s", pointer)
}

// repair mends what some clients always get wrong: an array or object that
// arrives as a JSON string is parsed. It also takes integral numbers (2.0, 1e3)
// for integers, which JSON Schema says they are (draft 2020-12 §4.2.3).
func repair(s *jsonschema.Schema, value any) (any, bool) {
	if s == nil {
		return value, false
	}
	changed := false
	if text, ok := value.(string); ok && (s.Type == "array" || s.Type == "object") {
		parsed, err := parse([]byte(text))
		if err != nil || !hasType(parsed, s.Type) {
			return value, false
		}
		value, changed = parsed, true
	}
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			mended, did := repair(s.Properties[name], member)
			if did {
				v[name], changed = mended, true
			}
		}
	case []any:
		for i, element := range v {
			mended, did := repair(s.Items, element)
			if did {
				v[i], changed = mended, true
			}
		}
	case float64:
		if s.Type == "integer" && v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), true
		}
	}
	return value, changed
}

func hasType(value any, want string) bool {
	switch value.(type) {
	case map[string]any:
		return want == "object"
	case []any:
		return want == "array"
	case string:
		return want == "string"
	case bool:
		return want == "boolean"
	case int64:
		return want == "integer" || want == "number"
	case float64, json.Number:
		return want == "number"
	}
	return want == "null"
}
