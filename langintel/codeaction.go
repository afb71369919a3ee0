package langintel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// CodeActionsQuery asks what servers offer to do at a place: with a line alone at
// all of that line, with EndLine up to the end of that one, with EndColumn up to
// that column.
type CodeActionsQuery struct {
	Place
	EndLine   int
	EndColumn int      // exclusive, from 1, in code points
	Kinds     []string // LSP's, such as quickfix or refactor.extract; empty: all
}

// CodeAction is one thing that a server offers to do.
type CodeAction struct {
	// ID is what [Client.ApplyCodeAction] takes. It is good for the text that the
	// action was listed for.
	ID        string
	Title     string
	Kind      string
	Server    string
	Preferred bool
	Disabled  string // why it cannot be done now; listed only where kinds were named
}

// CodeActionsResult answers [Client.CodeActions].
type CodeActionsResult struct {
	Answer
	Actions []CodeAction
}

// CodeActions lists what the servers of a file offer to do with a part of it.
func (c *Client) CodeActions(ctx context.Context, q CodeActionsQuery) (*CodeActionsResult, error) {
	where, err := c.selection(ctx, q)
	if err != nil {
		answer, err := c.soften(ctx, "", err)
		return &CodeActionsResult{Answer: answer}, err
	}
	list, answer, err := c.offers(ctx, where, "")
	defer release(list)
	if err != nil {
		answer, err := c.soften(ctx, answer.Server, err)
		return &CodeActionsResult{Answer: answer}, err
	}
	result := &CodeActionsResult{Answer: answer}
	for _, o := range list {
		if o.action.Disabled != nil && len(q.Kinds) == 0 {
			continue // LSP 3.17 §codeAction: shown to those who ask for the kind
		}
		one := CodeAction{
			ID: o.id, Title: printable(o.action.Title, 500), Kind: oneLine(o.action.Kind, 100),
			Server: o.target.spec.Name, Preferred: o.action.Preferred,
		}
		if o.action.Disabled != nil {
			one.Disabled = oneLine(o.action.Disabled.Reason, 300)
		}
		result.Actions = append(result.Actions, one)
		c.actions.remember(o.id, selectedAt{where, o.target.spec.Name})
	}
	return result, nil
}

// selected is a part of one text.
type selected struct {
	path  workspace.Path
	sha   string
	span  span
	kinds []string
}

// mark is the part of an action's id that stands for the text.
func (s *selected) mark() string {
	sum := sha256.Sum256([]byte(s.path.Real + "\x00" + s.sha))
	return hex.EncodeToString(sum[:4])
}

// selection resolves the place of a query.
func (c *Client) selection(ctx context.Context, q CodeActionsQuery) (*selected, error) {
	lineAlone := q.Path != "" && q.Line > 0 && q.Column == 0 && q.Symbol == "" && q.Position == nil
	place := q.Place
	if lineAlone {
		place.Column = 1
	}
	t, err := c.resolve(ctx, place)
	if err != nil {
		return nil, err
	}
	defer t.release()
	text := t.doc.file.text
	out := &selected{path: workspace.Path{Rel: t.doc.path, Real: t.doc.path}, sha: t.doc.file.sha, span: span{t.at, t.at}, kinds: q.Kinds}
	if lineAlone {
		line := text.line(t.at.line)
		out.span.start.byte = len(line) - len(strings.TrimLeft(string(line), " \t"))
		out.span.end.byte = len(line)
	}
	last := q.EndLine
	if last == 0 {
		last = t.at.line + 1
	}
	switch {
	case q.EndColumn != 0:
		out.span.end, err = text.pointAt(last, q.EndColumn)
	case q.EndLine != 0:
		if out.span.end, err = text.pointAt(last, 1); err == nil {
			out.span.end.byte = len(text.line(last - 1))
		}
	}
	if err == nil && out.span.end.before(out.span.start) {
		err = tools.Errorf(tools.CodeOutOfRange, "the range ends on line %d, before it starts", out.span.end.line+1)
	}
	return out, err
}

// offer is an action of a live server; the target is to be released.
type offer struct {
	target *target
	action codeAction
	id     string
}

// release ends the use of the servers that made offers.
func release(list []offer) {
	for _, o := range list {
		o.target.release()
	}
}

// offers asks the servers of a file, or only the named one. One that fails beside
// others makes the answer partial.
func (c *Client) offers(ctx context.Context, where *selected, only string) (out []offer, answer Answer, err error) {
	servers, err := c.serversFor(where.path)
	if err != nil {
		return nil, Answer{}, err
	}
	answer = Answer{Status: Unsupported, Reason: "no language server here offers code actions for this file"}
	var names []string
	for _, s := range servers {
		if only != "" && s.spec.Name != only {
			continue
		}
		list, found, err := s.offers(ctx, where)
		if err != nil {
			found, err = c.soften(ctx, s.spec.Name, err)
		}
		if err != nil && (len(servers) == 1 || ctx.Err() != nil) {
			return out, Answer{Server: s.spec.Name}, err
		}
		if err != nil {
			found = Answer{Status: Partial, Reason: s.spec.Name + ": " + oneLine(err.Error(), 300)}
		}
		if found.Status == Unsupported {
			continue
		}
		out = append(out, list...)
		names = append(names, s.spec.Name)
		if answer.Status == Unsupported || answer.Status == Complete {
			answer = found
		}
	}
	answer.Server = strings.Join(names, ", ")
	return out, answer, nil
}

// offers asks one server (LSP 3.17 §textDocument_codeAction), with the problems
// that it sees in the range.
func (s *server) offers(ctx context.Context, where *selected) (out []offer, answer Answer, err error) {
	t, err := s.open(ctx, where.path)
	if err != nil {
		return nil, Answer{}, err
	}
	defer t.release()
	answer = Answer{Status: Complete, Server: s.spec.Name, Barrier: BarrierRequest}
	switch {
	case !t.offers("textDocument/codeAction"):
		return nil, Answer{Status: Unsupported}, nil
	case t.doc.file.sha != where.sha:
		return nil, Answer{}, tools.Errorf(tools.CodeLSPStale, "%s changed meanwhile", where.path.Real)
	}
	found, err := t.check(ctx, t.doc)
	if err != nil {
		if found.Answer, err = t.client.soften(ctx, s.spec.Name, err); err != nil {
			return nil, Answer{}, err
		}
	}
	if found.Status != Complete && !found.refused {
		answer.Status, answer.Reason = Partial, "there may be fixes for problems that are not known yet: "+found.Reason
	}
	actions, err := t.actions(ctx, where, found.items)
	if err != nil {
		return nil, Answer{}, err
	}
	return t.identify(where, actions), answer, nil
}

// maxFixed bounds the problems in a range whose fixes are asked for one by one.
const maxFixed = 20

// actions asks for what can be done with the range, and with each problem in it:
// some servers look for what to fix at the start of the range that they are asked
// about, and would find nothing, or fail later.
func (t *target) actions(ctx context.Context, where *selected, items []lspDiagnostic) ([]codeAction, error) {
	text := t.doc.file.text
	whole := protocol.Range{Start: t.wire.encode(text, where.span.start), End: t.wire.encode(text, where.span.end)}
	inside := []lspDiagnostic{}
	for _, item := range items {
		at, _ := t.wire.span(text, item.Range, false)
		if !where.span.end.before(at.start) && !at.end.before(where.span.start) {
			inside = append(inside, item)
		}
	}
	list, err := t.askActions(ctx, whole, inside, where.kinds)
	if err != nil {
		return nil, err
	}
	fix := codeAction{Kind: quickFix}
	if where.span.start == where.span.end || !fix.ofKind(where.kinds) {
		return list, nil
	}
	var fixes []codeAction
	for _, item := range inside[:min(len(inside), maxFixed)] {
		if item.Range == whole {
			continue
		}
		one, err := t.askActions(ctx, item.Range, []lspDiagnostic{item}, []string{quickFix})
		if err != nil {
			return nil, err
		}
		fixes = append(fixes, one...)
	}
	list = slices.DeleteFunc(list, func(a codeAction) bool {
		return slices.ContainsFunc(fixes, func(f codeAction) bool { return f.Title == a.Title && f.Kind == a.Kind })
	})
	return append(fixes, list...), nil
}

func (t *target) askActions(ctx context.Context, r protocol.Range, about []lspDiagnostic, kinds []string) ([]codeAction, error) {
	params := codeActionParams{Range: r, Context: codeActionContext{Diagnostics: about, Only: kinds, TriggerKind: 1}}
	params.TextDocument.URI = t.doc.uri
	var raw jsontext.Value
	if err := t.read(ctx, "textDocument/codeAction", params, &raw); err != nil {
		return nil, err
	}
	list, err := parseActions(raw)
	return slices.DeleteFunc(list, func(a codeAction) bool { return !a.ofKind(kinds) }), err
}

// maxActions bounds what one server may offer at one place.
const maxActions = 500

// identify gives actions their ids. The same text, range, title and kind make the
// same id, whenever it is asked for.
func (t *target) identify(where *selected, actions []codeAction) []offer {
	var out []offer
	met := map[string]int{}
	for _, a := range actions[:min(len(actions), maxActions)] {
		key := fmt.Sprintf("%s\x00%s\x00%v\x00%s\x00%s", t.spec.Name, where.mark(), where.span, a.Title, a.Kind)
		met[key]++
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", key, met[key]))
		// Each offer holds the server in use by itself.
		held := *t
		held.release = t.server.hold()
		out = append(out, offer{&held, a, where.mark() + "-" + hex.EncodeToString(sum[:6])})
	}
	return out
}

// hold keeps the server from being stopped as unused until release is called.
func (s *server) hold() (release func()) {
	s.mu.Lock()
	s.using++
	s.mu.Unlock()
	return sync.OnceFunc(func() {
		s.mu.Lock()
		s.using--
		s.mu.Unlock()
	})
}

// actionIDs remembers where actions were listed, so that an id alone finds one.
type actionIDs struct {
	mu    sync.Mutex
	byID  map[string]selectedAt
	order []string
}

type selectedAt struct {
	*selected
	server string
}

const maxActionIDs = 5000

func (a *actionIDs) remember(id string, at selectedAt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byID == nil {
		a.byID = map[string]selectedAt{}
	}
	if _, known := a.byID[id]; !known {
		a.order = append(a.order, id)
	}
	a.byID[id] = at
	if len(a.order) > maxActionIDs {
		delete(a.byID, a.order[0])
		a.order = slices.Delete(a.order, 0, 1)
	}
}

func (a *actionIDs) find(id string) (selectedAt, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, ok := a.byID[id]
	return at, ok
}
