// Package git runs the git program so that a repository cannot make it run
// anything else.
//
// Everything a repository controls (its configuration, attributes, hooks,
// submodules) is data to a [Runner]: fixed settings on every call switch off
// hooks, helpers, pagers, editors, signing programs and every transport but
// https and ssh; and before a command that could use one, the filters, merge
// drivers and other programs that the repository's configuration names are
// found and overridden.
//
//	path, err := git.Find(os.Getenv("PATH"), workspaceRoot)
//	runner := git.New(owner, &git.Options{Path: path, Env: child.Environment(os.Environ(), nil)})
//	out, err := runner.Run(ctx, dir, []string{"status", "--porcelain=v2", "-z"}, nil)
//	if failure, ok := errors.AsType[*git.Error](err); ok && failure.ExitCode == 1 { … }
//
// The caller writes the argument array, places "--" before paths, and refuses
// refs and names that begin with a dash; see [CheckRef]. Path specifications
// are literal: no pathspec magic.
package git
