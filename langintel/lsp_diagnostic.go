package langintel

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// lspDiagnostic is LSP 3.17 §diagnostic with the code as the server wrote it.
type lspDiagnostic struct {
	Range    protocol.Range       `json:"range"`
	Severity int                  `json:"severity,omitzero"`
	Code     jsontext.Value       `json:"code,omitzero"`
	Source   string               `json:"source,omitzero"`
	Message  string               `json:"message"`
	Tags     []int                `json:"tags,omitzero"`
	Related  []relatedInformation `json:"relatedInformation,omitzero"`
	// About and Data go back to the server with a request for code actions.
	About jsontext.Value `json:"codeDescription,omitzero"`
	Data  jsontext.Value `json:"data,omitzero"`
}

// relatedInformation is LSP 3.17 §diagnosticRelatedInformation.
type relatedInformation struct {
	Location struct {
		URI   docURI         `json:"uri"`
		Range protocol.Range `json:"range"`
	} `json:"location"`
	Message string `json:"message"`
}

const (
	messageBytes = 4 << 10 // of a diagnostic's message, as shown
	detailBytes  = 1 << 10 // of the other texts in it
	maxRelated   = 20      // places that it points to
	maxTags      = 8
)

// trim cuts a diagnostic to what can be shown of it.
func (d *lspDiagnostic) trim() {
	d.Message, d.Source = shorten(d.Message, messageBytes), shorten(d.Source, detailBytes)
	if len(d.Code) > detailBytes {
		d.Code = nil
	}
	d.Tags = slices.Clone(d.Tags[:min(len(d.Tags), maxTags)])
	d.Related = slices.Clone(d.Related[:min(len(d.Related), maxRelated)])
	for i := range d.Related {
		r := &d.Related[i]
		r.Message = shorten(r.Message, detailBytes)
		if len(r.Location.URI) > 4*detailBytes { // longer than any path
			r.Location.URI = ""
		}
	}
}

// shorten keeps the beginning of a long text, and a byte more than limit, so that
// whoever shows it sees that it was longer.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.Clone(text[:limit+1])
}

// code returns the code, a number or a string, as text.
func (d *lspDiagnostic) code() string {
	switch d.Code.Kind() {
	case '"':
		var s string
		if decodeJSON(d.Code, &s) == nil {
			return s
		}
	case '0':
		if n, err := strconv.ParseFloat(string(d.Code), 64); err == nil {
			return strconv.FormatFloat(n, 'f', -1, 64)
		}
	}
	return ""
}

// publishParams is LSP 3.17 §textDocument_publishDiagnostics.
type publishParams struct {
	URI         docURI          `json:"uri"`
	Version     *int32          `json:"version"`
	Diagnostics []lspDiagnostic `json:"diagnostics"`
}

// diagnosticParams is LSP 3.17 §textDocument_diagnostic, which package protocol
// does not have.
type diagnosticParams struct {
	TextDocument     protocol.TextDocumentIdentifier `json:"textDocument"`
	Identifier       string                          `json:"identifier,omitzero"`
	PreviousResultID string                          `json:"previousResultId,omitzero"`
}

// diagnosticReport is LSP 3.17 §documentDiagnosticReport, full or unchanged.
type diagnosticReport struct {
	Kind     string                      `json:"kind"`
	ResultID string                      `json:"resultId"`
	Items    []lspDiagnostic             `json:"items"`
	Related  map[docURI]diagnosticReport `json:"relatedDocuments"`
}

// diagnosticOptions is LSP 3.17 §diagnosticOptions.
type diagnosticOptions struct {
	Identifier string `json:"identifier"`
	InterFile  bool   `json:"interFileDependencies"`
	Workspace  bool   `json:"workspaceDiagnostics"`
}

// contentChange is a §textDocumentContentChangeEvent; package protocol's cannot
// leave the range out, and an empty one is an insertion.
type contentChange struct {
	Range *protocol.Range `json:"range,omitzero"` // nil: the whole text
	Text  string          `json:"text"`
}

// didChangeParams is LSP 3.17 §didChangeTextDocumentParams.
type didChangeParams struct {
	TextDocument versionedDocument `json:"textDocument"`
	Changes      []contentChange   `json:"contentChanges"`
	// WantDiagnostics and ForceRebuild are clangd's extensions.
	WantDiagnostics bool `json:"wantDiagnostics,omitzero"`
	ForceRebuild    bool `json:"forceRebuild,omitzero"`
}

// versionedDocument is LSP 3.17 §versionedTextDocumentIdentifier; a version of
// 0 is sent too.
type versionedDocument struct {
	URI     protocol.DocumentURI `json:"uri"`
	Version int32                `json:"version"`
}

// referenceParams is LSP 3.17 §referenceParams without partial results.
type referenceParams struct {
	protocol.TextDocumentPositionParams
	Context struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

// watchRegistration is LSP 3.17 §didChangeWatchedFilesRegistrationOptions;
// package protocol knows no relative patterns.
type watchRegistration struct {
	Watchers []struct {
		Pattern jsontext.Value `json:"globPattern"` // string or §relativePattern
		Kind    *int           `json:"kind"`
	} `json:"watchers"`
}

// progressParams is LSP 3.17 §progress; a token is a number or a string.
type progressParams struct {
	Token jsontext.Value `json:"token"`
	Value struct {
		Kind       string `json:"kind"`
		Title      string `json:"title"`
		Message    string `json:"message"`
		Percentage *int   `json:"percentage"`
	} `json:"value"`
}
