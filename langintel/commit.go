package langintel

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/edit"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// checkIgnored refuses edits of files that git ignores: they are build output,
// dependencies or secrets, and no diff would show them.
func (p *plan) checkIgnored(ctx context.Context) error {
	runner := p.client.opts.Git
	names := p.changed()
	if runner == nil || p.allow.ignored || len(names) == 0 {
		return nil
	}
	out, err := runner.Run(ctx, p.client.work.Root(), []string{"check-ignore", "-z", "--stdin"}, &git.RunOptions{
		Stdin: []byte(strings.Join(names, "\x00") + "\x00"), OKCodes: []int{1},
	})
	if errors.Is(err, tools.CodeGitNotRepository) || errors.Is(err, tools.CodeGitFailed) {
		return nil // no repository: nothing is ignored
	}
	if err != nil {
		return err
	}
	if first, _, ok := strings.Cut(string(out.Stdout), "\x00"); ok && first != "" {
		return tools.Errorf(tools.CodeLSPWorkspace, "the server wants to edit %s, which git ignores", first)
	}
	return nil
}

// commit writes the plan in one transaction, and tells the servers.
func (p *plan) commit(ctx context.Context) (*workspace.Committed, error) {
	work := p.client.work
	var paths []workspace.Path
	for _, name := range p.locks() {
		resolved, err := work.Resolve(name)
		if err != nil {
			return nil, err
		}
		paths = append(paths, resolved)
	}
	done, err := work.Transact(ctx, paths, func(tx *workspace.Tx) error { return p.write(tx) })
	if err != nil {
		return nil, err
	}
	p.removeEmptied(ctx)
	return done, errors.Join(p.client.Changed(ctx, p.changed()...), p.client.didRename(p.moves()))
}

// moves are the renames that the plan makes, in order.
func (p *plan) moves() []fileMove {
	var out []fileMove
	for _, step := range p.steps {
		if step.kind == "rename" {
			out = append(out, fileMove{step.from, step.to, step.dir})
		}
	}
	return out
}

func at(name string) workspace.Path { return workspace.Path{Rel: name, Real: name} }

// locks are all the names that the transaction uses: those that it changes, those
// that files have for a moment only, and directories to be made.
func (p *plan) locks() []string {
	out := p.changed()
	for _, step := range p.steps {
		out = append(out, step.names()...)
		if step.to == "" {
			continue
		}
		for _, dir := range step.dirs {
			out = append(out, step.moved(dir))
		}
		for dir := path.Dir(step.to); dir != "."; dir = path.Dir(dir) {
			if _, err := p.client.work.Lstat(at(dir)); err == nil {
				break
			}
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (s *planStep) names() []string {
	return slices.DeleteFunc([]string{s.from, s.to}, func(name string) bool { return name == "" })
}

// moved is where the step takes a name below its directory.
func (s *planStep) moved(name string) string { return s.to + strings.TrimPrefix(name, s.from) }

// whole reports whether a directory can be renamed as one: nothing in it changes
// otherwise. A transaction does not write into what it takes away.
func (p *plan) whole(step *planStep) bool {
	within := func(name string) bool {
		return strings.HasPrefix(name, step.from+"/") || strings.HasPrefix(name, step.to+"/")
	}
	for name, file := range p.files {
		if within(name) && file.differs() {
			return false
		}
	}
	for i := range p.steps {
		if other := &p.steps[i]; slices.ContainsFunc(other.names(), within) {
			return false
		}
	}
	return true
}

// write asks a transaction for the plan's result.
func (p *plan) write(tx *workspace.Tx) error {
	for _, file := range slices.Concat(slices.Collect(maps.Values(p.files)), p.gone) {
		if file.before == nil {
			continue
		}
		content, err := tx.Read(at(file.origin), maxFile)
		if err != nil {
			return err
		}
		if content.SHA256 != file.before.sha {
			return tools.Errorf(tools.CodeLSPStale, "%s changed after the server worked on it; nothing was written", file.origin)
		}
	}
	created := map[string]bool{}
	for i := range p.steps {
		if err := p.perform(tx, &p.steps[i], created); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		file := p.files[name]
		switch {
		case file.unread || !file.differs():
		case file.before == nil:
			if err := tx.Write(at(name), file.data, &workspace.WriteOptions{CreateParents: true}); err != nil {
				return err
			}
		default:
			if err := tx.Write(at(name), file.data, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// perform does one operation. A file that the plan itself creates is there only
// once it is written, under the name that it has in the end.
func (p *plan) perform(tx *workspace.Tx, step *planStep, created map[string]bool) error {
	switch step.kind {
	case "create":
		created[step.to] = true
	case "rename":
		if created[step.from] {
			delete(created, step.from)
			created[step.to] = true
			return nil
		}
		if err := makeDirs(tx, p.client.work, path.Dir(step.to)); err != nil {
			return err
		}
		if step.dir && !p.whole(step) {
			return p.moveEach(tx, step)
		}
		return tx.Move(at(step.from), at(step.to), step.replace)
	case "delete":
		if created[step.from] {
			delete(created, step.from)
			return nil
		}
		if step.emptied {
			return nil // a transaction removes no directory that it takes files from
		}
		var opts *workspace.DeleteOptions
		if step.dir {
			opts = &workspace.DeleteOptions{Recursive: true, MaxEntries: len(step.inner) + len(step.dirs)} // no more than the patch shows
		}
		return tx.Delete(at(step.from), opts)
	}
	return nil
}

// makeDirs makes a directory and those above it that are missing.
func makeDirs(tx *workspace.Tx, work *workspace.Workspace, dir string) error {
	if dir == "." {
		return nil
	}
	if _, err := work.Lstat(at(dir)); err == nil {
		return nil
	}
	if err := makeDirs(tx, work, path.Dir(dir)); err != nil {
		return err
	}
	if err := tx.Mkdir(at(dir)); err != nil && !errors.Is(err, tools.CodeExists) {
		return err
	}
	return nil
}

// moveEach renames a directory file by file.
func (p *plan) moveEach(tx *workspace.Tx, step *planStep) error {
	for _, dir := range step.dirs {
		if err := tx.Mkdir(at(step.moved(dir))); err != nil {
			return err
		}
	}
	for _, name := range step.inner {
		if err := tx.Move(at(name), at(step.moved(name)), false); err != nil {
			return err
		}
	}
	return nil
}

// removeEmptied removes the directories whose files have all been moved. What
// somebody else has put into one meanwhile keeps it; an undo makes them anew.
func (p *plan) removeEmptied(ctx context.Context) {
	work := p.client.work
	for i := range p.steps {
		step := &p.steps[i]
		if !step.dir || step.kind == "delete" && !step.emptied || step.kind == "rename" && p.whole(step) {
			continue
		}
		for _, dir := range slices.Backward(step.dirs) {
			_, err := work.Transact(ctx, []workspace.Path{at(dir)}, func(tx *workspace.Tx) error { return tx.Delete(at(dir), nil) })
			if err != nil {
				p.client.opts.Logger.Debug("a directory is left", "path", dir, "error", err)
			}
		}
	}
}

// rollback undoes a committed plan. Without an undo copy, which a degraded
// transaction of a single file lacks, the old content is written again.
func (p *plan) rollback(ctx context.Context, done *workspace.Committed) error {
	client := p.client
	names := p.changed()
	if done.UndoID != "" {
		if _, err := client.work.Undo(ctx, done.UndoID); err != nil {
			return err
		}
		return errors.Join(client.Changed(ctx, names...), client.didRename(reversed(p.moves())))
	}
	if len(p.steps) > 0 || len(names) != 1 || p.files[names[0]] == nil || p.files[names[0]].before == nil {
		return tools.Errorf(tools.CodeStateUnavailable, "the change cannot be taken back without a state directory")
	}
	only := at(names[0])
	_, err := client.work.Transact(ctx, []workspace.Path{only}, func(tx *workspace.Tx) error {
		return tx.Write(only, p.files[names[0]].before.text.data, &workspace.WriteOptions{ExpectSHA256: done.SHA256[names[0]]})
	})
	if err != nil {
		return err
	}
	return client.Changed(ctx, names...)
}

// patch is what git would print for the plan.
func (p *plan) patch(ctx context.Context) string { return edit.Patch(ctx, p.changes()...) }
