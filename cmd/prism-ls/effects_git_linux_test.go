package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func (l *ledger) git(args ...string) string {
	l.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = l.root
	output, err := cmd.CombinedOutput()
	if err != nil {
		l.t.Fatalf("git %v: %v\n%s", args, err, output)
	}
	return strings.TrimSpace(string(output))
}

// gitDeeds are calls on a repository, and how it can be seen that they have happened.
var gitDeeds = []struct {
	tool  string
	input func(round int) string
	done  func(l *ledger, round int) bool
}{
	{"git_commit", func(n int) string {
		return fmt.Sprintf(`{"message":"commit %d","paths":["w%d"],"createCheckpoint":true}`, n, n)
	},
		func(l *ledger, n int) bool {
			return strings.Contains("\n"+l.git("log", "--format=%s", "HEAD")+"\n", fmt.Sprintf("\ncommit %d\n", n))
		}},
	{"git_apply", func(n int) string {
		patch := fmt.Sprintf("diff --git a/p%[1]d b/p%[1]d\nnew file mode 100644\n--- /dev/null\n+++ b/p%[1]d\n@@ -0,0 +1 @@\n+p\n", n)
		text, _ := json.Marshal(patch) // a string always encodes
		return fmt.Sprintf(`{"op":"apply","patch":%s,"createCheckpoint":true}`, text)
	}, func(l *ledger, n int) bool {
		return strings.Contains(l.git("ls-files", "--others"), fmt.Sprintf("p%d", n))
	}},
	{"git_branch", func(n int) string { return fmt.Sprintf(`{"op":"create","name":"b%d"}`, n) },
		func(l *ledger, n int) bool { return l.git("for-each-ref", fmt.Sprintf("refs/heads/b%d", n)) != "" }},
	{"git_branch", func(n int) string { return fmt.Sprintf(`{"op":"switch","name":"s%d","createCheckpoint":true}`, n) },
		func(l *ledger, n int) bool { return l.git("symbolic-ref", "HEAD") == fmt.Sprintf("refs/heads/s%d", n) }},
	{"git_restore", func(int) string { return `{"paths":["kept"],"from":"HEAD"}` },
		func(l *ledger, _ int) bool { return l.git("status", "--porcelain", "kept") == "" }},
}

// TestKilledInTheMiddleOfGit: what git was doing is told for what it is as well.
func TestKilledInTheMiddleOfGit(t *testing.T) {
	l := newLedger(t)
	l.file(l.rules, "profile = \"trusted\"\n[effects]\nclaim_seconds = 1\n[git]\nname = \"A\"\nemail = \"a@example.org\"\n")
	l.file(l.root+"/kept", "kept\n")
	l.git("init", "-q", "-b", "main")
	l.git("add", "-A")
	l.git("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "first")
	rounds := 2 * len(gitDeeds)
	if soak() {
		rounds = 100
	}
	counts := map[string]int{}
	for round := range rounds {
		l.file(fmt.Sprintf("%s/w%d", l.root, round), "new\n")
		l.file(l.root+"/kept", fmt.Sprintf("changed %d\n", round))
		l.git("branch", fmt.Sprintf("s%d", round))
		act := gitDeeds[round%len(gitDeeds)]
		s := startAs(t, "prism-ls", l.root, l.state, "--no-daemon", "--config", l.rules, "--toolsets", "core,git")
		s.initialize()
		s.startCall(1, act.tool, act.input(round))
		time.Sleep(time.Duration(rand.Int64N(int64(900 * time.Millisecond))))
		if err := s.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-s.exited
		time.Sleep(1200 * time.Millisecond) // until nobody has the claim
		said := l.prism("effects", "reconcile")
		if strings.Contains(said, "unknown:") || strings.Contains(said, "somebody is at it") {
			t.Errorf("%s: not everything could be told:\n%s", act.tool, said)
		}
		var list struct {
			Effects []struct{ State, Operation string } `json:"effects"`
		}
		if err := json.Unmarshal([]byte(l.prism("effects", "list", "--json")), &list); err != nil {
			t.Fatal(err)
		}
		state := "nothing"
		if len(list.Effects) > counts["on record"] {
			state = list.Effects[0].State
		}
		counts["on record"] = len(list.Effects)
		counts[state]++
		if done := act.done(l, round); done != (state == "completed") {
			t.Errorf("%s in round %d: on record it is %s, in truth it happened: %v", act.tool, round, state, done)
		}
		l.git("status", "--porcelain") // nothing is locked
	}
	t.Logf("%d calls: %v", rounds, counts)
}
