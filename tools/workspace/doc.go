// Package workspace is the one way to the files below a root directory.
//
// Every path a caller gives goes through one resolver and stays inside the
// root, symbolic links followed. Every change is a transaction: it is
// serialised with all other prism-ls processes, refuses when somebody else
// changed the file in between, happens in full or not at all, survives a crash
// at any instruction, and can be undone once.
//
//	w, err := workspace.Open(root, &workspace.Options{StateDir: dir})
//	...
//	p, err := w.Parse("src/main.go")
//	done, err := w.Transact(ctx, []workspace.Path{p}, func(tx *workspace.Tx) error {
//		content, err := tx.Read(p, 1<<20)
//		if err != nil {
//			return err
//		}
//		return tx.Write(p, change(content.Data), nil)
//	})
//	...
//	files, err := w.Undo(ctx, done.UndoID)
//
// # Containment
//
// On Linux an open is one openat2(2) with RESOLVE_BENEATH and
// RESOLVE_NO_MAGICLINKS from a descriptor of the root. What the kernel leaves
// open (an absolute link that points inside the root) or refuses (a kernel or
// a sandbox without openat2) is walked component by component from that
// descriptor, never following a link the walk has not read itself. Elsewhere
// the walk runs on [os.Root]. A path is never checked first and used later.
//
// # Changes
//
// New content goes to a temporary file beside its target, is flushed, and
// changes places with the target in one rename. The original, now under the
// temporary name, is compared with what the transaction read; if somebody else
// wrote meanwhile, the two change back and the call fails with
// [tools.CodeFileChanged]. Otherwise the original moves to the state directory
// as the undo copy. A transaction of several steps first writes a flushed
// journal naming every step; whoever opens the workspace after a crash rolls it
// back. Originals therefore never leave the disk before the commit, and no
// byte of them is copied.
//
// # State
//
// Locks, journals, the names of temporary files and undo copies live in
// Options.StateDir. It is made at the first change, so reading needs none. When
// it cannot be used, single-file changes go on with a lock on the directory
// itself and say so in Committed.Degraded; changes of several files refuse with
// [tools.CodeStateUnavailable].
package workspace
