package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/daemon"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/mcpserver"
	"github.com/prism-ls/prism-ls/tools"
)

// relay serves the client through the daemon. Where the workspace is not known
// yet, which an MCP client may name only after it was greeted, a server in this
// process does the greeting, and goes on alone if there is no daemon.
func (s *stdio) relay(ctx context.Context, cfg *config.Config, backend daemon.Backend) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan struct{})
	context.AfterFunc(ctx, func() { close(over) })
	go exitAfter(over)
	r := &relayed{stdio: s, cfg: cfg}
	in := &inputEnd{Reader: s.app.in, ended: func() { time.AfterFunc(inputEndTime, cancel) }}
	r.relay = daemon.NewRelay(in, s.out, r.again)
	unwatch, err := mcpserver.WatchClosed(s.out, cancel)
	if err != nil {
		return err
	}
	defer unwatch()
	if backend == nil {
		backend = r.local(ctx)
	}
	r.relay.Run(ctx, backend)
	cancel()
	r.serving.Wait()
	return s.opener.close()
}

// inputEndTime is how long the daemon may still answer when the input has ended.
const inputEndTime = 500 * time.Millisecond

// inputEnd tells that its reader has ended.
type inputEnd struct {
	io.Reader
	ended func()
	once  sync.Once
}

func (r *inputEnd) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil {
		r.once.Do(r.ended)
	}
	return n, err
}

// relayed is one client that is served through a relay.
type relayed struct {
	*stdio
	relay   *daemon.Relay
	serving sync.WaitGroup

	knowing sync.Mutex
	cfg     *config.Config // nil until the workspace is known
}

// again finds who answers after a daemon has ended: another one, or this process.
func (r *relayed) again(ctx context.Context) (daemon.Backend, error) {
	r.knowing.Lock()
	cfg := r.cfg
	r.knowing.Unlock()
	if cfg == nil {
		return nil, errors.New("the server that greeted the client has ended")
	}
	if d := r.app.useDaemon(cfg); d != nil {
		backend, err := r.attach(ctx, d, cfg)
		if err == nil {
			return backend, nil
		}
		if !r.app.withoutDaemon(err) {
			return nil, err
		}
	}
	return r.local(ctx), nil
}

// local is a server in this process.
func (r *relayed) local(ctx context.Context) daemon.Backend {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	conn := mcpserver.NewConn(inR, outW, r.app.logger(slog.LevelWarn))
	server := r.server(r.open, r.app.logger(slog.LevelWarn))
	r.serving.Go(func() {
		_ = server.Serve(ctx, conn) // its end is all there is to know
		_ = outW.Close()
		_ = inR.Close()
	})
	return &piped{inW, outR}
}

// piped is the client's end of a server in this process.
type piped struct {
	*io.PipeWriter
	out *io.PipeReader
}

func (p *piped) Read(b []byte) (int, error) { return p.out.Read(b) }
func (p *piped) CloseWrite() error          { return p.PipeWriter.Close() }
func (p *piped) Close() error {
	return errors.Join(p.PipeWriter.Close(), p.out.Close())
}

// open finds the tools once the workspace is known. Where there is a daemon it
// does not return: the session goes on there.
func (r *relayed) open(ctx context.Context, root string) (*tools.Registry, error) {
	at := *r.app
	at.flags.Root = root
	cfg, err := at.load()
	if err != nil {
		return nil, err
	}
	r.knowing.Lock()
	known := r.cfg != nil // it was with a daemon already, and there is none now
	r.cfg = cfg
	r.knowing.Unlock()
	if d := at.useDaemon(cfg); d != nil && !known {
		backend, err := r.attach(ctx, d, cfg)
		if err == nil {
			r.relay.Move(backend)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		if !at.withoutDaemon(err) {
			return nil, err
		}
	}
	r.opener.setConfig(cfg)
	return r.opener.open(ctx, cfg.Root)
}
