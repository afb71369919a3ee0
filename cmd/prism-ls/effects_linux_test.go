package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ledger is a workspace whose prism-ls is killed in the middle of what it does.
type ledger struct {
	t                  *testing.T
	root, state, rules string
}

func newLedger(t *testing.T) *ledger {
	t.Helper()
	l := &ledger{t: t, root: t.TempDir(), state: t.TempDir(), rules: filepath.Join(t.TempDir(), "config.toml")}
	// A second is soon over: the test looks at what was cut short.
	l.file(l.rules, "profile = \"trusted\"\n[effects]\nclaim_seconds = 1\n")
	return l
}

func (l *ledger) file(path, text string) {
	l.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		l.t.Fatal(err)
	}
}

// prism runs a command to its end.
func (l *ledger) prism(args ...string) string {
	l.t.Helper()
	args = append(args, "--root", l.root, "--state-dir", l.state, "--config", l.rules)
	cmd := exec.Command("prism-ls", args...)
	cmd.Env = append(os.Environ(), "PRISM_LS_NO_DAEMON=1")
	output, err := cmd.CombinedOutput()
	if err != nil {
		l.t.Fatalf("%v: %v\n%s", args, err, output)
	}
	return string(output)
}

// deed is a call, and the paths at which it can be seen whether it has happened.
type deed struct {
	run   string
	tool  string
	input string
	// before and after are what the files hold; "" is that there is none.
	before, after map[string]string
}

// deeds are calls of every kind on files of their own in a directory, which it fills.
func (l *ledger) deeds(dir string, each int) []deed {
	l.t.Helper()
	var all []deed
	for i := range each {
		path := func(kind string) string { return fmt.Sprintf("%s/%s%d", dir, kind, i) }
		run := ""
		if i%2 == 0 {
			run = dir + "/" + fmt.Sprint(i)
		}
		all = append(all,
			deed{run, "write", fmt.Sprintf(`{"path":%q,"content":"new"}`, path("w")), map[string]string{path("w"): "old"}, map[string]string{path("w"): "new"}},
			deed{run, "write", fmt.Sprintf(`{"path":%q,"content":"new"}`, path("sub/c")), map[string]string{path("sub/c"): ""}, map[string]string{path("sub/c"): "new"}},
			deed{run, "edit", fmt.Sprintf(`{"files":[{"path":%q,"edits":[{"oldText":"old","newText":"new"}]},{"path":%q,"edits":[{"oldText":"old","newText":"new"}]}]}`, path("e"), path("f")),
				map[string]string{path("e"): "old", path("f"): "old"}, map[string]string{path("e"): "new", path("f"): "new"}},
			deed{run, "move", fmt.Sprintf(`{"from":%q,"to":%q}`, path("m"), path("n")),
				map[string]string{path("m"): "old", path("n"): ""}, map[string]string{path("m"): "", path("n"): "old"}},
			deed{run, "delete", fmt.Sprintf(`{"path":%q}`, path("d")), map[string]string{path("d"): "old"}, map[string]string{path("d"): ""}},
		)
	}
	for _, d := range all {
		for path, text := range d.before {
			if text != "" {
				l.file(filepath.Join(l.root, path), text)
			}
		}
	}
	return all
}

// call makes a deed's call, and does not wait.
func (s *server) deed(id int, d deed) {
	meta := ""
	if d.run != "" {
		meta = fmt.Sprintf(`"_meta":{"prism-ls/run":%q},`, d.run)
	}
	// The server may be dead by now; that is what the test is about.
	_, _ = fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s"name":%q,"arguments":%s}}`+"\n", id, meta, d.tool, d.input)
}

// happened is the truth about a deed, on the disk.
func (l *ledger) happened(d deed) bool {
	l.t.Helper()
	is := func(want map[string]string) bool {
		for path, text := range want {
			got, err := os.ReadFile(filepath.Join(l.root, path))
			if text == "" && !errors.Is(err, fs.ErrNotExist) || text != "" && string(got) != text {
				return false
			}
		}
		return true
	}
	before, after := is(d.before), is(d.after)
	if before == after {
		l.t.Errorf("%s %s: neither done nor not done", d.tool, d.input)
	}
	return after
}

// recorded is what is on record of each path.
func (l *ledger) recorded() map[string]string {
	l.t.Helper()
	var list struct {
		Effects []struct {
			State     string `json:"state"`
			Witnesses []struct {
				Path string `json:"path"`
			} `json:"witnesses"`
		} `json:"effects"`
	}
	if err := json.Unmarshal([]byte(l.prism("effects", "list", "--json")), &list); err != nil {
		l.t.Fatal(err)
	}
	found := map[string]string{}
	for _, e := range list.Effects {
		for _, w := range e.Witnesses {
			found[w.Path] = e.State
		}
	}
	return found
}

// TestKilledInTheMiddleOfEffects: whenever prism-ls is killed, what was on its way is
// told afterwards for what it is, and a run that goes on does what is left to do.
func TestKilledInTheMiddleOfEffects(t *testing.T) {
	l := newLedger(t)
	rounds, each := 6, 4
	if soak() {
		rounds = 200
	}
	var all []deed
	whole := 150 * time.Millisecond
	for round := range rounds {
		deeds := l.deeds(fmt.Sprintf("r%d", round), each)
		all = append(all, deeds...)
		s := startAs(t, "prism-ls", l.root, l.state, "--no-daemon", "--config", l.rules)
		s.initialize()
		begun := time.Now()
		for id, d := range deeds {
			s.deed(id+1, d)
		}
		if round == 0 { // how long all of them take
			for range deeds {
				if r := s.receive(); r.Error != nil || r.Result.IsError {
					t.Fatal(r.raw)
				}
			}
			whole = time.Since(begun)
		} else {
			time.Sleep(time.Duration(rand.Int64N(int64(whole))))
		}
		if err := s.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-s.exited
	}
	time.Sleep(1200 * time.Millisecond) // until nobody has a claim
	said := l.prism("effects", "reconcile")
	if strings.Contains(said, "unknown:") || strings.Contains(said, "somebody is at it") {
		t.Errorf("not everything could be told:\n%s", said)
	}
	recorded := l.recorded()
	counts := map[string]int{}
	for _, d := range all {
		truth := l.happened(d)
		for path := range d.before {
			on := recorded[path]
			if truth != (on == "completed") || !truth && on != "" && on != "failed_retryable" {
				t.Errorf("%s %s: on record it is %q, in truth it happened: %v", d.tool, d.input, on, truth)
			}
			counts[on]++
		}
	}
	t.Logf("%d calls in %d rounds of %v; paths on record as %v; %s", len(all), rounds, whole.Round(time.Millisecond), counts, said[strings.LastIndexByte(strings.TrimSpace(said), '\n')+1:])
	l.goOn(all)
}

// goOn makes all calls of the runs again: what has happened is answered from the
// account, and what has not happens now.
func (l *ledger) goOn(all []deed) {
	l.t.Helper()
	s := startAs(l.t, "prism-ls", l.root, l.state, "--no-daemon", "--config", l.rules)
	s.initialize()
	for id, d := range all {
		if d.run == "" {
			continue
		}
		s.deed(id+1, d)
		if r := s.receive(); r.Error != nil || r.Result.IsError {
			l.t.Errorf("%s %s of a run that goes on: %s", d.tool, d.input, r.raw)
		}
		if !l.happened(d) {
			l.t.Errorf("%s %s of a run that goes on has not happened", d.tool, d.input)
		}
	}
}
