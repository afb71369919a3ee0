package builtin

import (
	"bytes"
	"context"
	"fmt"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
)

type gitShowInput struct {
	Ref    string `json:"ref" check:"nonempty"`
	Path   string `json:"path" check:"nonempty"`
	Offset *int64 `json:"offset,omitempty" jsonschema:"first line, from 1"`
	Limit  *int64 `json:"limit,omitempty" jsonschema:"number of lines"`
}

// GitShow is the metadata of `git_show`: what `read` says of a file, and which one it
// is. OID is the commit, Blob the file itself. SymbolicLink: what is shown is where it
// leads.
type GitShow struct {
	ReadMetadata
	OID          string `json:"oid"`
	Blob         string `json:"blob"`
	SymbolicLink bool   `json:"symbolicLink,omitempty"`
}

// blobFile is a file of a commit, as `read` takes one.
type blobFile struct{ *bytes.Reader }

func (blobFile) Close() error { return nil }

func (g *gitTools) show() (*tools.Tool, error) {
	reader := &readTool{ws: g.Workspace}
	err := settle(bound{&reader.MaxLines, PageLines}, bound{&reader.MaxBytes, PageBytes}, bound{&reader.MaxScanBytes, ScanBytes}, bound{&reader.MaxImageBytes, ImageBytes})
	if err != nil {
		return nil, err
	}
	spec := gitSpec("git_show", "Show file at ref", "Read a file as a commit has it, a page at a time.")
	spec.Limits = []tools.Limit{lineNumber, lineCount}
	plan := func(_ context.Context, _ *tools.Call, in gitShowInput) (tools.Action, error) {
		_, action, err := g.gitPaths([]string{in.Path})
		return action, err
	}
	return tools.New(spec, plan, func(ctx context.Context, _ *tools.Call, in gitShowInput) (*tools.Outcome[GitShow], error) {
		path, err := g.gitPath(in.Path)
		if err != nil {
			return nil, err
		}
		repo, err := g.repository(ctx)
		if err != nil {
			return nil, err
		}
		blob, err := repo.Show(ctx, in.Ref, path)
		if err != nil {
			return nil, err
		}
		at := target{name: fmt.Sprintf("%s at %s", git.DisplayPath(path), plainText(in.Ref))}
		seen, err := reader.show(ctx, readInput{Path: path, Offset: in.Offset, Limit: in.Limit}, at, blobFile{bytes.NewReader(blob.Data)})
		if err != nil {
			return nil, err
		}
		m := GitShow{ReadMetadata: seen.Metadata, OID: blob.Commit, Blob: blob.OID, SymbolicLink: blob.Mode == 0o120000}
		m.Path = git.FormatPath(path)
		return &tools.Outcome[GitShow]{Content: seen.Content, Metadata: m}, nil
	})
}
