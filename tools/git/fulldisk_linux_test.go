package git

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/tools"
)

const mountsVariable = "PRISM_GIT_TEST_MOUNTS"

// onSmallDisk runs a test again in a mount namespace of its own, with a directory on a
// file system of 3 MiB.
func onSmallDisk(t *testing.T, test func(dir string)) {
	t.Helper()
	if os.Getenv(mountsVariable) != "" {
		must(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
		dir := filepath.Join(t.TempDir(), "small")
		must(t, os.Mkdir(dir, 0o700))
		must(t, unix.Mount("tmpfs", dir, "tmpfs", 0, "size=3m,mode=700"))
		defer func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }()
		test(dir)
		return
	}
	self, err := os.Executable()
	must(t, err)
	command := plainCommand("", "")
	command.Path, command.Args = self, []string{self, "-test.run=^" + t.Name() + "$", "-test.v"}
	command.Env = append(os.Environ(), mountsVariable+"=1")
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		command.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	output, err := command.CombinedOutput()
	if errors.Is(err, os.ErrPermission) && os.Geteuid() != 0 {
		t.Skip("this system lets only the superuser mount")
	}
	if err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

// TestSwitchFullDisk: a switch for which there is no room is an error, and the work tree
// is as it was; git itself leaves files of the other branch, cut short.
func TestSwitchFullDisk(t *testing.T) {
	onSmallDisk(t, func(dir string) {
		large := branched(t)
		plain(t, large, "switch", "-q", "other")
		for i := range 6 {
			write(t, large, fmt.Sprint("f", i), string(bytes.Repeat([]byte{byte('a' + i)}, 700_000)))
		}
		write(t, large, "a.txt", "other\n")
		plain(t, large, "add", "-A")
		plain(t, large, "commit", "-q", "-m", "large")
		plain(t, large, "switch", "-q", "main")
		root := filepath.Join(dir, "r")
		copyTree(t, large, root)
		before := snapshot(t, root)
		if _, err := opened(t, root).Switch(t.Context(), "other", nil); !errors.Is(err, tools.CodeGitFailed) || strings.Contains(err.Error(), "between two branches") {
			t.Errorf("switched: %v", err)
		}
		if status := plain(t, root, "status", "--porcelain"); status != "" || snapshot(t, root) != before {
			t.Errorf("afterwards git says %q", status)
		}
		if branch := strings.TrimSpace(plain(t, root, "branch", "--show-current")); branch != "main" {
			t.Errorf("on %s", branch)
		}
	})
}
