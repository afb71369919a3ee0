package langintel

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

const (
	maxLeftovers     = 200
	leftoverFileSize = 4 << 20
)

// leftovers lists where a name still stands as a word after a plan: comments,
// strings, documents, files of other languages. Another symbol of the same name
// is among them; a person tells them apart.
func (c *Client) leftovers(ctx context.Context, name string, p *plan) ([]Location, error) {
	names, err := c.listed(ctx)
	if err != nil {
		return nil, err
	}
	names = slices.Concat(names, slices.Collect(maps.Keys(p.files)))
	slices.Sort(names)
	names = slices.Compact(names)
	var out []Location
	for _, path := range names {
		if err := ctx.Err(); err != nil {
			return out, tools.AsError(err)
		}
		if tools.IsSecretPath(path) || tools.IsControlPath(path) {
			continue
		}
		data := c.afterPlan(ctx, path, p)
		if !bytes.Contains(data, []byte(name)) || bytes.IndexByte(data[:min(len(data), 8<<10)], 0) >= 0 {
			continue
		}
		f := &file{path: path, text: newText(data), generated: isGenerated(data)}
		for n := range f.text.lines {
			for _, at := range occurrences(f.text.line(n), name) {
				if len(out) == maxLeftovers {
					return out, nil
				}
				loc := Location{Path: path}
				fillLocation(&loc, f, span{point{n, at}, point{n, at + len(name)}})
				out = append(out, loc)
			}
		}
	}
	return out, nil
}

// afterPlan returns a file as the plan leaves it, which for a dry run is not what
// is on disk; nil when it is too large, gone or not readable.
func (c *Client) afterPlan(ctx context.Context, path string, p *plan) []byte {
	if planned := p.files[path]; planned != nil && !planned.unread {
		return planned.data
	}
	if p.takes(path) {
		return nil
	}
	resolved := workspace.Path{Rel: path, Real: path}
	content, err := c.work.ReadFile(ctx, resolved, leftoverFileSize)
	if err != nil {
		return nil
	}
	return content.Data
}

// takes reports whether the plan leaves nothing under a name that there is now.
func (p *plan) takes(name string) bool {
	if p.files[name] != nil {
		return false
	}
	for _, file := range p.files {
		if file.origin == name {
			return true
		}
	}
	return slices.ContainsFunc(p.gone, func(f *planned) bool { return f.origin == name })
}

// listed returns the files that count as the workspace's own: those that git does
// not ignore, or without git all.
func (c *Client) listed(ctx context.Context) ([]string, error) {
	if c.opts.Git != nil {
		out, err := c.opts.Git.Run(ctx, c.work.Root(), []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard"}, &git.RunOptions{MaxOutput: 64 << 20})
		if err == nil {
			return strings.FieldsFunc(string(out.Stdout), func(r rune) bool { return r == 0 }), nil
		}
		if !errors.Is(err, tools.CodeGitNotRepository) && !errors.Is(err, tools.CodeGitFailed) {
			return nil, err
		}
	}
	return c.watch.all(ctx), nil
}
