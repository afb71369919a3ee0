package git

import (
	"context"
	"encoding/hex"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// RefLimit bounds a ref or revision, in bytes.
var RefLimit = tools.Limit{Name: "ref", Default: 1 << 10, Hard: 4 << 10}

// Resolve returns the object ID of the commit that a revision names (gitrevisions(7):
// a branch, tag, ID, "HEAD~2", …), a tag peeled. CodeToolInput: it cannot be a
// revision. CodeGitRef: it names no commit here, which for "HEAD" means that there is
// none yet.
func (g *Repository) Resolve(ctx context.Context, ref string) (string, error) {
	return g.resolve(ctx, ref, "commit")
}

// resolve names the object of a kind that git can peel a revision to.
func (g *Repository) resolve(ctx context.Context, ref, kind string) (string, error) {
	if err := CheckRevision(ref); err != nil {
		return "", err
	}
	out, err := g.run(ctx, []string{"rev-parse", "--verify", "--quiet", ref + "^{" + kind + "}"}, &RunOptions{OKCodes: []int{1, 128}})
	if err != nil {
		return "", err
	}
	id := strings.TrimSuffix(string(out.Stdout), "\n")
	if out.ExitCode != 0 || !IsID(id) {
		return "", tools.Errorf(tools.CodeGitRef, "%q names no %s in the repository at %s", ref, kind, g.top)
	}
	return id, nil
}

// CheckRevision refuses, as CodeToolInput, what cannot name one revision: what CheckRef
// refuses, a range, and what is over RefLimit.
func CheckRevision(ref string) error {
	if err := CheckRef(ref); err != nil {
		return err
	}
	switch {
	case int64(len(ref)) > RefLimit.Default:
		return tools.Errorf(tools.CodeToolInput, "the ref has %d bytes, at most %d are taken", len(ref), RefLimit.Default)
	case ref[0] == '^' || strings.Contains(ref, ".."):
		return tools.Errorf(tools.CodeToolInput, "%q is a range of commits; name a single one", ref)
	}
	return nil
}

// IsID reports whether text is a full object ID, of SHA-1 or SHA-256.
func IsID(text string) bool {
	if len(text) != 40 && len(text) != 64 {
		return false
	}
	_, err := hex.DecodeString(text)
	return err == nil && strings.ToLower(text) == text
}
