package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/daemon"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/logfile"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/mcpserver"
	"github.com/prism-ls/prism-ls/tools"
)

// exitTime is how long the server may take to end once its client is gone; a
// promise of two seconds, less what was granted before to pending answers.
const exitTime = 1400 * time.Millisecond

// defaultGOGC trades memory for fewer collections: the heap of an idle server
// is a few MiB, and most calls free everything they took.
const defaultGOGC = 200

func (a *app) mcpCommand() *cobra.Command {
	var structured bool
	var gogc int
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve MCP on standard input and output for one workspace",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			debug.SetGCPercent(gogc)
			return a.serve(structured)
		},
	}
	a.settingFlags(cmd)
	cmd.Flags().BoolVar(&structured, "structured", false, "add output schemas and structuredContent to the tools")
	cmd.Flags().IntVar(&gogc, "gogc", defaultGOGC, "garbage collection target in percent (see GOGC of package runtime)")
	return cmd
}

// serve runs until the client is gone or a signal arrives.
func (a *app) serve(structured bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE) // writes fail instead of killing; children get the default back
	out, err := mcpserver.ClaimStdout()
	if err != nil {
		return err
	}
	s := &stdio{app: a, out: out, structured: structured, opener: &opener{app: a}}
	if a.flags.Root == "" {
		if a.noDaemon {
			return s.here(ctx)
		}
		return s.relay(ctx, nil, nil)
	}
	cfg, err := a.load()
	if err != nil { // a fault in the settings is better told now than at the first call
		return err
	}
	if d := a.useDaemon(cfg); d != nil {
		backend, err := s.attach(ctx, d, cfg)
		if err == nil {
			return s.relay(ctx, cfg, backend)
		}
		if !a.withoutDaemon(err) {
			return err
		}
	}
	s.opener.cfg = cfg
	s.opener.ahead(ctx, a.flags.Root)
	return s.here(ctx)
}

// stdio serves one client on standard input and output.
type stdio struct {
	app        *app
	out        *os.File
	structured bool

	mu     sync.Mutex
	owner  string // with the daemon that there was last
	opener *opener
}

// attach opens the session with the daemon.
func (s *stdio) attach(ctx context.Context, d *daemon.Dialer, cfg *config.Config) (daemon.Backend, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	settings := s.app.daemonSettings(cfg)
	settings.Structured, settings.Owner = s.structured, s.owner
	backend, err := d.Attach(ctx, settings)
	if err == nil {
		s.owner = settings.Owner
	}
	return backend, err
}

func (s *stdio) server(open func(context.Context, string) (*tools.Registry, error), logger *slog.Logger) *mcpserver.Server {
	return mcpserver.New(&mcpserver.Options{
		Open: open, Root: s.app.flags.Root, Version: version(), Structured: s.structured, Logger: logger,
	})
}

// here serves the client in this process.
func (s *stdio) here(ctx context.Context) error {
	logger := s.app.logger(slog.LevelWarn)
	conn := mcpserver.NewConn(os.Stdin, s.out, logger)
	unwatch, err := mcpserver.WatchClosed(s.out, conn.End)
	if err != nil {
		return err
	}
	defer unwatch()
	go exitAfter(conn.Over())
	return errors.Join(s.server(s.opener.open, logger).Serve(ctx, conn), s.opener.close())
}

// exitAfter ends the process: whatever hangs, it does not outlive its client.
func exitAfter(over <-chan struct{}) {
	<-over
	<-time.After(exitTime)
	os.Exit(exitFailed)
}

// opener opens the host once: ahead where the root is known, else when the first
// request needs it.
type opener struct {
	app  *app
	cfg  *config.Config // nil until it is loaded
	mu   sync.Mutex
	host *host.Host
	log  *logfile.File // nil where there is no state directory

	early sync.WaitGroup
}

// ahead opens the host while the client still says hello. What goes wrong here
// goes wrong again, and is told, at the first request.
func (o *opener) ahead(ctx context.Context, root string) {
	o.early.Go(func() { _, _ = o.open(ctx, root) })
}

// setConfig says what the host is opened with.
func (o *opener) setConfig(cfg *config.Config) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cfg = cfg
}

func (o *opener) open(_ context.Context, root string) (*tools.Registry, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.host != nil {
		return o.host.Registry(), nil
	}
	cfg := o.cfg
	if cfg == nil {
		flags := *o.app
		flags.flags.Root = root
		var err error
		if cfg, err = flags.load(); err != nil {
			return nil, err
		}
	}
	out := o.app.err
	if cfg.StateDir != "" {
		o.log = logfile.New(cfg.LogFile())
		out = io.MultiWriter(o.log, out) // in this order: standard error may be closed
	}
	opened, err := host.Open(cfg, slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: cfg.Level()})))
	if err != nil {
		return nil, err
	}
	o.host = opened
	return opened.Registry(), nil
}

func (o *opener) close() error {
	o.early.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.host == nil {
		return nil
	}
	err := o.host.Close()
	if o.log != nil {
		err = errors.Join(err, o.log.Close())
	}
	return err
}
