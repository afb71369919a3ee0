package child_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal opens a pseudo-terminal (pts(4)).
func openTerminal(t testing.TB) (master, slave *os.File) {
	t.Helper()
	master, slave, err := terminal()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close(); slave.Close() })
	return master, slave
}

func terminal() (master, slave *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		return nil, nil, err
	}
	master = os.NewFile(uintptr(fd), "master")
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	return master, slave, err
}

func TestTerminal(t *testing.T) {
	owner := newOwner(t)
	master, slave := openTerminal(t)
	cmd := sh(`stty -echo </dev/tty; ps -o sid=,tpgid= -p $$; echo $$; read line </dev/tty; echo "got $line"; sleep 1000`)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.TTY = slave, slave, slave, true
	process, err := owner.Start(within(t, 20*time.Second), cmd)
	if err != nil {
		t.Fatal(err)
	}
	slave.Close()
	var text strings.Builder
	read := func(until string) {
		t.Helper()
		_ = master.SetReadDeadline(time.Now().Add(10 * time.Second))
		buffer := make([]byte, 1024)
		for !strings.Contains(text.String(), until) {
			n, err := master.Read(buffer)
			if err != nil {
				t.Fatalf("%v after %q", err, text.String())
			}
			text.Write(buffer[:n])
		}
	}
	read(fmt.Sprintf("\n%d\r\n", process.PID()))
	if fields := strings.Fields(text.String()); fields[0] != fields[2] || fields[1] != fields[2] {
		t.Errorf("session, foreground group, pid: %q", fields)
	}
	if _, err := master.WriteString("hello\n"); err != nil {
		t.Fatal(err)
	}
	read("got hello")
	// The terminal's interrupt key reaches the foreground group.
	if _, err := master.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	exit, err := process.Wait(within(t, 5*time.Second))
	if err != nil || exit.Signal != syscall.SIGINT && exit.Code != 130 {
		t.Errorf("%v, %v", exit, err)
	}
}
