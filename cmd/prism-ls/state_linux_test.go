package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/sqlite"
)

// TestStateAccept has a person accept an older copy of the stores.
func TestStateAccept(t *testing.T) {
	t.Parallel()
	program, root, dir := copyOfProgram(t), t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "state.db")
	begin := func(run string) {
		t.Helper()
		stores, err := sqlite.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer stores.Close()
		if _, err := stores.Effects().Begin(t.Context(), state.Owner{}, state.EffectIdentity{Run: run, Operation: "write"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	begin("kept")
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin("lost")
	if err := os.WriteFile(path, old, 0o600); err != nil {
		t.Fatal(err)
	}
	accept := func(answer string) (string, int) {
		return onTerminal(t, exec.Command(program, "state", "accept", "--root", root, "--state-dir", dir), answer)
	}
	if shown, status := accept("no"); status != 1 || !strings.Contains(shown, "left as they are") {
		t.Errorf("no: %d %s", status, shown)
	}
	if _, err := sqlite.Open(path, nil); err == nil {
		t.Error("it was accepted by a no")
	}
	if shown, status := accept("yes"); status != 0 || !strings.Contains(shown, "accepted: 1 effects are unknown now") {
		t.Errorf("yes: %d %s", status, shown)
	}
	if shown, status := accept("yes"); status != 0 || !strings.Contains(shown, "nothing to accept") {
		t.Errorf("again: %d %s", status, shown)
	}
}
