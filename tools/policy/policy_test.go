package policy

import (
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

func shellAction(command string, contained bool) tools.Action {
	return tools.Action{Kind: tools.KindExecute, Operation: "shell", Mutation: tools.MutatesExternally, Command: command, Contained: contained}
}

func writeAction(paths ...string) tools.Action {
	return tools.Action{Kind: tools.KindEdit, Operation: "write", Mutation: tools.MutatesLocally, Paths: paths}
}

func readAction(paths ...string) tools.Action {
	return tools.Action{Kind: tools.KindRead, Operation: "read", Mutation: tools.MutatesNothing, Paths: paths}
}

func TestProfiles(t *testing.T) {
	deleteMany := tools.Action{Kind: tools.KindDelete, Operation: "delete", Mutation: tools.MutatesLocally, Paths: []string{"d"}, Entries: 51}
	deleteTree := tools.Action{Kind: tools.KindDelete, Operation: "delete", Mutation: tools.MutatesLocally, Paths: []string{"d"}, Entries: 2, Recursive: true}
	deleteOne := tools.Action{Kind: tools.KindDelete, Operation: "delete", Mutation: tools.MutatesLocally, Paths: []string{"f"}, Entries: 1}
	push := tools.Action{Kind: tools.KindFetch, Operation: "forge_push", Mutation: tools.MutatesExternally}
	force := push
	force.Args = []string{"--force"}
	commit := tools.Action{Kind: tools.KindOther, Operation: "git_commit", Mutation: tools.MutatesLocally}
	check := tools.Action{Kind: tools.KindExecute, Operation: "coding_check", Mutation: tools.MutatesExternally, Command: "test"}
	confirm := writeAction("a.go")
	confirm.Confirm = "the server is not sure"
	for _, c := range []struct {
		name                                   string
		action                                 tools.Action
		readOnly, guarded, trusted, unattended tools.Verdict
	}{
		{"read", readAction("a.go"), tools.Allow, tools.Allow, tools.Allow, tools.Allow},
		{"read a secret", readAction(".env"), tools.Ask, tools.Ask, tools.Allow, tools.Forbid},
		{"write", writeAction("a.go"), tools.Forbid, tools.Allow, tools.Allow, tools.Allow},
		{"write what a server wants confirmed", confirm, tools.Forbid, tools.Ask, tools.Allow, tools.Forbid},
		{"write a control file", writeAction("a.go", ".github/workflows/ci.yml"), tools.Forbid, tools.Ask, tools.Ask, tools.Forbid},
		{"write into .git", writeAction(".git/hooks/pre-commit"), tools.Forbid, tools.Ask, tools.Allow, tools.Forbid},
		{"write a secret", writeAction(".env"), tools.Forbid, tools.Ask, tools.Allow, tools.Forbid},
		{"delete one", deleteOne, tools.Forbid, tools.Allow, tools.Allow, tools.Allow},
		{"delete many", deleteMany, tools.Forbid, tools.Ask, tools.Allow, tools.Forbid},
		{"delete a tree", deleteTree, tools.Forbid, tools.Ask, tools.Allow, tools.Forbid},
		{"contained shell", shellAction("make", true), tools.Forbid, tools.Allow, tools.Allow, tools.Allow},
		{"free shell", shellAction("make", false), tools.Forbid, tools.Ask, tools.Allow, tools.Forbid},
		{"commit", commit, tools.Forbid, tools.Allow, tools.Allow, tools.Allow},
		{"named check", check, tools.Forbid, tools.Allow, tools.Allow, tools.Allow},
		{"push", push, tools.Forbid, tools.Ask, tools.Allow, tools.Forbid},
		{"force push", force, tools.Forbid, tools.Ask, tools.Ask, tools.Forbid},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := map[Profile]tools.Verdict{ReadOnly: c.readOnly, Guarded: c.guarded, Trusted: c.trusted, Unattended: c.unattended}
			for profile, verdict := range want {
				p, err := New(&Options{Profile: profile})
				if err != nil {
					t.Fatal(err)
				}
				if got := p.Decide(t.Context(), c.action); got.Verdict != verdict {
					t.Errorf("%s: %s (%s), want %s", profile, got.Verdict, got.Reason, verdict)
				}
			}
		})
	}
}

// TestOwnStateIsNobodys: what consents are kept in cannot be changed by what
// needs them, nor by moving or deleting what it lies in.
func TestOwnStateIsNobodys(t *testing.T) {
	for _, profile := range Profiles() {
		p, err := New(&Options{
			Profile: profile, AllowUnattended: []string{"write", "move"}, Rules: []Rule{{Verdict: tools.Allow, Operation: "move"}},
			State: []string{"s/prism-ls"}, Private: []string{"s/prism-ls/roots"},
		})
		if err != nil {
			t.Fatal(err)
		}
		move := tools.Action{Kind: tools.KindMove, Operation: "move", Mutation: tools.MutatesLocally}
		for _, paths := range [][]string{{"s/prism-ls/consents/a.offer", "a"}, {"a", "s/prism-ls/consents/a.consent"}, {"s", "b"}, {"s/prism-ls", "b"}} {
			move.Paths = paths
			if got := p.Decide(t.Context(), move); got.Verdict != tools.Forbid {
				t.Errorf("%s: moving %v: %s", profile, paths, got.Verdict)
			}
		}
		if got := p.Decide(t.Context(), writeAction("s/prism-lss")); profile != ReadOnly && got.Verdict != tools.Allow {
			t.Errorf("%s: a file beside the state: %+v", profile, got)
		}
		if got := p.Decide(t.Context(), readAction("s/prism-ls/output/log")); got.Verdict != tools.Allow {
			t.Errorf("%s: reading an output: %+v", profile, got)
		}
		want := map[Profile]tools.Verdict{ReadOnly: tools.Ask, Guarded: tools.Ask, Unattended: tools.Forbid, Trusted: tools.Allow}[profile]
		if got := p.Decide(t.Context(), readAction("s/prism-ls/roots/k/undo/id/0")); got.Verdict != want {
			t.Errorf("%s: reading an undo copy: %s, want %s", profile, got.Verdict, want)
		}
	}
}

func TestUnattendedListIsHonoured(t *testing.T) {
	p, err := New(&Options{Profile: Unattended, AllowUnattended: []string{"shell"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Decide(t.Context(), shellAction("make", false)); got.Verdict != tools.Allow {
		t.Errorf("a listed operation: %+v", got)
	}
}

func TestRules(t *testing.T) {
	rules := []Rule{
		{Verdict: tools.Allow, Command: []string{"go", "test|vet|build"}, Match: []string{"go test ./..."}, NotMatch: []string{"go run .", "go test ./... > out"}},
		{Verdict: tools.Ask, Command: []string{"go", "test", "-exec"}},
		{Verdict: tools.Forbid, Command: []string{"git", "push"}, Reason: "pushing is for people", Match: []string{"cd x && git push", "$VCS push"}},
		{Verdict: tools.Forbid, Operation: "write", Paths: []string{"vendor/**"}},
	}
	p, err := New(&Options{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		action tools.Action
		want   tools.Verdict
	}{
		{shellAction("go test ./...", false), tools.Allow},
		{shellAction("'go' \"vet\" ./...", false), tools.Allow},
		{shellAction("go test ./... | tee log", false), tools.Ask},
		{shellAction("go test ./...; rm -rf x", false), tools.Ask},
		{shellAction("go test $(rm -rf x)", false), tools.Ask},
		{shellAction("X=1 go test", false), tools.Ask},
		{shellAction("go test ./... &", false), tools.Ask},
		{shellAction("go test -exec ./evil", true), tools.Ask},
		{shellAction("git push origin", true), tools.Forbid},
		{shellAction("true; (git push)", true), tools.Forbid},
		{shellAction("echo $(git push)", true), tools.Forbid},
		{shellAction("if git 'push'; then :; fi", true), tools.Forbid},
		{shellAction("echo git push", true), tools.Allow},
		{shellAction("git push\n'unclosed", true), tools.Forbid},
		{writeAction("vendor/a/b.go"), tools.Forbid},
		{writeAction("a.go", "vendor/b.go"), tools.Forbid},
		{writeAction("a.go"), tools.Allow},
	} {
		if got := p.Decide(t.Context(), c.action); got.Verdict != c.want {
			t.Errorf("%q %v: %s (%s), want %s", c.action.Command, c.action.Paths, got.Verdict, got.Reason, c.want)
		}
	}
}

func TestRuleNeverWidensReadOnly(t *testing.T) {
	p, err := New(&Options{Profile: ReadOnly, Rules: []Rule{{Verdict: tools.Allow, Command: []string{"ls"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Decide(t.Context(), shellAction("ls", true)); got.Verdict != tools.Forbid {
		t.Errorf("ls in read-only: %s", got.Verdict)
	}
}

func TestBadRulesAreRefused(t *testing.T) {
	for name, bad := range map[string]Rule{
		"no verdict":       {Command: []string{"ls"}},
		"no condition":     {Verdict: tools.Allow},
		"wrong example":    {Verdict: tools.Allow, Command: []string{"ls"}, Match: []string{"cat x"}},
		"counter-example":  {Verdict: tools.Ask, Command: []string{"ls"}, NotMatch: []string{"ls -l"}},
		"broken glob":      {Verdict: tools.Ask, Paths: []string{"a[b"}},
		"nothing to match": {Verdict: tools.Ask, Operation: "shell", Match: []string{"ls"}},
	} {
		if _, err := New(&Options{Rules: []Rule{bad}}); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}
