package langintel_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
	"github.com/prism-ls/prism-ls/tools"
)

func TestScriptedDeath(t *testing.T) {
	t.Parallel()
	t.Run("in flight", func(t *testing.T) {
		b, _ := scripted(t, &lsptest.Script{On: []lsptest.Rule{on("textDocument/hover", lsptest.Action{Stderr: "panic: out of \x1b[1mluck\n"}, lsptest.Action{Exit: 3})}}, nil)
		if err := b.Restart(context.Background(), "scripted"); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := hover(b); !errors.Is(err, tools.CodeLSPServer) {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
	})
	t.Run("at start, until down", func(t *testing.T) {
		b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{on("initialize", lsptest.Action{Stderr: "no \x1b[1mlicence\n"}, lsptest.Action{Exit: 3})}}, nil)
		var err error
		for range 6 {
			_, err = hover(b)
			if !errors.Is(err, tools.CodeLSPServer) {
				t.Fatal(err)
			}
		}
		if text := err.Error(); !strings.Contains(text, "down after 3 restarts") || !strings.Contains(text, `no \x1b[1mlicence`) {
			t.Errorf("%s", text)
		}
		if n := len(record.Messages(t)); n != 4 {
			t.Errorf("started %d times, want once and 3 restarts", n)
		}
		status, err := b.Status(context.Background())
		if err != nil || status[0].State != "down" || status[0].Restarts != 3 || status[0].LastError == "" {
			t.Errorf("%+v, %v", status, err)
		}
		if err := b.Restart(context.Background(), "scripted"); err != nil {
			t.Fatal(err)
		}
		if _, err = hover(b); !errors.Is(err, tools.CodeLSPServer) || len(record.Messages(t)) != 5 {
			t.Errorf("after a restart: %v", err)
		}
	})
}

func TestScriptedHang(t *testing.T) {
	t.Parallel()
	t.Run("request", func(t *testing.T) {
		b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{{Method: "textDocument/hover", Nth: 2}, on("textDocument/hover", lsptest.Action{Reply: aHover})}},
			&langintel.Options{Timeout: 300 * time.Millisecond})
		if got, err := hover(b); err != nil || got.Text != "fine" {
			t.Fatalf("%+v, %v", got, err)
		}
		got, err := hover(b)
		if err != nil || got.Status != langintel.TimedOut || got.Reason == "" {
			t.Fatalf("%+v, %v", got, err)
		}
		record.Wait(t, "$/cancelRequest", 1)
		if got, err := hover(b); err != nil || got.Text != "fine" {
			t.Fatalf("%+v, %v", got, err)
		}
	})
	t.Run("reading", func(t *testing.T) {
		b, _ := scripted(t, &lsptest.Script{On: []lsptest.Rule{
			{Method: "textDocument/hover", Nth: 1, Do: []lsptest.Action{{Reply: aHover}}}, on("textDocument/hover", lsptest.Action{Hang: true}),
		}}, &langintel.Options{Timeout: 300 * time.Millisecond})
		if got, err := hover(b); err != nil || got.Text != "fine" {
			t.Fatalf("%+v, %v", got, err)
		}
		// More than a pipe holds: the sender must not wait for the server.
		b.write("a.x", strings.Repeat("one two\n", 100_000))
		for range 3 {
			if got, err := hover(b); err != nil || got.Status != langintel.TimedOut {
				t.Fatalf("%+v, %v", got, err)
			}
			b.write("a.x", b.read("a.x")+"x")
		}
	})
	t.Run("start", func(t *testing.T) {
		b, _ := scripted(t, &lsptest.Script{Start: []lsptest.Action{{Hang: true}}}, &langintel.Options{StartTimeout: time.Second})
		if _, err := hover(b); !errors.Is(err, tools.CodeLSPServer) || !strings.Contains(err.Error(), "initialize") {
			t.Fatal(err)
		}
	})
}

// A server that hangs is given up when its time is over, wherever it does, and the
// next one is not held up by it.
func TestScriptedHangs(t *testing.T) {
	t.Parallel()
	answers := on("textDocument/hover", lsptest.Action{Reply: aHover})
	for name, c := range map[string]struct {
		script lsptest.Script
		code   tools.Code
	}{
		"before initialize":   {lsptest.Script{Start: []lsptest.Action{{Hang: true}}, On: []lsptest.Rule{answers}}, tools.CodeLSPServer},
		"in initialize":       {lsptest.Script{On: []lsptest.Rule{on("initialize"), answers}}, tools.CodeLSPServer},
		"after initialize":    {lsptest.Script{On: []lsptest.Rule{on("initialized", lsptest.Action{Hang: true}), answers}}, ""},
		"when a file is open": {lsptest.Script{On: []lsptest.Rule{on("textDocument/didOpen", lsptest.Action{Hang: true}), answers}}, ""},
		"in a request":        {lsptest.Script{On: []lsptest.Rule{on("textDocument/hover")}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := c.script
			b, _ := scripted(t, &script, &langintel.Options{StartTimeout: time.Second, Timeout: time.Second})
			for range 2 {
				began := time.Now()
				got, err := hover(b)
				if c.code != "" && !errors.Is(err, c.code) || c.code == "" && (err != nil || got.Status != langintel.TimedOut || got.Reason == "") {
					t.Errorf("%+v, %v", got, err)
				}
				if took := time.Since(began); took > 6*time.Second {
					t.Errorf("it took %v", took)
				}
			}
			began := time.Now()
			if err := b.Close(); err != nil || time.Since(began) > 5*time.Second {
				t.Errorf("close: %v, %v", err, time.Since(began))
			}
		})
	}
}

// Restart ends a start that hangs, and Close does.
func TestScriptedRestartWhileStarting(t *testing.T) {
	t.Parallel()
	b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{{Method: "initialize", Life: 1}, on("textDocument/hover", lsptest.Action{Reply: aHover})}}, nil)
	outcome := make(chan error, 1)
	go func() {
		_, err := hover(b)
		outcome <- err
	}()
	record.Wait(t, "initialize", 1)
	if s := statusOf(t, b, "scripted"); s.State != "starting" {
		t.Errorf("%+v", s)
	}
	if err := b.Restart(within(t, 5*time.Second), "scripted"); err != nil {
		t.Fatal(err)
	}
	if err := <-outcome; !errors.Is(err, tools.CodeLSPServer) || !strings.Contains(err.Error(), "stopped while it started") {
		t.Error(err)
	}
	if s := statusOf(t, b, "scripted"); s.State != "stopped" || s.LastError != "" || s.Degraded != "" {
		t.Errorf("%+v", s)
	}
	fine(t, b)
}

// What was missing when a server should have started is forgotten once it is there.
func TestScriptedProgramAppears(t *testing.T) {
	t.Parallel()
	spec, _ := scriptedSpec(t, &lsptest.Script{On: []lsptest.Rule{on("textDocument/hover", lsptest.Action{Reply: aHover})}})
	program := spec.Program
	spec.Program = filepath.Join(t.TempDir(), "server")
	b := open(t, scriptedRoot(t), &langintel.Options{Servers: []langintel.Spec{spec}})
	if _, err := hover(b); err == nil {
		t.Fatal("it is not there")
	}
	if s := statusOf(t, b, "scripted"); s.State != "stopped" || !strings.Contains(s.LastError, "server") || s.Restarts != 0 {
		t.Errorf("%+v", s)
	}
	if err := os.Symlink(program, spec.Program); err != nil {
		t.Fatal(err)
	}
	fine(t, b)
	if s := statusOf(t, b, "scripted"); s.State != "ready" || s.LastError != "" {
		t.Errorf("%+v", s)
	}
}
