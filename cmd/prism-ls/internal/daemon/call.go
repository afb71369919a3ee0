package daemon

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/keyvalue"
	"github.com/prism-ls/prism-ls/tools"
)

// CLIOwner is on whose behalf the command line works: one name for all of its
// runs, so that a consent given between two of them is for both.
const CLIOwner = "cli"

// call makes one call of the command line.
func (s *session) call(ctx context.Context, registry *tools.Registry) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	person := &remotePerson{out: s.out, peer: s.peer, waiting: map[int]chan answer{}}
	var reading sync.WaitGroup
	reading.Go(func() {
		defer cancel() // a client that is gone, or gives up, cancels
		person.listen(s)
	})
	result := s.makeCall(ctx, registry, person)
	err := s.out.send(told{Result: resultOf(result)})
	_ = s.conn.CloseRead() // ends the reading
	reading.Wait()
	return err
}

func (s *session) makeCall(ctx context.Context, registry *tools.Registry, person *remotePerson) *tools.Result {
	asked := s.hello.Call
	failed := func(err error) *tools.Result { return &tools.Result{Tool: asked.Tool, Err: tools.AsError(err)} }
	input, mutates := asked.Input, false
	if tool := registry.Tool(asked.Tool); tool != nil { // an unknown tool is the registry's to refuse
		mutates = tool.Spec().Effect.Mutates()
		if asked.Input == nil {
			var err error
			if input, err = keyvalue.Read(tool.InputSchema(), asked.Pairs); err != nil {
				return failed(err)
			}
		}
	}
	if err := s.out.send(told{Begun: &begun{Mutates: mutates}}); err != nil {
		return failed(err)
	}
	opts := tools.CallOptions{Session: CLIOwner, Owner: CLIOwner, Run: asked.Run, Approver: person, Asker: person}
	if asked.Progress {
		opts.Progress = func(p tools.Progress) { _ = s.out.send(told{Progress: &p}) } // a lost client cancels
	}
	return registry.Call(ctx, asked.Tool, input, opts)
}

// remotePerson is the person at a client's terminal: a tools.Approver and
// tools.Asker.
type remotePerson struct {
	out  *lines
	peer *peer

	mu      sync.Mutex
	last    int
	gone    bool
	waiting map[int]chan answer
}

// listen hands out the answers until the client closes its end.
func (p *remotePerson) listen(s *session) {
	for {
		var got answer
		err := readLine(s.in, &got)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				s.daemon.opts.Logger.Debug("a client's answers ended badly", "error", err)
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			p.gone = true
			for id, waiting := range p.waiting {
				close(waiting)
				delete(p.waiting, id)
			}
			return
		}
		p.mu.Lock()
		waiting := p.waiting[got.ID]
		delete(p.waiting, got.ID)
		p.mu.Unlock()
		if waiting != nil {
			waiting <- got
		}
	}
}

// ask sends a question, and waits for the answer. What prism-ls started is no
// person, whatever it answers.
func (p *remotePerson) ask(ctx context.Context, question func(id int) told) (answer, error) {
	if err := p.peer.notOurs(); err != nil {
		return answer{}, tools.Errorf(tools.CodeDecisionUnsupported, "%w", err)
	}
	reply := make(chan answer, 1)
	p.mu.Lock()
	if p.gone {
		p.mu.Unlock()
		return answer{}, tools.Errorf(tools.CodeDecisionUnsupported, "the client has gone")
	}
	p.last++
	id := p.last
	p.waiting[id] = reply
	p.mu.Unlock()
	if err := p.out.send(question(id)); err != nil {
		return answer{}, err
	}
	select {
	case got, ok := <-reply:
		switch {
		case !ok:
			return answer{}, tools.Errorf(tools.CodeDecisionUnsupported, "the client has gone")
		case got.Error != nil:
			return answer{}, got.Error.err()
		}
		return got, nil
	case <-ctx.Done():
		p.mu.Lock()
		delete(p.waiting, id)
		p.mu.Unlock()
		return answer{}, ctx.Err()
	}
}

// Approve implements tools.Approver.
func (p *remotePerson) Approve(ctx context.Context, action tools.Action, reason string) (bool, error) {
	got, err := p.ask(ctx, func(id int) told {
		return told{Approve: &approveRequest{ID: id, Action: action, Reason: reason}}
	})
	return got.Approved, err
}

// Ask implements tools.Asker.
func (p *remotePerson) Ask(ctx context.Context, question tools.Question) (tools.Reply, error) {
	got, err := p.ask(ctx, func(id int) told { return told{Ask: &askRequest{ID: id, Question: question}} })
	return got.Reply, err
}
