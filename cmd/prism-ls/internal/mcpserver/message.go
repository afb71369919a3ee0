package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxDepth is how deep a frame may nest. The input of a tool may nest to
// tools.MaxDepth; beyond that the tool's own error is the better one, so there
// is room left for it.
const maxDepth = 512

// The methods that the connection itself has to know.
const (
	methodCancelled = "notifications/cancelled"
	methodListen    = "subscriptions/listen"
)

// fault is a frame that cannot be handed on. id is the JSON text of the
// request ID, or nil where it is not known.
type fault struct {
	id      []byte
	code    int64
	message string
}

func (f *fault) Error() string { return f.message }

func faultf(id []byte, code int64, format string, args ...any) *fault {
	return &fault{id, code, fmt.Sprintf(format, args...)}
}

// members are the raw parts of one JSON-RPC object; nil means absent.
type members struct {
	version, id, method, params, result, failure jsontext.Value
}

// decode reads one frame. A nil message without an error is a frame that asks
// for nothing, such as an error reply to nobody in particular.
func decode(frame []byte) (jsonrpc.Message, []byte, error) {
	parts, err := split(frame)
	if err != nil {
		return nil, nil, err
	}
	id, hasID := makeID(parts.id)
	known := []byte(nil)
	if hasID {
		known = parts.id
	}
	if string(parts.version) != `"2.0"` {
		return nil, nil, faultf(known, jsonrpc.CodeInvalidRequest, `"jsonrpc" must be "2.0"`)
	}
	if parts.method == nil {
		return decodeResponse(parts, id, hasID)
	}
	if parts.id != nil && !hasID {
		return nil, nil, faultf(nil, jsonrpc.CodeInvalidRequest, `"id" must be a string or a number`)
	}
	request := &jsonrpc.Request{ID: id}
	if json.Unmarshal(parts.method, &request.Method) != nil || parts.method[0] != '"' {
		return nil, nil, faultf(known, jsonrpc.CodeInvalidRequest, `"method" must be a string`)
	}
	if parts.params != nil && string(parts.params) != "null" {
		if parts.params[0] != '{' {
			return nil, nil, faultf(known, jsonrpc.CodeInvalidParams, `"params" must be an object`)
		}
		request.Params = json.RawMessage(parts.params)
	}
	if err := adapt(request); err != nil {
		return nil, nil, err
	}
	return request, known, nil
}

// adapt rewrites what the SDK would misread: the ID that a cancellation names,
// where the SDK holds that ID in another form.
func adapt(request *jsonrpc.Request) error {
	switch request.Method {
	case methodListen:
		if isRaw(request.ID) {
			raw, _ := wireID(request.ID).(json.RawMessage)
			return faultf(raw, jsonrpc.CodeInvalidRequest, `"id" of a subscription must be a string or an integer below 2^53`)
		}
	case methodCancelled:
		var params struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(request.Params, &params) != nil {
			return faultf(nil, jsonrpc.CodeInvalidParams, `"requestId" of a cancellation is missing`)
		}
		id, ok := makeID(params.RequestID)
		if !ok {
			return faultf(nil, jsonrpc.CodeInvalidParams, `"requestId" of a cancellation must be a string or a number`)
		}
		text, err := json.Marshal(map[string]any{"requestId": id.Raw()})
		if err != nil {
			return faultf(nil, jsonrpc.CodeInvalidParams, `"requestId" of a cancellation must be a string or a number`)
		}
		request.Params, request.Extra = text, id
	}
	return nil
}

func decodeResponse(parts *members, id jsonrpc.ID, hasID bool) (jsonrpc.Message, []byte, error) {
	if parts.result == nil && parts.failure == nil {
		return nil, nil, faultf(nil, jsonrpc.CodeInvalidRequest, `neither "method" nor "result" nor "error" is there`)
	}
	if !hasID {
		return nil, nil, nil // an error reply to a frame that could not be read
	}
	response := &jsonrpc.Response{ID: id, Result: json.RawMessage(parts.result)}
	if parts.failure != nil && string(parts.failure) != "null" {
		failure := &jsonrpc.Error{}
		if json.Unmarshal(parts.failure, failure) != nil {
			failure = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "an error that cannot be read"}
		}
		response.Error = failure
	}
	return response, nil, nil
}

// split reads the members of the frame's one object. Names within params are
// left to whoever decodes them, so that a tool can name the field.
func split(frame []byte) (*members, error) {
	if tooDeep(frame) {
		return nil, faultf(nil, jsonrpc.CodeInvalidRequest, "the frame nests deeper than %d", maxDepth)
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(frame), jsontext.AllowDuplicateNames(true))
	switch dec.PeekKind() {
	case '{':
	case '[':
		return nil, wholeOr(dec, faultf(nil, jsonrpc.CodeInvalidRequest, "batches are not part of MCP since 2025-06-18: send one message a line"))
	default:
		return nil, wholeOr(dec, faultf(nil, jsonrpc.CodeInvalidRequest, "a message is a JSON object"))
	}
	parts := &members{}
	if _, err := dec.ReadToken(); err != nil {
		return nil, parseFault(err)
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, parseFault(err)
		}
		slot := parts.slot(name.String())
		value, err := dec.ReadValue()
		if err != nil {
			return nil, parseFault(err)
		}
		if slot == nil {
			continue
		}
		if *slot != nil {
			return nil, faultf(nil, jsonrpc.CodeInvalidRequest, "a member of the message is there twice")
		}
		*slot = value.Clone()
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, parseFault(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, faultf(nil, jsonrpc.CodeParseError, "there is more on the line after the message")
	}
	return parts, nil
}

func (m *members) slot(name string) *jsontext.Value {
	switch name {
	case "jsonrpc":
		return &m.version
	case "id":
		return &m.id
	case "method":
		return &m.method
	case "params":
		return &m.params
	case "result":
		return &m.result
	case "error":
		return &m.failure
	}
	return nil
}

// wholeOr returns invalid when a sound JSON value is all there is, else what
// is wrong with the JSON.
func wholeOr(dec *jsontext.Decoder, invalid *fault) error {
	if _, err := dec.ReadValue(); err != nil {
		return parseFault(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return faultf(nil, jsonrpc.CodeParseError, "there is more on the line after the message")
	}
	return invalid
}

func parseFault(err error) *fault {
	return faultf(nil, jsonrpc.CodeParseError, "the frame is not sound JSON: %v", err)
}

// tooDeep counts brackets outside of strings; most frames have too few of them
// to need that.
func tooDeep(frame []byte) bool {
	if bytes.Count(frame, []byte{'{'})+bytes.Count(frame, []byte{'['}) <= maxDepth {
		return false
	}
	depth, inString := 0, false
	for i := 0; i < len(frame); i++ {
		switch c := frame[i]; {
		case c == '\\' && inString:
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
