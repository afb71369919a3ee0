package child_test

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/child"
)

func descriptors(t *testing.T, pid string) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/" + pid + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestNothingLeaks(t *testing.T) {
	run(t, newOwner(t), sh("true")) // what the runtime opens once
	goroutines, files := runtime.NumGoroutine(), descriptors(t, "self")

	owner := child.NewOwner(nil)
	work := func() {
		var wait sync.WaitGroup
		for i := range 24 {
			wait.Go(func() {
				cmd := sh("(setsid sleep 1000 &); echo hello")
				switch i % 4 {
				case 1:
					cmd.Path = "/does/not/exist"
				case 2:
					cmd.Sandbox = &child.Sandbox{Mode: child.Prefer}
				}
				_, _ = owner.Run(t.Context(), cmd, child.RunOptions{Stdin: []byte("x")})
			})
		}
		wait.Wait()
	}
	work()
	guardian := strconv.Itoa(child.GuardianPID(owner))
	eventually(t, 5*time.Second, "idle reapers are few", func() bool { return len(childrenOf(guardian)) <= 5 })
	inGuardian := descriptors(t, guardian)
	work()
	eventually(t, 5*time.Second, "idle reapers are few again", func() bool { return len(childrenOf(guardian)) <= 5 })
	// It opens one or two for the moment of a look at its children.
	eventually(t, 5*time.Second, "guardian's descriptors as before", func() bool { return descriptors(t, guardian) <= inGuardian })
	for _, reaper := range childrenOf(guardian) {
		if strays := childrenOf(reaper); len(strays) > 0 {
			t.Errorf("idle reaper %s has children %v", reaper, strays)
		}
		// Null three times and once more, socket, lifeline, two of the runtime.
		eventually(t, 5*time.Second, "an idle reaper has 8 descriptors", func() bool {
			files, err := os.ReadDir("/proc/" + reaper + "/fd")
			return err != nil || len(files) <= 8
		})
	}
	if err := owner.Close(); err != nil {
		t.Error(err)
	}
	eventually(t, 5*time.Second, "goroutines and descriptors as before", func() bool {
		return runtime.NumGoroutine() <= goroutines && descriptors(t, "self") <= files
	})
}

// childrenOf returns the live and dead children of a process.
func childrenOf(pid string) []string {
	var all []string
	tasks, _ := os.ReadDir("/proc/" + pid + "/task")
	for _, task := range tasks {
		data, _ := os.ReadFile("/proc/" + pid + "/task/" + task.Name() + "/children")
		all = append(all, strings.Fields(string(data))...)
	}
	return all
}
