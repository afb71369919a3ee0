package langintel

import "github.com/go-json-experiment/json/jsontext"

// editCapabilities is the part of LSP 3.17 §serverCapabilities about edits,
// hierarchies and hints.
type editCapabilities struct {
	CodeActionProvider      jsontext.Value `json:"codeActionProvider"`
	FormattingProvider      jsontext.Value `json:"documentFormattingProvider"`
	RangeFormattingProvider jsontext.Value `json:"documentRangeFormattingProvider"`
	CallHierarchyProvider   jsontext.Value `json:"callHierarchyProvider"`
	TypeHierarchyProvider   jsontext.Value `json:"typeHierarchyProvider"`
	SignatureHelpProvider   jsontext.Value `json:"signatureHelpProvider"`
	InlayHintProvider       jsontext.Value `json:"inlayHintProvider"`
}

// provider returns the capability of a request, nil for others.
func (c *editCapabilities) provider(method string) jsontext.Value {
	switch method {
	case "textDocument/codeAction":
		return c.CodeActionProvider
	case "textDocument/formatting":
		return c.FormattingProvider
	case "textDocument/rangeFormatting":
		return c.RangeFormattingProvider
	case "textDocument/prepareCallHierarchy":
		return c.CallHierarchyProvider
	case "textDocument/prepareTypeHierarchy":
		return c.TypeHierarchyProvider
	case "textDocument/signatureHelp":
		return c.SignatureHelpProvider
	case "textDocument/inlayHint":
		return c.InlayHintProvider
	}
	return nil
}

// resolves reports whether a request's answers are completed by another one.
func (v *session) resolves(method string) bool {
	var options struct {
		Resolve bool `json:"resolveProvider"`
	}
	for _, provider := range append(v.dynamic.all(method), v.caps.provider(method)) {
		if provider.Kind() == '{' && decodeJSON(provider, &options) == nil && options.Resolve {
			return true
		}
	}
	return false
}

// runs reports whether the server offers to run a command (LSP 3.17
// §executeCommandRegistrationOptions).
func (v *session) runs(command string) bool {
	lists := [][]string{v.caps.ExecuteCommand.Commands}
	for _, options := range v.dynamic.all("workspace/executeCommand") {
		var registered struct {
			Commands []string `json:"commands"`
		}
		if decodeJSON(options, &registered) == nil {
			lists = append(lists, registered.Commands)
		}
	}
	for _, list := range lists {
		for _, name := range list {
			if name == command {
				return true
			}
		}
	}
	return false
}
