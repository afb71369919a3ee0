package daemon

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

const (
	// helloTime is how long a client has to say who it is.
	helloTime = 5 * time.Second
	// lookTime is how often the daemon looks whether it can still be reached, and
	// whether process sessions have ended.
	lookTime = 5 * time.Second
	// takeOverTime is how long a new daemon waits for one that is ending.
	takeOverTime = 10 * time.Second
)

// Options are a daemon's settings; all but the functions are required.
type Options struct {
	// Config is that of whoever starts it: workspace, directories and idle time.
	Config *config.Config
	// Build tells one program from another, Version is what clients are shown.
	Build, Version string
	Logger         *slog.Logger
	// Person serves a person's own command about process sessions (ps, attach),
	// as their operator; nil serves none.
	Person func(ctx context.Context, conn io.ReadWriteCloser, sessions *host.Sessions) error
	// Ending is called when the daemon begins to end, whatever for.
	Ending func()
}

// Daemon serves the clients of one workspace.
type Daemon struct {
	opts    Options
	place   *place
	lock    *os.File
	listen  *net.UnixListener
	socket  os.FileInfo
	parts   parts
	owners  owners
	started time.Time
	stop    context.CancelFunc

	mu      sync.Mutex
	clients int
	idle    time.Duration
	since   time.Time // nobody has needed it since
	leaving bool      // at the next occasion
	ended   bool      // no further client is taken
	changed chan struct{}
	serving sync.WaitGroup
	kept    []*os.File // see keep
}

// ErrAnother means that another daemon serves this workspace already.
var ErrAnother = errors.New("another daemon serves this workspace")

// Open takes the daemon's place, or returns ErrAnother. It waits for one that is
// about to end.
func Open(ctx context.Context, opts *Options) (*Daemon, error) {
	at, err := choose(opts.Config)
	if err != nil {
		return nil, tools.Errorf(tools.CodeStateUnavailable, "there is no place for the daemon's socket: %w", err)
	}
	d := &Daemon{
		opts: *opts, place: at, parts: parts{log: opts.Logger}, started: time.Now(), since: time.Now(),
		idle: opts.Config.DaemonIdle(), changed: make(chan struct{}, 1),
	}
	if err := d.open(ctx); err != nil {
		d.release()
		return nil, err
	}
	return d, nil
}

func (d *Daemon) open(ctx context.Context) error {
	if err := d.acquire(ctx); err != nil {
		return err
	}
	var err error
	if d.listen, err = d.place.listen(); err != nil {
		return tools.Errorf(tools.CodeStateUnavailable, "the daemon cannot listen on %s: %w", d.place.path, err)
	}
	d.socket = d.place.socket()
	d.parts.sessions, err = host.OpenSessions(d.opts.Config, d.opts.Logger, procsess.DaemonSessions.Default)
	return err
}

// Serve serves clients until nobody has needed it for the idle time, a client
// asks it to stop, or ctx is done; then it ends all that it started.
func (d *Daemon) Serve(ctx context.Context) error {
	ctx, d.stop = context.WithCancel(ctx)
	defer d.stop()
	var accepting sync.WaitGroup
	accepting.Go(func() { d.accept(ctx) })
	d.watch(ctx)
	if d.opts.Ending != nil {
		d.opts.Ending()
	}
	d.end()
	accepting.Wait()
	d.stop()
	d.serving.Wait()
	err := d.parts.close()
	d.release()
	return err
}

// end takes no further client. The socket goes first, so that whoever comes now
// starts another daemon, which waits for the lock.
func (d *Daemon) end() {
	d.mu.Lock()
	d.ended = true
	d.mu.Unlock()
	if os.SameFile(d.socket, d.place.socket()) {
		_ = d.place.removeSocket() // gone, if somebody removes the directory meanwhile
	}
	_ = d.listen.Close() // nothing can be done about it, and the process ends
}

func (d *Daemon) release() {
	if d.lock != nil {
		_ = d.lock.Close()
	}
	d.place.close()
}

func (d *Daemon) accept(ctx context.Context) {
	for {
		conn, err := d.listen.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // out of descriptors, for instance
			d.opts.Logger.Warn("a client could not be taken", "error", err)
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
			continue
		}
		d.serving.Go(func() {
			defer conn.Close()
			d.greet(ctx, conn)
		})
	}
}

// watch returns when it is time to end.
func (d *Daemon) watch(ctx context.Context) {
	for {
		wait := d.remaining()
		if wait <= 0 {
			return
		}
		timer := time.NewTimer(min(wait, lookTime))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-d.changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// remaining is how long the daemon stays if nothing else happens; not positive
// means that it ends, and no client is taken from then on.
func (d *Daemon) remaining() time.Duration {
	unreachable := !os.SameFile(d.socket, d.place.socket())
	sessions := d.parts.sessions.Live()
	if d.place.removed() { // nobody will ever ask for them
		sessions = 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if unreachable {
		d.leaving = true
	}
	if d.clients > 0 || sessions > 0 {
		d.since = time.Now()
		return max(d.idle, lookTime)
	}
	left := time.Until(d.since.Add(d.idle))
	if d.leaving {
		left = 0
	}
	d.ended = d.ended || left <= 0
	return left
}

// greet serves one connection.
func (d *Daemon) greet(ctx context.Context, conn *net.UnixConn) {
	out := &lines{w: conn}
	_ = conn.SetDeadline(time.Now().Add(helloTime)) // a socket takes deadlines
	from, err := checkPeer(conn)
	if err != nil {
		d.opts.Logger.Info("a client was refused", "error", err)
		_ = out.send(welcome{Protocol: protocol, Refused: refusedPeer}) // it may be gone
		return
	}
	defer from.close()
	in := bufio.NewReaderSize(conn, 64<<10)
	var said hello
	if err := readLine(in, &said); err != nil {
		if !errors.Is(err, io.EOF) { // somebody who only looks whether a daemon is there
			d.opts.Logger.Info("a client did not say who it is", "error", err)
		}
		return
	}
	_ = conn.SetDeadline(time.Time{})
	s := &session{daemon: d, conn: conn, in: in, out: out, peer: from, hello: &said}
	if err := s.run(ctx); err != nil && ctx.Err() == nil {
		d.opts.Logger.Info("a client's session ended badly", "kind", said.Kind, "error", err)
	}
}

// enter counts a client, or says why there is none.
func (d *Daemon) enter(said *hello) refusal {
	sessions := d.parts.sessions.Live()
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.ended:
		return refusedLeaving
	case said.Protocol == protocol && said.Build == d.opts.Build:
		d.clients++
		return ""
	}
	d.leaving = true
	d.wake()
	if d.clients == 0 && sessions == 0 {
		d.ended = true
		return refusedLeaving
	}
	if said.Protocol != protocol {
		return refusedProtocol
	}
	return refusedBuild
}

// exit counts a client that has gone.
func (d *Daemon) exit() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clients--
	d.since = time.Now()
	d.wake()
}

// adopt takes the idle time of the newest client's configuration.
func (d *Daemon) adopt(idle time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.idle = idle
}

func (d *Daemon) wake() {
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

func (d *Daemon) status() Status {
	sessions := d.parts.sessions.Live()
	d.mu.Lock()
	defer d.mu.Unlock()
	return Status{
		PID: os.Getpid(), Build: d.opts.Build, Root: d.opts.Config.Root, Started: d.started,
		Clients: d.clients, Sessions: sessions, Leaving: d.leaving || d.ended,
	}
}
