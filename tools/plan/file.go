package plan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// Dir is where plans are, below the root.
const Dir = "plans"

// Files are the plans of a workspace, a file each: plans/TASK.md. It is safe for
// concurrent use; plans are changed in transactions, so that of two changes at once
// both happen, or one is refused.
type Files struct {
	ws     *workspace.Workspace
	limits Limits
}

// NewFiles returns the plans of ws, which stays the caller's.
func NewFiles(ws *workspace.Workspace, limits Limits) (*Files, error) {
	limits, err := limits.settle()
	if err != nil {
		return nil, err
	}
	return &Files{ws, limits}, nil
}

// File is a plan as it is, or was left, in the workspace.
type File struct {
	TaskID string
	// Path is relative to the root, links followed.
	Path   string
	SHA256 string
	*Document
	// UndoID and Degraded are those of the change, if it was one.
	UndoID, Degraded string
}

// Place finds the file of a task's plan, whether it is there or not.
func (f *Files) Place(taskID string) (workspace.Path, error) {
	if err := checkID("taskId", taskID); err != nil {
		return workspace.Path{}, err
	}
	p, err := f.ws.Resolve(Dir + "/" + taskID + ".md")
	if err != nil {
		return p, err
	}
	return workspace.Path{Rel: p.Real, Real: p.Real}, nil
}

// Read returns a task's plan. CodeNotFound: there is none. CodePlanInvalid: it cannot
// be read as one.
func (f *Files) Read(ctx context.Context, taskID string) (*File, error) {
	p, err := f.Place(taskID)
	if err != nil {
		return nil, err
	}
	content, err := f.ws.ReadFile(ctx, p, f.limits.PlanBytes)
	if err != nil {
		return nil, f.explain(taskID, err)
	}
	return f.parse(taskID, p.Real, content)
}

func (f *Files) parse(taskID, path string, content *workspace.Content) (*File, error) {
	document, err := Parse(content.Data, f.limits)
	if err != nil {
		return nil, err
	}
	return &File{TaskID: taskID, Path: path, SHA256: content.SHA256, Document: document}, nil
}

// explain words what the workspace says of a plan.
func (f *Files) explain(taskID string, err error) error {
	switch {
	case errors.Is(err, tools.CodeNotFound):
		return tools.Errorf(tools.CodeNotFound, "the task %s has no plan; plan_write makes one", taskID)
	case errors.Is(err, tools.CodeLimit):
		return tools.Errorf(tools.CodePlanInvalid, "the plan of %s must have at most %d bytes: %w", taskID, f.limits.PlanBytes, err)
	case errors.Is(err, tools.CodeFileChanged):
		coded := tools.AsError(err)
		return tools.Errorf(tools.CodePlanChanged, "the plan of %s was changed meanwhile, nothing was done; read it again", taskID).WithDetails(coded.Details)
	}
	return err
}

// Write makes a task's plan. Where there is one, expect has to be its hash; then its
// title, goal and items are replaced, and all else that a person has written stays:
// other sections, and what is no item before the goal and among the items. CodePlanChanged, with
// a workspace.Changed: there is one and expect is "", or it has another hash, or
// expect is given and there is none.
func (f *Files) Write(ctx context.Context, taskID string, draft Draft, expect string) (*File, error) {
	p, err := f.Place(taskID)
	if err != nil {
		return nil, err
	}
	return f.transact(ctx, taskID, p, func(now *workspace.Content) (*Document, error) {
		current := ""
		if now != nil {
			current = now.SHA256
		}
		if current != strings.ToLower(expect) {
			return nil, changedPlan(taskID, Dir+"/"+taskID+".md", current, expect)
		}
		if now == nil {
			return Compose(draft, f.limits)
		}
		old, err := Parse(now.Data, f.limits)
		if err != nil {
			return nil, err
		}
		return compose(draft, f.limits, old.rest())
	})
}

func changedPlan(taskID, path, current, expect string) error {
	details := workspace.Changed{Path: path, CurrentSHA256: current}
	switch {
	case current == "":
		return tools.Errorf(tools.CodePlanChanged, "the task %s has no plan; leave expectSha256 out to make one", taskID).WithDetails(details)
	case expect == "":
		return tools.Errorf(tools.CodePlanChanged, "the task %s has a plan already, with SHA-256 %s; to replace it give that as expectSha256, to change an item use plan_update", taskID, current).WithDetails(details)
	}
	return tools.Errorf(tools.CodePlanChanged, "the plan of %s has SHA-256 %s, not the expected one; read it again", taskID, current).WithDetails(details)
}

// Edit changes one item of a task's plan. expect, unless it is "", has to be the plan's
// hash. Codes are those of Read, Document.Edit and Write.
func (f *Files) Edit(ctx context.Context, taskID string, e Edit, expect string) (*File, error) {
	return f.EditAll(ctx, taskID, []Edit{e}, expect)
}

// EditAll is Edit of several items: all of them, or none.
func (f *Files) EditAll(ctx context.Context, taskID string, edits []Edit, expect string) (*File, error) {
	return f.editAt(ctx, &File{TaskID: taskID, SHA256: expect}, edits)
}

// editAt is EditAll of a plan that has to be where was is, if that says where: a link
// may lead elsewhere by now. was.SHA256 is the hash that it has to have, or "".
func (f *Files) editAt(ctx context.Context, was *File, edits []Edit) (*File, error) {
	taskID, expect := was.TaskID, was.SHA256
	p, err := f.Place(taskID)
	if err != nil {
		return nil, err
	}
	if was.Path != "" && p.Real != was.Path {
		return nil, tools.Errorf(tools.CodePlanChanged, "the plan of %s was %s, and now leads to %s; nothing was done", taskID, was.Path, p.Real).
			WithDetails(workspace.Changed{Path: was.Path})
	}
	return f.transact(ctx, taskID, p, func(now *workspace.Content) (*Document, error) {
		if now == nil {
			return nil, f.explain(taskID, tools.CodeNotFound)
		}
		if expect != "" && now.SHA256 != strings.ToLower(expect) {
			return nil, changedPlan(taskID, Dir+"/"+taskID+".md", now.SHA256, expect)
		}
		d, err := Parse(now.Data, f.limits)
		for _, e := range edits {
			if err != nil {
				return nil, err
			}
			d, err = d.Edit(e)
		}
		return d, err
	})
}

// transact puts in the place of a plan, or of nothing, what change makes of it.
func (f *Files) transact(ctx context.Context, taskID string, p workspace.Path, change func(*workspace.Content) (*Document, error)) (*File, error) {
	file := &File{TaskID: taskID, Path: p.Real}
	done, err := f.ws.Transact(ctx, []workspace.Path{p}, func(tx *workspace.Tx) error {
		now, err := tx.Read(p, f.limits.PlanBytes)
		if errors.Is(err, tools.CodeNotFound) {
			now, err = nil, nil
		}
		if err != nil {
			return err
		}
		if file.Document, err = change(now); err != nil {
			return err
		}
		if now != nil && string(now.Data) == string(file.data) {
			return nil
		}
		return tx.Write(p, file.data, &workspace.WriteOptions{CreateParents: true, MustNotExist: now == nil})
	})
	if errors.Is(err, tools.CodeFileChanged) || errors.Is(err, tools.CodeLimit) || errors.Is(err, tools.CodeExists) && file.Document != nil {
		return nil, f.explain(taskID, err)
	}
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(file.data)
	file.SHA256, file.UndoID, file.Degraded = hex.EncodeToString(sum[:]), done.UndoID, done.Degraded
	return file, nil
}

// List returns the tasks that have a plan, sorted, at most limit of them, and whether
// there are more.
func (f *Files) List(limit int) ([]string, bool, error) {
	dir, err := f.ws.OpenDir(workspace.Path{Rel: Dir})
	switch {
	case errors.Is(err, tools.CodeNotFound):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, false, tools.AsError(err)
	}
	var tasks []string
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name(), ".md")
		if ok && isID(id) && entry.Type()&fs.ModeDir == 0 {
			tasks = append(tasks, id)
		}
	}
	slices.Sort(tasks)
	if len(tasks) > limit {
		return tasks[:limit], true, nil
	}
	return tasks, false, nil
}
