package procsess

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/tools/child"
)

const (
	// looks are the samples of one question, and lookPause the time between two.
	looks     = 3
	lookPause = 200 * time.Microsecond
)

// lookForInput tells whether a session's program waits for input, from what the
// kernel says about it at this moment: which processes may read the terminal, and
// in which system calls their tasks are.
//
//   - blocked_read: a task is inside a read of the terminal, or of the pipe that is
//     the input, and stays there over several samples while nothing else of its
//     process works.
//   - accepts_input: one waits for the terminal among other things (poll, select,
//     epoll), reads it beside other work, or was given input just now.
//   - unknown: what would decide it may not be read (a program of another user or
//     architecture, a kernel without /proc/PID/syscall, io_uring).
func lookForInput(ev *evidence) Input {
	in := Input{State: UnknownInput, Mode: inputMode(ev.master)}
	p, candidates, ok := newProbe(ev)
	if !ok {
		return in
	}
	in.State = p.judge(ev, candidates)
	return in
}

// probe is one question about one session.
type probe struct {
	input openFile
	// foreground is the group that may read the terminal.
	foreground int
	// raw: keys come one by one. momentary: a read does not wait for one (VMIN 0).
	raw, momentary bool
	// pending: there is input that nobody has read yet.
	pending bool
}

// suspect is a process that could be reading the input.
type suspect struct {
	pid int
	tty int
}

// newProbe finds out what to look at. It is not ok where that is not known.
func newProbe(ev *evidence) (p *probe, suspects []suspect, ok bool) {
	p = &probe{}
	tree, err := ev.tree()
	if err != nil {
		return nil, nil, false
	}
	if ev.master == nil {
		if ev.stdin == nil {
			return p, nil, true // the input has ended
		}
		if p.input, err = pipeFile(ev.stdin); err != nil {
			return nil, nil, false
		}
		_ = onDescriptor(ev.stdin, func(fd int) error {
			n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
			p.pending = err == nil && n > 0
			return err
		})
	} else {
		if p.input, err = terminalFile(ev.master); err != nil {
			return nil, nil, false
		}
		err = onDescriptor(ev.master, func(fd int) (err error) {
			p.foreground, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
			return err
		})
		term, modeErr := terminalMode(ev.master)
		if err != nil || modeErr != nil {
			return nil, nil, false
		}
		p.raw = term.Lflag&unix.ICANON == 0
		p.momentary = p.raw && term.Cc[unix.VMIN] == 0
	}
	suspects, known := p.suspects(tree)
	return p, suspects, known || len(tree) == 0
}

// suspects are the processes whose reads of the input would be served: on a terminal
// those of the foreground group, and those for which it is no controlling terminal.
// Others that try are stopped (SIGTTIN), which is not waiting. It is not known where
// a foreground group has no process to be found.
func (p *probe) suspects(tree []child.Info) (found []suspect, known bool) {
	inForeground := false
	for _, info := range tree {
		stat, err := readStat(procPath(info.PID, "stat"))
		if err != nil {
			continue
		}
		if p.input.controls(stat.tty) {
			if stat.group != p.foreground {
				continue
			}
			inForeground = true
		}
		found = append(found, suspect{info.PID, stat.tty})
	}
	if p.input.terminal == 0 || p.foreground <= 0 || inForeground {
		return found, true
	}
	_ = eachEntry("/proc", func(_ int, name string) bool {
		pid, err := strconv.Atoi(name)
		if err != nil {
			return true
		}
		stat, err := readStat(procPath(pid, "stat"))
		if err == nil && stat.group == p.foreground && p.input.controls(stat.tty) {
			found = append(found, suspect{pid, stat.tty})
			inForeground = true
		}
		return true
	})
	return found, inForeground
}

// judge samples the suspects, more than once where something may be changing.
func (p *probe) judge(ev *evidence, suspects []suspect) InputState {
	var seen processLook // of all of them, without readers
	reading := make([]*processLook, 0, 1)
	first := make([]*processLook, 0, len(suspects))
	for _, s := range suspects {
		first = append(first, p.look(s))
	}
	for range looks - 1 {
		again := false
		for _, look := range first {
			again = again || look.running || len(look.readers) > 0
		}
		if !again {
			break
		}
		pause()
		for _, look := range first {
			if look.running || len(look.readers) > 0 {
				look.merge(p.look(look.suspect))
			}
		}
	}
	for _, look := range first {
		seen.add(look)
		if len(look.readers) > 0 {
			reading = append(reading, look)
		}
	}
	for _, look := range reading {
		beside := look.works || look.tasks > 1 && ev.wroteLately()
		if !beside && !p.momentary && !p.pending && ev.settled() {
			return BlockedRead
		}
	}
	switch {
	case len(reading) > 0 || seen.polls || seen.ring && p.raw:
		return AcceptsInput
	case seen.unreadable || seen.ring:
		return UnknownInput
	}
	return NoInput
}

// pause waits for lookPause. The runtime's timers would make a millisecond of it.
func pause() {
	wait := unix.NsecToTimespec(int64(lookPause))
	_ = unix.Nanosleep(&wait, nil)
}
