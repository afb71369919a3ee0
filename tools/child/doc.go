// Package child starts programs, owns everything they start, and ends all of it.
//
// An [Owner] is the one thing to hold. It starts nothing until the first
// [Owner.Start] or [Owner.Run]:
//
//	func main() {
//		child.Main() // returns at once unless this process is one of ours
//
//		owner := child.NewOwner(nil)
//		defer owner.Close()
//		result, err := owner.Run(ctx, child.Command{
//			Path: "/usr/bin/git",
//			Args: []string{"status"},
//			Env:  child.Environment(os.Environ(), nil),
//		}, child.RunOptions{})
//	}
//
// # What is owned, and how (Linux)
//
// The program is executed again in two small roles. One guardian per Owner is
// the child subreaper of everything. Below it, one reaper per running command
// is the subreaper of that command alone ("prism-guardian" and "prism-reaper" to
// ps), so that a process which calls
// setsid(2), forks twice, clears its environment or outlives its parent is
// still found in the one tree it came from (prctl(2),
// PR_SET_CHILD_SUBREAPER). Reapers are kept warm and used again, since one
// without children cannot have descendants.
//
// The embedding process never becomes a subreaper and never waits for a
// process that it did not start itself, so os/exec beside this package works
// as usual. Every process ends when
//   - [Process.Kill] or [Process.Release] is called (that tree);
//   - [Owner.Close] is called, or the owning process ends in any way, SIGKILL
//     included: the control sockets close with it (all trees);
//   - the guardian is killed: reapers see its pipe close (all trees);
//   - a reaper is killed: the guardian inherits and kills its tree.
//
// The exception is what [Process.LetGo] was called for: that tree outlives owner
// and guardian. Its reaper stays with it, keeps its terminal or pipes open and
// their output flowing, and ends with the last of the tree.
//
// Not promised: a process that gained another user's privileges (setuid) may
// not be ours to signal, and is reported as a survivor; something started on
// request by a daemon outside of the tree (a container engine, cron, a user's
// service manager) never was in it; and a program that kills guardian and
// reaper in the same moment can leave its tree behind, unless it is sandboxed
// with signals confined.
//
// # Elsewhere
//
// On other systems there is neither guardian nor sandbox. On Unix a command
// runs in its own process group and that group is what is killed: descendants
// that left the group, and everything when the owner dies, are not covered. On
// Windows only the started process is killed. [Require] fails there.
package child
