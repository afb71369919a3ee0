package taskspace

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
)

// remotes is the fingerprint of where a repository's remotes are. What lets somebody in
// (names, passwords, tokens) is no part of it, and the addresses themselves are kept
// nowhere.
func (m *Manager) remotes(ctx context.Context, repository string) (string, error) {
	args := []string{"config", "-z", "--get-regexp", `^remote\..*\.(url|pushurl)$`}
	out, err := m.git.Run(ctx, repository, args, &git.RunOptions{OKCodes: []int{1}}) // 1 is that there are none
	if err != nil {
		return "", err
	}
	places := []string{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out.Stdout), "\x00"), "\x00") {
		if name, address, ok := strings.Cut(entry, "\n"); ok {
			places = append(places, name+" "+withoutCredentials(address))
		}
	}
	slices.Sort(places)
	return tools.Fingerprint(places)
}

// withoutCredentials keeps of a remote's address what says where it is: scheme, host,
// port and path.
func withoutCredentials(address string) string {
	if scheme, rest, ok := strings.Cut(address, "://"); ok {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host) + trimmed(u.Path)
		}
		host, path, _ := strings.Cut(rest, "/")
		host = host[strings.LastIndexByte(host, '@')+1:]
		path, _, _ = strings.Cut(path, "?")
		return strings.ToLower(scheme) + "://" + strings.ToLower(host) + trimmed("/"+path)
	}
	// user@host:path, which is what git takes for one where no slash comes before the colon
	if host, path, ok := strings.Cut(address, ":"); ok && !strings.Contains(host, "/") {
		return strings.ToLower(host[strings.LastIndexByte(host, '@')+1:]) + ":" + trimmed(path)
	}
	return trimmed(address)
}

func trimmed(path string) string {
	return strings.TrimSuffix(strings.TrimRight(path, "/"), ".git")
}
