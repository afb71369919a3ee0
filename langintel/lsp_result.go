package langintel

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// place is a Location or a LocationLink's target (LSP 3.17 §location,
// §locationLink); package protocol decodes a link as an empty location.
type place struct {
	uri   docURI
	rng   protocol.Range // the name
	whole protocol.Range // all of what it names, where known
}

// parsePlaces reads null, a Location, Location[] or LocationLink[].
func parsePlaces(v jsontext.Value) ([]place, error) {
	if !offered(v) {
		return nil, nil
	}
	type either struct {
		URI             docURI         `json:"uri"`
		Range           protocol.Range `json:"range"`
		TargetURI       docURI         `json:"targetUri"`
		TargetRange     protocol.Range `json:"targetRange"`
		TargetSelection protocol.Range `json:"targetSelectionRange"`
	}
	var list []either
	if v.Kind() == '{' {
		list = make([]either, 1)
		if err := decodeJSON(v, &list[0]); err != nil {
			return nil, err
		}
	} else if err := decodeJSON(v, &list); err != nil {
		return nil, err
	}
	out := make([]place, len(list))
	for i, l := range list {
		if l.TargetURI != "" {
			out[i] = place{l.TargetURI, l.TargetSelection, l.TargetRange}
		} else {
			out[i] = place{l.URI, l.Range, l.Range}
		}
	}
	return out, nil
}

// symbolNode is LSP 3.17 §documentSymbol, or a §symbolInformation put into its
// shape.
type symbolNode struct {
	Name      string              `json:"name"`
	Detail    string              `json:"detail"`
	Kind      protocol.SymbolKind `json:"kind"`
	Range     protocol.Range      `json:"range"`
	Selection protocol.Range      `json:"selectionRange"`
	Children  []symbolNode        `json:"children"`
	Container string              `json:"containerName"`
	Location  *symbolLocation     `json:"location"`
}

// symbolLocation is the location of a §workspaceSymbol, whose range a server may
// leave for later.
type symbolLocation struct {
	URI   docURI          `json:"uri"`
	Range *protocol.Range `json:"range"`
}

// parseSymbols reads DocumentSymbol[], SymbolInformation[], WorkspaceSymbol[] or null.
func parseSymbols(v jsontext.Value) ([]symbolNode, error) {
	if !offered(v) {
		return nil, nil
	}
	var list []symbolNode
	if err := decodeJSON(v, &list); err != nil {
		return nil, err
	}
	for i := range list {
		if l := list[i].Location; l != nil && l.Range != nil {
			list[i].Range, list[i].Selection = *l.Range, *l.Range
		}
	}
	return list, nil
}

// parseHover reads the four forms of hover contents (LSP 3.17 §hover):
// MarkupContent, MarkedString, MarkedString[], or nothing.
func parseHover(v jsontext.Value) (string, error) {
	if !offered(v) {
		return "", nil
	}
	var hover struct {
		Contents jsontext.Value `json:"contents"`
	}
	if err := decodeJSON(v, &hover); err != nil {
		return "", err
	}
	if hover.Contents.Kind() != '[' {
		return markedString(hover.Contents)
	}
	var list []jsontext.Value
	if err := decodeJSON(hover.Contents, &list); err != nil {
		return "", err
	}
	var parts []string
	for _, item := range list {
		part, err := markedString(item)
		if err != nil {
			return "", err
		}
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "\n\n"), nil
}

// markedString reads a string, a {language, value} pair or a MarkupContent.
func markedString(v jsontext.Value) (string, error) {
	switch v.Kind() {
	case '"':
		var s string
		err := decodeJSON(v, &s)
		return s, err
	case '{':
		var object struct {
			Language string `json:"language"`
			Value    string `json:"value"`
		}
		if err := decodeJSON(v, &object); err != nil {
			return "", err
		}
		if object.Language != "" {
			return "```" + object.Language + "\n" + object.Value + "\n```", nil
		}
		return object.Value, nil
	}
	return "", nil
}
