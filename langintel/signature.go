package langintel

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
)

// SignatureResult answers [Client.Signature].
type SignatureResult struct {
	Answer
	Signatures []CallSignature
	// Active is the index of the signature that the arguments so far fit best.
	Active int
}

// CallSignature is one way to call what stands before the parenthesis.
type CallSignature struct {
	Label         string
	Documentation string // Markdown
	Parameters    []string
	// Active is the index of the parameter at the place; -1: none.
	Active int
}

// Signature returns what can be passed in the call whose arguments the place is
// among (LSP 3.17 §textDocument_signatureHelp). A place that is in no call has no
// signatures.
func (c *Client) Signature(ctx context.Context, p Place) (*SignatureResult, error) {
	t, err := c.resolve(ctx, p)
	if err != nil {
		answer, err := c.soften(ctx, "", err)
		return &SignatureResult{Answer: answer}, err
	}
	defer t.release()
	if !t.offers("textDocument/signatureHelp") {
		return &SignatureResult{Answer: Answer{Status: Unsupported, Server: t.spec.Name, Reason: t.spec.Name + " does not offer signatures"}}, nil
	}
	help, err := t.signatureHelp(ctx)
	answer, err := c.soften(ctx, t.spec.Name, err)
	if err != nil || answer.Status != Complete {
		return &SignatureResult{Answer: answer}, err
	}
	out := &SignatureResult{Answer: answer, Active: help.Active}
	for i := range help.Signatures {
		s := &help.Signatures[i]
		one := CallSignature{Label: printable(s.Label, 2000), Active: -1}
		if one.Documentation, err = markedString(s.Documentation); err != nil {
			return nil, err
		}
		one.Documentation = printable(one.Documentation, hoverBytes)
		for _, p := range s.Parameters {
			one.Parameters = append(one.Parameters, printable(parameterLabel(p.Label, s.Label), 500))
		}
		active := s.Active
		if active == nil {
			active = help.ActiveParameter
		}
		if active != nil && *active >= 0 && *active < len(one.Parameters) {
			one.Active = *active
		}
		out.Signatures = append(out.Signatures, one)
	}
	if out.Active < 0 || out.Active >= len(out.Signatures) {
		out.Active = 0 // LSP 3.17 §signatureHelp
	}
	return out, nil
}

// signatureHelp asks for the signatures at the target.
func (t *target) signatureHelp(ctx context.Context) (*signatureHelpResult, error) {
	help := &signatureHelpResult{}
	var raw jsontext.Value
	if err := t.read(ctx, "textDocument/signatureHelp", t.params(), &raw); err != nil || !offered(raw) {
		return help, err
	}
	return help, decodeJSON(raw, help)
}

// signature is the one line that hover has not got, or "".
func (t *target) signature(ctx context.Context) string {
	if !t.has("textDocument/signatureHelp") {
		return ""
	}
	help, err := t.signatureHelp(ctx)
	if err != nil || len(help.Signatures) == 0 {
		return ""
	}
	active := help.Active
	if active < 0 || active >= len(help.Signatures) {
		active = 0
	}
	return printable(help.Signatures[active].Label, 2000)
}
