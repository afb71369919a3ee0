package mcpserver

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/prism-ls/prism-ls/tools"
)

// ErrorFrame is the answer with an error to the request with that ID, which is JSON
// text.
func ErrorFrame(id string, code int64, message string) []byte {
	text, err := json.Marshal(&jsonrpc.Error{Code: code, Message: message})
	if err != nil { // a number and a string always encode
		panic(err)
	}
	return answerFrame(id, "error", text)
}

// FailureFrame is the answer to a tool call that failed. complete is for clients
// since 2026-07-28.
func FailureFrame(id string, failure *tools.Error, complete bool) []byte {
	text, err := (&rawResult{result: &tools.Result{Err: failure}, complete: complete}).MarshalJSON()
	if err != nil {
		return ErrorFrame(id, jsonrpc.CodeInternalError, failure.Error())
	}
	return answerFrame(id, "result", text)
}

func answerFrame(id, member string, text []byte) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(b, `,"`+member+`":`...)
	return append(append(b, text...), '}', '\n')
}
