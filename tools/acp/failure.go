package acp

import (
	"errors"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/prism-ls/prism-ls/tools"
)

// The codes of the protocol's schema (ErrorCode) and of JSON-RPC that failures
// are told by.
const (
	invalidParams    = -32602
	internalError    = -32603
	resourceNotFound = -32002
	requestCancelled = -32800
)

// failureData is what a program learns of a failure.
type failureData struct {
	Code    tools.Code `json:"code"`
	Details any        `json:"details,omitempty"`
}

// told is err as the protocol tells it; nil stays nil.
func told(err error) error {
	if err == nil {
		return nil
	}
	failure := tools.AsError(err)
	code := internalError
	switch {
	case errors.Is(failure, tools.CodeAborted):
		code = requestCancelled
	case errors.Is(failure, tools.CodeNotFound):
		code = resourceNotFound
	case errors.Is(failure, tools.CodeToolInput), errors.Is(failure, tools.CodePathEscape), errors.Is(failure, tools.CodeOutOfRange), errors.Is(failure, tools.CodeNotFile):
		code = invalidParams
	}
	return &protocol.RequestError{Code: code, Message: failure.Message, Data: failureData{failure.Code, failure.Details}}
}
