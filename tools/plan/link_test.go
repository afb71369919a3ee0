package plan_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/check"
	"github.com/prism-ls/prism-ls/tools/plan"
)

// TestAPlanThatIsReplacedByALinkMeanwhile is not followed to where it leads: what runs
// in a check cannot choose which file is ticked.
func TestAPlanThatIsReplacedByALinkMeanwhile(t *testing.T) {
	b := bench(t, check.Definition{Name: "swap", File: "/bin/sh", Args: []string{"-c", "rm plans/t1.md && ln -s ../.git/config plans/t1.md"}})
	before := b.text(t, ".git/config")
	if _, err := b.goals(t).Verify(t.Context(), owner(), "t1", &plan.VerifyOptions{Draft: task(), Checks: []string{"swap"}}); !errors.Is(err, tools.CodePlanChanged) {
		t.Error(err)
	}
	if now := b.text(t, ".git/config"); now != before {
		t.Errorf("%s", now)
	}
}

// TestAnApprovalIsOfThePlanWhereItWas, and not of its like elsewhere.
func TestAnApprovalIsOfThePlanWhereItWas(t *testing.T) {
	b := bench(t)
	goals := b.goals(t)
	goal := b.verified(t, goals)
	must(t, os.Rename(filepath.Join(b.root, "plans", "t1.md"), filepath.Join(b.root, ".git", "elsewhere")))
	must(t, os.Symlink("../.git/elsewhere", filepath.Join(b.root, "plans", "t1.md")))
	_, err := goals.Approve(t.Context(), owner(), "t1", goal.Version)
	if !errors.Is(err, tools.CodeCodingCheckpoint) || b.runs("test") != 1 {
		t.Errorf("%v", err)
	}
}
