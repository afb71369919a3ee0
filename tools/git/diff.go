package git

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/prism-ls/prism-ls/tools"
)

// The bounds of patches.
var (
	// DiffLines bounds the lines of a patch that is shown.
	DiffLines = tools.Limit{Name: "maxDiffLines", Default: 10_000, Hard: 100_000}
	// PatchBytes bounds a patch as a whole, in bytes.
	PatchBytes = tools.Limit{Name: "maxPatchBytes", Default: 16 << 20, Hard: 64 << 20}
	// ContextLines are the unchanged lines around a change.
	ContextLines = tools.Limit{Name: "contextLines", Default: 3, Hard: 1000, ZeroOK: true}
)

// DiffOptions say what is compared. Nil is the zero value: the work tree with the index.
type DiffOptions struct {
	// Base is the revision to compare with. Alone, the work tree is compared with it;
	// with Head, that revision is; with Staged, the index is.
	Base, Head string
	// Staged compares the index, with HEAD unless Base is given.
	Staged bool
	// Paths keep it to files or directories of the opened directory.
	Paths []string
	// Context is ContextLines; nil is the default.
	Context *int64
	// Exact makes a patch that can be applied anywhere: whole object IDs, and the
	// content of binary files.
	Exact bool
	// Withhold, if not nil, reports files whose part of the patch is left out.
	Withhold func(path string) bool
	// MaxFiles is ChangedFiles, MaxBytes PatchBytes.
	MaxFiles, MaxBytes int64
}

// Diff is a comparison. Paths are relative to the opened directory, also those in the
// patch; what lies outside of it is not there.
type Diff struct {
	// Base and Head are the commits compared, empty where the side is the index or
	// the work tree, or nothing.
	Base, Head string
	// Files are the changed files, at most MaxFiles of Total.
	Files []FileChange
	Total int
	// Additions and Deletions count lines of all files.
	Additions, Deletions int
	// Patch is git's unified diff. Cut reports that it is longer than MaxBytes; what is
	// there ends with a line then. For unmerged files it is git's combined form, or
	// where a directory below the top was opened, the comparison with our side.
	Patch []byte
	Cut   bool
}

// FileChange is one file of a Diff.
type FileChange struct {
	Path string
	// OrigPath is the old path of what was renamed or copied.
	OrigPath string
	Status   ChangeStatus
	// Additions and Deletions count lines; nil for a binary or unmerged file.
	Additions, Deletions *int
	Binary               bool
	// OldMode and NewMode are octal, 0 for what is not there.
	OldMode, NewMode uint32
	// Withheld reports that the patch leaves it out; see DiffOptions.Withhold.
	Withheld bool
}

// ChangeStatus is how a file differs.
type ChangeStatus string

// The ways in which a file differs; ChangeUnmerged is a conflict.
const (
	ChangeAdded    ChangeStatus = "added"
	ChangeDeleted  ChangeStatus = "deleted"
	ChangeModified ChangeStatus = "modified"
	ChangeRenamed  ChangeStatus = "renamed"
	ChangeCopied   ChangeStatus = "copied"
	ChangeType     ChangeStatus = "type_changed"
	ChangeUnmerged ChangeStatus = "unmerged"
)

func changeStatus(letter byte) (ChangeStatus, bool) {
	switch letter {
	case 'A':
		return ChangeAdded, true
	case 'D':
		return ChangeDeleted, true
	case 'M':
		return ChangeModified, true
	case 'R':
		return ChangeRenamed, true
	case 'C':
		return ChangeCopied, true
	case 'T':
		return ChangeType, true
	case 'U':
		return ChangeUnmerged, true
	}
	return "", false
}

// Diff compares. CodeToolInput: sides that contradict each other, or a bound. CodeGitRef:
// a revision that is not there.
func (g *Repository) Diff(ctx context.Context, opts *DiffOptions) (*Diff, error) {
	if opts == nil {
		opts = &DiffOptions{}
	}
	mostFiles, err := ChangedFiles.Option(opts.MaxFiles)
	if err != nil {
		return nil, err
	}
	mostBytes, err := PatchBytes.Option(opts.MaxBytes)
	if err != nil {
		return nil, err
	}
	d := &Diff{}
	sides, err := g.sides(ctx, d, opts)
	if err != nil {
		return nil, err
	}
	flags, err := g.diffFlags(opts)
	if err != nil {
		return nil, err
	}
	specs, err := g.pathspecs(opts.Paths)
	if err != nil {
		return nil, err
	}
	if specs == nil {
		specs = []string{"--"}
	}
	run := &RunOptions{MaxOutput: min(mostBytes+outputLimit.Default, outputLimit.Hard), Partial: true, Config: diffConfig()}
	out, err := g.run(ctx, slices.Concat([]string{"diff", "--raw", "--numstat", "-p", "-z"}, flags, sides, specs), run)
	if err != nil {
		return nil, err
	}
	raw := rawDiff{diff: d, g: g}
	if err := raw.parse(out.Stdout, out.Truncated); err != nil {
		return nil, err
	}
	if len(raw.unmerged) > 0 {
		if err := g.conflicts(ctx, d, raw.unmerged, flags, run); err != nil {
			return nil, err
		}
	}
	d.Cut = d.Cut || out.Truncated
	d.bound(int(mostFiles), int(mostBytes), opts.Withhold)
	return d, nil
}

// sides turns the two sides into arguments, and notes the commits that they are.
func (g *Repository) sides(ctx context.Context, d *Diff, opts *DiffOptions) ([]string, error) {
	switch {
	case opts.Head != "" && opts.Staged:
		return nil, tools.Errorf(tools.CodeToolInput, "staged and head contradict each other: staged compares the index, head a commit")
	case opts.Head != "" && opts.Base == "":
		return nil, tools.Errorf(tools.CodeToolInput, "head needs base, the commit that it is compared with")
	}
	var args []string
	if opts.Staged {
		args = append(args, "--cached")
	}
	for _, side := range []struct {
		ref string
		id  *string
	}{{opts.Base, &d.Base}, {opts.Head, &d.Head}} {
		if side.ref == "" {
			continue
		}
		id, err := g.Resolve(ctx, side.ref)
		if err != nil {
			return nil, err
		}
		*side.id = id
		args = append(args, id)
	}
	return args, nil
}

// diffFlags are the options that make a diff the same whatever the repository's
// configuration says (git-diff(1), git-config(1) under "diff.").
func (g *Repository) diffFlags(opts *DiffOptions) ([]string, error) {
	lines, err := ContextLines.Of(opts.Context)
	if err != nil {
		return nil, err
	}
	flags := []string{
		"--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--find-renames=50%", "-l1000", "--submodule=short", fmt.Sprintf("--unified=%d", lines),
		"--inter-hunk-context=0", "--diff-algorithm=default", "--indent-heuristic",
	}
	if opts.Exact {
		flags = append(flags, "--binary", "--full-index")
	}
	if g.prefix != "" {
		return append(flags, "--relative="+g.prefix+"/"), nil
	}
	return append(flags, "--no-relative"), nil
}

// diffConfig are the settings for which diff has no option.
func diffConfig() []string {
	return []string{"diff.suppressBlankEmpty=false", "core.quotePath=true", "core.abbrev=10", "diff.indentHeuristic=true", "diff.algorithm=default"}
}

// conflicts puts the unmerged files' parts before the others, where git has them too.
// Of those, beside the lists of files, git prints no patch.
func (g *Repository) conflicts(ctx context.Context, d *Diff, unmerged, flags []string, run *RunOptions) error {
	args := slices.Concat([]string{"diff", "-p"}, flags)
	if g.prefix != "" {
		args = append(args, "--ours") // the combined form has no relative paths
	}
	args = append(append(args, "--"), unmerged...)
	out, err := g.run(ctx, args, run)
	if err != nil {
		return err
	}
	d.Cut = d.Cut || out.Truncated
	d.Patch = slices.Concat(wholeLines(out.Stdout, out.Truncated), d.Patch)
	return nil
}

// wholeLines drops what follows the last line end of cut output.
func wholeLines(text []byte, cut bool) []byte {
	if !cut {
		return text
	}
	return text[:bytes.LastIndexByte(text, '\n')+1]
}

// bound keeps the patch and the list within their bounds, and leaves out of the patch
// what is withheld.
func (d *Diff) bound(mostFiles, mostBytes int, withhold func(string) bool) {
	if withhold != nil {
		for i := range d.Files {
			f := &d.Files[i]
			f.Withheld = withhold(f.Path) || f.OrigPath != "" && withhold(f.OrigPath)
		}
		d.Patch = withheld(d.Patch, withhold)
	}
	if len(d.Patch) > mostBytes {
		d.Patch, d.Cut = wholeLines(d.Patch[:mostBytes], true), true
	}
	if len(d.Files) > mostFiles {
		d.Files = d.Files[:mostFiles]
	}
}
