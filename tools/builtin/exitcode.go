package builtin

import (
	"encoding/json"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// ExitCode is an exit status; in JSON it is null when a signal, a timeout or
// the caller ended the command.
type ExitCode struct {
	Code   int
	Exited bool
}

// MarshalJSON writes the status or null.
func (e ExitCode) MarshalJSON() ([]byte, error) {
	if !e.Exited {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(e.Code), 10), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *ExitCode) UnmarshalJSON(text []byte) error {
	*e = ExitCode{}
	if string(text) == "null" {
		return nil
	}
	e.Exited = true
	return json.Unmarshal(text, &e.Code)
}

// JSONSchema says that null is a value here, not an absence.
func (ExitCode) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "integer"}, {Type: "null"}}}
}
