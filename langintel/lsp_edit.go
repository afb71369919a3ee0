package langintel

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"

	"github.com/prism-ls/prism-ls/tools"
)

// workspaceEdit is LSP 3.17 §workspaceEdit; package protocol's drops create,
// rename and delete from documentChanges.
type workspaceEdit struct {
	Changes         map[docURI][]textEdit                `json:"changes"`
	DocumentChanges []documentChange                     `json:"documentChanges"`
	Annotations     map[string]protocol.ChangeAnnotation `json:"changeAnnotations"`
}

// textEdit is LSP 3.17 §textEdit, §annotatedTextEdit and §insertReplaceEdit in
// one. The members after Annotation are there to be refused: snippets (LSP 3.18
// §snippetTextEdit, and rust-analyzer's own form of them) were not offered.
type textEdit struct {
	Range      *protocol.Range `json:"range"`
	NewText    *string         `json:"newText"`
	Replace    *protocol.Range `json:"replace"`
	Annotation string          `json:"annotationId"`
	Snippet    jsontext.Value  `json:"snippet"`
	Format     int             `json:"insertTextFormat"`
}

// span returns what the edit replaces and by what.
func (e *textEdit) span() (where protocol.Range, text string, err error) {
	const snippetFormat = 2 // LSP 3.17 §insertTextFormat
	switch {
	case offered(e.Snippet) || e.Format == snippetFormat:
		return where, "", tools.Errorf(tools.CodeLSPUnsupported, "the server's edit holds a snippet, which was not offered to it")
	case e.NewText == nil || e.Range == nil && e.Replace == nil:
		return where, "", tools.Errorf(tools.CodeLSPServer, "the server's edit has no text, or no range that it is for")
	case e.Range == nil:
		return *e.Replace, *e.NewText, nil
	}
	return *e.Range, *e.NewText, nil
}

// documentChange is one element of documentChanges: a TextDocumentEdit when Kind
// is empty, else LSP 3.17 §resourceChanges.
type documentChange struct {
	Kind         string `json:"kind"` // "", create, rename, delete
	TextDocument struct {
		URI     docURI `json:"uri"`
		Version *int32 `json:"version"`
	} `json:"textDocument"`
	Edits      []textEdit `json:"edits"`
	URI        docURI     `json:"uri"`
	OldURI     docURI     `json:"oldUri"`
	NewURI     docURI     `json:"newUri"`
	Annotation string     `json:"annotationId"`
	Options    struct {
		Overwrite         bool `json:"overwrite"`
		IgnoreIfExists    bool `json:"ignoreIfExists"`
		Recursive         bool `json:"recursive"`
		IgnoreIfNotExists bool `json:"ignoreIfNotExists"`
	} `json:"options"`
}

// list returns the edit as document changes: a server gives either form, and
// where both are there this one counts (LSP 3.17 §workspaceEdit).
func (e *workspaceEdit) list() []documentChange {
	if len(e.DocumentChanges) > 0 {
		return e.DocumentChanges
	}
	uris := make([]docURI, 0, len(e.Changes))
	for u := range e.Changes {
		uris = append(uris, u)
	}
	slices.Sort(uris)
	out := make([]documentChange, len(uris))
	for i, u := range uris {
		out[i].TextDocument.URI, out[i].Edits = u, e.Changes[u]
	}
	return out
}

// reasons are what the server wants a person to confirm (LSP 3.17
// §changeAnnotation), sorted. An annotation that no edit refers to is about none of
// them: rust-analyzer sends one with every rename.
func (e *workspaceEdit) reasons() []string {
	used := map[string]bool{}
	for _, change := range e.list() {
		used[change.Annotation] = true
		for i := range change.Edits {
			used[change.Edits[i].Annotation] = true
		}
	}
	var out []string
	for id, a := range e.Annotations {
		if a.NeedsConfirmation && used[id] {
			text := oneLine(a.Label, 100) + ": " + oneLine(a.Description, 300)
			out = append(out, strings.TrimSuffix(text, ": "))
		}
	}
	slices.Sort(out)
	return out
}

// applyEditParams is LSP 3.17 §applyWorkspaceEditParams.
type applyEditParams struct {
	Label string        `json:"label"`
	Edit  workspaceEdit `json:"edit"`
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
