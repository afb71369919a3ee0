package child

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// member is a live process below a reaper or guardian, as one look at /proc
// found it. Number and start time together name one process for ever.
type member struct {
	pid, parent, group int
	start              uint64
}

// lookAt reads a process's /proc/PID/stat (proc_pid_stat(5)). A process whose
// first thread has ended but which has others is alive, though it shows as a
// zombie.
func lookAt(pid int) (m member, alive bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return member{}, false
	}
	// The name, in parentheses, may hold anything, parentheses included.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	const state, parent, group, threads, start = 0, 1, 2, 17, 19
	if len(fields) <= start {
		return member{}, false
	}
	number := func(i int) int { n, _ := strconv.Atoi(fields[i]); return n }
	m = member{pid: pid, parent: number(parent), group: number(group)}
	m.start, _ = strconv.ParseUint(fields[start], 10, 64)
	gone := fields[state] == "Z" || fields[state] == "X"
	return m, !gone || number(threads) > 1
}

// descendants returns the live processes below root, parents before children.
// Direct children for which except is true are left out with all below them.
// One look can miss a process that is being started or handed to another
// parent; whoever needs certainty looks until wait4 knows of no child.
func descendants(root int, except func(pid int) bool) []member {
	var found []member
	seen := map[int]bool{root: true}
	children := childReader()
	queue := []int{root}
	for len(queue) > 0 {
		parent := queue[0]
		queue = queue[1:]
		for _, pid := range children(parent) {
			if seen[pid] || parent == root && except != nil && except(pid) {
				continue
			}
			seen[pid] = true
			m, alive := lookAt(pid)
			if alive {
				found = append(found, m)
				queue = append(queue, pid)
			}
		}
	}
	return found
}

// childReader returns a function that lists a process's children. Kernels
// without CONFIG_PROC_CHILDREN get one scan of all processes.
func childReader() func(pid int) []int {
	self := strconv.Itoa(os.Getpid())
	if _, err := os.Stat("/proc/" + self + "/task/" + self + "/children"); err == nil {
		return taskChildren
	}
	byParent := map[int][]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return func(int) []int { return nil }
	}
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			if m, alive := lookAt(pid); alive {
				byParent[m.parent] = append(byParent[m.parent], pid)
			}
		}
	}
	return func(pid int) []int { return byParent[pid] }
}

// taskChildren reads the list of every thread: a child belongs to the one that
// started it.
func taskChildren(pid int) []int {
	base := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, err := os.ReadDir(base)
	if err != nil {
		return nil
	}
	var children []int
	for _, thread := range threads {
		data, err := os.ReadFile(base + thread.Name() + "/children")
		if err != nil {
			continue
		}
		for word := range strings.FieldsSeq(string(data)) {
			if child, err := strconv.Atoi(word); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}

// Describe names any process, in a tree or not.
func Describe(pid int) Info { return describe(pid) }

// describe names a process for a report.
func describe(pid int) Info {
	const most = 256
	base := "/proc/" + strconv.Itoa(pid)
	if line, err := os.ReadFile(base + "/cmdline"); err == nil && len(line) > 0 {
		line = bytes.TrimRight(line, "\x00")
		line = bytes.ReplaceAll(line, []byte{0}, []byte{' '})
		return Info{PID: pid, Command: strings.ToValidUTF8(string(line[:min(len(line), most)]), "\uFFFD")}
	}
	name, _ := os.ReadFile(base + "/comm")
	return Info{PID: pid, Command: "[" + strings.ToValidUTF8(strings.TrimSpace(string(name)), "\uFFFD") + "]"}
}

func describeAll(members []member) []Info {
	infos := make([]Info, len(members))
	for i, m := range members {
		infos[i] = describe(m.pid)
	}
	return infos
}

// signal signals exactly this process. The number could have been given to
// another one since the look: a pidfd pins whatever has it now, and the start
// time tells whether that is still the same.
func (m member) signal(sig unix.Signal) error {
	fd, err := unix.PidfdOpen(m.pid, 0)
	if errors.Is(err, unix.ENOSYS) {
		// Before Linux 5.3 the look is all there is.
		return unix.Kill(m.pid, sig)
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if now, alive := lookAt(m.pid); !alive || now.start != m.start {
		return unix.ESRCH
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0)
}

// hunt kills everything below the calling process until nothing is left.
type hunt struct {
	// look lists what is to be killed.
	look func() []member
	// all signals the main program's group as one, which no fork can outrun;
	// it does nothing when that group is not surely ours any more.
	all func(sig unix.Signal)
	// over reports whether there is certainly nothing left.
	over func() bool
	// changed delivers a value whenever a child was reaped.
	changed <-chan struct{}

	reported map[member]Info
	denied   map[member]bool
}

const (
	// killLimit bounds a hunt: what is left then is stuck in the kernel.
	killLimit = 2 * time.Second
	// deniedLimit is how long only unkillable processes may be left.
	deniedLimit = 100 * time.Millisecond
	// freezeRounds bounds stopping a tree before it is killed.
	freezeRounds = 6
)

// run returns what it killed and what it could not kill.
func (h *hunt) run() (killed, survivors []Info) {
	h.reported, h.denied = map[member]Info{}, map[member]bool{}
	started := time.Now()
	pause := 200 * time.Microsecond
	var left []member
	for {
		if h.over() {
			left = nil
			break
		}
		left = h.pass()
		if h.over() {
			left = nil
			break
		}
		spent := time.Since(started)
		if spent > killLimit || spent > deniedLimit && len(left) > 0 && h.onlyDenied(left) {
			break
		}
		timer := time.NewTimer(pause)
		select {
		case <-h.changed:
		case <-timer.C:
			pause = min(2*pause, 10*time.Millisecond)
		}
		timer.Stop()
	}
	for _, m := range left {
		if info, ok := h.reported[m.key()]; ok {
			survivors = append(survivors, info)
			delete(h.reported, m.key())
		}
	}
	for _, info := range h.reported {
		killed = append(killed, info)
	}
	sortInfos(killed)
	sortInfos(survivors)
	return killed, survivors
}

// pass freezes the tree, so that it neither grows nor moves while it is being
// read, names what is new, and kills.
func (h *hunt) pass() []member {
	h.all(unix.SIGSTOP)
	var members []member
	for range freezeRounds {
		members = h.look()
		grown := false
		for _, m := range members {
			if _, known := h.reported[m.key()]; known {
				continue
			}
			grown = true
			_ = m.signal(unix.SIGSTOP)
			h.reported[m.key()] = describe(m.pid)
		}
		if !grown {
			break
		}
	}
	h.all(unix.SIGKILL)
	for _, m := range members {
		h.denied[m.key()] = errors.Is(m.signal(unix.SIGKILL), unix.EPERM)
	}
	return members
}

// key leaves out what may change during a process's life.
func (m member) key() member { return member{pid: m.pid, start: m.start} }

func (h *hunt) onlyDenied(members []member) bool {
	return !slices.ContainsFunc(members, func(m member) bool { return !h.denied[m.key()] })
}

func sortInfos(infos []Info) {
	slices.SortFunc(infos, func(a, b Info) int { return a.PID - b.PID })
}
