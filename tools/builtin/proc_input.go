package builtin

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

type procInputInput struct {
	ID     string   `json:"id" check:"nonempty"`
	Text   string   `json:"text,omitempty" jsonschema:"typed as it is; end lines with \\n"`
	Keys   []string `json:"keys,omitempty" jsonschema:"enter, up, ctrl-c, f5 …"`
	Paste  string   `json:"paste,omitempty"`
	EOF    bool     `json:"eof,omitempty"`
	WaitMS *int64   `json:"waitMs,omitempty" jsonschema:"answer with the output that follows"`
}

// ProcTyped is the metadata of `proc_input`.
type ProcTyped struct {
	Accepted int `json:"accepted"`
	Queued   int `json:"queued"`
	// Cursor is where the output ended before, Next where to go on reading.
	Cursor int64      `json:"cursor"`
	Output *string    `json:"output,omitempty"`
	Next   int64      `json:"next,omitempty"`
	State  string     `json:"state,omitempty"`
	Input  *ProcInput `json:"input,omitempty"`
}

func (p *sessions) input() (*tools.Tool, error) {
	spec := procSpec("proc_input", "Type into session", "Give a session text, then keys, pasted text, end of input.", tools.RunsAnything)
	spec.Limits = []tools.Limit{procFollow}
	spec.InputBytes = jsonBytes(procsess.InputBytes.Hard)
	return procTool(p, spec, p.planInput, p.runInput)
}

// newSeal makes the key that digests of input are made with: a digest alone
// would let whoever reads the audit log try passwords.
func (p *sessions) newSeal() error {
	p.seal = make([]byte, sha256.Size)
	_, err := rand.Read(p.seal)
	return err
}

// planInput shows the policy what is typed, as a command that a rule may know,
// but never what a program reads without echo: that is a secret.
func (p *sessions) planInput(ctx context.Context, call *tools.Call, in procInputInput) (tools.Action, error) {
	if in.Text == "" && len(in.Keys) == 0 && in.Paste == "" && !in.EOF {
		return tools.Action{}, tools.Errorf(tools.CodeToolInput, "there is nothing to type: give text, keys, paste or eof")
	}
	info, action, err := p.steering(ctx, call, in.ID)
	if err != nil {
		return action, err
	}
	typed, err := json.Marshal(in)
	if err != nil {
		return action, err
	}
	mac := hmac.New(sha256.New, p.seal)
	mac.Write(typed)
	action.Content = hex.EncodeToString(mac.Sum(nil))
	hidden := info.PTY && info.Input.Mode != procsess.LineMode && info.Input.Mode != procsess.RawMode
	if text := strings.TrimSpace(in.Text + "\n" + in.Paste); text != "" && !hidden {
		action.Command = text
	}
	return action, nil
}

func (p *sessions) runInput(ctx context.Context, call *tools.Call, in procInputInput) (*tools.Outcome[ProcTyped], error) {
	if in.WaitMS != nil {
		defer heartbeat(call, millis(in.WaitMS).Seconds(), "the output is followed")()
	}
	typed, err := p.Sessions.Input(ctx, caller(call), in.ID, procsess.Type{Text: in.Text, Keys: in.Keys, Paste: in.Paste, EOF: in.EOF, Wait: millis(in.WaitMS)})
	if err != nil {
		return nil, err
	}
	m := ProcTyped{Accepted: typed.Accepted, Queued: typed.Queued, Cursor: typed.Cursor}
	text := fmt.Sprintf("%d bytes accepted", m.Accepted)
	if m.Queued > 0 {
		text += fmt.Sprintf(", %d wait until the program reads", m.Queued)
	}
	if typed.Output == nil {
		return tools.Answer(text+fmt.Sprintf("; the output that follows starts at cursor %d", m.Cursor), m), nil
	}
	page := procPage(typed.Output)
	m.Output, m.Next, m.State, m.Input = &page.Data, page.Cursor, page.State, &page.Input
	if m.Queued == 0 {
		return tools.Answer(page.text(), m), nil
	}
	return tools.Answer(withNotice(page.text(), "["+text+"]"), m), nil
}
