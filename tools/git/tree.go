package git

import (
	"context"
	"strconv"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// treeChange is a path that two trees, or a tree and an index, have differently.
type treeChange struct {
	path          string // from the top
	oldMode, mode uint32 // as git has them; 0: there is nothing
	oldID, id     string
}

// The modes that git has (gitformat-index, "mode").
const (
	modeFile       = 0o100644
	modeExecutable = 0o100755
	modeLink       = 0o120000
	modeSubmodule  = 0o160000
)

// treeOf returns the tree of a commit; an empty commit stands for one without files.
func (g *Repository) treeOf(ctx context.Context, commit string) (string, error) {
	if commit != "" {
		return g.resolve(ctx, commit, "tree")
	}
	out, err := g.run(ctx, []string{"hash-object", "-w", "-t", "tree", "--stdin"}, &RunOptions{Stdin: []byte{}})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(out.Stdout)), nil
}

// changesFrom lists where the index differs from a tree.
func (x *privateIndex) changesFrom(ctx context.Context, tree string) ([]treeChange, error) {
	out, err := x.run(ctx, []string{"diff-index", "--cached", "--raw", "--no-renames", "--no-abbrev", "-z", tree}, nil)
	if err != nil {
		return nil, err
	}
	return rawChanges(out.Stdout)
}

// changesBetween lists where two trees differ.
func (g *Repository) changesBetween(ctx context.Context, from, to string) ([]treeChange, error) {
	out, err := g.run(ctx, []string{"diff-tree", "-r", "--raw", "--no-renames", "--no-abbrev", "-z", from, to}, &RunOptions{MaxOutput: outputLimit.Hard})
	if err != nil {
		return nil, err
	}
	return rawChanges(out.Stdout)
}

// rawChanges reads git's raw format (git-diff(1), "RAW OUTPUT FORMAT").
func rawChanges(out []byte) ([]treeChange, error) {
	var all []treeChange
	parts := fields(out)
	for i := 0; i+1 < len(parts); i += 2 {
		words := strings.Fields(strings.TrimPrefix(parts[i], ":"))
		if len(words) != 5 {
			return nil, tools.Errorf(tools.CodeGitFailed, "git lists a change in a form that is not known: %q", parts[i])
		}
		all = append(all, treeChange{path: parts[i+1], oldMode: octalMode(words[0]), mode: octalMode(words[1]), oldID: words[2], id: words[3]})
	}
	return all, nil
}

func octalMode(text string) uint32 {
	mode, _ := strconv.ParseUint(text, 8, 32) // git wrote it
	return uint32(mode)
}
