package builtin

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

// procView is a way to look at output.
type procView string

// Values lists the views.
func (procView) Values() []string {
	return []string{string(procsess.TextView), string(procsess.RawView), string(procsess.ScreenView)}
}

type procOutputInput struct {
	ID       string   `json:"id" check:"nonempty"`
	Cursor   *int64   `json:"cursor,omitempty" jsonschema:"default: where your last page ended"`
	MaxBytes *int64   `json:"maxBytes,omitempty"`
	View     procView `json:"view,omitempty" jsonschema:"screen: as the terminal shows it"`
}

// ProcScreen is the terminal that a screen view shows.
type ProcScreen struct {
	Columns      int    `json:"columns"`
	Rows         int    `json:"rows"`
	CursorColumn int    `json:"cursorColumn"`
	CursorRow    int    `json:"cursorRow"`
	CursorHidden bool   `json:"cursorHidden"`
	Alternate    bool   `json:"alternate"`
	Title        string `json:"title,omitempty"`
}

// ProcOutput is the metadata of `proc_output`. Cursors and counts are raw bytes.
type ProcOutput struct {
	Data     string      `json:"data"`
	Encoding string      `json:"encoding,omitempty"`
	Start    int64       `json:"start"`
	Cursor   int64       `json:"cursor"`
	Lost     int64       `json:"lost"`
	Total    int64       `json:"total"`
	EOF      bool        `json:"eof"`
	View     string      `json:"view"`
	State    string      `json:"state"`
	Input    ProcInput   `json:"input"`
	Screen   *ProcScreen `json:"screen,omitempty"`
	Exit     *ProcExit   `json:"exit,omitempty"`
}

func (p *sessions) output() (*tools.Tool, error) {
	spec := procSpec("proc_output", "Read session", "Output of a session, from a cursor on.", tools.Observes)
	spec.Limits = []tools.Limit{procCursor, procsess.ChunkBytes}
	return procTool(p, spec, nil, func(ctx context.Context, call *tools.Call, in procOutputInput) (*tools.Outcome[ProcOutput], error) {
		page, err := p.Sessions.Output(ctx, caller(call), in.ID, procsess.Output{Cursor: in.Cursor, MaxBytes: number(in.MaxBytes), View: procsess.View(in.View)})
		if err != nil {
			return nil, err
		}
		m := procPage(&page)
		if !page.State.Live() {
			if info, err := p.Sessions.Get(ctx, caller(call), in.ID); err == nil { // it may be forgotten by now
				m.Exit = procExit(info.Exit)
			}
		}
		return tools.Answer(m.text(), m), nil
	})
}

func procPage(page *procsess.Page) ProcOutput {
	m := ProcOutput{
		Start: page.Start, Cursor: page.Cursor, Lost: page.Lost, Total: page.Total, EOF: page.EOF,
		View: string(page.View), State: string(page.State), Input: procInput(page.Input),
	}
	switch {
	case page.View != procsess.RawView:
		m.Data = string(bytes.ToValidUTF8(page.Data, []byte("\uFFFD")))
	case utf8.Valid(page.Data):
		m.Data = string(page.Data)
	default:
		m.Data, m.Encoding = base64.StdEncoding.EncodeToString(page.Data), "base64"
	}
	if s := page.Screen; s != nil {
		m.Screen = &ProcScreen{s.Columns, s.Rows, s.CursorColumn, s.CursorRow, s.CursorHidden, s.Alternate, s.Title}
	}
	return m
}

// text is the page for a model: the data, then what it has to know.
func (m *ProcOutput) text() string {
	text := m.Data
	if text == "" {
		text = "(no output)"
	}
	if m.Lost > 0 {
		text = fmt.Sprintf("[%d bytes before this are not kept any more]\n%s", m.Lost, text)
	}
	if m.Encoding != "" {
		text = withNotice(text, "["+m.Encoding+"]")
	}
	if s := m.Screen; s != nil {
		text = withNotice(text, fmt.Sprintf("[screen of %d×%d, cursor in row %d, column %d]", s.Columns, s.Rows, s.CursorRow, s.CursorColumn))
	}
	if more := m.Total - m.Cursor; more > 0 && m.Screen == nil {
		return withNotice(text, fmt.Sprintf("[%d more bytes. Use cursor=%d to continue.]", more, m.Cursor))
	}
	state := stateWords(procsess.State(m.State), m.Exit)
	if words := m.Input.words(); words != "" {
		state += ", " + words
	}
	if m.EOF {
		state = "end of output, " + state
	}
	return withNotice(text, "["+state+"]")
}
