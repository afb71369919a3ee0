package child

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// newSolo needs mu. It has a goroutine here do what a reaper does, over the same
// kind of socket, so that there is one way in which trees are owned and ended.
func (o *Owner) newSolo(fresh *lease, other int) error {
	socket, err := unix.FcntlInt(uintptr(other), unix.F_DUPFD_CLOEXEC, 0) // the caller closes its own
	if err == nil {
		err = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	}
	var r *reaper
	if err == nil {
		r, err = newReaper(socket, -1)
	}
	if err != nil {
		unix.Close(socket)
		fresh.file.Close()
		return fmt.Errorf("child: becoming a reaper: %w", err)
	}
	o.add(fresh)
	o.wait.Go(func() {
		if r.run() == exitSurvivors {
			o.stuck.Store(true) // and their ends go on being waited for
			return
		}
		<-r.waited
		unix.Close(r.socket)
		unix.Close(r.null)
	})
	return nil
}
