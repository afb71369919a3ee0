package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/plan"
)

func (a *app) decideCommand() *cobra.Command {
	var object bool
	cmd := &cobra.Command{
		Use:   "decide [ID]",
		Short: "Answer a question that an agent could put to nobody",
		Long: `Answer a question that an agent could put to nobody; the agent has the answer when it
asks the same again. Without an ID, list the questions that wait. Deciding needs a
person at a terminal: it is refused in anything that prism-ls started.`,
		Example: "  prism-ls decide\n  prism-ls decide 0f3a9c2b7e51",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return wrongUse("%s takes one ID, and %d arguments were given", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withHost(func(ctx context.Context, opened *host.Host) error {
				decisions, err := opened.Decisions()
				switch {
				case err != nil:
					return err
				case len(args) == 0:
					return a.listDecisions(ctx, opened, decisions, object)
				}
				return a.decide(ctx, opened, decisions, args[0])
			})
		},
	}
	a.placeFlags(cmd)
	cmd.Flags().BoolVar(&object, "json", false, "print one JSON object")
	return cmd
}

// withHost runs a function with what serves this workspace, in this process.
func (a *app) withHost(do func(context.Context, *host.Host) error) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	cfg, err := a.load()
	if err != nil {
		return err
	}
	opened, err := host.Open(cfg, a.logger(cfg.Level()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return do(ctx, opened)
}

// decisionObject is a question that is kept, as JSON.
type decisionObject struct {
	ID          string   `json:"id"`
	Question    string   `json:"question"`
	Options     []string `json:"options"`
	Multiple    bool     `json:"multiple"`
	AllowCustom bool     `json:"allowCustom"`
	Asked       string   `json:"asked"`
	Answer      []string `json:"answer,omitempty"`
}

func (a *app) listDecisions(ctx context.Context, opened *host.Host, decisions *plan.Decisions, object bool) error {
	list, err := decisions.List(ctx, opened.People())
	if err != nil {
		return err
	}
	objects := []decisionObject{}
	for _, d := range list {
		one := decisionObject{ID: d.ID, Question: d.Question.Text, Multiple: d.Question.Multiple, AllowCustom: d.Question.AllowCustom, Asked: d.Asked.Format(time.RFC3339)}
		for _, option := range d.Question.Options {
			one.Options = append(one.Options, option.ID)
		}
		if d.Reply != nil {
			one.Answer = answerWords(d.Reply)
		}
		objects = append(objects, one)
		if !object {
			answer := "waits"
			if d.Reply != nil {
				answer = "answered: " + strings.Join(one.Answer, ", ")
			}
			fmt.Fprintf(a.out, "%s  %s  (%s)\n", d.ID, short(printable(d.Question.Text)), printable(answer))
		}
	}
	if object {
		return a.writeJSON(map[string][]decisionObject{"decisions": objects})
	}
	return nil
}

func answerWords(reply *tools.Reply) []string {
	if reply.Custom != "" {
		return []string{reply.Custom}
	}
	return reply.IDs
}

func (a *app) decide(ctx context.Context, opened *host.Host, decisions *plan.Decisions, id string) error {
	terminal, err := openTerminal()
	if err != nil {
		return err
	}
	defer terminal.Close()
	waits, err := decisions.Get(ctx, opened.People(), id)
	if err != nil {
		return err
	}
	if waits.Reply != nil {
		return tools.Errorf(tools.CodeStateConflict, "the question %s was answered already: %s", id, printable(strings.Join(answerWords(waits.Reply), ", ")))
	}
	reply, err := terminal.Ask(ctx, waits.Question)
	if err != nil {
		return err
	}
	answered, err := decisions.Answer(ctx, opened.People(), id, waits.Version, reply)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "answered %s: %s\n", id, printable(strings.Join(answerWords(answered.Reply), ", ")))
	return nil
}
