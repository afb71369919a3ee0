package langintel

import (
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"

	"github.com/prism-ls/prism-ls/tools"
)

// workspaceEdit is LSP 3.17 §workspaceEdit; package protocol's drops create,
// rename and delete from documentChanges.
type workspaceEdit struct {
	Changes         map[protocol.DocumentURI][]textEdit  `json:"changes"`
	DocumentChanges []documentChange                     `json:"documentChanges"`
	Annotations     map[string]protocol.ChangeAnnotation `json:"changeAnnotations"`
}

// textEdit is LSP 3.17 §textEdit and §annotatedTextEdit in one.
type textEdit struct {
	Range      protocol.Range `json:"range"`
	NewText    string         `json:"newText"`
	Annotation string         `json:"annotationId"`
}

// documentChange is one element of documentChanges: a TextDocumentEdit when Kind
// is empty, else LSP 3.17 §resourceChanges.
type documentChange struct {
	Kind         string `json:"kind"` // "", create, rename, delete
	TextDocument struct {
		URI     protocol.DocumentURI `json:"uri"`
		Version *int32               `json:"version"`
	} `json:"textDocument"`
	Edits      []textEdit           `json:"edits"`
	URI        protocol.DocumentURI `json:"uri"`
	OldURI     protocol.DocumentURI `json:"oldUri"`
	NewURI     protocol.DocumentURI `json:"newUri"`
	Annotation string               `json:"annotationId"`
	Options    struct {
		Overwrite         bool `json:"overwrite"`
		IgnoreIfExists    bool `json:"ignoreIfExists"`
		Recursive         bool `json:"recursive"`
		IgnoreIfNotExists bool `json:"ignoreIfNotExists"`
	} `json:"options"`
}

// renameParams is LSP 3.17 §renameParams.
type renameParams struct {
	protocol.TextDocumentPositionParams
	NewName string `json:"newName"`
}

// prepareRenameResult is LSP 3.17 §textDocument_prepareRename: a range, a range
// with a placeholder, {defaultBehavior: true}, or null.
type prepareRenameResult struct {
	ok    bool
	span  *protocol.Range
	named string
}

func parsePrepareRename(v jsontext.Value) (prepareRenameResult, error) {
	if !offered(v) {
		return prepareRenameResult{}, nil
	}
	var object struct {
		Start       *protocol.Position `json:"start"`
		End         *protocol.Position `json:"end"`
		Range       *protocol.Range    `json:"range"`
		Placeholder string             `json:"placeholder"`
		Default     bool               `json:"defaultBehavior"`
	}
	if err := decodeJSON(v, &object); err != nil {
		return prepareRenameResult{}, err
	}
	out := prepareRenameResult{ok: object.Default, named: object.Placeholder}
	switch {
	case object.Range != nil:
		out.ok, out.span = true, object.Range
	case object.Start != nil && object.End != nil:
		out.ok, out.span = true, &protocol.Range{Start: *object.Start, End: *object.End}
	}
	return out, nil
}

// needsConfirmation returns an error when an edit carries an annotation that a
// person must confirm (LSP 3.17 §changeAnnotation); nobody is asked here.
func (e *workspaceEdit) needsConfirmation() error {
	for _, a := range e.Annotations {
		if a.NeedsConfirmation {
			return tools.Errorf(tools.CodeLSPWorkspace, "the server wants %q confirmed by a person: %s", oneLine(a.Label, 100), oneLine(a.Description, 300))
		}
	}
	return nil
}
