package git

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// readsNoContent reports whether a command never passes a file's content through a
// driver and never contacts a remote, so that nothing has to be overridden. One that
// writes an index is none of them: it looks at files that are as old as the index.
func readsNoContent(args []string) bool {
	switch args[0] {
	case "rev-parse", "rev-list", "ls-tree", "config", "check-ref-format", "check-ignore", "check-attr",
		"for-each-ref", "show-ref", "merge-base", "var", "version", "commit-tree":
		return true
	case "symbolic-ref": // hooks may hear of a change, and a configuration may name hooks
		return !slices.Contains(args, "-m")
	case "ls-files", "cat-file":
		// These two do when they are asked to: a short option may hold others.
		return !slices.ContainsFunc(args[1:], func(arg string) bool {
			return arg == "--filters" || arg == "--textconv" || arg == "--modified" ||
				len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.Contains(arg, "m")
		})
	}
	return false
}

// overrides finds the programs that the repository's configuration names under
// keys it chose itself, and returns the environment that replaces each with
// something harmless. They go through GIT_CONFIG_KEY_n because a name may hold
// "=" and so cannot be written as a -c option. Those options come after them,
// so that the host's own settings are still the last word.
func (r *Runner) overrides(ctx context.Context, dir string) ([]string, error) {
	out, err := r.run(ctx, dir, []string{"config", "--list", "--name-only", "-z"}, &RunOptions{MaxOutput: 4 << 20})
	if err != nil {
		return nil, err
	}
	var env []string
	count := 0
	seen := map[string]bool{}
	for key := range strings.SplitSeq(strings.TrimSuffix(string(out.Stdout), "\x00"), "\x00") {
		value, dangerous := r.harmless(key)
		if !dangerous || seen[key] {
			continue
		}
		seen[key] = true
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", count, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", count, value))
		count++
	}
	if count == 0 {
		return nil, nil
	}
	if count > 1000 {
		return nil, tools.Errorf(tools.CodeGitFailed, "the repository's configuration names %d programs, at most 1000 can be switched off", count)
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", count)), nil
}

// harmless returns the value that takes the place of a key's, if the key can
// name a program. git prints section and variable in lower case and keeps the
// name between them.
func (r *Runner) harmless(key string) (value string, dangerous bool) {
	section, rest, _ := strings.Cut(key, ".")
	dot := strings.LastIndexByte(rest, '.')
	if dot < 0 {
		return "", false
	}
	switch section + "." + rest[dot+1:] {
	case "filter.clean", "filter.smudge", "filter.process":
		return "", true
	case "filter.required":
		return "false", true
	case "diff.textconv":
		return "cat", true
	case "merge.driver":
		// The built-in three-way merge, as if the attribute were not there.
		return quote(r.options.Path) + " merge-file --marker-size=%L %A %O %B", true
	case "trailer.command", "trailer.cmd", "hook.command":
		return "true", true
	case "protocol.allow":
		return "never", rest[:dot] != "https" && rest[:dot] != "ssh"
	case "submodule.update":
		return "none", true
	case "submodule.ignore":
		return "dirty", true
	case "credential.helper":
		return "", true
	case "gpg.program":
		return "false", true
	}
	return "", false
}

// quote makes a word of sh(1) that also survives git's own % placeholders.
func quote(path string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(path, "'", `'\''`), "%", "%%") + "'"
}
