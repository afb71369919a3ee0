package langintel

import (
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// signatureHelpResult is LSP 3.17 §signatureHelp; a label of a parameter is a
// string or a pair of offsets, documentation a string or MarkupContent.
type signatureHelpResult struct {
	Signatures []struct {
		Label         string         `json:"label"`
		Documentation jsontext.Value `json:"documentation"`
		Parameters    []struct {
			Label jsontext.Value `json:"label"`
		} `json:"parameters"`
		Active *int `json:"activeParameter"`
	} `json:"signatures"`
	Active          int  `json:"activeSignature"`
	ActiveParameter *int `json:"activeParameter"`
}

// parameterLabel reads a parameter's label, whose offsets count UTF-16 units of
// the signature's.
func parameterLabel(v jsontext.Value, signature string) string {
	var text string
	if decodeJSON(v, &text) == nil {
		return text
	}
	var offsets [2]int
	units := utf16.Encode([]rune(signature))
	if decodeJSON(v, &offsets) != nil || offsets[0] < 0 || offsets[1] < offsets[0] || offsets[1] > len(units) {
		return ""
	}
	return string(utf16.Decode(units[offsets[0]:offsets[1]]))
}

// inlayHintParams is LSP 3.17 §inlayHintParams, which package protocol does not
// have.
type inlayHintParams struct {
	TextDocument protocol.TextDocumentIdentifier `json:"textDocument"`
	Range        protocol.Range                  `json:"range"`
}

// inlayHint is LSP 3.17 §inlayHint; a label is a string or a list of parts.
type inlayHint struct {
	Position protocol.Position `json:"position"`
	Label    jsontext.Value    `json:"label"`
	Kind     int               `json:"kind"`
	Left     bool              `json:"paddingLeft"`
	Right    bool              `json:"paddingRight"`
}

func (h *inlayHint) text() string {
	var text string
	if decodeJSON(h.Label, &text) == nil {
		return text
	}
	var parts []struct {
		Value string `json:"value"`
	}
	if decodeJSON(h.Label, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Value)
	}
	return b.String()
}
