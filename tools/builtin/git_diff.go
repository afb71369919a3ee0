package builtin

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
)

type gitDiffInput struct {
	Base         string   `json:"base,omitempty" check:"nonempty" jsonschema:"compare with this commit instead of the index"`
	Head         string   `json:"head,omitempty" check:"nonempty" jsonschema:"compare this commit with base, not the work tree"`
	Staged       bool     `json:"staged,omitempty" jsonschema:"compare the index, with HEAD or base"`
	Paths        []string `json:"paths,omitempty"`
	ContextLines *int64   `json:"contextLines,omitempty"`
}

// GitDiff is the metadata of `git_diff`. Patch is the beginning of it where Truncated
// is set; Artifact has all of it, unless that is too large as well. Encoding is there
// when the patch is not UTF-8, and Patch not exactly what it is.
type GitDiff struct {
	Patch       string       `json:"patch,omitempty"`
	Encoding    string       `json:"encoding,omitempty"`
	Artifact    *GitArtifact `json:"artifact,omitempty"`
	Files       []GitFile    `json:"files"`
	TotalFiles  int          `json:"totalFiles"`
	Additions   int          `json:"additions"`
	Deletions   int          `json:"deletions"`
	Base        string       `json:"base,omitempty"`
	Head        string       `json:"head,omitempty"`
	Truncated   bool         `json:"truncated"`
	TruncatedBy truncatedBy  `json:"truncatedBy,omitempty"`
}

func (g *gitTools) diff() (*tools.Tool, error) {
	spec := gitSpec("git_diff", "Git diff", "Changes of the work tree, the index, or between two commits, as a patch. Untracked files are not in it.")
	spec.Limits = []tools.Limit{g.pathLimit(), git.ContextLines}
	plan := func(_ context.Context, _ *tools.Call, in gitDiffInput) (tools.Action, error) {
		_, action, err := g.gitPaths(in.Paths)
		return action, err
	}
	return tools.New(spec, plan, func(ctx context.Context, call *tools.Call, in gitDiffInput) (*tools.Outcome[GitDiff], error) {
		paths, _, err := g.gitPaths(in.Paths)
		if err != nil {
			return nil, err
		}
		repo, err := g.repository(ctx)
		if err != nil {
			return nil, err
		}
		defer heartbeat(call, 0, "comparing")()
		diff, err := repo.Diff(ctx, &git.DiffOptions{
			Base: in.Base, Head: in.Head, Staged: in.Staged, Paths: paths, Context: in.ContextLines, Withhold: hidden(paths),
			MaxFiles: g.Limits.Files, MaxBytes: g.Limits.PatchBytes,
		})
		if err != nil {
			return nil, err
		}
		return g.showDiff(ctx, call, diff), nil
	})
}

// showDiff puts a comparison into its metadata and text.
func (g *gitTools) showDiff(ctx context.Context, call *tools.Call, diff *git.Diff) *tools.Outcome[GitDiff] {
	m := GitDiff{
		Files: gitFiles(diff.Files), TotalFiles: diff.Total, Additions: diff.Additions, Deletions: diff.Deletions, Base: diff.Base, Head: diff.Head,
	}
	inline, by := firstLines(diff.Patch, g.Limits.DiffLines, g.Limits.OutputBytes)
	m.TruncatedBy = by
	switch {
	case by == "" && diff.Cut:
		m.TruncatedBy = byBytes
	case by == "" && diff.Total > len(diff.Files):
		m.TruncatedBy = "files"
	}
	m.Truncated = m.TruncatedBy != ""
	m.Patch = string(showable(inline))
	if !utf8.Valid(inline) {
		m.Encoding = encodingUnknown
	}
	_, shown := firstLines(diff.Patch, PageLines.Default, PageBytes.Default)
	if !diff.Cut && (by != "" || shown != "" || m.Encoding != "") {
		m.Artifact = g.keepPatch(ctx, call, diff.Patch, false)
	}
	return tools.Answer(diffText(diff, m.Artifact, shown != "" || diff.Cut), m)
}

// diffFileLines is how many files a text lists before a patch that it cannot show whole.
const diffFileLines = 200

func diffText(diff *git.Diff, kept *GitArtifact, cut bool) string {
	if diff.Total == 0 {
		return "(no changes)"
	}
	parts := []string{fmt.Sprintf("%s, +%d -%d", counted(diff.Total, "file"), diff.Additions, diff.Deletions)}
	var withheld []string
	for i := range diff.Files {
		f := &diff.Files[i]
		if cut && i < diffFileLines {
			parts = append(parts, fileLine(f))
		}
		if f.Withheld {
			withheld = append(withheld, git.DisplayPath(f.Path))
		}
	}
	if rest := diff.Total - min(len(diff.Files), diffFileLines); cut && rest > 0 {
		parts = append(parts, fmt.Sprintf("[%s more]", counted(rest, "file")))
	}
	if len(withheld) > 0 {
		parts = append(parts, fmt.Sprintf("[%s may hold credentials and are left out; name them in paths to see them]", strings.Join(withheld, ", ")))
	}
	if page := patchPage(diff.Patch, diff.Cut, kept); page != "" {
		parts = append(parts, page)
	}
	return strings.Join(parts, "\n")
}
