package builtin

import (
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

// LSPLocation is a place in a result.
type LSPLocation struct {
	Path      string `json:"path"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"endLine"`
	EndColumn int    `json:"endColumn"`
	Text      string `json:"text"`
	Container string `json:"container,omitempty"`
	Kind      string `json:"kind,omitempty"`
	External  bool   `json:"external,omitempty"`
	Generated bool   `json:"generated,omitempty"`
}

// LSPLocations is the metadata of definitions and references. Total and Files
// count all pages.
type LSPLocations struct {
	LSPAnswer
	Locations   []LSPLocation `json:"locations"`
	Total       int           `json:"total"`
	Files       []string      `json:"files"`
	Truncated   bool          `json:"truncated"`
	TruncatedBy string        `json:"truncatedBy,omitempty"`
	NextCursor  string        `json:"nextCursor,omitempty"`
}

func lspLocations(list []langintel.Location) []LSPLocation {
	out := make([]LSPLocation, 0, len(list))
	for _, l := range list {
		out = append(out, LSPLocation{
			Path: l.Path, Line: l.Line, Column: l.Column, EndLine: l.EndLine, EndColumn: l.EndColumn,
			Text: l.Text, Container: l.Container, Kind: l.Kind, External: l.External, Generated: l.Generated,
		})
	}
	return out
}

func locationsOutcome(found *langintel.LocationsResult) *tools.Outcome[LSPLocations] {
	metadata := LSPLocations{
		LSPAnswer: lspAnswer(found.Answer), Locations: lspLocations(found.Locations), Total: found.Total,
		Files: orEmpty(found.Files), Truncated: found.Truncated, NextCursor: found.NextCursor,
	}
	if found.Truncated {
		metadata.TruncatedBy = "results"
	}
	return tools.Answer(locationsText(&metadata), metadata)
}

// locationsBytes is what a page of locations may cost a model; the source
// lines shrink until it does not cost more.
const locationsBytes = 12_000

func locationsText(m *LSPLocations) string {
	if len(m.Locations) == 0 {
		return m.caveat() + "(no matches)"
	}
	var text string
	for _, width := range []int{160, 100, 72, 56, 40, 24, 0} {
		text = groupedLocations(m.Locations, width)
		if len(text) <= locationsBytes {
			break
		}
	}
	head := fmt.Sprintf("%d in %d files\n", m.Total, len(m.Files))
	if m.Total == 1 {
		head = ""
	}
	if m.NextCursor != "" {
		text += fmt.Sprintf("[truncated by results. Use cursor=%q to continue.]", m.NextCursor)
	}
	return m.caveat() + head + strings.TrimSuffix(text, "\n")
}

// groupedLocations writes a path once, an enclosing symbol once, and then a
// line a place.
func groupedLocations(list []LSPLocation, width int) string {
	var b strings.Builder
	path, container := "", ""
	for _, l := range list {
		if l.Path != path {
			path, container = l.Path, ""
			b.WriteString(path)
			if l.Generated {
				b.WriteString(" (generated)")
			}
			b.WriteByte('\n')
		}
		if l.Container != container {
			container = l.Container
			fmt.Fprintf(&b, " in %s\n", container)
		}
		fmt.Fprintf(&b, "  %d:%d %s\n", l.Line, l.Column, clipRunes(strings.TrimSpace(l.Text), width))
	}
	return b.String()
}

func clipRunes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// orEmpty keeps a list a list on the wire.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
