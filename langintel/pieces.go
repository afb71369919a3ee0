package langintel

import (
	"slices"

	"go.lsp.dev/protocol"

	"github.com/prism-ls/prism-ls/tools"
)

// piece replaces the bytes from from up to to of a text.
type piece struct {
	from, to int
	text     string
	by       *session // whose edit it is; nil: ours
}

func (p piece) same(q piece) bool { return p.from == q.from && p.to == q.to && p.text == q.text }

// pieceOf turns a server's edit into bytes of the text that it is for. A range
// that no text of this shape can have is an error: it was made for another.
func (w wire) pieceOf(t *text, e *textEdit, by *session) (piece, error) {
	where, replacement, err := e.span()
	if err != nil {
		return piece{}, err
	}
	if where.Start == (protocol.Position{}) && int(where.End.Line) > len(t.lines) {
		// Formatters name a line far behind the end to say "all of it".
		return piece{0, len(t.data), replacement, by}, nil
	}
	s, err := w.span(t, where, true)
	if err != nil {
		return piece{}, err
	}
	return piece{t.offset(s.start), t.offset(s.end), replacement, by}, nil
}

// merge sorts pieces and drops what two servers have in common. All of them
// refer to the same text (LSP 3.17 §textEditArray): they must not overlap, and
// insertions of one server at one place come in their order. Those of two
// servers at one place have no order, and contradict each other like an overlap.
func merge(t *text, pieces []piece) ([]piece, error) {
	slices.SortStableFunc(pieces, func(a, b piece) int {
		if a.from != b.from {
			return compare(a.from, b.from)
		}
		return compare(a.to, b.to)
	})
	var out []piece
	for _, p := range pieces {
		if !slices.ContainsFunc(out[max(0, len(out)-maxTies):], func(q piece) bool { return q.by != p.by && q.same(p) }) {
			out = append(out, p)
		}
	}
	for i := 1; i < len(out); i++ {
		a, b := out[i-1], out[i]
		line := t.at(min(b.from, len(t.data))).line + 1
		switch {
		case a.by != b.by && (b.from < a.to || b.from == a.from):
			return nil, tools.Errorf(tools.CodeLSPWorkspace, "the edits of %s and %s contradict each other on line %d", a.who(), b.who(), line)
		case b.from < a.to:
			return nil, tools.Errorf(tools.CodeLSPWorkspace, "two edits of the server overlap on line %d", line)
		}
	}
	return out, nil
}

// maxTies bounds how far back the same edit of another server is looked for.
const maxTies = 64

func (p piece) who() string {
	if p.by == nil {
		return "the caller"
	}
	return p.by.spec.Name
}

// splice returns the text with merged pieces put in.
func splice(data []byte, pieces []piece) []byte {
	out := make([]byte, 0, len(data)+64*len(pieces))
	at := 0
	for _, p := range pieces {
		out = append(append(out, data[at:p.from]...), p.text...)
		at = p.to
	}
	return append(out, data[at:]...)
}
