package langintel

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// cutSection returns the names below a section: "gopls.ui" below "gopls" is
// ["ui"].
func cutSection(section, top string) ([]string, bool) {
	if top == "" {
		return strings.Split(section, "."), true
	}
	rest, ok := strings.CutPrefix(section, top+".")
	return strings.Split(rest, "."), ok
}

// heed takes what a server asks in the order in which it speaks: what it registers
// before it answers a question holds when that has its answer. It must not wait.
func (v *session) heed(method string, params []byte) {
	switch method {
	case "client/registerCapability":
		var p registrationParams
		if decodeJSON(params, &p) == nil {
			v.dynamic.add(p)
		}
	case "client/unregisterCapability":
		var p unregistrationParams
		if decodeJSON(params, &p) == nil {
			v.dynamic.remove(p)
		}
	}
}

// handleRequest answers what a server asks, also before initialize has returned
// (LSP 3.17 §client_* , §window_*, §workspace_*). It runs away from the reader.
func (v *session) handleRequest(ctx context.Context, method string, params []byte) (any, error) {
	switch method {
	case "workspace/configuration":
		return v.configuration(params)
	case "workspace/workspaceFolders":
		return v.folders.list(), nil
	case "client/registerCapability":
		if decodeJSON(params, &registrationParams{}) != nil {
			return nil, invalidParams()
		}
		return nil, v.tell(nil) // what it has not been told of before
	case "client/unregisterCapability":
		if decodeJSON(params, &unregistrationParams{}) != nil {
			return nil, invalidParams()
		}
		return nil, nil
	case "window/workDoneProgress/create":
		return nil, nil
	case "window/showMessageRequest":
		return nil, nil // no person is there to choose
	case "window/showDocument":
		return protocol.ShowDocumentResult{Success: false}, nil
	case "workspace/applyEdit":
		return v.applyEdit(params)
	case "workspace/diagnostic/refresh", "workspace/semanticTokens/refresh", "workspace/codeLens/refresh",
		"workspace/inlayHint/refresh", "workspace/inlineValue/refresh", "workspace/foldingRange/refresh":
		v.signals.hear(method, nil)
		return nil, nil // nothing is kept that would have to be asked again
	}
	if answer, ok := v.spec.Answers[method]; ok {
		return answer, nil
	}
	return nil, &rpcError{Code: codeMethodNotFound, Message: "this client does not do that"}
}

func invalidParams() error {
	return &rpcError{Code: codeInvalidParams, Message: "the parameters have another shape"}
}

// handleNotification takes what a server tells; it must not wait.
func (v *session) handleNotification(method string, params []byte) {
	switch method {
	case "textDocument/publishDiagnostics":
		v.takePublished(params)
	case "textDocument/clangd.fileStatus":
		v.takeFileStatus(params)
	case "$/progress":
		v.work.take(params)
	case "window/logMessage", "window/showMessage":
		var p struct {
			Type    int    `json:"type"`
			Message string `json:"message"`
		}
		if decodeJSON(params, &p) == nil {
			v.client.opts.Logger.Debug("language server", "server", v.spec.Name, "type", p.Type, "message", printable(p.Message, 2000))
			v.signals.log(p.Message)
		}
	default:
		v.signals.hear(method, params)
	}
}

// configuration answers each item by its section.
func (v *session) configuration(params []byte) (any, error) {
	var p struct {
		Items []struct {
			Section string `json:"section"`
		} `json:"items"`
	}
	if err := decodeJSON(params, &p); err != nil {
		return nil, invalidParams()
	}
	out := make([]jsontext.Value, len(p.Items))
	for i, item := range p.Items {
		out[i] = v.settings(item.Section)
	}
	return rawList(out), nil
}

// rawList encodes as an array of its elements as they are.
type rawList []jsontext.Value

// MarshalJSON implements json.Marshaler, for the encoder that jsonrpc2 uses.
func (l rawList) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, v := range l {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']'), nil
}

// applyEditResponse is LSP 3.17 §applyWorkspaceEditResult.
type applyEditResponse struct {
	Applied bool   `json:"applied"`
	Reason  string `json:"failureReason,omitempty"`
}
