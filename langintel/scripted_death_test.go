package langintel_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
	"github.com/prism-ls/prism-ls/tools"
)

func TestScriptedDeath(t *testing.T) {
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
