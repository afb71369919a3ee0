package builtin

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
)

type gitBlameInput struct {
	Path    string `json:"path" check:"nonempty"`
	Ref     string `json:"ref,omitempty" check:"nonempty" jsonschema:"default the file as it is now"`
	Line    *int64 `json:"line,omitempty" jsonschema:"only this line, or the first of several"`
	EndLine *int64 `json:"endLine,omitempty"`
}

// GitBlameLine is one line. OID, author and date are empty for a line that is not
// committed.
type GitBlameLine struct {
	Line    int64  `json:"line"`
	OID     string `json:"oid"`
	Author  string `json:"author"`
	Date    string `json:"date"`
	Summary string `json:"summary,omitempty"`
	Text    string `json:"text"`
}

// GitBlame is the metadata of `git_blame`. NextOffset is the first line that was asked
// for and is not there.
type GitBlame struct {
	Lines       []GitBlameLine `json:"lines"`
	OID         string         `json:"oid,omitempty"`
	Truncated   bool           `json:"truncated"`
	TruncatedBy string         `json:"truncatedBy,omitempty"`
	NextOffset  int64          `json:"nextOffset,omitempty"`
}

func (g *gitTools) blame() (*tools.Tool, error) {
	spec := gitSpec("git_blame", "Git blame", "Which commit each line of a file comes from.")
	spec.Limits = []tools.Limit{{Name: "line", Hard: lineNumber.Hard}, {Name: "endLine", Hard: lineNumber.Hard}}
	plan := func(_ context.Context, _ *tools.Call, in gitBlameInput) (tools.Action, error) {
		if in.EndLine != nil && (in.Line == nil || *in.EndLine < *in.Line) {
			return tools.Action{}, tools.Errorf(tools.CodeToolInput, "endLine needs line, and does not come before it")
		}
		_, action, err := g.gitPaths([]string{in.Path})
		return action, err
	}
	return tools.New(spec, plan, func(ctx context.Context, call *tools.Call, in gitBlameInput) (*tools.Outcome[GitBlame], error) {
		path, err := g.gitPath(in.Path)
		if err != nil {
			return nil, err
		}
		opts := &git.BlameOptions{Ref: in.Ref, MaxOutput: g.Limits.OutputBytes}
		if in.Line != nil {
			opts.Line, opts.EndLine = *in.Line, *in.Line
		}
		if in.EndLine != nil {
			opts.EndLine = *in.EndLine
		}
		repo, err := g.repository(ctx)
		if err != nil {
			return nil, err
		}
		if in.Ref == "" {
			if opts.Content, err = g.workFile(ctx, path); err != nil {
				return nil, err
			}
		}
		defer heartbeat(call, 0, "reading history")()
		blame, err := repo.Blame(ctx, path, opts)
		if err != nil {
			return nil, err
		}
		m := GitBlame{Lines: []GitBlameLine{}, OID: blame.Commit, Truncated: blame.Next > 0, TruncatedBy: blame.TruncatedBy, NextOffset: blame.Next}
		for _, l := range blame.Lines {
			m.Lines = append(m.Lines, GitBlameLine{l.Line, l.OID, showName(l.Author), l.Date, showName(l.Summary), showName(l.Text)})
		}
		return tools.Answer(blameText(&m), m), nil
	})
}

// workFile reads a file of the work tree for git, contained as every read is.
func (g *gitTools) workFile(ctx context.Context, path string) ([]byte, error) {
	at, err := entry(g.Workspace, "./"+path)
	if err != nil {
		return nil, err
	}
	info, err := g.Workspace.Lstat(at.at)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 || at.policy != path {
		return nil, tools.Errorf(tools.CodeNotFile, "%s is, or lies behind, a symbolic link, and git blames where it leads; name that file", git.DisplayPath(path))
	}
	content, err := g.Workspace.ReadFile(ctx, at.at, git.BlobBytes.Default)
	if err != nil {
		return nil, err
	}
	return content.Data, nil
}

// blameText names a commit once for all lines in a row that come from it.
func blameText(m *GitBlame) string {
	if len(m.Lines) == 0 {
		return "(no lines)"
	}
	var lines []string
	for i, l := range m.Lines {
		if i == 0 || m.Lines[i-1].OID != l.OID {
			head := "not committed"
			if l.OID != "" {
				day, _, _ := strings.Cut(l.Date, "T")
				head = fmt.Sprintf("%s %s %s: %s", shortID(l.OID), day, plainText(l.Author), plainText(l.Summary))
			}
			lines = append(lines, head)
		}
		lines = append(lines, fmt.Sprintf("%6d %s", l.Line, escapeControls([]byte(l.Text))))
	}
	text := strings.Join(lines, "\n")
	if m.NextOffset > 0 {
		text += fmt.Sprintf("\n[truncated by %s. Use line=%d with an endLine to continue.]", m.TruncatedBy, m.NextOffset)
	}
	return text
}
