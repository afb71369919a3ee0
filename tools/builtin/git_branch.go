package builtin

import (
	"context"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
)

// GitBranchOp is what `git_branch` is to do.
type GitBranchOp string

// The operations of `git_branch`.
const (
	BranchValidate GitBranchOp = "validate"
	BranchList     GitBranchOp = "list"
	BranchCreate   GitBranchOp = "create"
	BranchSwitch   GitBranchOp = "switch"
)

// Values lists the operations.
func (GitBranchOp) Values() []string {
	return []string{string(BranchValidate), string(BranchList), string(BranchCreate), string(BranchSwitch)}
}

type gitBranchInput struct {
	Op               GitBranchOp `json:"op"`
	Name             string      `json:"name,omitempty"`
	StartPoint       string      `json:"startPoint,omitempty" jsonschema:"for create"`
	CreateCheckpoint bool        `json:"createCheckpoint,omitempty" jsonschema:"switch with uncommitted changes, saved first"`
}

// GitLocalBranch is a branch of `git_branch`. Worktree is where else it is checked out.
type GitLocalBranch struct {
	Name     string `json:"name"`
	OID      string `json:"oid"`
	Subject  string `json:"subject,omitempty"`
	Upstream string `json:"upstream,omitempty"`
	Current  bool   `json:"current,omitempty"`
	Worktree string `json:"worktree,omitempty"`
}

// GitBranches is the metadata of `git_branch`. Files are those that a switch wrote.
type GitBranches struct {
	Branches   []GitLocalBranch `json:"branches,omitempty"`
	Truncated  bool             `json:"truncated,omitempty"`
	Branch     *GitBranch       `json:"branch,omitempty"`
	Checkpoint string           `json:"checkpoint,omitempty"`
	Files      []string         `json:"files,omitempty"`
}

func (g *gitTools) branch() (*tools.Tool, error) {
	spec := gitChange("git_branch", "Git branches", "List, validate, create or switch local branches. Switching needs a clean tree or createCheckpoint.", tools.KindOther)
	return tools.New(spec, g.planBranch, func(ctx context.Context, call *tools.Call, in gitBranchInput) (*tools.Outcome[GitBranches], error) {
		repo, err := g.repository(ctx)
		if err != nil {
			return nil, err
		}
		switch in.Op {
		case BranchList:
			return g.listBranches(ctx, repo)
		case BranchValidate:
			if err := repo.CheckBranch(ctx, in.Name); err != nil {
				return nil, err
			}
			return tools.Answer(plainText(in.Name)+" can be the name of a branch", GitBranches{Branch: &GitBranch{Name: in.Name}}), nil
		case BranchCreate:
			id, err := repo.CreateBranch(ctx, in.Name, in.StartPoint)
			if err != nil {
				return nil, err
			}
			return tools.Answer("Created "+plainText(in.Name)+" at "+shortID(id), GitBranches{Branch: &GitBranch{Name: in.Name, OID: id}}), nil
		}
		return switchBranch(ctx, call, repo, in)
	})
}

func (g *gitTools) planBranch(_ context.Context, _ *tools.Call, in gitBranchInput) (tools.Action, error) {
	action := tools.Action{Paths: []string{"."}, Args: []string{string(in.Op), in.Name, in.StartPoint}, Risk: tools.RiskMedium}
	if in.Op == BranchList || in.Op == BranchValidate {
		action.Mutation, action.Risk = tools.MutatesNothing, tools.RiskLow
	}
	switch {
	case in.Op != BranchList && in.Name == "":
		return action, tools.Errorf(tools.CodeToolInput, "name is missing: the branch to %s", in.Op)
	case in.StartPoint != "" && in.Op != BranchCreate:
		return action, tools.Errorf(tools.CodeToolInput, "startPoint is for create; %s takes none", in.Op)
	case in.CreateCheckpoint && in.Op != BranchSwitch:
		return action, tools.Errorf(tools.CodeToolInput, "createCheckpoint is for switch; %s changes no files", in.Op)
	}
	return action, nil
}

func (g *gitTools) listBranches(ctx context.Context, repo *git.Repository) (*tools.Outcome[GitBranches], error) {
	list, truncated, err := repo.Branches(ctx, 0)
	if err != nil {
		return nil, err
	}
	m := GitBranches{Branches: []GitLocalBranch{}, Truncated: truncated}
	var lines []string
	for _, b := range list {
		one := GitLocalBranch{Name: showName(b.Name), OID: b.ID, Subject: showName(b.Subject), Upstream: showName(b.Upstream), Current: b.Current}
		line := "  " + plainText(b.Name) + " " + shortID(b.ID)
		if b.Current {
			line = "*" + line[1:]
		}
		if b.Worktree != "" {
			one.Worktree = git.FormatPath(b.Worktree)
			line += " [checked out at " + git.DisplayPath(b.Worktree) + "]"
		}
		m.Branches = append(m.Branches, one)
		lines = append(lines, line+" "+clipRunes(plainText(b.Subject), 100))
	}
	if len(lines) == 0 {
		lines = []string{"(no branches)"}
	}
	if truncated {
		lines = append(lines, "[truncated]")
	}
	return tools.Answer(strings.Join(lines, "\n"), m), nil
}

func switchBranch(ctx context.Context, call *tools.Call, repo *git.Repository, in gitBranchInput) (*tools.Outcome[GitBranches], error) {
	defer heartbeat(call, 0, "switching")()
	done, err := repo.Switch(ctx, in.Name, &git.SwitchOptions{Checkpoint: in.CreateCheckpoint})
	if err != nil {
		return nil, err
	}
	changed(call, done.Files)
	m := GitBranches{Branch: &GitBranch{Name: done.Branch, OID: done.ID}, Files: formatPaths(done.Files)}
	text := "On " + plainText(done.Branch) + " at " + shortID(done.ID) + ", " + counted(len(done.Files), "file") + " changed"
	return tools.Answer(text+checkpointText(done.Checkpoint, &m.Checkpoint), m), nil
}

// checkpointText notes a checkpoint, if there is one, and says how to get back to it.
func checkpointText(c *git.Checkpoint, id *string) string {
	if c == nil {
		return ""
	}
	*id = c.ID
	return "\nCheckpoint " + c.ID + " has what was there before; git_restore brings files back from it."
}

func formatPaths(paths []string) []string {
	list := make([]string, 0, len(paths))
	for _, path := range paths {
		list = append(list, git.FormatPath(path))
	}
	return list
}

// pathLines shows paths one to a line.
func pathLines(paths []string) string {
	var text strings.Builder
	for _, path := range paths {
		text.WriteString("\n" + git.DisplayPath(path))
	}
	return text.String()
}

// gitChange is gitSpec for a tool that changes something.
func gitChange(name, title, description string, kind tools.Kind) tools.Spec {
	spec := gitSpec(name, title, description)
	spec.Kind, spec.Effect = kind, tools.ChangesFiles
	return spec
}
