package git

import (
	"context"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// Identity is the name and address that commits carry.
type Identity struct {
	Name  string
	Email string
}

// Identity returns whose commits are made in dir: what the host gave, else what the
// person's own configuration says there (it may say different things for different
// directories). CodeGitIdentity: neither says both a name and an address.
func (r *Runner) Identity(ctx context.Context, dir string) (Identity, error) {
	who := r.options.Identity
	for _, file := range r.options.PersonalConfig {
		if r.options.Identity != (Identity{}) {
			break
		}
		// 1 is that the file, or the key in it, is not there.
		out, err := r.run(ctx, dir, []string{"config", "--file", file, "--includes", "-z", "--get-regexp", `^user\.(name|email)$`}, &RunOptions{OKCodes: []int{1}})
		if err != nil {
			return Identity{}, err
		}
		who.take(string(out.Stdout))
	}
	if err := who.check(); err != nil {
		return Identity{}, err
	}
	return who, nil
}

// take reads what git config prints: key, line feed, value, NUL.
func (i *Identity) take(listing string) {
	for entry := range strings.SplitSeq(listing, "\x00") {
		switch key, value, _ := strings.Cut(entry, "\n"); key {
		case "user.name":
			i.Name = value
		case "user.email":
			i.Email = value
		}
	}
}

func (i Identity) check() error {
	for what, value := range map[string]string{"name": i.Name, "address": i.Email} {
		if strings.TrimSpace(value) == "" {
			return tools.Errorf(tools.CodeGitIdentity,
				"a commit needs a name and an address, and there is no %s: set git.name and git.email in the configuration, or user.name and user.email in your own git configuration", what)
		}
		if strings.ContainsAny(value, "<>\n\r\x00") {
			return tools.Errorf(tools.CodeGitIdentity, "the %s %q cannot be part of a commit: must not hold < > or a line break", what, value)
		}
	}
	return nil
}

// environment gives the identity to git, which then asks no configuration for one.
func (i Identity) environment() []string {
	return []string{
		"GIT_AUTHOR_NAME=" + i.Name, "GIT_AUTHOR_EMAIL=" + i.Email,
		"GIT_COMMITTER_NAME=" + i.Name, "GIT_COMMITTER_EMAIL=" + i.Email,
	}
}
