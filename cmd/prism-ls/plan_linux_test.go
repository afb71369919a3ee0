package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/prism-ls/prism-ls/tools/policy"
)

// task is a workspace with a repository, a check, and a copy of the program.
type task struct {
	t                           *testing.T
	program, root, state, check string
}

func newTask(t *testing.T) *task {
	t.Helper()
	w := &task{t: t, program: copyOfProgram(t), root: t.TempDir(), state: t.TempDir(), check: filepath.Join(t.TempDir(), "checks.toml")}
	endAfter(t, w.root, w.state)
	definition := "[checks.there]\nfile = \"test\"\nargs = [\"-e\", \"wanted\"]\n"
	for name, text := range map[string]string{w.check: definition, filepath.Join(w.root, "wanted"): ""} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = w.root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return w
}

// command is the program with this workspace's settings.
func (w *task) command(words ...string) *exec.Cmd {
	return exec.Command(w.program, append(words, "--root", w.root, "--state-dir", w.state, "--config", w.check)...)
}

func (w *task) run(words ...string) (string, int) {
	w.t.Helper()
	cmd := w.command(words...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // the status says the same
	return out.String(), cmd.ProcessState.ExitCode()
}

func (w *task) ok(words ...string) string {
	w.t.Helper()
	out, status := w.run(words...)
	if status != 0 {
		w.t.Fatalf("%v: %d\n%s", words, status, out)
	}
	return out
}

// TestAPersonApprovesAPlan at a terminal, and what they approve is what was checked.
func TestAPersonApprovesAPlan(t *testing.T) {
	w := newTask(t)
	w.ok("call", "--toolsets", "plan", "plan_write", `{"taskId":"t1","title":"Mend it","goal":"It works.","todos":[{"id":"there","text":"It is there"}]}`)
	w.ok("plan", "verify", "t1")
	shown, status := onTerminal(t, w.command("plan", "approve", "t1"), "no")
	if status != 1 || !strings.Contains(shown, "[x] [there] It is there") || !strings.Contains(shown, "ERR_PRISM_ABORTED") {
		t.Errorf("no: %d, %s", status, shown)
	}
	if err := os.WriteFile(filepath.Join(w.root, "more"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	shown, status = onTerminal(t, w.command("plan", "approve", "t1"), "yes")
	if status != 1 || !strings.Contains(shown, "not approved: the work is another") {
		t.Errorf("another tree: %d, %s", status, shown)
	}
	shown, status = onTerminal(t, w.command("plan", "approve", "t1"), "yes")
	if status != 0 || !strings.Contains(shown, "approved t1") {
		t.Fatalf("yes: %d, %s", status, shown)
	}
	var handoff struct {
		TaskID string
		Checks []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(w.ok("plan", "show", "--handoff", "t1")), &handoff); err != nil || handoff.TaskID != "t1" || len(handoff.Checks) != 1 {
		t.Errorf("%+v, %v", handoff, err)
	}
	w.ok("plan", "verify", "t1")
	shown, status = onTerminal(t, w.command("plan", "deny", "t1", "--reason", "too slow"), "yes")
	if status != 0 || !strings.Contains(shown, "cancelled: too slow") {
		t.Errorf("deny: %d, %s", status, shown)
	}
}

// TestWhatAPersonDoesWithATaskIsOnRecord: on the audit's, and what it does to the plan
// on the account of effects. The checks are there as if an agent had run them, and
// run where the profile agrees.
func TestWhatAPersonDoesWithATaskIsOnRecord(t *testing.T) {
	w := newTask(t)
	w.ok("call", "--toolsets", "plan", "plan_write", `{"taskId":"t1","title":"Mend it","goal":"It works.","todos":[{"id":"there","text":"It is there"}]}`)
	if out, status := w.run("plan", "verify", "t1", "--profile", "read-only"); status != 1 || !strings.Contains(out, "ERR_PRISM_EXECUTION_DENIED") {
		t.Errorf("read-only: %d, %s", status, out)
	}
	w.ok("plan", "verify", "t1")
	for _, answer := range []string{"deny", "approve"} {
		if shown, status := onTerminal(t, w.command("plan", answer, "t1"), "yes"); status != 0 {
			t.Fatalf("%s: %d, %s", answer, status, shown)
		}
		if answer == "deny" {
			w.ok("plan", "verify", "t1")
		}
	}
	file, err := os.Open(filepath.Join(w.state, "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	intents, outcomes := map[string][]string{}, map[string]bool{}
	for lines := json.NewDecoder(file); lines.More(); {
		var entry policy.Entry
		if err := lines.Decode(&entry); err != nil {
			t.Fatal(err)
		}
		if entry.Phase == policy.PhaseIntent {
			intents[entry.Tool] = append(intents[entry.Tool], entry.ID)
		}
		outcomes[entry.ID] = entry.Phase == policy.PhaseOutcome && entry.Code == ""
	}
	for tool, times := range map[string]int{"plan_verify": 2, "coding_check": 2, "plan_deny": 1, "plan_approve": 1} {
		if len(intents[tool]) != times {
			t.Errorf("%s is on record %d times, want %d", tool, len(intents[tool]), times)
		}
		for _, id := range intents[tool] {
			if !outcomes[id] {
				t.Errorf("%s has no outcome, or a bad one", tool)
			}
		}
	}
	effects := w.ok("effects", "list")
	for tool, times := range map[string]int{"plan_verify": 1, "coding_check": 2} { // the second time the item was ticked
		if got := len(regexp.MustCompile(`completed +`+tool+" ").FindAllString(effects, -1)); got != times {
			t.Errorf("%d effects of %s, want %d: %s", got, tool, times, effects)
		}
	}
	w.ok("audit", "verify")
}

// TestAPersonDecides at a terminal, and the agent that asks again has the answer.
func TestAPersonDecides(t *testing.T) {
	w := newTask(t)
	const input = `{"question":"Which\u001b[2J?","options":[{"id":"a","label":"A","pros":["1","2","3"],"cons":["1","2","3"]},{"id":"b","label":"B","pros":["1","2","3"],"cons":["1","2","3"]}]}`
	out, status := w.run("call", "--json", "ask_user_decision", input)
	_, id, found := strings.Cut(out, "prism-ls decide ")
	if status != 1 || !found {
		t.Fatalf("%d, %s", status, out)
	}
	id = id[:12]
	decide := func(answer string) (string, int) {
		return onTerminalAt(t, w.command("decide", id), "Your choice: ", answer)
	}
	if shown, status := decide("c"); status != 1 || strings.Contains(shown, "\x1b[2J") {
		t.Errorf("no option: %d, %q", status, shown)
	}
	if shown, status := decide("b"); status != 0 || !strings.Contains(shown, "answered "+id+": b") {
		t.Fatalf("%d, %s", status, shown)
	}
	if got := w.ok("call", "ask_user_decision", input); got != "The user chose: b\n" {
		t.Errorf("%q", got)
	}
	if got := w.ok("call", "--no-daemon", "ask_user_decision", input); got != "The user chose: b\n" {
		t.Errorf("%q", got)
	}
	if shown, status := onTerminalAt(t, w.command("decide", id), "Your choice: ", "a"); status != 1 || !strings.Contains(shown, "answered already: b") {
		t.Errorf("twice: %d, %s", status, shown)
	}
}

// TestWhatWasReadOutlastsTheProcess: with the guard on, a new process knows what the
// one before has read.
func TestWhatWasReadOutlastsTheProcess(t *testing.T) {
	w := newTask(t)
	settings, err := os.OpenFile(w.check, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := settings.WriteString("read_before_write = true\n"); err != nil {
		t.Fatal(err)
	}
	if err := settings.Close(); err != nil {
		t.Fatal(err)
	}
	if out, status := w.run("call", "--no-daemon", "write", "path=wanted", "content=x"); status != 1 || !strings.Contains(out, "ERR_PRISM_UNREAD") {
		t.Fatalf("%d, %s", status, out)
	}
	w.ok("call", "--no-daemon", "read", "path=wanted")
	w.ok("call", "--no-daemon", "write", "path=wanted", "content=x")
}

// TestAnAgentThatStartsAnewHasReadWhatItHad: a client that comes after another of the
// same program is the same agent, also to another daemon.
func TestAnAgentThatStartsAnewHasReadWhatItHad(t *testing.T) {
	s := newServed(t)
	s.put("prism-ls.toml", "read_before_write = true\n")
	write := func(a *server) reply {
		a.startCall(1, "write", `{"path":"a.txt","content":"two\n"}`)
		return a.receive()
	}
	first := s.agent()
	if got := write(first); !got.Result.IsError || !strings.Contains(got.raw, "ERR_PRISM_UNREAD") {
		t.Fatalf("%s", got.raw)
	}
	first.startCall(2, "read", `{"path":"a.txt"}`)
	if got := first.receive(); got.Result.IsError {
		t.Fatalf("%s", got.raw)
	}
	pid := s.pid()
	first.in.Close()
	<-first.exited // it ends when its input does
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.waitEnd(pid)
	if got := write(s.agent()); got.Result.IsError {
		t.Errorf("%s", got.raw)
	}
}
