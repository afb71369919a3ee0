package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/daemon"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/keyvalue"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/origin"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/policy"
)

// callFlags are the flags of `call`.
type callFlags struct {
	object bool
	run    string
}

func (a *app) callCommand() *cobra.Command {
	var flags callFlags
	cmd := &cobra.Command{
		Use:   "call TOOL [JSON | key=value … | -]",
		Short: "Make one tool call",
		Long: `Make one tool call. The input is one JSON object, key=value pairs whose values
are typed by the tool's schema, or - for JSON on standard input.

Exit status: 0 done, 1 the tool failed, 2 wrong use.`,
		Example: "  prism-ls call read path=main.go limit=20\n  prism-ls call --json repo_search '{\"query\": \"TODO\"}'",
		RunE: func(cmd *cobra.Command, args []string) error {
			// A variable that is not set must not make the call one of no run, which is
			// made every time; and what is not UTF-8 would be another name on its way.
			if cmd.Flags().Changed("run") && (flags.run == "" || !utf8.ValidString(flags.run)) {
				return wrongUse("--run takes a name in UTF-8 that is not empty, not %q", flags.run)
			}
			return a.call(args, flags)
		},
	}
	a.settingFlags(cmd)
	cmd.Flags().BoolVar(&flags.object, "json", false, "print the result as one JSON object")
	cmd.Flags().StringVar(&flags.run, "run", "", "the run that this is a step of: the same call in the same run happens once")
	return cmd
}

func (a *app) call(args []string, flags callFlags) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	if len(args) == 0 {
		return a.show(&tools.Result{Err: tools.Errorf(tools.CodeToolInput, "name the tool to call; `prism-ls tools` lists them")}, flags.object)
	}
	result, err := a.callTool(ctx, args, flags)
	if err != nil {
		result = &tools.Result{Tool: args[0], Err: tools.AsError(err)}
	}
	return a.show(result, flags.object)
}

// callTool makes the call; an error is one that kept it from being made.
func (a *app) callTool(ctx context.Context, args []string, flags callFlags) (*tools.Result, error) {
	cfg, err := a.load()
	if err != nil {
		return nil, err
	}
	call, err := readCall(args[0], args[1:], a.in)
	if err != nil {
		return nil, err
	}
	call.Run = flags.run
	waiting := &waiting{out: a.err}
	defer waiting.clear()
	opts := daemon.CallOptions{Approver: a.approver(), Asker: person{}}
	if isTerminal(a.err) {
		opts.Progress = waiting.show
	}
	if d := a.useDaemon(cfg); d != nil {
		result, err := d.Call(ctx, a.daemonSettings(cfg), call, opts)
		var lost *daemon.Interrupted
		switch {
		case errors.As(err, &lost) && !lost.Harmless:
			return nil, tools.Errorf(tools.CodeInternal, "%w", err)
		case lost == nil && !a.withoutDaemon(err):
			return result, err
		}
	}
	return a.callHere(ctx, cfg, call, opts)
}

// callHere makes the call in this process.
func (a *app) callHere(ctx context.Context, cfg *config.Config, call *daemon.Call, opts daemon.CallOptions) (result *tools.Result, err error) {
	opened, err := host.Open(cfg, a.logger(cfg.Level()))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	input := call.Input
	if tool := opened.Registry().Tool(call.Tool); tool != nil && input == nil { // an unknown tool is the registry's to refuse
		if input, err = keyvalue.Read(tool.InputSchema(), call.Pairs); err != nil {
			return nil, err
		}
	}
	return opened.Registry().Call(ctx, call.Tool, input, tools.CallOptions{
		Session: daemon.CLIOwner, Owner: daemon.CLIOwner, Run: call.Run,
		Approver: opts.Approver, Asker: opts.Asker, Progress: opts.Progress,
	}), nil
}

// approver is who answers for what the profile asks. Whoever names the profile
// trusted on this very command line has answered already.
func (a *app) approver() tools.Approver {
	if a.flags.Profile == string(policy.Trusted) {
		return consenting{}
	}
	return person{}
}

// consenting agrees to everything, but to nothing that prism-ls itself started:
// an agent's command is no person's.
type consenting struct{}

// Approve implements tools.Approver.
func (consenting) Approve(context.Context, tools.Action, string) (bool, error) {
	if err := origin.NotOurs(); err != nil {
		return false, tools.Errorf(tools.CodeDecisionUnsupported, "%w", err)
	}
	return true, nil
}

// show prints a result, and returns the error that sets the exit status.
func (a *app) show(result *tools.Result, object bool) error {
	if object {
		if err := writeObject(a.out, result); err != nil {
			return err
		}
	} else if err := writeText(a.out, result.Content); err != nil {
		return err
	}
	if result.Err == nil {
		return nil
	}
	if !object {
		fmt.Fprintln(a.err, oneLine(result.Err.Error()))
	}
	return told{result.Err}
}

func writeObject(out io.Writer, result *tools.Result) error {
	shown := *result
	if shown.Content == nil {
		shown.Content = []tools.Block{}
	}
	if len(shown.Metadata) == 0 {
		shown.Metadata = json.RawMessage("{}")
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc.Encode(shown)
}

func writeText(out io.Writer, content []tools.Block) error {
	for _, block := range content {
		text := block.Text
		if block.Type == "image" {
			text = fmt.Sprintf("[%s, %d bytes]", block.MIMEType, len(block.Data))
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
	}
	return nil
}
