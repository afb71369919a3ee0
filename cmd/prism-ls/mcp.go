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
	opener := &opener{app: a}
	if a.flags.Root != "" { // a fault in the settings is better told now than at the first call
		if opener.cfg, err = a.load(); err != nil {
			return err
		}
		opener.ahead(ctx, a.flags.Root)
	}
	logger := a.logger(slog.LevelWarn)
	conn := mcpserver.NewConn(os.Stdin, out, logger)
	unwatch, err := mcpserver.WatchClosed(out, conn.End)
	if err != nil {
		return err
	}
	defer unwatch()
	go func() { // whatever hangs, the process does not outlive its client
		<-conn.Over()
		<-time.After(exitTime)
		os.Exit(exitFailed)
	}()
	server := mcpserver.New(&mcpserver.Options{
		Open: opener.open, Root: a.flags.Root, Version: version(), Structured: structured, Logger: logger,
	})
	return errors.Join(server.Serve(ctx, conn), opener.close())
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
