package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/check"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/state"
)

// VerifyOptions adjust Verify; nil and zero are the defaults.
type VerifyOptions struct {
	// Draft makes the plan where there is none. A plan that is there already has to be
	// this one, or it is CodePlanChanged.
	Draft *Draft
	// Checks are the names of those that have to pass. Nil: those on record; else those
	// that the plan has items for; else all that are declared.
	Checks []string
	// Base is the branch or revision that the work is meant for; "" keeps what is on
	// record.
	Base string
}

// rounds is how often checks run for a work tree that changes meanwhile.
const rounds = 3

// Verify runs the checks of a task and ticks the item of each that passed; of one that
// failed it is opened. When all have passed on one tree, the task waits for a person:
// StatusAwaitingApproval. It is StatusFailed when a check did not pass, StatusEditing when
// the work tree did not hold still, and Reason says why. A check
// that has passed on this very tree, in a run that was cut short, is not run again.
//
// The item of a check is the one with the check's name as its ID, which is added where
// it is missing. The plan itself is not part of the tree.
//
// Codes: CodeCheckUnknown, those of Files, CodeGitNotRepository, CodeStateConflict:
// somebody else is at it, CodeStateUnavailable.
func (g *Goals) Verify(ctx context.Context, owner state.Owner, taskID string, opts *VerifyOptions) (goal *Goal, err error) {
	if opts == nil {
		opts = &VerifyOptions{}
	}
	c, ctx, err := g.claim(ctx, owner, taskID)
	if err != nil {
		return nil, err
	}
	defer c.release(ctx, &err)
	return c.verify(ctx, owner, taskID, opts)
}

func (c *claim) verify(ctx context.Context, owner state.Owner, taskID string, opts *VerifyOptions) (*Goal, error) {
	g := c.goals
	goal, err := g.Get(ctx, owner, taskID)
	if errors.Is(err, tools.CodeNotFound) {
		goal, err = &Goal{Metadata: &Metadata{SchemaVersion: SchemaVersion, Owner: owner, TaskID: taskID, Status: StatusPlanned}}, nil
	}
	if err != nil {
		return nil, err
	}
	repository, err := g.opts.Repository(ctx)
	if err != nil {
		return nil, err
	}
	if opts.Base != "" {
		goal.BaseBranch = opts.Base
	}
	if goal.BaseBranch != "" {
		if goal.BaseID, err = repository.Resolve(ctx, goal.BaseBranch); err != nil {
			return nil, err
		}
	}
	file, err := g.plan(ctx, taskID, opts.Draft)
	if err != nil {
		return nil, err
	}
	if goal.Wanted, err = g.wanted(goal, file, opts.Checks); err != nil {
		return nil, err
	}
	if file, err = g.addItems(ctx, file, goal.Wanted); err != nil {
		return nil, err
	}
	goal.note(file)
	if goal.Version == 0 {
		if err := c.save(ctx, goal); err != nil {
			return nil, err
		}
		g.opts.at("made")
	}
	return goal, c.rounds(ctx, repository, goal, file)
}

// plan reads the task's plan, or makes it.
func (g *Goals) plan(ctx context.Context, taskID string, draft *Draft) (*File, error) {
	file, err := g.opts.Files.Read(ctx, taskID)
	if draft == nil || err != nil && !errors.Is(err, tools.CodeNotFound) {
		return file, err
	}
	if err == nil {
		// After a crash it may be there, with the items of checks already.
		same := file.Title() == draft.Title && len(file.Todos()) >= len(draft.Todos)
		for i, todo := range draft.Todos {
			same = same && file.Todos()[i].ID == todo.ID
		}
		if !same {
			return nil, changedPlan(taskID, file.Path, file.SHA256, "")
		}
		return file, nil
	}
	if file, err = g.opts.Files.Write(ctx, taskID, *draft, ""); err != nil {
		return nil, err
	}
	g.changed(file)
	g.opts.at("planned")
	return file, nil
}

// wanted decides which checks have to pass.
func (g *Goals) wanted(goal *Goal, file *File, asked []string) ([]string, error) {
	declared := g.opts.Checks.Names()
	wanted := asked
	if wanted == nil {
		wanted = goal.Wanted
	}
	if wanted == nil {
		for _, todo := range file.Todos() {
			if slices.Contains(declared, todo.ID) {
				wanted = append(wanted, todo.ID)
			}
		}
	}
	if wanted == nil {
		wanted = declared
	}
	if len(wanted) == 0 {
		return nil, tools.Errorf(tools.CodeCheckUnknown, "no check is declared, and a task is verified by checks")
	}
	for i, name := range wanted {
		if !slices.Contains(declared, name) {
			return nil, tools.Errorf(tools.CodeCheckUnknown, "no check %q is declared%s", clip(name), tools.Nearest(name, slices.Clone(declared)))
		}
		if slices.Contains(wanted[:i], name) {
			return nil, tools.Errorf(tools.CodeToolInput, "the check %s is named twice", name)
		}
	}
	return wanted, nil
}

// addItems makes sure that the plan has an item for every check.
func (g *Goals) addItems(ctx context.Context, file *File, checks []string) (*File, error) {
	var edits []Edit
	for _, name := range checks {
		if !slices.ContainsFunc(file.Todos(), func(todo Todo) bool { return todo.ID == name }) {
			text := "The check " + name + " passes"
			edits = append(edits, Edit{ID: name, Text: &text, Add: true})
		}
	}
	if len(edits) == 0 {
		return file, nil
	}
	file, err := g.opts.Files.editAt(ctx, file, edits)
	if err != nil {
		return nil, err
	}
	g.changed(file)
	g.opts.at("items")
	return file, nil
}

// note records the plan as it is.
func (goal *Goal) note(file *File) {
	goal.Todos = file.Todos()
	goal.Plan = &Reference{URI: file.Path, SHA256: file.SHA256, Bytes: int64(len(file.data))}
}

// rounds runs the checks until they have all run on one tree.
func (c *claim) rounds(ctx context.Context, repository *git.Repository, goal *Goal, file *File) error {
	g := c.goals
	for range rounds {
		before, err := repository.Snapshot(ctx, []string{repository.FromTop(file.Path)})
		if err != nil {
			return err
		}
		goal.begin(g, repository, before)
		if err := c.save(ctx, goal); err != nil {
			return err
		}
		g.opts.at("checking")
		if err := c.run(ctx, goal); err != nil {
			return err
		}
		after, err := repository.Snapshot(ctx, []string{repository.FromTop(file.Path)})
		if err != nil {
			return err
		}
		if after.Tree == before.Tree {
			return c.conclude(ctx, goal, file)
		}
	}
	goal.Status = StatusEditing
	goal.Reason = fmt.Sprintf("the work tree changed while the checks ran, %d times; a check that writes files which git does not ignore does that itself", rounds)
	return c.save(ctx, goal)
}

// begin sets out to check a tree. What was found on another, or with other checks, does
// not count.
func (goal *Goal) begin(g *Goals, repository *git.Repository, at *git.Snapshot) {
	cut := goal.Status == StatusChecking && goal.Fingerprints == g.opts.Fingerprints
	goal.Status, goal.Reason = StatusChecking, ""
	goal.WorkspaceRoot, goal.Worktree = g.opts.Files.ws.Root(), repository.Top()
	goal.Branch, goal.HeadID, goal.TreeID = at.Head.Branch(), at.Head.ID, at.Tree
	goal.Fingerprints = g.opts.Fingerprints
	goal.Artifacts, goal.Handoff, goal.Approved = nil, "", 0
	goal.Checks = slices.DeleteFunc(goal.Checks, func(done CheckSummary) bool {
		return !cut || done.TreeID != at.Tree || !done.Passed() || !slices.Contains(goal.Wanted, done.Name)
	})
}

// run runs the checks that have not passed on this tree yet, and records each.
func (c *claim) run(ctx context.Context, goal *Goal) error {
	for _, name := range goal.Wanted {
		if slices.ContainsFunc(goal.Checks, func(done CheckSummary) bool { return done.Name == name }) {
			continue
		}
		c.goals.opts.Progress(name)
		result, err := c.goals.opts.Checks.Run(ctx, name)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c.goals.opts.at("ran " + name)
		goal.Checks = append(goal.Checks, c.goals.summary(name, result, err, goal.TreeID))
		if err := c.save(ctx, goal); err != nil {
			return err
		}
		c.goals.opts.at("recorded " + name)
	}
	return nil
}

// summary is what is recorded of a check: not its output, but how it ended and what its
// first diagnostics say, or without any the start of its last line.
func (g *Goals) summary(name string, result *check.Result, err error, tree string) CheckSummary {
	if err != nil {
		return CheckSummary{Name: name, ExitCode: -1, Summary: g.short(tools.AsError(err).Error()), TreeID: tree}
	}
	s := CheckSummary{Name: name, ExitCode: result.ExitCode, DurationMS: result.Duration.Milliseconds(), TreeID: tree}
	words := []string{fmt.Sprintf("passed in %v", result.Duration.Round(time.Millisecond))}
	if !result.Passed() {
		words[0] = fmt.Sprintf("ended with status %d", result.ExitCode)
		if len(result.Diagnostics) == 0 {
			words = append(words, lastLine(result.Output))
		}
	}
	if n := len(result.Diagnostics); n > 0 {
		words = append(words, fmt.Sprintf("problems: %d", n))
		for _, d := range result.Diagnostics[:min(3, n)] {
			words = append(words, fmt.Sprintf("%s:%d: %s", d.Path, d.Range.Start.Line+1, d.Message))
		}
	}
	s.Summary = g.short(strings.Join(words, "; "))
	return s
}

// lastLine is where most programs say why they failed.
func lastLine(output string) string {
	output = strings.TrimSpace(output)
	return clip(strings.TrimSpace(output[strings.LastIndexByte(output, '\n')+1:]))
}

// short takes secrets out of a text and keeps it to what a summary may have.
func (g *Goals) short(text string) string {
	if g.opts.Redactor != nil {
		text = string(g.opts.Redactor.Redact([]byte(text)))
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\ufffd")), " ")
	if most := int(g.opts.Limits.Summary) - len("…"); len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// conclude ticks what passed and, if that is all, lets the task wait for a person.
func (c *claim) conclude(ctx context.Context, goal *Goal, file *File) error {
	var edits []Edit
	var failed []string
	for _, done := range goal.Checks {
		passed := done.Passed()
		edits = append(edits, Edit{ID: done.Name, Done: &passed})
		if !passed {
			failed = append(failed, done.Name)
		}
	}
	file, err := c.goals.opts.Files.editAt(ctx, &File{TaskID: file.TaskID, Path: file.Path}, edits)
	if err != nil {
		return err
	}
	c.goals.changed(file)
	c.goals.opts.at("ticked")
	goal.note(file)
	goal.Status = StatusAwaitingApproval
	if len(failed) > 0 {
		goal.Status, goal.Reason = StatusFailed, "not passed: "+clip(strings.Join(failed, ", "))
	}
	if err := c.save(ctx, goal); err != nil {
		return err
	}
	c.goals.opts.at("concluded")
	return nil
}
