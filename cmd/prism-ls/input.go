package main

import (
	"io"
	"strings"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/daemon"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/keyvalue"
	"github.com/prism-ls/prism-ls/tools"
)

// readCall makes a call of its arguments: a tool, and one JSON object, "-" for one
// on standard input, or key=value pairs.
func readCall(tool string, args []string, stdin io.Reader) (*daemon.Call, error) {
	call := &daemon.Call{Tool: tool}
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
			call.Input = text
			return call, nil
		case !keyvalue.IsPair(args[0]):
			call.Input = []byte(args[0]) // the registry says what is wrong with it
			return call, nil
		}
	}
	call.Pairs = args
	return call, nil
}
