package langintel

import (
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// The types in the lsp_*.go files stand where package protocol has none, or one
// that loses members. They hold what the client uses.

// initializeParams is LSP 3.17 §initializeParams; package protocol's has no
// position encodings.
type initializeParams struct {
	ProcessID        int                        `json:"processId"`
	ClientInfo       protocol.ClientInfo        `json:"clientInfo"`
	RootPath         string                     `json:"rootPath"`
	RootURI          protocol.DocumentURI       `json:"rootUri"`
	Options          any                        `json:"initializationOptions,omitzero"`
	Capabilities     jsontext.Value             `json:"capabilities"`
	Trace            string                     `json:"trace"`
	WorkspaceFolders []protocol.WorkspaceFolder `json:"workspaceFolders"`
}

// initializeResult is LSP 3.17 §initializeResult.
type initializeResult struct {
	Capabilities serverCapabilities  `json:"capabilities"`
	ServerInfo   protocol.ServerInfo `json:"serverInfo"`
}

// serverCapabilities is the part of LSP 3.17 §serverCapabilities that the client
// acts on. A provider is a boolean or an options object; see offered.
type serverCapabilities struct {
	PositionEncoding       encoding       `json:"positionEncoding"`
	TextDocumentSync       jsontext.Value `json:"textDocumentSync"`
	HoverProvider          jsontext.Value `json:"hoverProvider"`
	DefinitionProvider     jsontext.Value `json:"definitionProvider"`
	DeclarationProvider    jsontext.Value `json:"declarationProvider"`
	TypeDefinitionProvider jsontext.Value `json:"typeDefinitionProvider"`
	ImplementationProvider jsontext.Value `json:"implementationProvider"`
	ReferencesProvider     jsontext.Value `json:"referencesProvider"`
	DocumentSymbolProvider jsontext.Value `json:"documentSymbolProvider"`
	WorkspaceSymbols       jsontext.Value `json:"workspaceSymbolProvider"`
	RenameProvider         jsontext.Value `json:"renameProvider"`
	DiagnosticProvider     jsontext.Value `json:"diagnosticProvider"`
	ExecuteCommand         struct {
		Commands []string `json:"commands"`
	} `json:"executeCommandProvider"`
	Workspace workspaceCapabilities `json:"workspace"`
	editCapabilities
}

// offered reports whether a provider capability or a registration is there.
func offered(v jsontext.Value) bool {
	switch string(v) {
	case "", "null", "false":
		return false
	}
	return true
}

// syncOptions is LSP 3.17 §textDocumentSyncOptions.
type syncOptions struct {
	OpenClose bool
	Change    protocol.TextDocumentSyncKind
	Save      bool
	SaveText  bool
}

// parseSync reads the three forms that textDocumentSync has: a number, an
// object, nothing. Servers that say nothing still want their documents opened.
func parseSync(v jsontext.Value) syncOptions {
	out := syncOptions{OpenClose: true, Change: protocol.TextDocumentSyncKindFull}
	var kind float64
	if decodeJSON(v, &kind) == nil {
		out.Change = protocol.TextDocumentSyncKind(kind)
		out.Save = true
		return out
	}
	var object struct {
		OpenClose *bool          `json:"openClose"`
		Change    *float64       `json:"change"`
		Save      jsontext.Value `json:"save"`
	}
	if !offered(v) || decodeJSON(v, &object) != nil {
		return out
	}
	if object.OpenClose != nil {
		out.OpenClose = *object.OpenClose
	}
	if object.Change != nil {
		out.Change = protocol.TextDocumentSyncKind(*object.Change)
	}
	out.Save = offered(object.Save)
	var save struct {
		IncludeText bool `json:"includeText"`
	}
	if decodeJSON(object.Save, &save) == nil {
		out.SaveText = save.IncludeText
	}
	return out
}

// clientCapabilities says what the client does, and nothing more (LSP 3.17
// §clientCapabilities).
func clientCapabilities() jsontext.Value {
	return jsontext.Value(`{
"general":{"positionEncodings":["utf-8","utf-16","utf-32"],
 "staleRequestSupport":{"cancel":true,"retryOnContentModified":["textDocument/references","textDocument/definition","textDocument/declaration","textDocument/typeDefinition","textDocument/implementation","textDocument/hover","textDocument/documentSymbol","workspace/symbol","textDocument/diagnostic"]}},
"workspace":{"configuration":true,"workspaceFolders":true,"applyEdit":true,"executeCommand":{"dynamicRegistration":true},
 "fileOperations":{"dynamicRegistration":true,"willRename":true,"didRename":true},
 "workspaceEdit":{"documentChanges":true,"resourceOperations":["create","rename","delete"],"failureHandling":"transactional","changeAnnotationSupport":{}},
 "didChangeConfiguration":{"dynamicRegistration":true},
 "didChangeWatchedFiles":{"dynamicRegistration":true,"relativePatternSupport":true},
 "symbol":{"dynamicRegistration":true},
 "diagnostics":{"refreshSupport":true},"inlayHint":{"refreshSupport":true},"semanticTokens":{"refreshSupport":true},"codeLens":{"refreshSupport":true},"inlineValue":{"refreshSupport":true}},
"textDocument":{
 "synchronization":{"didSave":true,"dynamicRegistration":true},
 "hover":{"dynamicRegistration":true,"contentFormat":["markdown","plaintext"]},
 "definition":{"dynamicRegistration":true,"linkSupport":true},
 "declaration":{"dynamicRegistration":true,"linkSupport":true},
 "typeDefinition":{"dynamicRegistration":true,"linkSupport":true},
 "implementation":{"dynamicRegistration":true,"linkSupport":true},
 "references":{"dynamicRegistration":true},
 "documentSymbol":{"dynamicRegistration":true,"hierarchicalDocumentSymbolSupport":true},
 "rename":{"dynamicRegistration":true,"prepareSupport":true,"prepareSupportDefaultBehavior":1,"honorsChangeAnnotations":true},
 "codeAction":{"dynamicRegistration":true,"isPreferredSupport":true,"disabledSupport":true,"dataSupport":true,"honorsChangeAnnotations":true,
  "resolveSupport":{"properties":["edit","command"]},
  "codeActionLiteralSupport":{"codeActionKind":{"valueSet":["","quickfix","refactor","refactor.extract","refactor.inline","refactor.move","refactor.rewrite","source","source.organizeImports","source.fixAll"]}}},
 "formatting":{"dynamicRegistration":true},"rangeFormatting":{"dynamicRegistration":true},
 "callHierarchy":{"dynamicRegistration":true},"typeHierarchy":{"dynamicRegistration":true},
 "signatureHelp":{"dynamicRegistration":true,"contextSupport":true,"signatureInformation":{"documentationFormat":["markdown","plaintext"],"parameterInformation":{"labelOffsetSupport":true},"activeParameterSupport":true}},
 "inlayHint":{"dynamicRegistration":true},
 "publishDiagnostics":{"relatedInformation":true,"codeDescriptionSupport":true,"dataSupport":true,"versionSupport":true,"tagSupport":{"valueSet":[1,2]}},
 "diagnostic":{"dynamicRegistration":true,"relatedDocumentSupport":true}},
"window":{"workDoneProgress":true,"showMessage":{},"showDocument":{"support":true}},
"experimental":{"serverStatusNotification":true}}`)
}
