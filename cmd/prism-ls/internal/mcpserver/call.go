package mcpserver

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/prism-ls/prism-ls/tools"
)

// answerTime is how long a cancelled call may take to end by itself. After
// that the client gets its answer while the call is still being stopped.
const answerTime = 50 * time.Millisecond

// call is the handler of every tool.
func (s *Server) call(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	talk, err := s.talkTo(request)
	if err != nil {
		return fill(ctx, &tools.Result{Tool: request.Params.Name, Err: tools.AsError(err)}), nil
	}
	progress := newProgress(ctx, request)
	defer progress.end()
	input := []byte(request.Params.Arguments)
	if string(input) == "null" {
		input = nil
	}
	run, err := runOf(request)
	if err != nil {
		return fill(ctx, &tools.Result{Tool: request.Params.Name, Err: tools.AsError(err)}), nil
	}
	opts := tools.CallOptions{Session: s.session, Owner: s.opts.Owner, Run: run, Progress: progress.sink(), Approver: talk, Asker: talk}
	done := make(chan *tools.Result, 1)
	s.calls.Go(func() { done <- s.registry.Call(ctx, request.Params.Name, input, opts) })
	result := s.await(ctx, request.Params.Name, done)
	if question := talk.pending(); question != nil && ctx.Err() == nil {
		return s.seals.ask(request, question)
	}
	return fill(ctx, result), nil
}

// RunKey is the key in a call's _meta by which its host names the run that the call is
// a step of; see [tools.CallOptions].
const RunKey = "prism-ls/run"

func runOf(request *mcp.CallToolRequest) (string, error) {
	said, ok := request.Params.Meta[RunKey]
	if !ok {
		return "", nil
	}
	run, ok := said.(string)
	if !ok || run == "" {
		return "", tools.Errorf(tools.CodeToolInput, "_meta has %s, which must be a string that is not empty", RunKey)
	}
	return run, nil
}

// await returns the call's result, or soon after its end by cancellation one
// that promises nothing.
func (s *Server) await(ctx context.Context, name string, done <-chan *tools.Result) *tools.Result {
	select {
	case result := <-done:
		return result
	case <-ctx.Done():
	}
	timeout := time.NewTimer(answerTime)
	defer timeout.Stop()
	select {
	case result := <-done:
		return result
	case <-timeout.C:
	}
	message := "the call was cancelled"
	if s.registry.Tool(name).Spec().Effect.Mutates() {
		message = "the call was cancelled and is being stopped; whether it took effect is unknown"
	}
	return &tools.Result{Tool: name, Err: tools.Errorf(tools.CodeAborted, "%s", message)}
}
