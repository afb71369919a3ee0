package langintel

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

func (p *plan) addCreate(ctx context.Context, ch *documentChange) error {
	name, err := p.path(ch.URI)
	if err != nil {
		return err
	}
	there, err := p.load(ctx, name)
	if err == nil && there != nil {
		err = p.settle(name)
	}
	switch {
	case err != nil:
		return err
	case there != nil && ch.Options.Overwrite:
		if err := p.checkGenerated(name, there); err != nil {
			return err
		}
		there.data = nil
		return nil
	case there != nil && ch.Options.IgnoreIfExists:
		return nil
	case there != nil:
		return tools.Errorf(tools.CodeLSPWorkspace, "the server wants to create %s, which exists", name)
	}
	p.files[name] = &planned{}
	p.steps = append(p.steps, planStep{kind: "create", to: name})
	return nil
}

func (p *plan) addRename(ctx context.Context, ch *documentChange) error {
	from, err := p.path(ch.OldURI)
	if err != nil {
		return err
	}
	to, err := p.path(ch.NewURI)
	if err != nil {
		return err
	}
	if from == to {
		return nil
	}
	if p.isDir(from) {
		return p.moveDir(ctx, from, to)
	}
	if p.isDir(to) {
		return tools.Errorf(tools.CodeLSPWorkspace, "the server wants to rename %s to %s, which is a directory", from, to)
	}
	target, err := p.load(ctx, to)
	switch {
	case err != nil:
		return err
	case target != nil && ch.Options.IgnoreIfExists && !ch.Options.Overwrite:
		return nil
	case target != nil && !ch.Options.Overwrite:
		return tools.Errorf(tools.CodeLSPWorkspace, "the server wants to rename %s to %s, which exists", from, to)
	case target != nil:
		if err := p.checkGenerated(to, target); err != nil {
			return err
		}
	}
	return p.moveFile(ctx, from, to, ch.Options.Overwrite)
}

// moveFile gives a file another name; what has that name already is replaced,
// where that is allowed.
func (p *plan) moveFile(ctx context.Context, from, to string, replace bool) error {
	file, err := p.load(ctx, from)
	if err != nil {
		return err
	}
	if file == nil {
		return tools.Errorf(tools.CodeLSPWorkspace, "%s is to be renamed, and does not exist", from)
	}
	if err := p.settle(from); err != nil {
		return err
	}
	target, err := p.load(ctx, to)
	switch {
	case err != nil:
		return err
	case target != nil && !replace:
		return tools.Errorf(tools.CodeExists, "%s is to be renamed to %s, which exists", from, to)
	case target != nil && target.before != nil:
		p.gone = append(p.gone, target)
	}
	delete(p.files, from)
	p.files[to] = file
	p.steps = append(p.steps, planStep{kind: "rename", from: from, to: to, replace: replace})
	return nil
}

// moveDir gives a directory another name, with all that it holds on disk and in
// the plan.
func (p *plan) moveDir(ctx context.Context, from, to string) error {
	if strings.HasPrefix(to+"/", from+"/") {
		return tools.Errorf(tools.CodeLSPWorkspace, "the directory %s is to be renamed into itself", from)
	}
	exists := tools.Errorf(tools.CodeExists, "the directory %s is to be renamed to %s, which exists", from, to)
	if p.isDir(to) {
		return exists
	}
	if there, err := p.load(ctx, to); err != nil || there != nil {
		return errors.Join(err, exists)
	}
	names, dirs, err := p.below(ctx, from)
	if err != nil {
		return err
	}
	for _, name := range names {
		if tools.IsControlPath(name) {
			return tools.Errorf(tools.CodeLSPWorkspace, "the directory %s holds %s, which controls tools and is not a server's to move", from, name)
		}
		if p.files[name] == nil {
			p.files[name] = &planned{origin: name, unread: true}
		}
	}
	for name, file := range p.files {
		if inner, ok := strings.CutPrefix(name, from+"/"); ok {
			if err := p.settle(name); err != nil {
				return err
			}
			delete(p.files, name)
			p.files[path.Join(to, inner)] = file
		}
	}
	p.steps = append(p.steps, planStep{kind: "rename", from: from, to: to, dir: true, inner: names, dirs: dirs})
	return p.checkSize()
}

func (p *plan) addDelete(ctx context.Context, ch *documentChange) error {
	name, err := p.path(ch.URI)
	if err != nil {
		return err
	}
	if p.isDir(name) {
		return p.deleteDir(ctx, name, ch.Options.Recursive)
	}
	file, err := p.load(ctx, name)
	switch {
	case err != nil:
		return err
	case file == nil && ch.Options.IgnoreIfNotExists:
		return nil
	case file == nil:
		return tools.Errorf(tools.CodeLSPWorkspace, "the server wants to delete %s, which does not exist", name)
	}
	if err := p.checkGenerated(name, file); err != nil {
		return err
	}
	p.drop(name)
	p.steps = append(p.steps, planStep{kind: "delete", from: name})
	return nil
}

func (p *plan) drop(name string) {
	file := p.files[name]
	delete(p.files, name)
	if file.before != nil {
		p.gone = append(p.gone, file)
	}
}

// deleteDir removes a directory; every file in it is part of the patch.
func (p *plan) deleteDir(ctx context.Context, dir string, recursive bool) error {
	names, dirs, err := p.below(ctx, dir)
	if err != nil {
		return err
	}
	// What the plan has moved away or deleted is not in it any more.
	left := slices.DeleteFunc(slices.Clone(names), p.takes)
	if len(left) > 0 && !recursive {
		return tools.Errorf(tools.CodeLSPWorkspace, "the server wants to delete the directory %s, which holds %s and is not empty, and does not say recursive", dir, left[0])
	}
	step := planStep{kind: "delete", from: dir, dir: true, inner: names, dirs: dirs, emptied: len(left) < len(names)}
	for _, name := range left {
		if tools.IsControlPath(name) {
			return tools.Errorf(tools.CodeLSPWorkspace, "the directory %s holds %s, which controls tools and is not a server's to delete", dir, name)
		}
		file, err := p.load(ctx, name)
		if err != nil {
			return err
		}
		if file == nil {
			continue
		}
		if err := p.checkGenerated(name, file); err != nil {
			return err
		}
		p.drop(name)
		if step.emptied {
			p.steps = append(p.steps, planStep{kind: "delete", from: name})
		}
	}
	p.steps = append(p.steps, step)
	return p.checkSize()
}

// isDir reports whether a name is a directory that the plan has not touched.
func (p *plan) isDir(name string) bool {
	info, err := p.client.work.Lstat(workspace.Path{Rel: name, Real: name})
	return err == nil && info.IsDir()
}

// below lists what is in a directory, at any depth: first what is no directory,
// then the directories, outer ones before inner ones, itself included.
func (p *plan) below(ctx context.Context, dir string) (names, dirs []string, err error) {
	c := p.client
	top := c.work.Abs(workspace.Path{Rel: dir, Real: dir})
	err = filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		inner, err := filepath.Rel(top, name)
		if err != nil {
			return err
		}
		rel := path.Join(dir, filepath.ToSlash(inner))
		if d.IsDir() {
			dirs = append(dirs, rel)
		} else {
			names = append(names, rel)
		}
		if most := c.opts.MaxEditFiles; int64(len(names)) > most || int64(len(dirs)) > most {
			return tools.Errorf(tools.CodeLSPLimit, "the directory %s holds more than %d files or directories", dir, most)
		}
		return nil
	})
	if err != nil {
		return nil, nil, tools.AsError(err)
	}
	return names, dirs, nil
}
