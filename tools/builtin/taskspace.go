package builtin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/plan/taskspace"
	"github.com/prism-ls/prism-ls/tools/state"
)

// TaskSpaces makes and takes away workspaces of tasks, as *taskspace.Manager does.
type TaskSpaces interface {
	Create(ctx context.Context, owner state.Owner, request *taskspace.Request) (*taskspace.Space, error)
	Verify(ctx context.Context, owner state.Owner, taskID string, record bool) (*taskspace.Space, error)
	Cleanup(ctx context.Context, owner state.Owner, taskID string, policy taskspace.Policy) (*taskspace.Space, error)
	List(ctx context.Context, owner state.Owner, cursor string, limit int64) (*taskspace.Page, error)
}

// TaskSpaceDeps is what the tools of task workspaces stand on. They own none of it.
type TaskSpaceDeps struct {
	// Spaces are the workspaces; an owner has their own. They are required.
	Spaces TaskSpaces
	// Policy is what `workspace_cleanup` may do unasked.
	Policy taskspace.Policy
}

// TaskWorktree is a repository's work tree in a task's workspace.
type TaskWorktree struct {
	RepositoryID      string         `json:"repositoryId"`
	Branch            string         `json:"branch"`
	Path              string         `json:"path"`
	State             string         `json:"state"`
	Base              string         `json:"base"`
	Head              string         `json:"head"`
	RemoteFingerprint string         `json:"remoteFingerprint"`
	LockReason        string         `json:"lockReason"`
	Saved             []TaskArtifact `json:"saved,omitempty"`
	// PatchCut says that the patch among what was saved is cut at its bound.
	PatchCut bool `json:"patchCut,omitempty"`
}

// TaskArtifact names content in the artifact store.
type TaskArtifact struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// TaskWorkspace is a task's workspace, as its record has it.
type TaskWorkspace struct {
	ID           string         `json:"id"`
	TaskID       string         `json:"taskId"`
	State        string         `json:"state"`
	Repositories []TaskWorktree `json:"repositories"`
	Artifacts    []TaskArtifact `json:"artifacts"`
	CreatedAt    string         `json:"createdAt"`
	UpdatedAt    string         `json:"updatedAt"`
	Version      int64          `json:"version"`
}

// taskSpaces is what the tools of this group have in common.
type taskSpaces struct{ TaskSpaceDeps }

// Workspaces returns the tools of task workspaces, which are in the toolset "plan".
func Workspaces(deps *TaskSpaceDeps) ([]*tools.Tool, error) {
	if deps == nil || deps.Spaces == nil {
		return nil, tools.Errorf(tools.CodeToolInput, "the tools of task workspaces need workspaces")
	}
	w := &taskSpaces{*deps}
	var list []*tools.Tool
	for _, make := range []func() (*tools.Tool, error){w.create, w.verify, w.cleanup, w.list} {
		tool, err := make()
		if err != nil {
			return nil, err
		}
		list = append(list, tool)
	}
	return list, nil
}

func workspaceSpec(name, title, description string, effect tools.Effect) tools.Spec {
	return tools.Spec{Name: name, Title: title, Description: description, Toolset: "plan", Kind: tools.KindOther, Effect: effect}
}

// taskInput names a task.
type taskInput struct {
	TaskID string `json:"taskId" check:"nonempty"`
}

// TaskWorkspaceOf is a workspace as the tools and `prism-ls workspace` show it.
func TaskWorkspaceOf(space *taskspace.Space) TaskWorkspace {
	shown := TaskWorkspace{
		ID: space.ID, TaskID: space.TaskID, State: string(space.State), Artifacts: []TaskArtifact{}, Version: space.Version,
		CreatedAt: space.CreatedAt.UTC().Format(time.RFC3339Nano), UpdatedAt: space.UpdatedAt.UTC().Format(time.RFC3339Nano),
	}
	for _, artifact := range space.Artifacts {
		shown.Artifacts = append(shown.Artifacts, TaskArtifact(artifact))
	}
	for _, wt := range space.Repositories {
		one := TaskWorktree{
			RepositoryID: wt.RepositoryID, Branch: wt.Branch, Path: wt.Path, State: string(wt.Step), Base: wt.Base, Head: wt.Head,
			RemoteFingerprint: wt.Remotes, LockReason: wt.LockReason,
		}
		for _, saved := range wt.Saved {
			one.PatchCut = one.PatchCut || saved.PatchCut
			for _, artifact := range []*taskspace.Artifact{saved.Patch, saved.Files, saved.Commits} {
				if artifact != nil {
					one.Saved = append(one.Saved, TaskArtifact(*artifact))
				}
			}
		}
		shown.Repositories = append(shown.Repositories, one)
	}
	return shown
}

// Text is the workspace in words.
func (w *TaskWorkspace) Text() string {
	var text strings.Builder
	fmt.Fprintf(&text, "Workspace %s is %s.", w.TaskID, w.State)
	for _, wt := range w.Repositories {
		fmt.Fprintf(&text, "\n%s: branch %s", wt.RepositoryID, plainText(wt.Branch))
		if wt.State != string(taskspace.Gone) {
			fmt.Fprintf(&text, " in %s", plainText(wt.Path))
		}
		fmt.Fprintf(&text, ", base %s", shortID(wt.Base))
		if wt.Head != wt.Base {
			fmt.Fprintf(&text, ", head %s", shortID(wt.Head))
		}
		for _, saved := range wt.Saved {
			fmt.Fprintf(&text, "\n  saved %s: %d bytes, sha256 %s", saved.Name, saved.Bytes, saved.SHA256)
		}
		if wt.PatchCut {
			text.WriteString("\n  the patch is cut at its bound, and begins with what is left out")
		}
	}
	for _, artifact := range w.Artifacts {
		fmt.Fprintf(&text, "\nArtifact %s: %d bytes, sha256 %s", plainText(artifact.Name), artifact.Bytes, artifact.SHA256)
	}
	return text.String()
}

func answerSpace(space *taskspace.Space) *tools.Outcome[TaskWorkspace] {
	shown := TaskWorkspaceOf(space)
	return tools.Answer(shown.Text(), shown)
}
