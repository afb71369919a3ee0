package workspace

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// witnessVariable names the file that a role writes witnesses to.
const witnessVariable = "PRISM_WORKSPACE_TEST_WITNESSES"

// writeDown keeps account in a file, which outlasts the process.
func writeDown(file string) tools.PlannedFunc {
	return func(_ context.Context, list []tools.Witness) error {
		text, err := json.Marshal(list)
		if err != nil {
			return err
		}
		return os.WriteFile(file, text, 0o600)
	}
}

// TestWitnessesTellWhatACrashDid kills a process at every step of every change, and
// has nothing but the witnesses tell whether the change has happened.
func TestWitnessesTellWhatACrashDid(t *testing.T) {
	for name := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := statesOf(t, name)
			told := map[state.Finding]int{}
			for at := 1; ; at++ {
				f := newFixture(t)
				f.changeable()
				file := filepath.Join(filepath.Dir(f.root), "witnesses")
				cmd := again(t, "crash", baseVariable+"="+filepath.Dir(f.root), "PRISM_WORKSPACE_TEST_CHANGE="+name,
					stepVariable+"="+strconv.Itoa(at), witnessVariable+"="+file)
				output, err := cmd.CombinedOutput()
				if len(output) > 0 {
					t.Fatalf("step %d: %s", at, output)
				}
				f.w.Close()
				f.open()
				found, why := state.FoundNotApplied, "" // nothing was about to happen yet
				if text, readErr := os.ReadFile(file); readErr == nil {
					var list []tools.Witness
					must(t, json.Unmarshal(text, &list))
					found, why = state.Compare(t.Context(), list, f.looker())
				}
				truth := map[bool]state.Finding{true: state.FoundCommitted, false: state.FoundNotApplied}[sameTree(f.tree(), after)]
				if !sameTree(f.tree(), before) && !sameTree(f.tree(), after) {
					t.Errorf("step %d: neither before nor after", at)
				}
				if found != truth {
					t.Errorf("step %d: found %s (%s), in truth it is %s", at, found, why, truth)
				}
				told[found]++
				if err == nil {
					break
				}
			}
			if told[state.FoundCommitted] == 0 || told[state.FoundNotApplied] == 0 {
				t.Errorf("only one side was ever seen: %v", told)
			}
		})
	}
}
