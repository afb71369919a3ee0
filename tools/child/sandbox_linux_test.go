package child_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/child"
)

// nobody is set in the environment when the test binary runs itself as
// nobodyID.
const (
	nobody   = "CHILD_TEST_AS_NOBODY"
	nobodyID = 65534
)

// confined returns a command in a required sandbox, and its directory inside.
func confined(t testing.TB, script string, network bool) (child.Command, string) {
	t.Helper()
	inside := t.TempDir()
	cmd := sh(script)
	cmd.Dir = inside
	cmd.Sandbox = &child.Sandbox{Mode: child.Require, WriteRoots: []string{inside}, AllowNetwork: network}
	return cmd, inside
}

func needSandbox(t testing.TB, owner *child.Owner) child.Capabilities {
	t.Helper()
	capabilities, err := owner.Probe(within(t, 20*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if !capabilities.FilesystemIsolated {
		if os.Getenv("CI") == "true" {
			t.Fatal("this kernel confines nothing")
		}
		t.Skip("this kernel does not confine writes (Landlock, Linux 6.2 and later)")
	}
	return capabilities
}

func TestSandboxConfinesWrites(t *testing.T) {
	owner := newOwner(t)
	needSandbox(t, owner)
	outside := t.TempDir()
	file := filepath.Join(outside, "file")
	if err := os.WriteFile(file, []byte("untouched"), 0o666); err != nil {
		t.Fatal(err)
	}
	for script, allowed := range map[string]bool{
		`echo x >new`:                            true,
		`mkdir a b && echo x >a/f && mv a/f b/g`: true,
		`ln -s /etc/passwd link && rm link`:      true,
		`echo x >/dev/null`:                      true,
		`HOME=$PWD; git init -q && git -c user.name=a -c user.email=b commit -q --allow-empty -m c`: true,
		`cat /etc/passwd >copy`:                  true,
		`echo x >OUT/new`:                        false,
		`echo x >OUT/file`:                       false,
		`echo x >>OUT/file`:                      false,
		`truncate -s 0 OUT/file`:                 false,
		`rm OUT/file`:                            false,
		`mkdir OUT/dir`:                          false,
		`ln -s OUT/file link; echo x >link`:      false,
		`ln OUT/file hard && echo x >hard`:       false,
		`echo x >own; mv own OUT/own`:            false,
		`mv OUT/file here`:                       false,
		`mkfifo OUT/fifo`:                        false,
		`(setsid bash -c 'echo x >OUT/file')`:    false,
		`mknod dev c 1 3`:                        false,
		`echo x >/proc/$$/comm`:                  false,
		`mount -t tmpfs none .`:                  false,
		`unshare -rm sh -c 'mount --bind . OUT'`: false,
		`unshare -rm sh -c 'echo x >OUT/file'`:   false,
		`unshare -rUm --propagation unchanged true; exec 3<>OUT/file`: false,
	} {
		cmd, _ := confined(t, strings.ReplaceAll(script, "OUT", outside), false)
		result := run(t, owner, cmd)
		if worked := result.Exit.Code == 0; worked != allowed {
			t.Errorf("%s: %v, %s", script, result.Exit, result.Stderr)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != "untouched" {
			t.Fatalf("%s: %v, %q", script, err, got)
		}
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 1 {
		t.Errorf("outside holds %v", entries)
	}
}

func TestSandboxClosesTheNetwork(t *testing.T) {
	owner := newOwner(t)
	if !needSandbox(t, owner).NetworkIsolated {
		t.Skip("no socket filter on this architecture")
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	local, err := net.Listen("unix", filepath.Join(t.TempDir(), "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	_, port, _ := net.SplitHostPort(tcp.Addr().String())
	for script, needsNetwork := range map[string]bool{
		`exec 3<>/dev/tcp/127.0.0.1/` + port:                                                    true,
		`exec 3<>/dev/udp/127.0.0.1/53`:                                                         true,
		python(`socket.create_server(("127.0.0.1", 0))`):                                        true,
		python(`socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)`):                             true,
		python(fmt.Sprintf(`socket.socket(socket.AF_UNIX).connect(%q)`, local.Addr().String())): true,
		python(`a, b = socket.socketpair(); a.send(b"x"); b.recv(1)`):                           false,
		python(`socket.if_nameindex()`):                                                         false,
	} {
		for _, network := range []bool{false, true} {
			cmd, _ := confined(t, script, network)
			result := run(t, owner, cmd)
			if worked := result.Exit.Code == 0; worked != (network || !needsNetwork) {
				t.Errorf("%s, network %v: %v, %s", script, network, result.Exit, result.Stderr)
			}
			if result.Sandbox.NetworkIsolated == network || result.Sandbox.EgressRestricted == network || !result.Sandbox.FilesystemIsolated {
				t.Errorf("%s, network %v: claims %+v", script, network, result.Sandbox)
			}
		}
	}
}

func python(statement string) string {
	return "python3 -c '\nimport socket\n" + statement + "\n'"
}

func TestSandboxConfinesSignalsAndPrivileges(t *testing.T) {
	owner := newOwner(t)
	capabilities := needSandbox(t, owner)
	if !capabilities.ProcessIsolated || !capabilities.PrivilegeIsolated {
		t.Skipf("this kernel does not confine signals: %+v", capabilities)
	}
	self := os.Getpid()
	for script, allowed := range map[string]bool{
		fmt.Sprintf("kill -0 %d", self):                      false,
		"kill -0 $PPID":                                      false,
		fmt.Sprintf("cat /proc/%d/environ >/dev/null", self): false,
		"sleep 100 & kill $!":                                true,
		"grep -q '^NoNewPrivs:.1$' /proc/self/status":        true,
		// Of the administrator's capabilities none is left: 21 is CAP_SYS_ADMIN.
		`eff=$(awk '/^CapEff/{print $2}' /proc/self/status); (( (16#$eff >> 21 & 1) == 0 ))`: true,
	} {
		cmd, _ := confined(t, script, false)
		if result := run(t, owner, cmd); (result.Exit.Code == 0) != allowed {
			t.Errorf("%s: %v, %s", script, result.Exit, result.Stderr)
		}
	}
	// A reaper is as free after a confined command as before.
	if got := run(t, owner, sh("kill -0 $PPID && cat /proc/self/status | grep -c 'Seccomp:.0'")); string(got.Stdout) != "1\n" {
		t.Errorf("afterwards: %q, %v", got.Stdout, got.Exit)
	}
}

func TestSandboxModes(t *testing.T) {
	owner := newOwner(t)
	found := needSandbox(t, owner)
	ctx := within(t, 20*time.Second)
	_, err := owner.Run(ctx, child.Command{Path: "/bin/true", Sandbox: &child.Sandbox{
		Mode: child.Require, WriteRoots: []string{"/does/not/exist"},
	}}, child.RunOptions{})
	if !errors.Is(err, child.ErrSandbox) || !errors.Is(err, syscall.ENOENT) {
		t.Errorf("missing write root: %v", err)
	}
	for mode, want := range map[child.Mode]child.Capabilities{child.Off: {}, "": {}, child.Prefer: found, child.Require: found} {
		cmd := sh("true")
		cmd.Sandbox = &child.Sandbox{Mode: mode}
		if got := run(t, owner, cmd).Sandbox; got != want {
			t.Errorf("%q claims %+v", mode, got)
		}
	}
}

func TestSandboxedTreeIsKilledToo(t *testing.T) {
	owner, numbers := newOwner(t), &numbers{}
	needSandbox(t, owner)
	zoo := shapes()[0]
	number := numbers.take()
	cmd, _ := confined(t, strings.ReplaceAll(zoo.script, "NUM", number), false)
	process, _ := startReady(t, owner, cmd)
	zoo.awaitUp(t, number)
	checkReport(t)(process.Kill(50 * time.Millisecond))
	checkGone(t, number, 0)
}

// becomesRoot returns a program in dir that makes root of anybody.
func becomesRoot(t *testing.T, dir string) string {
	t.Helper()
	original, err := exec.LookPath("setpriv")
	if err != nil {
		t.Fatalf("setpriv (util-linux) is needed: %v", err)
	}
	program := filepath.Join(dir, "becomes-root")
	data, err := os.ReadFile(original)
	if err == nil {
		err = os.WriteFile(program, data, 0o755)
	}
	if err == nil {
		err = os.Chmod(program, 0o755|os.ModeSetuid)
	}
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func TestSurvivorsAreReported(t *testing.T) {
	program := os.Getenv(nobody)
	if program == "" {
		t.Skip("root can kill all; TestAsNobody runs this")
	}
	owner, numbers := newOwner(t), &numbers{}
	number := numbers.take()
	// It ends by itself when its input does, since nobody here can end it.
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer writer.Close()
	cmd := sh("exec 3<&0; " + program + " --reuid=0 --clear-groups bash -c 'echo ready; cat; : " + number + "' <&3 & exec 3<&- <&-; sleep 1000")
	cmd.Stdin = reader
	process, _ := startReady(t, owner, cmd)
	reader.Close()
	report, err := process.Kill(0)
	if err != nil || len(report.Survivors) == 0 || len(report.Killed) == 0 {
		t.Errorf("%+v, %v", report, err)
	}
	writer.Close()
	eventually(t, 10*time.Second, "the survivors' end", func() bool { return len(carriers(number, false)) == 0 })
	checkReport(t)(process.Kill(0))
}

// The same as a user without any privilege. Run as one already, the tests
// themselves show it.
func TestAsNobody(t *testing.T) {
	if os.Getuid() != 0 || os.Getenv(nobody) != "" {
		t.Skip("only root can become somebody else")
	}
	dir, err := os.MkdirTemp("", "child-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chown(dir, nobodyID, nobodyID); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(within(t, 120*time.Second), "/proc/self/exe",
		"-test.run=^(TestSandbox.*|TestSurvivors.*|TestExit|TestReaperKilled.*|TestNothingIsLeft/.*/zoo|TestNothingIsLeftOfAKilledOwner)$")
	cmd.Env = append(os.Environ(), nobody+"="+becomesRoot(t, dir), "TMPDIR="+dir, "HOME="+dir)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobodyID, Gid: nobodyID}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}
