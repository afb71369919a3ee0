package langintel

import (
	"context"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// SyncCommand gets diagnostics from tsserver by a command that answers for the
// text it was told last: exact and without waiting. command is the server's
// command that passes a request on to tsserver.
func SyncCommand(command string) Freshness { return syncCommand{command} }

type syncCommand struct{ command string }

func (syncCommand) Name() string { return "sync_command" }

// tsDiagnostic is a Diagnostic of tsserver's protocol: lines and offsets count
// from 1, offsets in UTF-16.
type tsDiagnostic struct {
	Start       tsLocation     `json:"start"`
	End         tsLocation     `json:"end"`
	Text        string         `json:"text"`
	Code        int            `json:"code"`
	Category    string         `json:"category"`
	Source      string         `json:"source"`
	Unnecessary bool           `json:"reportsUnnecessary"`
	Deprecated  jsontext.Value `json:"reportsDeprecated"`
	Related     []struct {
		Message string `json:"message"`
		Span    struct {
			File  string     `json:"file"`
			Start tsLocation `json:"start"`
			End   tsLocation `json:"end"`
		} `json:"span"`
	} `json:"relatedInformation"`
}

type tsLocation struct {
	Line   uint32 `json:"line"`
	Offset uint32 `json:"offset"`
}

func (l tsLocation) position() protocol.Position {
	return protocol.Position{Line: max(l.Line, 1) - 1, Character: max(l.Offset, 1) - 1}
}

// tsReply is a response of tsserver's protocol.
type tsReply struct {
	Success bool           `json:"success"`
	Message string         `json:"message"`
	Body    []tsDiagnostic `json:"body"`
}

func (s syncCommand) check(ctx context.Context, v *session, doc document) (checked, error) {
	if !slices.Contains(v.caps.ExecuteCommand.Commands, s.command) {
		return v.awaitPush(ctx, doc, didChangeParams{})
	}
	out := checked{Answer: Answer{Status: Complete, Server: v.spec.Name, Barrier: BarrierCommand}}
	var items []lspDiagnostic
	for _, request := range []string{"syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync"} {
		var reply tsReply
		params := executeCommandParams{Command: s.command, Arguments: []any{request, map[string]string{"file": docURI(doc.uri).path()}}}
		if err := v.read(ctx, "workspace/executeCommand", params, &reply); err != nil {
			return checked{}, err
		}
		if !reply.Success && reply.Message != "" {
			return checked{Answer: Answer{Status: Partial, Server: v.spec.Name, Reason: printable(reply.Message, 300)}, refused: true}, nil
		}
		for i := range reply.Body {
			items = append(items, reply.Body[i].lsp())
		}
	}
	out.items, out.dropped = v.bound(items)
	return out, nil
}

// lsp writes a diagnostic as the server itself would publish it.
func (d *tsDiagnostic) lsp() lspDiagnostic {
	out := lspDiagnostic{
		Range:   protocol.Range{Start: d.Start.position(), End: d.End.position()},
		Message: d.Text, Source: d.Source, Code: jsontext.Value(strconv.Itoa(d.Code)),
		Severity: map[string]int{"error": 1, "warning": 2, "message": 3, "suggestion": 4}[d.Category],
	}
	if out.Source == "" {
		out.Source = "typescript"
	}
	if d.Unnecessary {
		out.Tags = append(out.Tags, int(protocol.DiagnosticTagUnnecessary))
	}
	if offered(d.Deprecated) {
		out.Tags = append(out.Tags, int(protocol.DiagnosticTagDeprecated))
	}
	for _, r := range d.Related {
		if r.Span.File == "" {
			continue
		}
		related := relatedInformation{Message: r.Message}
		related.Location.URI = docURI(uri.File(r.Span.File))
		related.Location.Range = protocol.Range{Start: r.Span.Start.position(), End: r.Span.End.position()}
		out.Related = append(out.Related, related)
	}
	return out
}

// executeCommandParams is LSP 3.17 §executeCommandParams.
type executeCommandParams struct {
	Command   string `json:"command"`
	Arguments []any  `json:"arguments,omitempty"`
}
