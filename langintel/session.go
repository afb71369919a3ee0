package langintel

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// session is one life of a server's process.
type session struct {
	server  *server
	client  *Client
	spec    *Spec
	run     launch
	rootURI protocol.DocumentURI
	rootAbs string
	started time.Time

	process *child.Process
	rpc     *rpc
	pipes   []*os.File // ours
	stderr  *tail
	said    chan struct{} // closed when its standard error has been read
	reading sync.WaitGroup

	project Project
	config  jsontext.Value // settings for workspace/configuration
	folders folders
	// initialized is when the handshake was over.
	initialized time.Time

	wire    wire
	caps    serverCapabilities
	sync    syncOptions
	info    protocol.ServerInfo
	dynamic registrations
	docs    documents
	problem problems
	work    progressTokens
	outline outlines
	signals signals
	changes changeLog
	untold  untold
	primed  primed
	pace    pace // of diagnostics
	reaches reaches
	command atomic.Pointer[running] // the one of ours that it is at

	dead     chan struct{}
	endOnce  sync.Once
	endErr   error
	stopping atomic.Bool
	asked    sync.Map // methods to when they were first asked about
	warm     sync.Map // methods that it has answered
}

// openSession starts a process and initializes it. On an error everything that
// was started is gone.
func openSession(ctx context.Context, s *server, run launch) (*session, error) {
	rootAbs := filepath.Join(s.client.work.Root(), filepath.FromSlash(s.root))
	live := &session{
		server: s, client: s.client, spec: s.spec, run: run,
		rootAbs: rootAbs, rootURI: uri.File(rootAbs), started: time.Now(),
		stderr: newTail(64 << 10), said: make(chan struct{}), dead: make(chan struct{}),
	}
	live.docs.init(live)
	live.problem.init()
	live.work.init(live)
	live.outline.init()
	live.signals.init()
	if with, ok := s.spec.Ready.(interface{ listens() string }); ok {
		live.signals.await = with.listens()
	}
	live.project = s.client.projectOf(s, run.path)
	live.folders.init(live)
	s.client.listen(live)
	if err := live.spawn(ctx); err != nil {
		s.client.hush(live)
		return nil, err
	}
	s.client.watch.baseline(ctx)
	if err := live.initialize(ctx); err != nil {
		live.shutdown()
		return nil, live.explain(err)
	}
	return live, nil
}

// spawn starts the process, its reader and its watcher.
func (v *session) spawn(ctx context.Context) error {
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
	}()
	pipe := func() (r, w *os.File, err error) { return os.Pipe() }
	inR, inW, err := pipe()
	if err != nil {
		return tools.AsError(err)
	}
	theirs, v.pipes = append(theirs, inR), append(v.pipes, inW)
	outR, outW, err := pipe()
	if err != nil {
		v.closePipes()
		return tools.AsError(err)
	}
	theirs, v.pipes = append(theirs, outW), append(v.pipes, outR)
	errR, errW, err := pipe()
	if err != nil {
		v.closePipes()
		return tools.AsError(err)
	}
	theirs, v.pipes = append(theirs, errW), append(v.pipes, errR)
	v.process, err = v.client.owner.Start(ctx, child.Command{
		Path: v.run.path, Args: v.run.args, Dir: v.rootAbs, Env: v.run.env,
		Stdin: inR, Stdout: outW, Stderr: errW,
	})
	if err != nil {
		v.closePipes()
		return tools.Errorf(tools.CodeLSPServer, "%s cannot be started: %w", v.spec.Name, err)
	}
	v.rpc = newRPC(outR, inW, v.client.opts.MaxMessageBytes, v.client.opts.MaxPending)
	v.rpc.start(v.heed, v.handleRequest, v.handleNotification)
	v.reading.Go(func() {
		defer close(v.said)
		_, _ = io.Copy(v.stderr, errR)
	})
	v.reading.Go(v.mourn)
	return nil
}

func (v *session) closePipes() {
	for _, f := range v.pipes {
		_ = f.Close()
	}
}

// afterExit is how long the output of a process that has ended may still hold
// answers; a child that inherited the pipe would keep it open for ever.
const afterExit = 200 * time.Millisecond

// mourn waits for the end of the process or of its output, ends the other, and
// lets everybody who waits go.
func (v *session) mourn() {
	select {
	case <-v.process.Done():
		select {
		case <-v.rpc.done():
		case <-time.After(afterExit):
		}
	case <-v.rpc.done():
	case <-v.rpc.broken():
		// A server that takes nothing more is of no use, also while it runs.
		v.rpc.stream.fail(v.rpc.stream.out.failure())
	}
	v.stop(errors.New("the server's process ended"))
	v.rpc.stop()           // lets the reader go, should it wait for an answer to be made
	_ = v.pipes[1].Close() // the reader answers what is pending, and ends
	<-v.rpc.done()
	grace := stopGrace
	if !v.stopping.Load() {
		grace = 100 * time.Millisecond // it broke the protocol, or is gone
	}
	if report, err := v.process.Kill(grace); err != nil || len(report.Survivors) > 0 {
		v.client.opts.Logger.Warn("language server not fully ended", "server", v.spec.Name, "survivors", report.Survivors, "error", err)
	}
	_ = v.pipes[2].SetReadDeadline(time.Now().Add(afterExit))
	<-v.said // its last words go into the error
	v.rpc.close()
	v.client.hush(v)
	close(v.dead)
}

// stop records why the session ends; the first reason stays.
func (v *session) stop(err error) {
	v.endOnce.Do(func() { v.endErr = err })
}

// reason is why a dead session ended, with the last lines of its stderr.
func (v *session) reason() error {
	<-v.dead
	err := v.rpc.stream.failed()
	if err == nil || errors.Is(err, io.EOF) {
		err = tools.Errorf(tools.CodeLSPServer, "%s ended unexpectedly", v.spec.Name)
	}
	return v.explain(err)
}

// explain adds the last lines of stderr to an error of a server that failed.
func (v *session) explain(err error) error {
	coded := tools.AsError(err)
	if text := v.stderr.last(6); text != "" {
		clone := *coded
		clone.Message += "; its last output: " + printable(text, 1500)
		return &clone
	}
	return coded
}

// shutdown ends the process as LSP 3.17 §shutdown and §exit say, then by force.
func (v *session) shutdown() {
	v.stopping.Store(true)
	v.stop(errors.New("stopped"))
	ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	if err := v.rpc.call(ctx, "shutdown", nil, nil); err == nil {
		_ = v.rpc.notify("exit", nil)
		select {
		case <-v.process.Done():
		case <-v.dead:
		case <-ctx.Done():
		}
	}
	_ = v.pipes[1].Close()
	<-v.dead
	v.reading.Wait()
	v.closePipes()
}

// initialize performs the handshake (LSP 3.17 §initialize).
func (v *session) initialize(ctx context.Context) error {
	options, err := v.configure()
	if err != nil {
		return err
	}
	params := initializeParams{
		ProcessID:        os.Getpid(),
		ClientInfo:       protocol.ClientInfo{Name: "prism-ls"},
		RootPath:         v.rootAbs,
		RootURI:          v.rootURI,
		Capabilities:     clientCapabilities(),
		Trace:            "off",
		WorkspaceFolders: v.folders.list(),
	}
	if len(options) > 0 {
		params.Options = options
	}
	var result initializeResult
	if err := v.rpc.call(ctx, "initialize", params, &result); err != nil {
		switch {
		case errors.Is(ctx.Err(), context.Canceled):
			return tools.Errorf(tools.CodeLSPServer, "%s was stopped while it started", v.spec.Name)
		case ctx.Err() != nil:
			return tools.Errorf(tools.CodeLSPServer, "%s did not answer initialize in time", v.spec.Name)
		}
		return tools.Errorf(tools.CodeLSPServer, "%s refused to initialize: %w", v.spec.Name, err)
	}
	v.caps, v.info = result.Capabilities, result.ServerInfo
	v.sync = parseSync(v.caps.TextDocumentSync)
	v.wire = wire{units: v.caps.PositionEncoding, loneCR: v.spec.LoneCR}
	switch v.wire.units {
	case "":
		v.wire.units = utf16Units // the protocol's default
	case utf8Units, utf16Units, utf32Units:
	default:
		return tools.Errorf(tools.CodeLSPServer, "%s counts positions in %q, which was not offered to it", v.spec.Name, oneLine(string(v.wire.units), 40))
	}
	v.initialized = time.Now()
	if err := v.rpc.notify("initialized", struct{}{}); err != nil {
		return err
	}
	if err := v.greet(); err != nil {
		return err
	}
	if len(v.config) == 0 || !v.spec.PushSettings {
		return nil
	}
	// Some servers read their settings from this alone (LSP 3.17
	// §workspace_didChangeConfiguration).
	return v.rpc.notify("workspace/didChangeConfiguration", struct {
		Settings jsontext.Value `json:"settings"`
	}{v.settingsTree()})
}

// configure works out the settings for the session's project, and returns what
// goes into initialize.
func (v *session) configure() (options jsontext.Value, err error) {
	v.config = v.spec.Settings
	if v.spec.Configure != nil {
		if v.config, err = v.spec.Configure(v.project); err != nil {
			return nil, err
		}
	}
	if v.spec.InitOptions != nil {
		return v.spec.InitOptions(v.project)
	}
	return v.config, nil
}

// call sends a request within the client's time for one request. The first
// question of each kind may have the server load or check what it has not yet,
// which is part of its start; that time is given once, however often it is asked.
func (v *session) call(ctx context.Context, method string, params, result any) error {
	limit := v.client.opts.Timeout
	if _, warm := v.warm.Load(method); !warm {
		first, _ := v.asked.LoadOrStore(method, time.Now())
		limit = max(limit, time.Until(first.(time.Time).Add(v.client.opts.StartTimeout)))
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := v.rpc.call(ctx, method, params, result)
	if err == nil {
		v.warm.Store(method, true)
	}
	return err
}

// read sends a request that changes nothing, and repeats it a few times when the
// server says that its state moved meanwhile, and for as long as one request may
// take when it says that it will answer later (LSP 3.17 §errorCodes:
// ContentModified, ServerCancelled).
func (v *session) read(ctx context.Context, method string, params, result any) error {
	const attempts = 4
	began := time.Now()
	for attempt := 0; ; attempt++ {
		err := v.call(ctx, method, params, result)
		switch {
		case retriggers(err):
			if time.Since(began) > v.client.opts.Timeout {
				return context.DeadlineExceeded
			}
		case faultCode(err) != codeContentModified || attempt >= attempts-1:
			return err
		}
		select {
		case <-time.After(retryDelay(attempt)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tail keeps the end of what is written to it.
type tail struct {
	mu    sync.Mutex
	data  []byte
	limit int
}

func newTail(limit int) *tail { return &tail{limit: limit} }

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if len(t.data) > 2*t.limit {
		t.data = append(t.data[:0], t.data[len(t.data)-t.limit:]...)
	}
	return len(p), nil
}

func (t *tail) last(lines int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return lastLines(string(t.data), lines)
}
