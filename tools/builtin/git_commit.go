package builtin

import (
	"context"
	"slices"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
)

type gitCommitInput struct {
	Message          string   `json:"message" check:"nonempty"`
	Paths            []string `json:"paths" check:"nonempty" jsonschema:"files or directories, whose changes are committed"`
	CreateCheckpoint bool     `json:"createCheckpoint,omitempty" jsonschema:"allow other changes, saved first"`
}

// GitCommit is the metadata of `git_commit`. Ref is the full name of the branch, or
// "HEAD" where none is checked out.
type GitCommit struct {
	OID        string   `json:"oid"`
	Tree       string   `json:"tree"`
	Ref        string   `json:"ref"`
	Files      []string `json:"files"`
	Checkpoint string   `json:"checkpoint,omitempty"`
}

func (g *gitTools) commit() (*tools.Tool, error) {
	spec := gitChange("git_commit", "Git commit", "Commit exactly the named paths on the current branch. Never pushes, runs no hooks.", tools.KindOther)
	spec.Limits = []tools.Limit{g.pathLimit()}
	plan := func(_ context.Context, _ *tools.Call, in gitCommitInput) (tools.Action, error) {
		_, action, err := g.gitPaths(in.Paths)
		action.Risk, action.Content = tools.RiskMedium, hexHash([]byte(in.Message))
		if err == nil && int64(len(in.Message)) > g.Limits.MessageBytes {
			err = tools.Errorf(tools.CodeToolInput, "message has %d bytes, at most %d are taken", len(in.Message), g.Limits.MessageBytes)
		}
		return action, err
	}
	return tools.New(spec, plan, func(ctx context.Context, call *tools.Call, in gitCommitInput) (*tools.Outcome[GitCommit], error) {
		repo, err := g.repository(ctx)
		if err != nil {
			return nil, err
		}
		paths, _, err := g.gitPaths(in.Paths)
		if err != nil {
			return nil, err
		}
		defer heartbeat(call, 0, "committing")()
		done, err := repo.Commit(ctx, &git.CommitOptions{
			Message: in.Message, Paths: paths, Checkpoint: in.CreateCheckpoint,
			Admit: func(files []string) error { return admitSecrets(ctx, call, files) },
		})
		if err != nil {
			return nil, err
		}
		m := GitCommit{OID: done.ID, Tree: done.Tree, Ref: showName(done.Ref), Files: formatPaths(done.Files)}
		text := "Committed " + shortID(done.ID) + " on " + plainText(done.Ref) + ", " + counted(len(done.Files), "file") + ":" + pathLines(done.Files)
		return tools.Answer(text+checkpointText(done.Checkpoint, &m.Checkpoint), m), nil
	})
}

// admitSecrets puts files that usually hold credentials before the policy, which has
// seen only the directory that they were named by: in a commit, they stay for good.
func admitSecrets(ctx context.Context, call *tools.Call, files []string) error {
	action := call.Action()
	known := action.Paths
	action.Paths = nil
	for _, file := range files {
		if tools.IsSecretPath(file) && !slices.Contains(known, file) {
			action.Paths = append(action.Paths, file)
		}
	}
	if len(action.Paths) == 0 {
		return nil
	}
	return call.Authorize(ctx, action)
}
