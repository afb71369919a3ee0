package procsess

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPorts: those of the processes asked about, and nobody else's.
func TestPorts(t *testing.T) {
	owner := newTestOwner(t)
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	c := startConsole(t, owner, "python3", "-c", `
import socket, os, time
def listen(family, host):
    s = socket.socket(family); s.bind((host, 0)); s.listen(); return s
a = listen(socket.AF_INET, "127.0.0.1")
b = listen(socket.AF_INET, "0.0.0.0")
c = listen(socket.AF_INET6, "::1")
bound = socket.socket(); bound.bind(("127.0.0.1", 0))
peer = socket.create_connection(a.getsockname())
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); udp.bind(("127.0.0.1", 0))
again = a.dup()
print("ports", a.getsockname()[1], b.getsockname()[1], c.getsockname()[1], "end", flush=True)
time.sleep(1000)`)
	c.shows("end")
	var want []int
	for _, word := range strings.Fields(c.output())[1:4] {
		port, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, port)
	}
	slices.Sort(want)
	pid := c.process.PID()
	if got := listeningPorts([]int{pid, pid, 1 << 22}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	self := other.Addr().(*net.TCPAddr).Port
	if got := listeningPorts([]int{os.Getpid()}); !slices.Contains(got, self) || slices.Contains(got, want[0]) {
		t.Errorf("our own are %v, want %d and not %d", got, self, want[0])
	}
	if got := listeningPorts(nil); len(got) != 0 {
		t.Errorf("nobody listens on %v", got)
	}
	// Both sources know the same.
	asked, err := askListeners()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range readListeners(pid) {
		if slices.Contains(want, l.port) && !slices.Contains(asked, l) {
			t.Errorf("the kernel does not tell of %+v", l)
		}
	}
	read := readListeners(pid)
	for _, port := range append(want, self) {
		if !slices.ContainsFunc(read, func(l listener) bool { return l.port == port }) {
			t.Errorf("/proc does not show %d", port)
		}
	}
}

// TestPortsElsewhere: a process in a network namespace of its own has ports of its
// own, which are nobody else's of the same number.
func TestPortsElsewhere(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may make a network namespace here; the test runs as root in CI")
	}
	owner := newTestOwner(t)
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	port := other.Addr().(*net.TCPAddr).Port
	c := startConsole(t, owner, "unshare", "-n", "python3", "-c", fmt.Sprintf(`
import socket, time
s = socket.socket(); s.bind(("0.0.0.0", %d)); s.listen()
print("ready", flush=True)
time.sleep(1000)`, port))
	c.shows("ready")
	if got := listeningPorts([]int{c.process.PID()}); !slices.Equal(got, []int{port}) {
		t.Errorf("%v, want %d", got, port)
	}
	other.Close()
	if got := listeningPorts([]int{os.Getpid()}); slices.Contains(got, port) {
		t.Errorf("%v holds the other namespace's port", got)
	}
}

// BenchmarkPorts looks at a session of 50 processes.
func BenchmarkPorts(b *testing.B) {
	var pids []int
	for range 50 {
		command := exec.Command("/bin/sleep", "1000")
		if err := command.Start(); err != nil {
			b.Fatal(err)
		}
		defer command.Wait()
		defer command.Process.Kill()
		pids = append(pids, command.Process.Pid)
	}
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer listening.Close()
	pids = append(pids, os.Getpid())
	for b.Loop() {
		if len(listeningPorts(pids)) == 0 {
			b.Fatal("no port found")
		}
	}
}
