// Package taskspace gives a task work trees of its own: for each of its repositories a
// branch and a linked work tree, kept account of in a store, so that agents work side
// by side, a task is taken up again where it was left, and nothing that somebody wrote
// is lost when it ends.
//
//	spaces, err := taskspace.New(&taskspace.Options{
//		Stores: stores, Git: runner, Directory: "/home/ada/.local/state/prism-ls/workspaces",
//		Repositories: map[string]string{"shop": "/home/ada/src/shop"},
//	})
//	space, err := spaces.Create(ctx, owner, &taskspace.Request{
//		TaskID:       "fix-till",
//		Repositories: []taskspace.Branch{{RepositoryID: "shop", Branch: "task/fix-till"}},
//	})
//	// … work in space.Repositories[0].Path …
//	space, err = spaces.Cleanup(ctx, owner, "fix-till", taskspace.Policy{})
//
// # What is kept account of
//
// One record for each task, in a state.CheckpointStore, changed under a lease and
// with its fencing token. It says what is about to happen before it does, so that
// whoever comes after a crash goes on: Create makes what is missing, Cleanup takes
// away what is left, and asking for either again changes nothing.
//
// # Making
//
// A work tree is made in a place that nobody is told of, locked from its first moment
// with the reason "prism-workspace:ID", and moved to its path when it is whole. What a
// crash leaves in that place holds nothing but what git put there, and is made anew.
//
// # Cleaning up
//
// A work tree goes when it is the one that was made (path, directory, lock, branch) and
// holds nothing that is nowhere else; [Policy] lifts each refusal. It is moved aside
// first, where nobody finds it by its path any more, and looked at once more there.
// What git would not bring back becomes artifacts: files that are not committed as a
// tar archive, staged content and commits on no branch as a bundle. They are read back
// and compared before anything goes, and [Manager.Undo] puts all of it back. Only git
// removes work trees, and never by force of two; branches stay.
//
// What cannot be saved is not removed: submodules with content, and what is over the
// store's bounds. What is not kept: empty directories, FIFOs and sockets, extended
// attributes, and that a merge or rebase was under way. A program that still has the
// directory open, and writes there after the last look, writes into what goes.
package taskspace
