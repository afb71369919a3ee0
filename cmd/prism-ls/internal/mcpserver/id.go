package mcpserver

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxExact is the largest integer that survives a float64, which is how the
// SDK takes numeric IDs.
const maxExact = 1 << 53

// rawPrefix marks an ID that stands for the JSON text behind it. No client's
// string ID reaches the SDK with this prefix, because such a string is marked
// as well.
const rawPrefix = "\x00"

// makeID returns the SDK's form of a request ID. Strings and exact integers
// are themselves; other numbers (1.0, 1e3, 2^60), which the SDK would alter,
// are carried as text. ok is false for what JSON-RPC 2.0 §4 and MCP do not
// allow: null, booleans, arrays and objects.
func makeID(raw []byte) (id jsonrpc.ID, ok bool) {
	if len(raw) == 0 {
		return id, false
	}
	switch {
	case raw[0] == '"':
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return id, false
		}
		if strings.HasPrefix(text, rawPrefix) {
			text = rawPrefix + string(raw)
		}
		return mustID(text), true
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err == nil && n > -maxExact && n < maxExact && strconv.FormatInt(n, 10) == string(raw) {
			return mustID(float64(n)), true
		}
		return mustID(rawPrefix + string(raw)), true
	}
	return id, false
}

// mustID wraps MakeID for the two types that it always takes.
func mustID(value any) jsonrpc.ID {
	id, err := jsonrpc.MakeID(value)
	if err != nil {
		panic(err)
	}
	return id
}

// isRaw reports whether id stands for a JSON text that the SDK cannot hold.
func isRaw(id jsonrpc.ID) bool {
	text, ok := id.Raw().(string)
	return ok && strings.HasPrefix(text, rawPrefix)
}

// wireID returns the value to put where a message names a request.
func wireID(id jsonrpc.ID) any {
	if isRaw(id) {
		return json.RawMessage(strings.TrimPrefix(id.Raw().(string), rawPrefix))
	}
	return id.Raw()
}
