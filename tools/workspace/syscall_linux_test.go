package workspace

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// disturbances are what strace(1) can do to a system call.
var disturbances = []string{"error=EIO", "error=ENOSPC", "signal=KILL"}

// TestDisturbedSystemCalls fails, or kills the process at, every single system
// call that changes the disk, those on the state directory included. It needs
// strace and takes long, so it belongs to the soak; the seam tests cover the
// same ground in the root by default.
func TestDisturbedSystemCalls(t *testing.T) {
	if !soak() {
		t.Skip("part of the soak (PRISM_SOAK=1)")
	}
	tracer, err := exec.LookPath("strace")
	if err != nil {
		t.Fatalf("the soak needs strace: %v", err)
	}
	calls := []string{"openat", "openat2", "mkdirat", "write", "pwrite64", "fsync", "renameat", "renameat2", "linkat", "unlinkat", "fcntl", "flock"}
	for _, change := range []string{"write", "create", "delete tree", "move over", "several"} {
		for _, call := range calls {
			t.Run(change+"/"+call, func(t *testing.T) {
				t.Parallel()
				before, after := statesOf(t, change)
				runs := 0
				for _, disturbance := range disturbances {
					for at := 1; disturb(t, tracer, change, fmt.Sprintf("%s:%s:when=%d", call, disturbance, at), before, after); at++ {
						runs++
					}
				}
				t.Logf("%d disturbed runs", runs)
			})
		}
	}
}

// disturb makes one change with one system call disturbed, and reports whether
// it came to that call.
func disturb(t *testing.T, tracer, change, inject string, before, after map[string]string) bool {
	t.Helper()
	f := newFixture(t)
	f.changeable()
	must(t, os.Mkdir(filepath.Join(filepath.Dir(f.root), "log"), 0o755))
	log := filepath.Join(filepath.Dir(f.root), "log", "trace")
	cmd := again(t, "crash", baseVariable+"="+filepath.Dir(f.root), "PRISM_WORKSPACE_TEST_CHANGE="+change, stepVariable+"=0")
	call, _, _ := strings.Cut(inject, ":")
	cmd.Args = append([]string{tracer, "-f", "-q", "-o", log, "-e", "trace=" + call, "-e", "inject=" + inject, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = tracer
	output, err := cmd.CombinedOutput()
	trace, logErr := os.ReadFile(log)
	must(t, logErr)
	killed := bytes.Contains(trace, []byte("killed by SIGKILL"))
	if !bytes.Contains(trace, []byte("(INJECTED)")) && !killed {
		return false
	}
	f.w.Close()
	f.open()
	got := f.tree()
	failed := err != nil || len(output) > 0
	switch {
	case sameTree(got, before) && failed:
	case sameTree(got, after) && (!failed || killed):
	default:
		t.Errorf("%s: %v %.300s", inject, err, output)
		if failed && !killed {
			f.expectTree(before)
		} else {
			f.expectTree(after)
		}
	}
	return true
}
