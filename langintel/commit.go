package langintel

import (
	"context"
	"errors"
	"maps"
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
	runner := p.session.client.opts.Git
	names := p.changed()
	if runner == nil || p.allow.ignored || len(names) == 0 {
		return nil
	}
	out, err := runner.Run(ctx, p.session.client.work.Root(), []string{"check-ignore", "-z", "--stdin"}, &git.RunOptions{
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
	work := p.session.client.work
	names := p.changed()
	paths := make([]workspace.Path, len(names))
	for i, name := range names {
		resolved, err := work.Resolve(name)
		if err != nil {
			return nil, err
		}
		paths[i] = resolved
	}
	done, err := work.Transact(ctx, paths, func(tx *workspace.Tx) error { return p.write(tx) })
	if err != nil {
		return nil, err
	}
	return done, p.session.client.Changed(ctx, names...)
}

// write asks a transaction for the plan's result.
func (p *plan) write(tx *workspace.Tx) error {
	path := func(name string) workspace.Path { return workspace.Path{Rel: name, Real: name} }
	for _, file := range slices.Concat(slices.Collect(maps.Values(p.files)), p.gone) {
		if file.before == nil {
			continue
		}
		content, err := tx.Read(path(file.origin), maxFile)
		if err != nil {
			return err
		}
		if content.SHA256 != file.before.sha {
			return tools.Errorf(tools.CodeLSPStale, "%s changed after the server worked on it; nothing was written", file.origin)
		}
	}
	created := map[string]bool{}
	for _, step := range p.steps {
		var err error
		switch step.kind {
		case "create":
			created[step.to] = true
		case "rename":
			if created[step.from] {
				created[step.to] = true
				continue
			}
			err = tx.Move(path(step.from), path(step.to), step.replace)
		case "delete":
			if created[step.from] {
				continue
			}
			err = tx.Delete(path(step.from), nil)
		}
		if err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		file := p.files[name]
		switch {
		case file.before == nil:
			if err := tx.Write(path(name), file.data, &workspace.WriteOptions{CreateParents: true}); err != nil {
				return err
			}
		case !slices.Equal(file.data, file.before.text.data):
			if err := tx.Write(path(name), file.data, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// rollback undoes a committed plan. Without an undo copy, which a degraded
// transaction of a single file lacks, the old content is written again.
func (p *plan) rollback(ctx context.Context, done *workspace.Committed) error {
	client := p.session.client
	names := p.changed()
	if done.UndoID != "" {
		if _, err := client.work.Undo(ctx, done.UndoID); err != nil {
			return err
		}
		return client.Changed(ctx, names...)
	}
	if len(names) != 1 || p.files[names[0]] == nil || p.files[names[0]].before == nil {
		return tools.Errorf(tools.CodeStateUnavailable, "the change cannot be taken back without a state directory")
	}
	path := workspace.Path{Rel: names[0], Real: names[0]}
	_, err := client.work.Transact(ctx, []workspace.Path{path}, func(tx *workspace.Tx) error {
		return tx.Write(path, p.files[names[0]].before.text.data, &workspace.WriteOptions{ExpectSHA256: done.SHA256[names[0]]})
	})
	if err != nil {
		return err
	}
	return client.Changed(ctx, names...)
}

// patch is what git would print for the plan.
func (p *plan) patch(ctx context.Context) string { return edit.Patch(ctx, p.changes()...) }
