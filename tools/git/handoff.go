package git

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// The bounds of hand-offs.
var (
	// HandoffCommits bounds the commits that a hand-off lists.
	HandoffCommits = tools.Limit{Name: "maxCommits", Default: 100, Hard: 1000}
	// HandoffBytes bounds a hand-off as JSON, in bytes.
	HandoffBytes = tools.Limit{Name: "maxHandoffBytes", Default: 256 << 10, Hard: 1 << 20}
)

// HandoffOptions say what is handed off.
type HandoffOptions struct {
	// Base is the revision that the work is meant for, Head what was done; "" is HEAD.
	Base, Head string
	// MaxCommits is HandoffCommits, MaxFiles ChangedFiles, MaxBytes HandoffBytes.
	MaxCommits, MaxFiles, MaxBytes int64
	// Withhold is as in DiffOptions.
	Withhold func(path string) bool
	// MaxPatch is PatchBytes.
	MaxPatch int64
}

// Handoff is what somebody needs to know to ask for a review of commits. It is JSON of
// at most HandoffBytes; what does not fit is left out and counted. Paths are written
// by FormatPath.
type Handoff struct {
	// Base, Head and MergeBase are commits. Changes are counted from MergeBase on, as a
	// pull request shows them.
	Base      string `json:"base"`
	Head      string `json:"head"`
	MergeBase string `json:"mergeBase"`
	// Branch is the branch that is checked out, if Head was not given.
	Branch string `json:"branch,omitempty"`
	// Dirty reports changes that are in no commit, and so not part of it.
	Dirty bool `json:"dirty,omitempty"`
	// Commits are those of Head that Base does not have, newest first.
	Commits      []HandoffCommit `json:"commits"`
	TotalCommits int             `json:"totalCommits"`
	ChangedPaths []HandoffPath   `json:"changedPaths"`
	Diffstat     Diffstat        `json:"diffstat"`
	// Outside counts changed files outside of the opened directory, which are not
	// listed, and not in the patch.
	Outside     int    `json:"outside,omitempty"`
	Truncated   bool   `json:"truncated"`
	TruncatedBy string `json:"truncatedBy,omitempty"`

	// Patch can be applied to MergeBase; PatchCut reports that it is longer than its
	// bound. They are not part of the JSON.
	Patch    []byte `json:"-"`
	PatchCut bool   `json:"-"`
}

// HandoffCommit is a commit of a Handoff.
type HandoffCommit struct {
	OID     string `json:"oid"`
	Author  string `json:"author"`
	Date    string `json:"date"`
	Subject string `json:"subject"`
	Body    string `json:"body,omitempty"`
}

// HandoffPath is a changed file of a Handoff.
type HandoffPath struct {
	Path      string       `json:"path"`
	OrigPath  string       `json:"origPath,omitempty"`
	Status    ChangeStatus `json:"status"`
	Additions *int         `json:"additions,omitempty"`
	Deletions *int         `json:"deletions,omitempty"`
	Binary    bool         `json:"binary,omitempty"`
	Withheld  bool         `json:"withheld,omitempty"`
}

// Diffstat counts over all changed files, also those that are not listed.
type Diffstat struct {
	Files     int `json:"files"`
	Additions int `json:"additions"`
	Deletions int `json:"deletions"`
}

// Handoff describes the commits of Head that Base does not have. It contacts nobody.
// CodeGitRef: a revision that is not there, or two without a common ancestor.
func (g *Repository) Handoff(ctx context.Context, opts *HandoffOptions) (*Handoff, error) {
	mostCommits, err := HandoffCommits.Option(opts.MaxCommits)
	if err != nil {
		return nil, err
	}
	mostBytes, err := HandoffBytes.Option(opts.MaxBytes)
	if err != nil {
		return nil, err
	}
	h := &Handoff{Commits: []HandoffCommit{}, ChangedPaths: []HandoffPath{}}
	if err := g.handoffEnds(ctx, h, opts); err != nil {
		return nil, err
	}
	if err := g.handoffCommits(ctx, h, mostCommits); err != nil {
		return nil, err
	}
	if err := g.handoffChanges(ctx, h, opts); err != nil {
		return nil, err
	}
	return h, h.fit(int(mostBytes))
}

func (g *Repository) handoffEnds(ctx context.Context, h *Handoff, opts *HandoffOptions) (err error) {
	head := opts.Head
	if head == "" {
		head = "HEAD"
		status, err := g.Status(ctx, &StatusOptions{MaxEntries: 1})
		if err != nil {
			return err
		}
		h.Branch, h.Dirty = textOf(status.Branch.Name), status.Dirty
	}
	if h.Base, err = g.Resolve(ctx, opts.Base); err != nil {
		return err
	}
	if h.Head, err = g.Resolve(ctx, head); err != nil {
		return err
	}
	out, err := g.run(ctx, []string{"merge-base", h.Base, h.Head}, &RunOptions{OKCodes: []int{1}})
	if err != nil {
		return err
	}
	if h.MergeBase = strings.TrimSuffix(string(out.Stdout), "\n"); !IsID(h.MergeBase) {
		return tools.Errorf(tools.CodeGitRef, "%s and %s have no common ancestor in this repository", opts.Base, head)
	}
	return nil
}

func (g *Repository) handoffCommits(ctx context.Context, h *Handoff, most int64) error {
	out, err := g.run(ctx, []string{"rev-list", "--count", h.Head, "^" + h.Base}, nil)
	if err != nil {
		return err
	}
	if h.TotalCommits, err = strconv.Atoi(strings.TrimSuffix(string(out.Stdout), "\n")); err != nil {
		return tools.Errorf(tools.CodeGitFailed, "git rev-list printed %q where a count belongs", out.Stdout)
	}
	log, err := g.Log(ctx, &LogOptions{Ref: h.Head, Without: h.Base, MaxCount: most, whole: true})
	if err != nil {
		return err
	}
	for _, c := range log.Commits {
		h.Commits = append(h.Commits, HandoffCommit{OID: c.OID, Author: textOf(c.Author), Date: c.AuthorDate, Subject: textOf(c.Subject), Body: textOf(c.Body)})
	}
	if log.TruncatedBy != "" {
		h.Truncated, h.TruncatedBy = true, "commits"
	}
	return nil
}

func (g *Repository) handoffChanges(ctx context.Context, h *Handoff, opts *HandoffOptions) error {
	diff, err := g.Diff(ctx, &DiffOptions{
		Base: h.MergeBase, Head: h.Head, Exact: true, MaxFiles: opts.MaxFiles, MaxBytes: opts.MaxPatch, Withhold: opts.Withhold,
	})
	if err != nil {
		return err
	}
	h.Patch, h.PatchCut = diff.Patch, diff.Cut
	h.Diffstat = Diffstat{diff.Total, diff.Additions, diff.Deletions}
	for _, f := range diff.Files {
		h.ChangedPaths = append(h.ChangedPaths, HandoffPath{
			FormatPath(f.Path), FormatPath(f.OrigPath), f.Status, f.Additions, f.Deletions, f.Binary, f.Withheld,
		})
	}
	if diff.Total > len(diff.Files) {
		h.Truncated, h.TruncatedBy = true, "files"
	}
	if g.prefix == "" {
		return nil
	}
	whole := &Repository{runner: g.runner, top: g.top}
	out, err := whole.run(ctx, []string{"diff", "--raw", "-z", "--no-renames", h.MergeBase, h.Head, "--"}, &RunOptions{Partial: true})
	if err != nil {
		return err
	}
	for i, path := range strings.Split(string(out.Stdout), "\x00") {
		if _, inside := g.Inside(path); i%2 == 1 && !inside {
			h.Outside++
		}
	}
	return nil
}

// fit leaves out what does not fit: first the bodies of messages, then paths and
// commits from the end, half of what is left each time.
func (h *Handoff) fit(most int) error {
	for {
		text, err := json.Marshal(h)
		if err != nil {
			return tools.Errorf(tools.CodeInternal, "a hand-off cannot be encoded: %w", err)
		}
		if len(text) <= most {
			return nil
		}
		h.Truncated, h.TruncatedBy = true, "bytes"
		bodies := false
		for i := range h.Commits {
			bodies = bodies || h.Commits[i].Body != ""
			h.Commits[i].Body = ""
		}
		switch {
		case bodies:
		case len(h.ChangedPaths) > len(h.Commits):
			h.ChangedPaths = h.ChangedPaths[:len(h.ChangedPaths)/2]
		case len(h.Commits) > 0:
			h.Commits = h.Commits[:len(h.Commits)/2]
		default:
			return tools.Errorf(tools.CodeLimit, "a hand-off has at least %d bytes, at most %d are taken", len(text), most)
		}
	}
}

// textOf makes a text of an object fit for JSON.
func textOf(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
