package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/daemon"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/origin"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/plan/taskspace"
	"github.com/prism-ls/prism-ls/tools/state"
)

func (a *app) workspaceCommand() *cobra.Command {
	var object bool
	cmd := &cobra.Command{
		Use:   "workspace",
		Short: "Look after the workspaces of tasks, whoever made them",
		Long: `Look after the workspaces of tasks: a branch in a work tree of its own for each of a
task's repositories, as the tools workspace_create and workspace_cleanup make them and
take them away. Without a further word it lists them.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return wrongUse("there is no command %q of workspace%s", args[0], nearestCommand(cmd, args[0]))
			}
			return a.listSpaces(object)
		},
	}
	a.placeFlags(cmd)
	cmd.Flags().BoolVar(&object, "json", false, "print one JSON object")
	cmd.AddCommand(a.spaceCreateCommand(), a.spaceGetCommand(), a.spaceVerifyCommand(), a.spaceCleanupCommand(),
		a.spaceUndoCommand(), a.spaceRemoveCommand(), a.spaceAttachCommand(), a.spaceArtifactCommand())
	return cmd
}

// spaceDo is what a command does with the workspace of a task.
type spaceDo func(ctx context.Context, spaces *host.TaskSpaces, owner state.Owner, args []string) (*taskspace.Space, error)

// spaceCommand makes a command about the workspace of the task that comes first.
func (a *app) spaceCommand(cmd *cobra.Command, do spaceDo) *cobra.Command {
	var object bool
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		return a.withSpaces(func(ctx context.Context, spaces *host.TaskSpaces) error {
			owner, err := spaces.OwnerOf(ctx, args[0])
			if errors.Is(err, tools.CodeWorkspaceUnknown) { // which says so, or makes one
				owner, err = state.Owner{User: daemon.CLIOwner}, nil
			}
			if err != nil {
				return err
			}
			space, err := do(ctx, spaces, owner, args)
			if err != nil {
				return a.withProblems(err)
			}
			return a.showSpace(space, object)
		})
	}
	a.placeFlags(cmd)
	cmd.Flags().BoolVar(&object, "json", false, "print one JSON object")
	return cmd
}

// withSpaces runs a function with the workspaces of all agents, which only a person has.
func (a *app) withSpaces(do func(context.Context, *host.TaskSpaces) error) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	if err := origin.NotOurs(); err != nil {
		return err
	}
	cfg, err := a.load()
	if err != nil {
		return err
	}
	spaces, err := host.OpenTaskSpaces(cfg, a.logger(cfg.Level()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, spaces.Close()) }()
	return do(ctx, spaces)
}

func (a *app) showSpace(space *taskspace.Space, object bool) error {
	if space == nil {
		return nil
	}
	shown := builtin.TaskWorkspaceOf(space)
	if object {
		return a.writeJSON(shown)
	}
	_, err := fmt.Fprintln(a.out, printableLines(shown.Text()))
	return err
}

// printableLines is printable for each line.
func printableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = printable(lines[i])
	}
	return strings.Join(lines, "\n")
}

// withProblems shows each reason of a refusal, and the flag that lifts it.
func (a *app) withProblems(err error) error {
	problems, _ := tools.AsError(err).Details.([]taskspace.Problem)
	for _, problem := range problems {
		hint := "nothing lifts this"
		if flag := problemFlags[problem.Lifts]; flag != "" {
			hint = "--" + flag + " lifts this"
		}
		fmt.Fprintf(a.err, "%s: %s (%s)\n", problem.RepositoryID, printable(problem.Message), hint)
	}
	return err
}

// problemFlags are the flags of cleanup that lift a problem.
var problemFlags = map[string]string{
	"dirty": "dirty", "locked": "locked", "missing": "missing", "unowned": "unowned", "movedHead": "moved-head",
}

// spaceObject is a workspace in a list, with whose it is.
type spaceObject struct {
	Owner string `json:"owner"`
	builtin.TaskWorkspace
}

func (a *app) listSpaces(object bool) error {
	return a.withSpaces(func(ctx context.Context, spaces *host.TaskSpaces) error {
		list := []spaceObject{}
		for cursor := ""; ; {
			entries, next, err := spaces.Owners(ctx, cursor, 0)
			if err != nil {
				return err
			}
			for _, entry := range entries {
				space, err := spaces.Get(ctx, entry.Owner, entry.TaskID)
				if errors.Is(err, tools.CodeWorkspaceUnknown) {
					continue // it was never made to the point of a record
				}
				if err != nil {
					return err
				}
				list = append(list, spaceObject{entry.Owner.User, builtin.TaskWorkspaceOf(space)})
			}
			if cursor = next; cursor == "" {
				break
			}
		}
		if object {
			return a.writeJSON(map[string][]spaceObject{"workspaces": list})
		}
		return a.spaceTable(list)
	})
}

func (a *app) spaceTable(list []spaceObject) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.out, "(no workspaces)")
		return err
	}
	table := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "TASK\tSTATE\tOWNER\tREPOSITORY\tBRANCH\tPATH")
	for _, space := range list {
		for _, wt := range space.Repositories {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", space.TaskID, space.State, printable(space.Owner), wt.RepositoryID, printable(wt.Branch), printable(wt.Path))
		}
	}
	return table.Flush()
}

func (a *app) spaceCreateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "create TASK REPOSITORY=BRANCH[:BASE]...",
		Short:   "Make a workspace, or finish one that was begun",
		Example: "  prism-ls workspace create fix-till root=task/fix-till shop=task/fix-till:v1.2",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return wrongUse("%s takes a task's ID and at least one REPOSITORY=BRANCH, and %d arguments were given", cmd.CommandPath(), len(args))
			}
			return nil
		},
	}
	return a.spaceCommand(cmd, func(ctx context.Context, spaces *host.TaskSpaces, owner state.Owner, args []string) (*taskspace.Space, error) {
		request := &taskspace.Request{TaskID: args[0]}
		for _, arg := range args[1:] {
			id, branch, ok := strings.Cut(arg, "=")
			if !ok {
				return nil, wrongUse("%q is no REPOSITORY=BRANCH[:BASE]", arg)
			}
			branch, base, _ := strings.Cut(branch, ":")
			request.Repositories = append(request.Repositories, taskspace.Branch{RepositoryID: id, Branch: branch, Base: base})
		}
		return spaces.Create(ctx, owner, request)
	})
}

func (a *app) spaceGetCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "get TASK", Short: "Show the record of a workspace", Args: exactArgs(1, "a task's ID")}
	return a.spaceCommand(cmd, func(ctx context.Context, spaces *host.TaskSpaces, owner state.Owner, args []string) (*taskspace.Space, error) {
		return spaces.Get(ctx, owner, args[0])
	})
}

func (a *app) spaceVerifyCommand() *cobra.Command {
	var record bool
	cmd := &cobra.Command{
		Use:   "verify TASK",
		Short: "Compare a workspace with its record",
		Args:  exactArgs(1, "a task's ID"),
	}
	cmd.Flags().BoolVar(&record, "record", false, "take the commits that its branches are at for the recorded ones")
	return a.spaceCommand(cmd, func(ctx context.Context, spaces *host.TaskSpaces, owner state.Owner, args []string) (*taskspace.Space, error) {
		return spaces.Verify(ctx, owner, args[0], record)
	})
}

func (a *app) spaceCleanupCommand() *cobra.Command {
	var policy taskspace.Policy
	cmd := &cobra.Command{
		Use:   "cleanup TASK",
		Short: "Remove the work trees of a workspace; its branches stay",
		Long: `Remove the work trees of a workspace. It refuses where something would be lost, or
where a work tree is not the one that was made; each refusal names the flag that lifts
it. What is not committed is saved first, and undo brings it back.`,
		Args: exactArgs(1, "a task's ID"),
	}
	flags := cmd.Flags()
	flags.BoolVar(&policy.Dirty, "dirty", false, "save files that are not committed, and remove the work tree all the same")
	flags.StringSliceVar(&policy.Ignored, "ignored", nil, "ignored files and directories that need not be saved, such as node_modules")
	flags.BoolVar(&policy.Locked, "locked", false, "remove a work tree that somebody else has locked")
	flags.BoolVar(&policy.Missing, "missing", false, "take a work tree that is not there for removed")
	flags.BoolVar(&policy.Unowned, "unowned", false, "remove a work tree that is another one than was made")
	flags.BoolVar(&policy.MovedHead, "moved-head", false, "remove a work tree that is not on its branch, or whose branch was rewritten")
	return a.spaceCommand(cmd, func(ctx context.Context, spaces *host.TaskSpaces, owner state.Owner, args []string) (*taskspace.Space, error) {
		return spaces.Cleanup(ctx, owner, args[0], policy)
	})
}

func (a *app) spaceUndoCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "undo TASK", Short: "Take a cleanup back", Args: exactArgs(1, "a task's ID")}
	return a.spaceCommand(cmd, func(ctx context.Context, spaces *host.TaskSpaces, owner state.Owner, args []string) (*taskspace.Space, error) {
		return spaces.Undo(ctx, owner, args[0])
	})
}

func (a *app) spaceRemoveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remove TASK",
		Short: "Forget a workspace that is cleaned up, and what that saved",
		Args:  exactArgs(1, "a task's ID"),
	}
	return a.spaceCommand(cmd, func(ctx context.Context, spaces *host.TaskSpaces, owner state.Owner, args []string) (*taskspace.Space, error) {
		return nil, spaces.Remove(ctx, owner, args[0])
	})
}

func (a *app) spaceAttachCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "attach TASK NAME FILE",
		Short: "Keep a file as an artifact of a workspace",
		Args:  exactArgs(3, "a task's ID, a name and a file"),
	}
	return a.spaceCommand(cmd, func(ctx context.Context, spaces *host.TaskSpaces, owner state.Owner, args []string) (*taskspace.Space, error) {
		if _, err := spaces.Get(ctx, owner, args[0]); err != nil {
			return nil, err
		}
		file, err := os.Open(args[2])
		if err != nil {
			return nil, err
		}
		defer file.Close()
		kept, err := spaces.Artifacts.Put(ctx, owner, file)
		if err != nil {
			return nil, err
		}
		return spaces.Attach(ctx, owner, args[0], taskspace.Artifact{Name: args[1], SHA256: kept.SHA256, Bytes: kept.Bytes})
	})
}

func (a *app) spaceArtifactCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "artifact TASK SHA256",
		Short:   "Print an artifact of a workspace, attached or saved",
		Example: "  prism-ls workspace artifact fix-till 3a7c… | tar tv",
		Args:    exactArgs(2, "a task's ID and an artifact's hash"),
	}
	return a.spaceCommand(cmd, func(ctx context.Context, spaces *host.TaskSpaces, owner state.Owner, args []string) (*taskspace.Space, error) {
		space, err := spaces.Get(ctx, owner, args[0])
		if err != nil {
			return nil, err
		}
		if !space.Names(args[1]) {
			return nil, tools.Errorf(tools.CodeNotFound, "the workspace of task %s names no artifact %s", args[0], args[1])
		}
		content, err := spaces.Artifacts.Open(ctx, owner, args[1])
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(a.out, content)
		return nil, errors.Join(err, content.Close())
	})
}
