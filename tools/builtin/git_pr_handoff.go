package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/check"
	"github.com/prism-ls/prism-ls/tools/git"
)

type gitHandoffInput struct {
	Base   string   `json:"base" check:"nonempty" jsonschema:"what the commits are meant for"`
	Head   string   `json:"head,omitempty" check:"nonempty" jsonschema:"default HEAD"`
	Checks []string `json:"checks,omitempty" jsonschema:"named checks to run on the work tree"`
}

// HandoffCheck is what a check of a hand-off came to, on the work tree as it is. Output
// is the end of it, of a check that did not pass.
type HandoffCheck struct {
	Name       string `json:"name"`
	Passed     bool   `json:"passed"`
	ExitCode   int    `json:"exitCode"`
	DurationMS int64  `json:"durationMs"`
	Output     string `json:"output,omitempty"`
}

// GitHandoff is the metadata of `git_pr_handoff`. Artifact is the patch, which applies
// to mergeBase.
type GitHandoff struct {
	git.Handoff
	Checks   []HandoffCheck `json:"checks"`
	Artifact *GitArtifact   `json:"artifact,omitempty"`
}

// handoffOutput is how much of a failed check's output a hand-off has, in bytes.
const handoffOutput = 1 << 10

// handoffReserve is room in a hand-off for what is added to it, in bytes.
const handoffReserve = 1 << 10

func (g *gitTools) handoff() (*tools.Tool, error) {
	spec := gitSpec("git_pr_handoff", "Hand off commits", "Commits, changed paths, patch and check results for a pull request. Pushes and opens nothing.")
	spec.Limits = []tools.Limit{{Name: "checks", Hard: check.CheckNames.Hard}}
	plan := func(_ context.Context, _ *tools.Call, in gitHandoffInput) (tools.Action, error) {
		return tools.Action{Paths: []string{"."}}, g.knownChecks(in.Checks)
	}
	return tools.New(spec, plan, func(ctx context.Context, call *tools.Call, in gitHandoffInput) (*tools.Outcome[GitHandoff], error) {
		repo, err := g.repository(ctx)
		if err != nil {
			return nil, err
		}
		if err := handoffRefs(ctx, repo, in); err != nil {
			return nil, err
		}
		checks, err := g.runChecks(ctx, call, in.Checks)
		if err != nil {
			return nil, err
		}
		room, err := g.handoffRoom(checks)
		if err != nil {
			return nil, err
		}
		h, err := repo.Handoff(ctx, &git.HandoffOptions{
			Base: in.Base, Head: in.Head, MaxCommits: g.Limits.Commits, MaxFiles: g.Limits.Files, MaxBytes: room,
			MaxPatch: g.Limits.PatchBytes, Withhold: hidden(nil),
		})
		if err != nil {
			return nil, err
		}
		m := GitHandoff{Handoff: *h, Checks: checks}
		if len(h.Patch) > 0 && !h.PatchCut {
			m.Artifact = g.keepPatch(ctx, call, h.Patch, true)
		}
		return tools.Answer(handoffText(&m), m), nil
	})
}

func (g *gitTools) knownChecks(names []string) error {
	var declared []string
	if g.Checks != nil {
		declared = g.Checks.Names()
	}
	for _, name := range names {
		if !slices.Contains(declared, name) {
			return tools.Errorf(tools.CodeCheckUnknown, "no check %q is declared%s", name, tools.Nearest(name, declared))
		}
	}
	return nil
}

// handoffRefs refuses, before anything runs, refs that are not there, and checks for
// what is not checked out.
func handoffRefs(ctx context.Context, repo *git.Repository, in gitHandoffInput) error {
	if _, err := repo.Resolve(ctx, in.Base); err != nil {
		return err
	}
	if in.Head == "" {
		return nil
	}
	head, err := repo.Resolve(ctx, in.Head)
	if err != nil || len(in.Checks) == 0 {
		return err
	}
	if current, err := repo.Resolve(ctx, "HEAD"); err != nil || current != head {
		return tools.Errorf(tools.CodeGitRef, "checks run on what is checked out, and %q is not; leave out checks or head", in.Head)
	}
	return nil
}

// runChecks runs checks one after the other, once a policy has agreed to all of them.
func (g *gitTools) runChecks(ctx context.Context, call *tools.Call, names []string) ([]HandoffCheck, error) {
	runner := &checkTool{CheckDeps{Checks: g.Checks}}
	for _, name := range names {
		action, err := runner.plan(ctx, call, checkInput{Name: name})
		if err != nil {
			return nil, err
		}
		action.Kind, action.Mutation, action.Operation = tools.KindExecute, tools.MutatesExternally, "coding_check"
		if err := call.Authorize(ctx, action); err != nil {
			return nil, err
		}
	}
	list := []HandoffCheck{}
	for _, name := range names {
		stop := heartbeat(call, 0, "check "+name+" runs")
		result, err := g.Checks.Run(ctx, name)
		stop()
		if err != nil {
			return nil, err
		}
		one := HandoffCheck{Name: name, Passed: result.Passed(), ExitCode: result.ExitCode, DurationMS: result.Duration.Milliseconds()}
		if !one.Passed {
			output := plainText(result.Output)
			from := max(0, len(output)-handoffOutput)
			one.Output = strings.ToValidUTF8(output[from:], "")
		}
		list = append(list, one)
	}
	return list, nil
}

// handoffRoom is what the checks leave of the bound on a hand-off.
func (g *gitTools) handoffRoom(checks []HandoffCheck) (int64, error) {
	text, err := json.Marshal(checks)
	if err != nil {
		return 0, tools.Errorf(tools.CodeInternal, "the results of checks cannot be encoded: %w", err)
	}
	room := g.Limits.HandoffBytes - int64(len(text)) - handoffReserve
	if room < 1 {
		return 0, tools.Errorf(tools.CodeLimit, "the results of the checks alone have %d bytes, a hand-off has at most %d", len(text), g.Limits.HandoffBytes)
	}
	return room, nil
}

// handoffLines is how many commits and paths a text lists.
const handoffLines = 100

func handoffText(m *GitHandoff) string {
	lines := []string{fmt.Sprintf("%s from %s to %s: %s, +%d -%d", counted(m.TotalCommits, "commit"), shortID(m.MergeBase), shortID(m.Head),
		counted(m.Diffstat.Files, "file"), m.Diffstat.Additions, m.Diffstat.Deletions)}
	for i, c := range m.Commits {
		if i == handoffLines {
			break
		}
		lines = append(lines, shortID(c.OID)+" "+plainText(c.Author)+": "+plainText(c.Subject))
	}
	for i, p := range m.ChangedPaths {
		if i == handoffLines {
			break
		}
		path, _, _ := git.ParsePath(p.Path)
		lines = append(lines, string(p.Status)+" "+git.DisplayPath(path))
	}
	for _, c := range m.Checks {
		word := "failed"
		if c.Passed {
			word = "passed"
		}
		lines = append(lines, "check "+c.Name+" "+word)
	}
	if m.Outside > 0 {
		lines = append(lines, fmt.Sprintf("[%s outside of the workspace not listed]", counted(m.Outside, "file")))
	}
	if m.Dirty {
		lines = append(lines, "[there are changes that are in no commit]")
	}
	if m.Truncated || len(m.Commits) > handoffLines || len(m.ChangedPaths) > handoffLines {
		lines = append(lines, "[truncated]")
	}
	if m.Artifact != nil && m.Artifact.Path != "" {
		lines = append(lines, "patch: "+m.Artifact.Path)
	}
	return strings.Join(lines, "\n")
}
