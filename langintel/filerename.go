package langintel

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// RenameFileQuery asks for a file or a directory to get another name, and for
// everything that refers to it by the old one to follow.
type RenameFileQuery struct {
	From, To string
	// AlsoText lists where the old path is left in text.
	AlsoText bool
	ChangeOptions
}

// RenameFile moves a file or a directory together with the edits by which the
// language servers that take part in renaming files (LSP 3.17
// §workspace_willRenameFiles) keep what refers to it right: one transaction.
// Where no server takes part the move is made alone, and the status is partial.
// Errors are those of [Client.Rename]; CodeNotFound, CodeExists and
// CodePathEscape are about From and To.
func (c *Client) RenameFile(ctx context.Context, q RenameFileQuery) (*ChangeResult, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	c.editing.Lock()
	defer c.editing.Unlock()
	return again(ctx, func() (*ChangeResult, error) { return c.renameFile(ctx, q) })
}

func (c *Client) renameFile(ctx context.Context, q RenameFileQuery) (*ChangeResult, error) {
	if err := c.watch.sweep(ctx); err != nil {
		return nil, tools.AsError(err)
	}
	move, err := c.moveOf(q)
	if err != nil {
		return nil, err
	}
	asked, err := c.willRename(ctx, move)
	if err != nil {
		return nil, err
	}
	p := c.emptyPlan(strings.Join(asked.servers, ", "), q.allowance())
	for _, edit := range asked.edits {
		if err := p.take(ctx, edit.by, &edit.edit); err != nil {
			return nil, err
		}
	}
	if move.dir {
		err = p.moveDir(ctx, move.from, move.to)
	} else {
		err = p.moveFile(ctx, move.from, move.to, false)
	}
	if err == nil {
		err = p.finish(ctx)
	}
	if err != nil {
		return nil, err
	}
	result, err := p.apply(ctx, q.ChangeOptions)
	if err != nil {
		return nil, err
	}
	if asked.reason != "" {
		result.Status, result.Reason = Partial, asked.reason
	}
	if q.AlsoText {
		if result.Leftovers, err = c.leftovers(ctx, move.from, p); err != nil {
			result.Status, result.Reason = Partial, "what is left in text is not known: "+err.Error()
		}
	}
	return result, nil
}

// moveOf checks the two names against the disk.
func (c *Client) moveOf(q RenameFileQuery) (fileMove, error) {
	if q.From == "" || q.To == "" {
		return fileMove{}, tools.Errorf(tools.CodeToolInput, "a file is renamed from one path to another; give both")
	}
	from, err := c.work.Resolve(q.From)
	if err != nil {
		return fileMove{}, err
	}
	to, err := c.work.Resolve(q.To)
	if err != nil {
		return fileMove{}, err
	}
	info, err := c.work.Lstat(at(from.Real))
	if err != nil {
		return fileMove{}, err
	}
	switch {
	case from.ReadOnly() || to.ReadOnly():
		return fileMove{}, tools.Errorf(tools.CodePathEscape, "only what lies in the workspace is renamed")
	case from.Real == "." || to.Real == ".":
		return fileMove{}, tools.Errorf(tools.CodePathEscape, "the workspace root itself cannot be renamed")
	case from.Real == to.Real:
		return fileMove{}, tools.Errorf(tools.CodeNoChange, "%s is called that already", q.From)
	}
	if _, err := c.work.Lstat(at(to.Real)); err == nil {
		return fileMove{}, tools.Errorf(tools.CodeExists, "%s exists; to is the whole new path, and nothing may be there", q.To)
	}
	return fileMove{from.Real, to.Real, info.IsDir()}, nil
}

// renameEdits are what the servers want changed for a file's new name.
type renameEdits struct {
	servers []string
	edits   []serverEdit
	reason  string // why references to the file may be left as they are
}

type serverEdit struct {
	by   *session
	edit workspaceEdit
}

// willRename asks every server that registered for the move. One that cannot be
// started, or takes no part, is a reason; one that fails to answer ends it: its
// edits would be missing.
func (c *Client) willRename(ctx context.Context, move fileMove) (*renameEdits, error) {
	servers, files, err := c.serversOf(ctx, move)
	if err != nil {
		return nil, err
	}
	out := &renameEdits{}
	var failed []string
	for _, s := range servers {
		live, release, err := s.acquire(ctx)
		if ctx.Err() != nil {
			return nil, hard(ctx, s.spec.Name, ctx.Err())
		}
		if err != nil {
			failed = append(failed, s.spec.Name+": "+oneLine(err.Error(), 200))
			continue
		}
		err = out.ask(ctx, live, move, files[s])
		release()
		if err != nil {
			return nil, hard(ctx, s.spec.Name, err)
		}
	}
	switch {
	case len(failed) > 0:
		out.reason = "imports may not be updated: " + strings.Join(failed, "; ")
	case len(out.servers) == 0:
		what := "file"
		if move.dir {
			what = "directory"
		}
		out.reason = fmt.Sprintf("no language server here takes part in renaming this %s, so references to its path are as they were", what)
	}
	return out, nil
}

// ask adds the edit of one server.
func (r *renameEdits) ask(ctx context.Context, v *session, move fileMove, file string) error {
	files := v.concerned("workspace/willRenameFiles", []fileMove{move})
	if len(files) == 0 {
		return nil
	}
	if file != "" {
		// A server has a project loaded once a document of it is open.
		if _, err := v.docs.sync(ctx, at(file)); err != nil {
			return err
		}
	}
	if pending := v.settle(ctx); pending != "" {
		return tools.Errorf(tools.CodeLSPTimeout, "%s cannot be relied on yet to find every reference to %s: %s; nothing was changed", v.spec.Name, move.from, pending)
	}
	var e workspaceEdit
	if err := v.call(ctx, "workspace/willRenameFiles", renameFilesParams{files}, &e); err != nil {
		return err
	}
	r.servers = append(r.servers, v.spec.Name)
	r.edits = append(r.edits, serverEdit{v, e})
	return nil
}

// serversOf returns the servers that may have something to say about a move:
// those that serve what is moved, each with one file of its own, and those that
// run. They are not started yet.
func (c *Client) serversOf(ctx context.Context, move fileMove) (list []*server, files map[*server]string, err error) {
	names := []string{move.from}
	if move.dir {
		if names, _, err = c.emptyPlan("", allowance{}).below(ctx, move.from); err != nil {
			return nil, nil, err
		}
	}
	files = map[*server]string{}
	asked := map[string]bool{} // one file of each kind in each directory is enough
	for _, name := range names {
		kind := path.Dir(name) + "/*" + path.Ext(name)
		if asked[kind] {
			continue
		}
		asked[kind] = true
		servers, err := c.serversFor(workspace.Path{Rel: name, Real: name})
		if errors.Is(err, tools.CodeLSPUnsupported) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		for _, s := range servers {
			if files[s] == "" {
				files[s] = name
				list = append(list, s)
			}
		}
	}
	for _, v := range c.sessions() {
		if !slices.Contains(list, v.server) {
			list = append(list, v.server)
		}
	}
	return list, files, nil
}
