package builtin

import (
	"context"
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// WriteOptions adjusts `write`.
type WriteOptions struct {
	// Operations do the writing; nil means the workspace's transactions.
	Operations WriteOperations
	// MaxInputBytes bounds the content: see WriteBytes.
	MaxInputBytes int64
}

type writeInput struct {
	Path          string `json:"path" check:"nonempty"`
	Content       string `json:"content"`
	Force         bool   `json:"force,omitempty" jsonschema:"also over a file that was not read"`
	ExpectSHA256  string `json:"expectSha256,omitempty" jsonschema:"hash that the present file must have"`
	AllowHardlink bool   `json:"allowHardlink,omitempty"`
}

// WriteMetadata describes what was written.
type WriteMetadata struct {
	Bytes    int    `json:"bytes"`
	Lines    int    `json:"lines"`
	Path     string `json:"path"`
	SHA256   string `json:"sha256"`
	UndoID   string `json:"undoId,omitempty"`
	Degraded string `json:"degraded,omitempty"`
}

type writeTool struct {
	WriteOptions
	ws    *workspace.Workspace
	guard guard
}

func newWrite(d *Deps) (*tools.Tool, error) {
	t := &writeTool{WriteOptions: d.Write, ws: d.Workspace, guard: guard{d.RequireReadBeforeWrite, d.ReadPaths}}
	if t.Operations == nil {
		t.Operations = localFiles{d.Workspace}
	}
	if err := settle(bound{&t.MaxInputBytes, WriteBytes}); err != nil {
		return nil, err
	}
	spec := tools.Spec{
		Name: "write", Title: "Write file", Toolset: "core", Kind: tools.KindEdit, Effect: tools.ChangesFiles,
		Description: "Create a file, or replace its whole content; parent directories are made. To change part of a file use edit.",
		InputBytes:  jsonBytes(t.MaxInputBytes),
	}
	return tools.New(spec, t.plan, t.run)
}

// jsonBytes is how much JSON a text of so many bytes can take: a control
// character becomes six (RFC 8259 §7).
func jsonBytes(text int64) int64 { return min(6*text+64<<10, tools.InputBytes.Hard) }

func (t *writeTool) plan(_ context.Context, _ *tools.Call, in writeInput) (tools.Action, error) {
	if int64(len(in.Content)) > t.MaxInputBytes {
		return tools.Action{}, tools.Errorf(tools.CodeToolInput, "content has %d bytes, at most %d are taken", len(in.Content), t.MaxInputBytes)
	}
	at, err := t.target(in.Path)
	if err != nil {
		return tools.Action{}, err
	}
	return tools.Action{Paths: changing(t.ws, at), Content: hexHash([]byte(in.Content)), Options: lifted(in.Force, in.AllowHardlink)}, nil
}

func (t *writeTool) target(given string) (target, error) {
	at, err := follow(t.ws, given)
	switch {
	case err != nil:
		return at, err
	case at.at.ReadOnly():
		return at, tools.Errorf(tools.CodePathEscape, "%s lies in a directory that may only be read", at.name)
	case strings.HasSuffix(given, "/") || at.policy == ".":
		return at, tools.Errorf(tools.CodeNotFile, "%q names a directory, must name a file", given)
	}
	return at, nil
}

func (t *writeTool) run(ctx context.Context, call *tools.Call, in writeInput) (*tools.Outcome[WriteMetadata], error) {
	at, err := t.target(in.Path)
	if err != nil {
		return nil, err
	}
	if err := unmoved(call, 0, at); err != nil {
		return nil, err
	}
	opts := &workspace.WriteOptions{ExpectSHA256: strings.ToLower(in.ExpectSHA256), AllowHardlink: in.AllowHardlink, CreateParents: true}
	if t.guard.required && !in.Force {
		exists, err := t.Operations.Exists(ctx, at.at)
		if err != nil {
			return nil, err
		}
		if err := t.guard.check(call, at, in.Force, exists); err != nil {
			return nil, err
		}
		opts.MustNotExist = !exists // nor may one appear unseen
	}
	data := []byte(in.Content)
	done, err := t.Operations.Write(ctx, at.at, data, opts)
	if err != nil {
		return nil, err
	}
	changed(call, []string{at.policy})
	t.guard.seen.mark(call, at.policy) // who wrote it knows what is in it
	m := WriteMetadata{Bytes: len(data), Lines: countLines(data), Path: t.ws.Abs(at.at), SHA256: call.Action().Content, UndoID: done.UndoID, Degraded: done.Degraded}
	return tools.Answer(fmt.Sprintf("Successfully wrote %d bytes (%d lines) to %s", m.Bytes, m.Lines, m.Path), m), nil
}
