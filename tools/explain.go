package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// explain says in a caller's words which field does not fit and what would:
// the schema library decides, this only finds the sentence. It returns "" when
// the fault is of a kind that derived schemas do not have.
func explain(s *jsonschema.Schema, value any, field string) string {
	if s == nil {
		return ""
	}
	if text, ok := value.(json.Number); ok && (s.Type == "integer" || s.Type == "number") {
		return fmt.Sprintf("%s is %s, which is more than 64 bits hold", named(field), clip(string(text)))
	}
	if f, ok := value.(float64); ok && s.Type == "integer" {
		return fmt.Sprintf("%s is %v, must be an integer", named(field), f)
	}
	if want := s.Type; want != "" && !hasType(value, want) {
		return fmt.Sprintf("%s is %s, must be %s", named(field), typeOf(value), article(want))
	}
	switch v := value.(type) {
	case map[string]any:
		return explainObject(s, v, field)
	case []any:
		return explainArray(s, v, field)
	case string:
		if s.MinLength != nil && len(v) < *s.MinLength {
			return named(field) + " is empty"
		}
		if len(s.Enum) > 0 && !slices.Contains(s.Enum, any(v)) {
			return fmt.Sprintf("%s is %q, must be one of %s", named(field), clip(v), join(s.Enum))
		}
	case int64:
		return explainNumber(s, float64(v), field)
	case float64:
		return explainNumber(s, v, field)
	}
	return ""
}

func explainObject(s *jsonschema.Schema, object map[string]any, field string) string {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		property := s.Properties[name]
		if property == nil && s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
			return fmt.Sprintf("unknown field %s%s", dotted(field, clip(name)), Nearest(name, slices.Collect(maps.Keys(s.Properties))))
		}
	}
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			return fmt.Sprintf("%s is missing", dotted(field, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if reason := explain(s.Properties[name], object[name], dotted(field, name)); reason != "" {
			return reason
		}
	}
	return ""
}

func explainArray(s *jsonschema.Schema, array []any, field string) string {
	if s.MinItems != nil && len(array) < *s.MinItems {
		return named(field) + " is empty"
	}
	if s.MaxItems != nil && len(array) > *s.MaxItems {
		return fmt.Sprintf("%s has %d elements, at most %d are taken", named(field), len(array), *s.MaxItems)
	}
	for i, element := range array {
		if reason := explain(s.Items, element, fmt.Sprintf("%s[%d]", field, i)); reason != "" {
			return reason
		}
	}
	return ""
}

func explainNumber(s *jsonschema.Schema, value float64, field string) string {
	if s.Minimum != nil && value < *s.Minimum || s.Maximum != nil && value > *s.Maximum {
		return fmt.Sprintf("%s is %s, must be %s", named(field), strconv.FormatFloat(value, 'f', -1, 64), rangeOf(s))
	}
	return ""
}

func rangeOf(s *jsonschema.Schema) string {
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf("%.0f to %.0f", *s.Minimum, *s.Maximum)
	case s.Minimum != nil:
		return fmt.Sprintf("at least %.0f", *s.Minimum)
	}
	return "a number of a sensible size"
}

func named(field string) string {
	if field == "" {
		return "the input"
	}
	return field
}

func dotted(field, name string) string {
	if field == "" {
		return name
	}
	return field + "." + name
}

func typeOf(value any) string {
	for _, t := range []string{"object", "array", "string", "boolean", "number"} {
		if hasType(value, t) {
			return article(t)
		}
	}
	return "null"
}

func article(t string) string {
	if strings.ContainsRune("aeio", rune(t[0])) {
		return "an " + t
	}
	return "a " + t
}

func join(values []any) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = fmt.Sprint(value)
	}
	return strings.Join(texts, ", ")
}

// clip keeps a caller's own text short in an answer to the caller.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Nearest returns `; did you mean "x"?` for the known name closest to a
// mistyped one, or "" when none is close.
func Nearest(name string, known []string) string {
	best, bestDistance := "", 1+min(3, (len(name)+1)/2)
	slices.Sort(known)
	for _, candidate := range known {
		if d := editDistance(strings.ToLower(name), strings.ToLower(candidate)); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// editDistance is Levenshtein's, over bytes, for short names only.
func editDistance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
