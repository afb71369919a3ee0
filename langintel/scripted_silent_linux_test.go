package langintel_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
)

// A server that does not answer about a file costs the time of a start once, and
// then that of a request; what could not be known before a change is not waited for
// after it. Why it may be silent is said.
func TestScriptedUnanswered(t *testing.T) {
	const start, request = 4 * time.Second, 200 * time.Millisecond
	for name, c := range map[string]struct{ make, want string }{
		"a pipe with the name of a source": {"deep/pipe.x", "it may wait for deep/pipe.x, which is no regular file"},
		"a pipe with another name":         {"pipe", "asking again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, record := scripted(t, &lsptest.Script{
				Capabilities: `{"textDocumentSync":1,"diagnosticProvider":{}}`,
				On:           []lsptest.Rule{on("textDocument/diagnostic")},
			}, &langintel.Options{StartTimeout: start, Timeout: request})
			b.write("deep/b.x", "")
			if err := syscall.Mkfifo(filepath.Join(b.dir, filepath.FromSlash(c.make)), 0o644); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			base, err := b.Baseline(within(t, time.Minute), "a.x")
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took < start-time.Second {
				t.Errorf("a server that starts was given %v", took)
			}
			asked := len(record.Of(t, "textDocument/diagnostic"))
			b.write("a.x", "more\n")
			got, err := base.Delta(within(t, time.Minute))
			if err != nil || got.Status != langintel.TimedOut || !strings.Contains(got.Reason, "a.x: ") || !strings.Contains(got.Reason, c.want) {
				t.Errorf("%+v, %v", got, err)
			}
			if n := len(record.Of(t, "textDocument/diagnostic")); n != asked {
				t.Errorf("asked %d times after the change about what was not known before it", n-asked)
			}
			began = time.Now()
			again, err := b.Diagnostics(within(t, time.Minute), langintel.DiagnosticsQuery{Path: "a.x"})
			if err != nil || again.Status != langintel.TimedOut || !strings.Contains(again.Reason, c.want) {
				t.Errorf("%+v, %v", again, err)
			}
			if took := time.Since(began); took > start/2 {
				t.Errorf("the second question took %v", took)
			}
		})
	}
}
