package langintel

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// codeActionParams is LSP 3.17 §codeActionParams; package protocol's has no
// triggerKind, and would lose what servers keep in a diagnostic's data.
type codeActionParams struct {
	TextDocument protocol.TextDocumentIdentifier `json:"textDocument"`
	Range        protocol.Range                  `json:"range"`
	Context      codeActionContext               `json:"context"`
}

type codeActionContext struct {
	Diagnostics []lspDiagnostic `json:"diagnostics"`
	Only        []string        `json:"only,omitzero"`
	TriggerKind int             `json:"triggerKind"` // 1: asked for
}

// codeAction is LSP 3.17 §codeAction, or a §command put into its shape: those
// have their name where an action has a whole command.
type codeAction struct {
	Title     string         `json:"title"`
	Kind      string         `json:"kind"`
	Preferred bool           `json:"isPreferred"`
	Disabled  *disabled      `json:"disabled"`
	Edit      *workspaceEdit `json:"edit"`
	Command   jsontext.Value `json:"command"`
	Arguments jsontext.Value `json:"arguments"`

	raw jsontext.Value
}

type disabled struct {
	Reason string `json:"reason"`
}

// serverCommand is LSP 3.17 §command without its title.
type serverCommand struct {
	Command   string         `json:"command"`
	Arguments jsontext.Value `json:"arguments,omitzero"`
}

// parseActions reads (Command | CodeAction)[] or null.
func parseActions(v jsontext.Value) ([]codeAction, error) {
	if !offered(v) {
		return nil, nil
	}
	var list []jsontext.Value
	if err := decodeJSON(v, &list); err != nil {
		return nil, err
	}
	out := make([]codeAction, len(list))
	for i, raw := range list {
		if err := decodeJSON(raw, &out[i]); err != nil {
			return nil, err
		}
		out[i].raw = raw
	}
	return out, nil
}

// bare reports whether the action is a command alone.
func (a *codeAction) bare() bool { return a.Command.Kind() == '"' }

// command returns what the action has the server run; nil: nothing.
func (a *codeAction) command() (*serverCommand, error) {
	if !offered(a.Command) {
		return nil, nil
	}
	out := &serverCommand{Arguments: a.Arguments}
	if a.bare() {
		return out, decodeJSON(a.Command, &out.Command)
	}
	return out, decodeJSON(a.Command, out)
}

// quickFix is the kind of what makes a problem go away (LSP 3.17 §codeActionKind).
const quickFix = "quickfix"

// ofKind reports whether an action is of one of the kinds, which stand for those
// below them too (LSP 3.17 §codeActionKind); no kinds are all.
func (a *codeAction) ofKind(kinds []string) bool {
	for _, kind := range kinds {
		if a.Kind == kind || strings.HasPrefix(a.Kind, kind+".") {
			return true
		}
	}
	return len(kinds) == 0
}
