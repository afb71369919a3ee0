package builtin

import (
	"context"
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
)

type gitLogInput struct {
	Ref      string   `json:"ref,omitempty" check:"nonempty" jsonschema:"default HEAD"`
	Paths    []string `json:"paths,omitempty" jsonschema:"only commits that changed these"`
	MaxCount *int64   `json:"maxCount,omitempty"`
	Cursor   string   `json:"cursor,omitempty" check:"nonempty" jsonschema:"nextCursor of the page before; ref is not needed then"`
}

// GitCommitEntry is one commit of `git_log`. Date is the author's.
type GitCommitEntry struct {
	OID        string   `json:"oid"`
	Parents    []string `json:"parents"`
	Author     string   `json:"author"`
	Email      string   `json:"email"`
	Date       string   `json:"date"`
	CommitDate string   `json:"commitDate"`
	Subject    string   `json:"subject"`
	Body       string   `json:"body,omitempty"`
}

// GitLog is the metadata of `git_log`, newest commit first.
type GitLog struct {
	Commits     []GitCommitEntry `json:"commits"`
	Truncated   bool             `json:"truncated"`
	TruncatedBy string           `json:"truncatedBy,omitempty"`
	NextCursor  string           `json:"nextCursor,omitempty"`
}

func (g *gitTools) log() (*tools.Tool, error) {
	spec := gitSpec("git_log", "Git log", "Commits, newest first; of a single one also the whole message.")
	spec.Limits = []tools.Limit{g.pathLimit(), git.LogCount}
	plan := func(_ context.Context, _ *tools.Call, in gitLogInput) (tools.Action, error) {
		_, action, err := g.gitPaths(in.Paths)
		return action, err
	}
	return tools.New(spec, plan, func(ctx context.Context, call *tools.Call, in gitLogInput) (*tools.Outcome[GitLog], error) {
		paths, _, err := g.gitPaths(in.Paths)
		if err != nil {
			return nil, err
		}
		count, err := git.LogCount.Of(in.MaxCount)
		if err != nil {
			return nil, err
		}
		repo, err := g.repository(ctx)
		if err != nil {
			return nil, err
		}
		defer heartbeat(call, 0, "reading history")()
		log, err := repo.Log(ctx, &git.LogOptions{Ref: in.Ref, Paths: paths, MaxCount: count, Cursor: in.Cursor, MaxOutput: g.Limits.OutputBytes})
		if err != nil {
			return nil, err
		}
		m := GitLog{Commits: []GitCommitEntry{}, Truncated: log.Next != "", TruncatedBy: log.TruncatedBy, NextCursor: log.Next}
		for i := range log.Commits {
			m.Commits = append(m.Commits, gitCommitEntry(&log.Commits[i]))
		}
		return tools.Answer(logText(&m), m), nil
	})
}

func gitCommitEntry(c *git.LogEntry) GitCommitEntry {
	return GitCommitEntry{
		OID: c.OID, Parents: orEmpty(c.Parents), Author: showName(c.Author), Email: showName(c.AuthorEmail), Date: c.AuthorDate, CommitDate: c.CommitDate,
		Subject: showName(c.Subject), Body: showName(c.Body),
	}
}

func logText(m *GitLog) string {
	if len(m.Commits) == 0 {
		return "(no commits)"
	}
	lines := make([]string, 0, len(m.Commits))
	for _, c := range m.Commits {
		lines = append(lines, fmt.Sprintf("%s %s %s: %s", shortID(c.OID), c.Date, plainText(c.Author), plainText(c.Subject)))
	}
	if len(m.Commits) == 1 && m.Commits[0].Body != "" {
		lines = append(lines, "", plainText(m.Commits[0].Body))
	}
	if m.NextCursor != "" {
		lines = append(lines, fmt.Sprintf("[truncated by %s. Use cursor=%q to continue.]", m.TruncatedBy, m.NextCursor))
	}
	return strings.Join(lines, "\n")
}
