// Package search lists, searches and globs the files of a workspace.
//
// A [Searcher] has one walker for all three. It reads each directory once,
// through descriptors relative to their parent's, never follows a symbolic
// link, and delivers results in one order: names compared byte by byte,
// component by component, so that a directory's content follows the directory.
//
//	searcher, err := search.New(workspace, &search.Options{Git: runner})
//	result, err := searcher.Search(ctx, search.Query{Query: "retry"})
//	fmt.Println(result.Text())
//
// # Which files are seen
//
// Names that begin with a dot are left out unless a query includes them, and so
// are names on the exclude list (node_modules, dist) and .git. Inside a git
// work tree, and with Options.Git, files that git ignores are left out too. The
// walker asks git for the tracked names, and then only about the names it met
// that are not tracked: at most two processes a call, one where everything is
// tracked. Nested repositories and submodules are walked without ignore rules.
// A path that a query names itself is seen whatever the rules say; only
// credentials ([tools.IsSecretPath]) and git's own files never are.
//
// # Caps
//
// Every cap ends a call with what was found so far and TruncatedBy; the same
// tree gives the same answer. Work beyond a cap may have begun on another
// processor, but is never part of the result.
package search
