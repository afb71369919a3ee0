package policy

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

func record(t *testing.T, audit *Audit, id, command string) {
	t.Helper()
	action := tools.Action{Kind: tools.KindExecute, Operation: "shell", Command: command, Paths: []string{"caf\xe9"}}
	if _, err := audit.Intent(t.Context(), tools.Intent{CallID: id, Tool: "shell", Action: action, Urgent: true}); err != nil {
		t.Fatal(err)
	}
	if err := audit.Outcome(t.Context(), id, ""); err != nil {
		t.Fatal(err)
	}
}

func TestAuditChain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "audit.jsonl")
	first, second := NewAudit(path, NewRedactor([]string{"hunter2hunter2"})), NewAudit(path, nil)
	defer first.Close()
	defer second.Close()
	var wait sync.WaitGroup
	for i, audit := range []*Audit{first, second} { // two writers, as two processes would be
		wait.Go(func() {
			for n := range 50 {
				record(t, audit, fmt.Sprintf("%d-%d", i, n), "echo <&> \xff")
			}
		})
	}
	wait.Wait()
	record(t, first, "secret", "curl -H hunter2hunter2")
	if _, err := first.Intent(t.Context(), tools.Intent{CallID: "open", Tool: "shell"}); err != nil {
		t.Fatal(err)
	}
	report, err := VerifyAudit(path)
	if err != nil {
		t.Fatal(err)
	}
	if report.Entries != 203 || len(report.Open) != 1 || report.Open[0] != "open" {
		t.Errorf("report: %+v", report)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("hunter2")) {
		t.Error("the log holds a secret")
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestAuditShowsTampering(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	audit := NewAudit(path, nil)
	defer audit.Close()
	for n := range 5 {
		record(t, audit, fmt.Sprint(n), "make")
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(sound, []byte("\n"))
	for name, damaged := range map[string][]byte{
		"changed": bytes.Replace(sound, []byte("make"), []byte("fake"), 1),
		"removed": bytes.Join(append(lines[:2:2], lines[3:]...), nil),
		"swapped": bytes.Join(append([][]byte{lines[1], lines[0]}, lines[2:]...), nil),
		"cut":     bytes.Join(lines[:8], nil),
		"torn":    sound[:len(sound)-10],
		"doubled": append(bytes.Clone(sound), lines[9]...),
	} {
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := VerifyAudit(path); err == nil {
			t.Errorf("%s: not noticed", name)
		}
	}
}

func TestAuditGoesOnAfterATornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	audit := NewAudit(path, nil)
	record(t, audit, "1", "make")
	if err := audit.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"seq":3,"time":"20`); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	again := NewAudit(path, nil)
	defer again.Close()
	record(t, again, "2", "make")
	report, err := VerifyAudit(path)
	if err != nil || report.Torn != 1 || report.Entries != 5 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestAuditGoesOnAfterABareLine: a cut exactly before the line's end loses nothing.
func TestAuditGoesOnAfterABareLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	audit := NewAudit(path, nil)
	defer audit.Close()
	record(t, audit, "1", "make")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-1); err != nil {
		t.Fatal(err)
	}
	record(t, audit, "2", "make")
	report, err := VerifyAudit(path)
	if err != nil || report.Torn != 0 || report.Entries != 4 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestAuditIsVerifiedWhileItGrows: a writer at work is no tampering.
func TestAuditIsVerifiedWhileItGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	audit := NewAudit(path, nil)
	defer audit.Close()
	record(t, audit, "first", "make")
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				record(t, audit, fmt.Sprint(n), "make")
			}
		}
	})
	for range 10 {
		if _, err := VerifyAudit(path); err != nil {
			t.Error(err)
			break
		}
	}
	close(stop)
	writer.Wait()
}
