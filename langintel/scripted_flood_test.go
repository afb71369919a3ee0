package langintel_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
	"github.com/prism-ls/prism-ls/tools"
)

// A server that talks without end keeps nobody waiting, and fills no memory: see
// TestScriptedMemory.
func TestScriptedFlood(t *testing.T) {
	progress := func(token, value string) lsptest.Action {
		return lsptest.Action{Notify: `{"method":"$/progress","params":{"token":` + token + `,"value":` + value + `}}`}
	}
	repeat := func(n int, a lsptest.Action) lsptest.Action { a.Repeat = n; return a }
	filled := func(n int, a lsptest.Action) lsptest.Action { a.Fill = n; return a }
	longTexts := 150
	if raceDetector {
		longTexts = 30 // it makes the work of each byte many times as long
	}
	for name, do := range map[string]lsptest.Action{
		"publishes of one file":     repeat(20_000, publishes("${root}/a.x", problemsOf())),
		"publishes of 50 000 files": repeat(50_000, publishes("${root}/f${n}.x", problemsOf("a", "b"))),
		"publishes of long texts":   repeat(longTexts, filled(2<<20, publishes("${root}/f${n}.x", problemsOf(`${fill}\u001b[31m\u202e<b>`)))),
		"publishes of many":         repeat(50, publishes("${root}/f${n}.x", problemsOf(strings.Fields(strings.Repeat("m ", 5_000))...))),
		"publishes from outside":    repeat(20_000, publishes("file:///nowhere/f${n}.x", problemsOf("a"))),
		"begun and never ended":     repeat(20_000, progress("${n}", `{"kind":"begin","title":"t${n}"}`)),
		"reports":                   repeat(5_000, filled(1000, progress("1", `{"kind":"report","message":"${fill}"}`))),
		"log messages":              repeat(100, filled(1<<20, lsptest.Action{Notify: `{"method":"window/logMessage","params":{"type":3,"message":"${fill}"}}`})),
		"unknown notifications":     repeat(20_000, lsptest.Action{Notify: `{"method":"x/${n}","params":[${n}]}`}),
		"standard error":            repeat(200, lsptest.Action{Stderr: strings.Repeat("x\x1b[1m\n", 20_000)}),
		"registrations":             repeat(5_000, lsptest.Action{Request: `{"method":"client/registerCapability","params":{"registrations":[{"id":"${n}","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[{"globPattern":"**/*.{a,b${n}}"}]}}]}}`}),
		"small requests":            repeat(10_000, lsptest.Action{Request: `{"method":"window/workDoneProgress/create","params":{"token":${n}}}`}),
		"large requests":            repeat(40, filled(3<<20, lsptest.Action{Request: `{"method":"window/showMessageRequest","params":{"type":1,"message":"${fill}"}}`})),
		"answers to nothing":        repeat(20_000, raw(`{"jsonrpc":"2.0","id":"x","result":1}`)),
	} {
		t.Run(name, func(t *testing.T) {
			b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{
				{Method: "textDocument/hover", Nth: 1, Do: []lsptest.Action{do, {Reply: aHover}}},
				on("textDocument/hover", lsptest.Action{Reply: aHover}),
			}}, nil)
			fine(t, b)
			fine(t, b)
			if do.Request != "" { // every one was answered
				record.Wait(t, "", do.Repeat)
			}
			if status, err := b.Status(t.Context()); err != nil || status[0].State != "ready" || status[0].Restarts != 0 {
				t.Errorf("%+v, %v", status, err)
			}
		})
	}
}

// A server that asks on and on, and is not answered because it does not listen,
// is ended, and started anew.
func TestScriptedDeafFlood(t *testing.T) {
	b, _ := scripted(t, &lsptest.Script{On: []lsptest.Rule{
		{Method: "textDocument/hover", Life: 1, Do: []lsptest.Action{
			{Request: `{"method":"workspace/configuration","params":{"items":[{"section":"scripted"},{"section":"scripted"},{"section":"scripted"},{"section":"scripted"}]}}`, Repeat: 100_000},
			{Hang: true},
		}},
		on("textDocument/hover", lsptest.Action{Reply: aHover}),
	}}, &langintel.Options{MaxMessageBytes: 1 << 20})
	if _, err := hover(b); !errors.Is(err, tools.CodeLSPLimit) {
		t.Fatal(err)
	}
	fine(t, b)
}

// A server that does not read what it is told is ended once more waits for it
// than may, and started anew.
func TestScriptedDeaf(t *testing.T) {
	b, record := scripted(t, &lsptest.Script{On: []lsptest.Rule{
		{Method: "textDocument/hover", Nth: 2, Life: 1, Do: []lsptest.Action{{Hang: true}}},
		on("textDocument/hover", lsptest.Action{Reply: aHover}),
	}}, &langintel.Options{MaxMessageBytes: 1 << 20, Timeout: 300 * time.Millisecond})
	fine(t, b)
	for n := 0; ; n++ {
		b.write("a.x", fmt.Sprintf("one %d\n", n)+strings.Repeat("two\n", 150_000))
		began := time.Now()
		got, err := hover(b)
		if took := time.Since(began); took > 5*time.Second {
			t.Fatalf("it took %v", took)
		}
		if errors.Is(err, tools.CodeLSPLimit) {
			break
		}
		if err != nil || got.Status != langintel.TimedOut || n == 10 {
			t.Fatalf("%d: %+v, %v", n, got, err)
		}
	}
	fine(t, b)
	if n := len(record.Of(t, "initialize")); n != 2 {
		t.Errorf("started %d times", n)
	}
}

// peakBytes is what prism-ls may hold at most while servers do their worst.
const peakBytes = 300 << 20

// TestScriptedMemory runs the largest of the tests in a process of their own, and
// looks at how large it became.
func TestScriptedMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process's memory is read from /proc")
	}
	if os.Getenv(peakFile) != "" {
		t.Skip("this is that process")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if raceDetector {
		// Its own memory is many times that of the program.
		program = filepath.Join(t.TempDir(), "langintel.test")
		if out, err := exec.Command("go", "test", "-c", "-o", program, ".").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	file := filepath.Join(t.TempDir(), "peak")
	cmd := exec.CommandContext(within(t, 3*time.Minute), program, "-test.run=^TestScripted(Flood|GiantEdit|MessageCap)$/^(publishes_of_(long|many|50)|large|log|over|within)", "-test.count=1")
	cmd.Env = append(os.Environ(), peakFile+"="+file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var kib int64
	if _, err := fmt.Sscan(string(text), &kib); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MiB at most", kib>>10)
	if kib<<10 > peakBytes {
		t.Errorf("it held %d MiB, at most %d", kib>>10, int64(peakBytes>>20))
	}
}
