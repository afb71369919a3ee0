package main

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/wording"
	"github.com/prism-ls/prism-ls/tools"
)

// terminal is a person's terminal. openTerminal makes one, or says why there is no person here.
type terminal struct {
	io.ReadWriteCloser
	lines *bufio.Reader
}

func newTerminal(tty io.ReadWriteCloser) *terminal {
	return &terminal{tty, bufio.NewReader(tty)}
}

// confirm asks for the word yes; anything else is no.
func (t *terminal) confirm(question string) (bool, error) {
	answer, err := t.ask(question + " Type yes or no: ")
	return answer == "yes", err
}

func (t *terminal) ask(question string) (string, error) {
	if _, err := io.WriteString(t, question); err != nil {
		return "", tools.Errorf(tools.CodeIO, "the terminal cannot be written: %w", err)
	}
	line, err := t.lines.ReadString('\n')
	if err != nil {
		return "", tools.Errorf(tools.CodeAborted, "no answer was given")
	}
	return strings.TrimSpace(line), nil
}

// Approve is tools.Approver's.
func (t *terminal) Approve(ctx context.Context, action tools.Action, reason string) (bool, error) {
	return await(ctx, func() (bool, error) {
		return t.confirm(wording.Action(action, reason) + "\nAllow exactly this, once?")
	})
}

// Ask is tools.Asker's.
func (t *terminal) Ask(ctx context.Context, question tools.Question) (tools.Reply, error) {
	return await(ctx, func() (tools.Reply, error) {
		answer, err := t.ask(questionText(question))
		if err != nil {
			return tools.Reply{}, err
		}
		return readReply(question, answer)
	})
}

// await gives a blocking read up when the context ends; the read itself ends
// with the process, which is about to.
func await[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := read()
		done <- answer{value, err}
	}()
	select {
	case got := <-done:
		return got.value, got.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

func questionText(question tools.Question) string {
	text := wording.Question(question) + "\n\nYour choice"
	if question.Multiple {
		text += "s, separated by commas"
	}
	if question.AllowCustom {
		text += ", or your own words"
	}
	return text + ": "
}

// readReply matches an answer with the options; what matches none is the
// person's own words, where those are allowed.
func readReply(question tools.Question, answer string) (tools.Reply, error) {
	var reply tools.Reply
	words := []string{answer}
	if question.Multiple {
		words = strings.Split(answer, ",")
	}
	for _, word := range words {
		for _, option := range question.Options {
			if strings.TrimSpace(word) == option.ID {
				reply.IDs = append(reply.IDs, option.ID)
			}
		}
	}
	switch {
	case len(reply.IDs) == len(words):
		return reply, nil
	case question.AllowCustom && answer != "":
		return tools.Reply{Custom: answer}, nil
	}
	return tools.Reply{}, tools.Errorf(tools.CodeAborted, "%q is none of the options", answer)
}

// person finds the terminal when a question comes up. It is a tools.Approver
// and tools.Asker.
type person struct{}

// Approve implements tools.Approver.
func (person) Approve(ctx context.Context, action tools.Action, reason string) (bool, error) {
	t, err := openTerminal()
	if err != nil {
		return false, tools.Errorf(tools.CodeDecisionUnsupported, "%w", err)
	}
	defer t.Close()
	return t.Approve(ctx, action, reason)
}

// Ask implements tools.Asker.
func (person) Ask(ctx context.Context, question tools.Question) (tools.Reply, error) {
	t, err := openTerminal()
	if err != nil {
		return tools.Reply{}, tools.Errorf(tools.CodeDecisionUnsupported, "%w", err)
	}
	defer t.Close()
	return t.Ask(ctx, question)
}

// printable makes text from outside safe to show.
func printable(text string) string { return wording.Visible(text) }
