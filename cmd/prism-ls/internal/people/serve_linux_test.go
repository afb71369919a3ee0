package people

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

func TestMain(m *testing.M) {
	child.Main()
	procsess.Main()
	os.Exit(m.Run())
}

// office has sessions, and serves them over a socket as a daemon does.
type office struct {
	t        *testing.T
	registry *procsess.Registry
	listener net.Listener
	serving  sync.WaitGroup
}

func newOffice(t *testing.T) *office {
	t.Helper()
	owner := child.NewOwner(nil)
	registry, err := procsess.New(owner, &procsess.Options{Env: os.Environ(), Dir: t.TempDir()})
	must(t, err)
	o := &office{t: t, registry: registry}
	o.listener, err = net.Listen("unix", t.TempDir()+"/s")
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	o.serving.Go(func() {
		for {
			conn, err := o.listener.Accept()
			if err != nil {
				return
			}
			o.serving.Go(func() { _ = Serve(ctx, conn, Local(registry)) })
		}
	})
	t.Cleanup(func() {
		o.listener.Close()
		cancel()
		o.serving.Wait()
		must(t, registry.Close())
		must(t, owner.Close())
	})
	return o
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (o *office) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", o.listener.Addr().String())
}

func (o *office) start(s procsess.Start) string {
	o.t.Helper()
	s.Shell = true
	started, err := o.registry.Start(o.t.Context(), procsess.Caller{Owner: "agent"}, s)
	must(o.t, err)
	return started.ID
}

// TestClient: through the socket everything is as it is without.
func TestClient(t *testing.T) {
	o := newOffice(t)
	ctx := t.Context()
	id := o.start(procsess.Start{Command: `printf 'a\377\033[1mb\r\n'; read line; echo "got $line"; exit 5`, Name: "one", Ready: &procsess.Ready{Match: "b"}})
	o.start(procsess.Start{Command: "cat", Name: "two"})
	for name, sessions := range map[string]Sessions{"local": Local(o.registry), "client": Client(o.dial)} {
		t.Run(name, func(t *testing.T) {
			info, err := Find(ctx, sessions, "one")
			if err != nil || info.ID != id || info.Owner != "agent" || info.Started.IsZero() {
				t.Errorf("%+v, %v", info, err)
			}
			cursor := int64(0)
			page, err := sessions.Output(ctx, id, procsess.Output{Cursor: &cursor, View: procsess.RawView})
			if err != nil || string(page.Data) != "a\xff\x1b[1mb\r\r\n" && string(page.Data) != "a\xff\x1b[1mb\r\n" || page.EOF {
				t.Errorf("%+v, %v", page, err)
			}
			if _, err := sessions.Output(ctx, "nobody", procsess.Output{}); !errors.Is(err, tools.CodeProcessState) {
				t.Errorf("of no session: %v", err)
			}
			if err := sessions.Signal(ctx, id, syscall.SIGCONT); err != nil {
				t.Error(err)
			}
			if err := sessions.Resize(ctx, id, 501, 1); !errors.Is(err, tools.CodePTYLimit) {
				t.Errorf("too wide: %v", err)
			}
			waited, err := sessions.Wait(ctx, id, procsess.Wait{Match: "never", Timeout: time.Second})
			if err != nil || waited.Reason != procsess.ReasonTimeout {
				t.Errorf("%+v, %v", waited, err)
			}
		})
	}
	sessions := Client(o.dial)
	attached, err := sessions.Attach(ctx, id, 0)
	must(t, err)
	defer attached.Close()
	must(t, attached.Resize(ctx, 90, 20))
	must(t, attached.Type(ctx, []byte("typed\r")))
	var all bytes.Buffer
	for buf := make([]byte, 7); ; { // less than comes at once
		n, at, err := attached.Next(ctx, buf)
		if n > 0 && at != int64(all.Len()) {
			t.Errorf("at %d after %d bytes", at, all.Len())
		}
		all.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
	}
	if !strings.HasSuffix(all.String(), "typed\r\ngot typed\r\n") {
		t.Errorf("followed %q", all.String())
	}
	info, err := Find(ctx, sessions, id)
	if err != nil || info.Columns != 90 || info.Exit == nil || *info.Exit.Code != 5 {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := sessions.Attach(ctx, "nobody", 0); !errors.Is(err, tools.CodeProcessState) {
		t.Errorf("attach to no session: %v", err)
	}
	report, err := sessions.Kill(ctx, id)
	if err != nil || len(report.Survivors) != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestFind(t *testing.T) {
	o := newOffice(t)
	sessions := Local(o.registry)
	old := o.start(procsess.Start{Command: "true", Name: "twin"})
	_, err := sessions.Wait(t.Context(), old, procsess.Wait{Exit: true})
	must(t, err)
	live := o.start(procsess.Start{Command: "cat", Name: "twin"})
	for given, want := range map[string]string{old: old, live: live, "twin": live, live[:len(live)-2]: live} {
		if info, err := Find(t.Context(), sessions, given); err != nil || info.ID != want {
			t.Errorf("%q is %s, %v; want %s", given, info.ID, err, want)
		}
	}
	for given, code := range map[string]tools.Code{"p": tools.CodeAmbiguous, "twins": tools.CodeNotFound} {
		if _, err := Find(t.Context(), sessions, given); !errors.Is(err, code) {
			t.Errorf("%q: %v, want %s", given, err, code)
		}
	}
}

// TestServeGivesUp what nobody waits for any more, and what cannot be understood.
func TestServeGivesUp(t *testing.T) {
	o := newOffice(t)
	id := o.start(procsess.Start{Command: "cat"})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := Client(o.dial).Wait(ctx, id, procsess.Wait{Exit: true, Timeout: time.Minute})
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that was taken back: %v", err)
	}
	for name, sent := range map[string]string{
		"garbage":          "\x00\xff{]\n",
		"nothing":          "",
		"unknown":          `{"Verb":"transfer","ID":"` + id + `"}` + "\n",
		"no page":          `{"Verb":"output","ID":"` + id + `"}` + "\n",
		"endless":          strings.Repeat("x", maxLine+1),
		"a huge frame":     `{"Verb":"attach","ID":"` + id + `"}` + "\ni\xff\xff\xff\xff",
		"a strange frame":  `{"Verb":"attach","ID":"` + id + `"}` + "\nz\x00\x00\x00\x00",
		"a short window":   `{"Verb":"attach","ID":"` + id + `"}` + "\nr\x00\x00\x00\x01x",
		"half a frame":     `{"Verb":"attach","ID":"` + id + `"}` + "\ni\x00\x00\x00\x09abc",
		"negative cursors": `{"Verb":"attach","ID":"` + id + `","From":-7}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := o.dial(t.Context())
			must(t, err)
			defer conn.Close()
			stop := time.AfterFunc(30*time.Second, func() { conn.Close() })
			_, _ = io.WriteString(conn, sent) // it may be closed before all is read
			must(t, conn.(*net.UnixConn).CloseWrite())
			if _, err := io.Copy(io.Discard, bufio.NewReader(conn)); errors.Is(err, net.ErrClosed) || !stop.Stop() {
				t.Error("the connection was not given up")
			}
		})
	}
	info, err := Find(t.Context(), Local(o.registry), id)
	if err != nil || info.State != procsess.Running {
		t.Errorf("the session is %+v, %v", info, err)
	}
}

// TestLogs: a line that is still being written is waited for, so that a pipe gets
// its last state alone.
func TestLogs(t *testing.T) {
	o := newOffice(t)
	id := o.start(procsess.Start{Command: `for i in 1 2 3 4 5; do printf "\r%d0%%" $i; sleep 0.05; done; printf '\rdone\nprompt> '; read x; printf '\033[32mend\033[0m\n'`})
	var text lockedBuffer
	done := make(chan error, 1)
	go func() {
		done <- Logs(t.Context(), Client(o.dial), id, &text, LogsOptions{Follow: true})
	}()
	deadline := time.Now().Add(30 * time.Second)
	for !strings.HasSuffix(text.String(), "prompt> ") {
		if time.Now().After(deadline) {
			t.Fatalf("followed only %q", text.String())
		}
		time.Sleep(5 * time.Millisecond)
	}
	_, err := o.registry.Input(t.Context(), procsess.Caller{Owner: "agent"}, id, procsess.Type{Keys: []string{"enter"}})
	must(t, err)
	must(t, <-done)
	if want := "done\nprompt> \nend\n"; text.String() != want {
		t.Errorf("followed %q, want %q", text.String(), want)
	}
	var raw lockedBuffer
	must(t, Logs(t.Context(), Local(o.registry), id, &raw, LogsOptions{Raw: true}))
	if !strings.Contains(raw.String(), "\r10%\r20%") || !strings.HasSuffix(raw.String(), "\x1b[32mend\x1b[0m\r\n") {
		t.Errorf("raw %q", raw.String())
	}
}

// lockedBuffer is written by one goroutine and looked at by another.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
