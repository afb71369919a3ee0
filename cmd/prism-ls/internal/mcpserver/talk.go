package mcpserver

import (
	"context"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/prism-ls/prism-ls/tools"
)

// errWaiting ends a call whose question goes back to the client with the
// answer (2026-07-28, "multi round-trip requests"): the client repeats the
// call with the person's reply. Nothing has happened by then, because actions
// are authorized before any of their effects.
var errWaiting = errors.New("the client has to answer first")

// talk reaches the person behind one call. It is that call's tools.Approver
// and tools.Asker.
type talk struct {
	session *mcp.ServerSession
	// able: the client can show a form.
	able bool
	// lists: forms may hold lists (since 2025-11-25).
	lists bool
	// rounds: questions go back with the answer of the call instead of being
	// requests of their own.
	rounds bool

	mu       sync.Mutex
	answers  map[string]*mcp.ElicitResult // from earlier rounds
	used     map[string]bool              // each is good once
	question *question
}

// question is what a call waits for; key identifies what exactly is answered.
type question struct {
	key  string
	form *mcp.ElicitParams
	past map[string]*mcp.ElicitResult
}

func (s *Server) talkTo(request *mcp.CallToolRequest) (*talk, error) {
	version := request.ProtocolVersion()
	t := &talk{session: request.Session, used: map[string]bool{}, lists: version >= "2025-11-25", rounds: version >= "2026-07-28"}
	if capabilities := request.ClientCapabilities(); capabilities != nil && capabilities.Elicitation != nil {
		t.able = capabilities.Elicitation.Form != nil || capabilities.Elicitation.URL == nil
	}
	if !t.rounds || request.Params.RequestState == "" {
		return t, nil
	}
	var err error
	t.answers, err = s.seals.open(request)
	return t, err
}

// Approve implements tools.Approver.
func (t *talk) Approve(ctx context.Context, action tools.Action, reason string) (bool, error) {
	answer, err := t.ask(ctx, "approve "+action.Digest(), approvalForm(action, reason))
	if err != nil {
		return false, err
	}
	return answer.Action == "accept", nil
}

// Ask implements tools.Asker.
func (t *talk) Ask(ctx context.Context, asked tools.Question) (tools.Reply, error) {
	form := decisionForm(asked, t.lists)
	answer, err := t.ask(ctx, "decide "+digest(form.Message, asked), form)
	if err != nil {
		return tools.Reply{}, err
	}
	if answer.Action != "accept" {
		return tools.Reply{}, tools.Errorf(tools.CodeAborted, "the person did not choose")
	}
	return readDecision(asked, answer.Content)
}

func (t *talk) ask(ctx context.Context, key string, form *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	if !t.able {
		return nil, tools.Errorf(tools.CodeDecisionUnsupported, "this client cannot put a question to a person (it has no elicitation)")
	}
	if !t.rounds {
		return t.session.Elicit(ctx, form)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if answer := t.answers[key]; answer != nil && !t.used[key] {
		t.used[key] = true
		return answer, nil
	}
	if t.question == nil {
		t.question = &question{key: key, form: form, past: t.answers}
	}
	return nil, errWaiting
}

// pending returns the question that the call ended with, or nil.
func (t *talk) pending() *question {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.question
}
