package langintel_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

// A repository that brings a program of a server's name does not get it run, by
// whichever name PATH reaches it.
func TestProgramsInsideTheRootAreNotRun(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(t.TempDir(), "ran")
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "anyls"), []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.x"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(bin, outside); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{bin, outside, "bin", "."} {
		b := open(t, dir, &langintel.Options{
			Env: []string{"PATH=" + path},
			Servers: []langintel.Spec{{
				Name: "anyls", Program: "anyls", Languages: []langintel.Language{{ID: "x", Patterns: []string{"*.x"}}},
			}},
		})
		if _, err := b.Hover(within(t, 20*time.Second), langintel.Place{Path: "a.x", Line: 1, Column: 1}); !errors.Is(err, tools.CodeLSPServer) {
			t.Errorf("PATH=%s: %v", path, err)
		}
	}
	if _, err := os.Stat(ran); !os.IsNotExist(err) {
		t.Error("the workspace's own program was run")
	}
}
