package procsess

import (
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/tools"
)

// openTerminal opens a pseudo-terminal (pts(4)). The master does not block, so
// that the runtime's poller waits for it and no thread does; creack/pty's own
// would take one for each, ignore deadlines, and not wake a reader at Close.
func openTerminal(l *launch) (master, slave *os.File, err error) {
	opened, slave, err := pty.Open()
	if err != nil {
		return nil, nil, tools.Errorf(tools.CodePTYBackend, "no terminal could be opened: %w", err)
	}
	defer opened.Close()
	fail := func(err error) (*os.File, *os.File, error) {
		slave.Close()
		return nil, nil, tools.Errorf(tools.CodePTYBackend, "the terminal could not be set up: %w", err)
	}
	if err := pty.Setsize(slave, &pty.Winsize{Cols: uint16(l.Columns), Rows: uint16(l.Rows)}); err != nil {
		return fail(err)
	}
	if err := setModes(slave, l.NoCRLF); err != nil {
		return fail(err)
	}
	fd, err := unix.FcntlInt(opened.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return fail(err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return fail(err)
	}
	return os.NewFile(uintptr(fd), "terminal"), slave, nil
}

// windowSize sets a terminal's size, of which its foreground group is told by
// SIGWINCH. It goes around os.File.Fd, which would make the master block.
func windowSize(master *os.File, columns, rows int) error {
	return onDescriptor(master, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(columns), Row: uint16(rows)})
	})
}

// foregroundGroup is the process group that the terminal's keys signal.
func foregroundGroup(master *os.File) (group int, err error) {
	err = onDescriptor(master, func(fd int) error {
		group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	return group, err
}

// setModes is what a new terminal has beside the system's defaults: erasing knows
// of UTF-8 (IUTF8, termios(3)), and on request line feeds stay alone.
func setModes(slave *os.File, noCRLF bool) error {
	return onDescriptor(slave, func(fd int) error {
		modes, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err != nil {
			return err
		}
		modes.Iflag |= unix.IUTF8
		if noCRLF {
			modes.Oflag &^= unix.ONLCR
		}
		return unix.IoctlSetTermios(fd, unix.TCSETS, modes)
	})
}
