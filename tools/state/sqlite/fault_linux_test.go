package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/sqlite"
)

const faultVariable = "PRISM_STATE_TEST_FAULTS"

// playRole takes this process over if it is one whose system calls are disturbed.
func playRole() {
	path := os.Getenv(faultVariable)
	if path == "" {
		return
	}
	if err := disturbed(path); err != nil {
		fmt.Println("ended", err)
		os.Exit(1)
	}
	os.Exit(0)
}

const disturbedChanges = 12

// disturbed makes changes to one record, and says what each call said.
func disturbed(path string) error {
	ctx := context.Background()
	stores, err := sqlite.Open(path, &sqlite.Options{Logger: slog.New(slog.NewTextHandler(os.Stdout, nil))})
	if err != nil {
		return err
	}
	version := int64(1)
	for range disturbedChanges {
		saved, err := stores.Checkpoints().Save(ctx, key("record"), state.Change{Version: version, Data: bytes.Repeat([]byte("x"), 20_000)})
		switch {
		case err == nil:
			fmt.Println("saved", saved.Version)
		case errors.Is(err, tools.CodeStateUnavailable):
			fmt.Println("unavailable", err)
			saved, err = stores.Checkpoints().Load(ctx, key("record"))
			if err != nil {
				return fmt.Errorf("it cannot be told what has become of it: %w", err)
			}
		default:
			return err
		}
		version = saved.Version
	}
	fmt.Println("at", version)
	return nil
}

// TestDisturbedSystemCalls has the disk fail at each call that writes or flushes, once.
// The store is opened anew and goes on, and has all that it said it had.
func TestDisturbedSystemCalls(t *testing.T) {
	tracer, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("there is no strace: %v", err)
		}
		t.Skipf("there is no strace: %v", err)
	}
	runs, poisoned := 0, 0
	for _, call := range []string{"fdatasync", "pwrite64", "ftruncate"} {
		for _, failure := range []string{"EIO", "ENOSPC"} {
			step := 12
			if os.Getenv("PRISM_SOAK") != "" {
				step = 1
			}
			for at := 1; ; at += step {
				injected, reopened := disturb(t, tracer, fmt.Sprintf("%s:error=%s:when=%d", call, failure, at))
				if !injected {
					break
				}
				runs++
				if reopened {
					poisoned++
				}
			}
		}
	}
	if poisoned == 0 {
		t.Error("no store was opened anew")
	}
	t.Logf("figure: a failing call of the disk = %d runs, %d stores opened anew, 0 changes lost", runs, poisoned)
}

func disturb(t *testing.T, tracer, inject string) (injected, reopened bool) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "state.db")
	fill(t, path, 0, 1)
	self, err := os.Executable()
	failedNow(t, err)
	call, _, _ := strings.Cut(inject, ":")
	cmd := exec.Command(tracer, "-f", "-q", "-o", filepath.Join(dir, "trace"), "-e", "trace="+call, "-e", "inject="+inject, self)
	cmd.Env = append(os.Environ(), faultVariable+"="+path)
	output, err := cmd.CombinedOutput()
	trace := content(t, filepath.Join(dir, "trace"))
	if !bytes.Contains(trace, []byte("(INJECTED)")) {
		return false, false
	}
	if err != nil && !bytes.Contains(output, []byte("ended")) {
		t.Fatalf("%s: %v %s", inject, err, output)
	}
	version := int64(1)
	for line := range strings.Lines(string(output)) {
		_, _ = fmt.Sscanf(line, "saved %d", &version)
	}
	// Whatever happened to that process, the next finds all that was acknowledged.
	stores := open(t, path, nil)
	got, err := stores.Checkpoints().Load(t.Context(), key("record"))
	if err != nil || got.Version < version || got.Version > version+1 {
		t.Errorf("%s: acknowledged %d, there is %d, %v\n%s", inject, version, got.Version, err, output)
	}
	failedNow(t, stores.Close())
	return true, bytes.Contains(output, []byte("opened anew"))
}

const namespaceVariable = "PRISM_STATE_TEST_NAMESPACE"

// inNamespace runs the test again where it may mount, and reports true there.
func inNamespace(t *testing.T) bool {
	t.Helper()
	if os.Getenv(namespaceVariable) != "" {
		failedNow(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
		return true
	}
	self, err := os.Executable()
	failedNow(t, err)
	cmd := exec.Command(self, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), namespaceVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	output, err := cmd.CombinedOutput()
	if errors.Is(err, os.ErrPermission) && os.Geteuid() != 0 {
		t.Skip("this system lets only the superuser mount")
	}
	for line := range strings.Lines(string(output)) {
		if _, figure, ok := strings.Cut(line, "figure: "); ok {
			t.Log("figure: " + strings.TrimSpace(figure))
		}
	}
	if err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	return false
}

// TestAFullDisk fills a file system under an open store: what cannot be kept is
// refused, what was kept can be read, and with space it goes on.
func TestAFullDisk(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	dir := filepath.Join(t.TempDir(), "small")
	failedNow(t, os.Mkdir(dir, 0o700))
	failedNow(t, unix.Mount("tmpfs", dir, "tmpfs", 0, "size=2m,mode=700"))
	defer unix.Unmount(dir, unix.MNT_DETACH)
	path, owner := filepath.Join(dir, "state.db"), state.Owner{}
	stores := open(t, path, &sqlite.Options{Limits: state.Limits{RecordBytes: state.RecordBytes.Hard}})
	save(t, stores, "first", 0)
	refusals, rounds := 0, 5
	version := int64(1)
	for round := range rounds {
		filler := filepath.Join(dir, "filler")
		takeAllSpace(t, filler)
		for range 40 {
			saved, err := stores.Checkpoints().Save(t.Context(), key("first"), state.Change{Version: version, Data: make([]byte, 40_000)})
			if err == nil {
				version = saved.Version // room that its own files still had
				continue
			}
			if !errors.Is(err, tools.CodeStateUnavailable) || !strings.Contains(err.Error(), "full") {
				t.Fatalf("round %d: %v", round, err)
			}
			refusals++
			if got, err := stores.Checkpoints().Load(t.Context(), key("first")); err != nil || got.Version != version {
				t.Fatalf("round %d: %+v, %v, want version %d", round, got, err, version)
			}
		}
		if _, err := stores.Artifacts().Put(t.Context(), owner, bytes.NewReader(make([]byte, 1<<20))); !errors.Is(err, tools.CodeStateUnavailable) {
			t.Errorf("an artifact on a full disk: %v", err)
		}
		failedNow(t, os.Remove(filler))
		save(t, stores, fmt.Sprint("round ", round), 0)
	}
	if refusals == 0 {
		t.Error("the disk was never full")
	}
	page, err := stores.Artifacts().List(t.Context(), owner, "", 0)
	if err != nil || len(page.Artifacts) > 0 {
		t.Errorf("%+v, %v", page, err)
	}
	t.Logf("figure: %d × a full disk = %d changes refused, all of them readable, and it went on with space", rounds, refusals)
	failedNow(t, stores.Close())

	// A store that is made on a full disk is none, and one later on.
	takeAllSpace(t, filepath.Join(dir, "filler"))
	if _, err := sqlite.Open(filepath.Join(dir, "new.db"), &sqlite.Options{Wait: 5 * time.Second}); !errors.Is(err, tools.CodeStateUnavailable) {
		t.Errorf("making one on a full disk: %v", err)
	}
	failedNow(t, os.Remove(filepath.Join(dir, "filler")))
	save(t, open(t, filepath.Join(dir, "new.db"), nil), "first", 0)
}

func takeAllSpace(t *testing.T, name string) {
	t.Helper()
	file, err := os.Create(name)
	failedNow(t, err)
	defer file.Close()
	for chunk := 1 << 16; chunk > 0; {
		if _, err := file.Write(make([]byte, chunk)); err != nil {
			chunk /= 2
		}
	}
}
