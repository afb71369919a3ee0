package langintel

import (
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// hierarchyItem is LSP 3.17 §callHierarchyItem or §typeHierarchyItem, which have
// the same members; package protocol has no types for the latter. raw goes back to
// the server as it came, with its data.
type hierarchyItem struct {
	Name      string              `json:"name"`
	Kind      protocol.SymbolKind `json:"kind"`
	Detail    string              `json:"detail"`
	URI       docURI              `json:"uri"`
	Range     protocol.Range      `json:"range"`
	Selection protocol.Range      `json:"selectionRange"`

	raw jsontext.Value
}

// key tells one item from another: they have no identity of their own.
type hierarchyKey struct {
	uri  docURI
	at   protocol.Position
	name string
}

func (i *hierarchyItem) key() hierarchyKey { return hierarchyKey{i.URI, i.Selection.Start, i.Name} }

// hierarchyParams is LSP 3.17 §callHierarchyIncomingCallsParams and its three
// siblings.
type hierarchyParams struct {
	Item jsontext.Value `json:"item"`
}

// parseItems reads an array of items, or null.
func parseItems(v jsontext.Value) ([]hierarchyItem, error) {
	if !offered(v) {
		return nil, nil
	}
	var list []jsontext.Value
	if err := decodeJSON(v, &list); err != nil {
		return nil, err
	}
	out := make([]hierarchyItem, len(list))
	for i, raw := range list {
		if err := decodeJSON(raw, &out[i]); err != nil {
			return nil, err
		}
		out[i].raw = raw
	}
	return out, nil
}

// hierarchyLink is one step of a hierarchy: an item, and for calls where they are
// made, in the file of the caller.
type hierarchyLink struct {
	item  hierarchyItem
	sites []protocol.Range
}

// parseCalls reads CallHierarchyIncomingCall[] or CallHierarchyOutgoingCall[] (LSP
// 3.17 §callHierarchy_incomingCalls, §callHierarchy_outgoingCalls).
func parseCalls(v jsontext.Value) ([]hierarchyLink, error) {
	if !offered(v) {
		return nil, nil
	}
	var list []struct {
		From  jsontext.Value   `json:"from"`
		To    jsontext.Value   `json:"to"`
		Sites []protocol.Range `json:"fromRanges"`
	}
	if err := decodeJSON(v, &list); err != nil {
		return nil, err
	}
	out := make([]hierarchyLink, len(list))
	for i, call := range list {
		raw := call.From
		if !offered(raw) {
			raw = call.To
		}
		if err := decodeJSON(raw, &out[i].item); err != nil {
			return nil, err
		}
		out[i].item.raw, out[i].sites = raw, call.Sites
	}
	return out, nil
}
