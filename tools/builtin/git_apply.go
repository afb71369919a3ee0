package builtin

import (
	"context"
	"slices"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// GitApplyOp is what `git_apply` is to do.
type GitApplyOp string

// The operations of `git_apply`.
const (
	ApplyCheck   GitApplyOp = "check"
	ApplyApply   GitApplyOp = "apply"
	ApplyReverse GitApplyOp = "reverse"
)

// Values lists the operations.
func (GitApplyOp) Values() []string {
	return []string{string(ApplyCheck), string(ApplyApply), string(ApplyReverse)}
}

type gitApplyInput struct {
	Op               GitApplyOp `json:"op"`
	Patch            string     `json:"patch" check:"nonempty" jsonschema:"git format, paths from the root"`
	CreateCheckpoint bool       `json:"createCheckpoint,omitempty" jsonschema:"allow uncommitted changes, saved first"`
}

// GitApplied is the metadata of `git_apply`. Files are those that the patch changes.
type GitApplied struct {
	Files      []string `json:"files"`
	Checkpoint string   `json:"checkpoint,omitempty"`
	UndoID     string   `json:"undoId,omitempty"`
	Degraded   string   `json:"degraded,omitempty"`
}

func (in gitApplyInput) options() *git.PatchOptions {
	return &git.PatchOptions{Patch: []byte(in.Patch), Reverse: in.Op == ApplyReverse, Checkpoint: in.CreateCheckpoint}
}

func (g *gitTools) apply() (*tools.Tool, error) {
	spec := gitChange("git_apply", "Apply patch", "Check, apply or take back a patch, all of it or nothing. Needs a clean tree or createCheckpoint.", tools.KindEdit)
	spec.InputBytes = min(2*g.Limits.PatchBytes, tools.InputBytes.Hard) // escapes make JSON longer
	return tools.New(spec, g.planApply, func(ctx context.Context, call *tools.Call, in gitApplyInput) (*tools.Outcome[GitApplied], error) {
		repo, err := g.repository(ctx)
		if err != nil {
			return nil, err
		}
		paths := call.Action().Paths
		if in.Op == ApplyCheck {
			return tools.Answer("The patch applies, and would change "+counted(len(paths), "file")+":"+pathLines(paths), GitApplied{Files: formatPaths(paths)}), nil
		}
		defer heartbeat(call, 0, "applying")()
		done, checkpoint, err := repo.ApplyPatch(ctx, g.Workspace, paths, in.options())
		if err != nil {
			return nil, err
		}
		changed(call, done.Files)
		m := GitApplied{Files: formatPaths(done.Files), UndoID: done.UndoID, Degraded: done.Degraded}
		text := "Applied to " + counted(len(done.Files), "file") + ":" + pathLines(done.Files)
		return tools.Answer(text+checkpointText(checkpoint, &m.Checkpoint)+undoText(done), m), nil
	})
}

// planApply checks the patch: which files it changes is what a policy has to know.
func (g *gitTools) planApply(ctx context.Context, _ *tools.Call, in gitApplyInput) (tools.Action, error) {
	action := tools.Action{Risk: tools.RiskMedium, Content: hexHash([]byte(in.Patch)), Args: []string{string(in.Op)}}
	if in.Op == ApplyCheck {
		action.Mutation, action.Risk = tools.MutatesNothing, tools.RiskLow
		if in.CreateCheckpoint {
			return action, tools.Errorf(tools.CodeToolInput, "createCheckpoint is for apply and reverse; check changes no files")
		}
	}
	if int64(len(in.Patch)) > g.Limits.PatchBytes {
		return action, tools.Errorf(tools.CodeToolInput, "patch has %d bytes, at most %d are taken", len(in.Patch), g.Limits.PatchBytes)
	}
	repo, err := g.repository(ctx)
	if err != nil {
		return action, err
	}
	list, err := repo.CheckPatch(ctx, in.options())
	if err != nil {
		return action, err
	}
	action.Paths, err = g.rewritten(list)
	return action, err
}

// rewritten is what a policy sees of files that are about to be written: their paths
// and, where a control file is a link to one of them, that name as well. It refuses
// more than the host allows.
func (g *gitTools) rewritten(list []git.Rewrite) ([]string, error) {
	if int64(len(list)) > g.Limits.Files {
		return nil, tools.Errorf(tools.CodeLimit, "%d files would be written, at most %d are allowed at once", len(list), g.Limits.Files)
	}
	paths := git.RewritePaths(list)
	slices.Sort(paths)
	for _, path := range paths[:len(paths):len(paths)] {
		for _, also := range g.Workspace.ControlNames(workspace.Path{Rel: path, Real: path}) {
			if !slices.Contains(paths, also) {
				paths = append(paths, also)
			}
		}
	}
	return paths, nil
}

// undoText says how to take a change back.
func undoText(done *workspace.Committed) string {
	switch {
	case done.UndoID != "":
		return "\nUndo: " + done.UndoID
	case done.Degraded != "":
		return "\nNot undoable: " + done.Degraded
	}
	return ""
}
