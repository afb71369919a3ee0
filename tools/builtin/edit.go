package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/edit"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// EditOptions adjusts `edit`.
type EditOptions struct {
	// Operations do the reading and writing; nil means the workspace's transactions.
	Operations EditOperations
	// MaxTargetBytes, MaxInputBytes and MaxEdits: see edit.TargetLimit and so on.
	MaxTargetBytes, MaxInputBytes, MaxEdits int64
}

// editFiles bounds how many files one call edits.
var editFiles = tools.Limit{Name: "files", Default: 100, Hard: 1000}

type editItem struct {
	OldText    string `json:"oldText" check:"nonempty" jsonschema:"text that stands there exactly once"`
	NewText    string `json:"newText"`
	ReplaceAll bool   `json:"replaceAll,omitempty" jsonschema:"every exact occurrence"`
}

type editFile struct {
	Path         string     `json:"path" check:"nonempty"`
	Edits        []editItem `json:"edits" check:"nonempty"`
	ExpectSHA256 string     `json:"expectSha256,omitempty"`
}

type editInput struct {
	Path          string     `json:"path,omitempty" check:"nonempty"`
	Edits         []editItem `json:"edits,omitempty" check:"nonempty"`
	Files         []editFile `json:"files,omitempty" check:"nonempty" jsonschema:"instead of path and edits: several files, all or none"`
	Force         bool       `json:"force,omitempty" jsonschema:"also a file that was not read"`
	DryRun        bool       `json:"dryRun,omitempty" jsonschema:"show the diff, write nothing"`
	ExpectSHA256  string     `json:"expectSha256,omitempty" jsonschema:"hash that the present file must have"`
	AllowHardlink bool       `json:"allowHardlink,omitempty"`
}

// files returns the call in its general form.
func (in *editInput) files() ([]editFile, error) {
	single := in.Path != "" || in.Edits != nil
	switch {
	case in.Files == nil && (in.Path == "" || in.Edits == nil):
		return nil, tools.Errorf(tools.CodeToolInput, "edit needs path and edits, or files")
	case in.Files != nil && (single || in.ExpectSHA256 != ""):
		return nil, tools.Errorf(tools.CodeToolInput, "files stands alone: each file has its own path, edits and expectSha256")
	case in.Files != nil:
		return in.Files, nil
	}
	return []editFile{{in.Path, in.Edits, in.ExpectSHA256}}, nil
}

type editTool struct {
	EditOptions
	ws    *workspace.Workspace
	guard guard
}

func newEdit(d *Deps) (*tools.Tool, error) {
	t := &editTool{EditOptions: d.Edit, ws: d.Workspace, guard: guard{d.RequireReadBeforeWrite, d.ReadPaths}}
	if t.Operations == nil {
		t.Operations = localFiles{d.Workspace}
	}
	if err := settle(bound{&t.MaxTargetBytes, edit.TargetLimit}, bound{&t.MaxInputBytes, edit.InputLimit}, bound{&t.MaxEdits, edit.CountLimit}); err != nil {
		return nil, err
	}
	spec := tools.Spec{
		Name: "edit", Title: "Edit file", Toolset: "core", Kind: tools.KindEdit, Effect: tools.ChangesFiles,
		Description: "Replace text in a file. Each oldText is matched against the original: exactly, else with white space at line ends, quotes, dashes and Unicode forms normalised, which the answer reports.",
		Limits:      []tools.Limit{editFiles}, InputBytes: jsonBytes(t.MaxInputBytes),
	}
	return tools.New(spec, t.plan, t.run)
}

func (t *editTool) plan(_ context.Context, _ *tools.Call, in editInput) (tools.Action, error) {
	files, err := in.files()
	if err != nil {
		return tools.Action{}, err
	}
	if err := t.measure(files); err != nil {
		return tools.Action{}, err
	}
	targets, err := t.targets(files)
	if err != nil {
		return tools.Action{}, err
	}
	what, err := json.Marshal(files)
	if err != nil {
		return tools.Action{}, err
	}
	action := tools.Action{Paths: changing(t.ws, targets...), Content: hexHash(what), Options: lifted(in.Force, in.AllowHardlink)}
	if in.DryRun {
		action.Mutation = tools.MutatesNothing
	}
	return action, nil
}

// measure checks the caps over all files of the call.
func (t *editTool) measure(files []editFile) error {
	count, size := int64(0), int64(0)
	for _, file := range files {
		count += int64(len(file.Edits))
		for _, e := range file.Edits {
			size += int64(len(e.OldText) + len(e.NewText))
		}
	}
	switch {
	case count > t.MaxEdits:
		return tools.Errorf(tools.CodeToolInput, "there are %d edits, at most %d are taken", count, t.MaxEdits)
	case size > t.MaxInputBytes:
		return tools.Errorf(tools.CodeToolInput, "oldText and newText have %d bytes together, at most %d are taken", size, t.MaxInputBytes)
	}
	return nil
}

func (t *editTool) targets(files []editFile) ([]target, error) {
	targets := make([]target, len(files))
	named := map[string]bool{}
	for i, file := range files {
		at, err := follow(t.ws, file.Path)
		if err != nil {
			return nil, err
		}
		if at.at.ReadOnly() {
			return nil, tools.Errorf(tools.CodePathEscape, "%s lies in a directory that may only be read", at.name)
		}
		if named[at.policy] {
			return nil, tools.Errorf(tools.CodeToolInput, "%s is named twice; put all its edits together", at.name)
		}
		named[at.policy], targets[i] = true, at
	}
	return targets, nil
}

func (t *editTool) run(ctx context.Context, call *tools.Call, in editInput) (*tools.Outcome[EditMetadata], error) {
	files, err := in.files()
	if err != nil {
		return nil, err
	}
	targets, err := t.targets(files)
	if err != nil {
		return nil, err
	}
	at := make([]workspace.Path, len(targets))
	for i, target := range targets {
		if err := unmoved(call, i, target); err != nil {
			return nil, err
		}
		at[i] = target.at
	}
	var edited []editedFile
	done, err := t.Operations.Edit(ctx, at, t.MaxTargetBytes, func(contents []*workspace.Content) ([]Replacement, error) {
		for _, target := range targets { // all there, or it would not have come to this
			if err := t.guard.check(call, target, in.Force, true); err != nil {
				return nil, err
			}
		}
		if edited, err = t.apply(files, targets, contents); err != nil || in.DryRun {
			return nil, err
		}
		return replacements(edited, in.AllowHardlink), nil
	})
	if err != nil {
		return nil, err
	}
	if !in.DryRun {
		t.wrote(call, targets)
	}
	return answer(edited, done, &in), nil
}

func (t *editTool) wrote(call *tools.Call, targets []target) {
	var names []string
	for _, target := range targets {
		names = append(names, target.policy)
		t.guard.seen.mark(call, target.policy)
	}
	changed(call, names)
}

// apply computes all results before anything is written.
func (t *editTool) apply(files []editFile, targets []target, contents []*workspace.Content) ([]editedFile, error) {
	edited := make([]editedFile, len(files))
	for i, file := range files {
		before := contents[i]
		if want := strings.ToLower(file.ExpectSHA256); want != "" && want != before.SHA256 {
			return nil, tools.Errorf(tools.CodeFileChanged, "%s has the SHA-256 %s, not the expected one", targets[i].name, before.SHA256)
		}
		list := make([]edit.Replacement, len(file.Edits))
		for j, e := range file.Edits {
			list[j] = edit.Replacement{Old: e.OldText, New: e.NewText, All: e.ReplaceAll}
		}
		result, err := edit.Apply(before.Data, list, &edit.Options{MaxTargetBytes: t.MaxTargetBytes, MaxInputBytes: t.MaxInputBytes, MaxEdits: t.MaxEdits})
		if err != nil {
			return nil, named(err, targets[i].name)
		}
		edited[i] = editedFile{name: targets[i].name, path: t.ws.Abs(targets[i].at), real: targets[i].policy, before: before, result: result, blocks: max(len(result.Spans), len(list))}
	}
	return edited, nil
}

// named puts the file's name in front of what the edit package says.
func named(err error, name string) error {
	failure := *tools.AsError(err)
	failure.Message = fmt.Sprintf("%s: %s", name, failure.Message)
	return &failure
}

func replacements(edited []editedFile, allowHardlink bool) []Replacement {
	list := make([]Replacement, len(edited))
	for i, file := range edited {
		list[i] = Replacement{file.result.Data, workspace.WriteOptions{ExpectSHA256: file.before.SHA256, AllowHardlink: allowHardlink}}
	}
	return list
}
