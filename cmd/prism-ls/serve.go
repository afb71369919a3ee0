package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/daemon"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/logfile"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/people"
	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

const (
	// daemonEndTime is how long the daemon may take to end on request, before it
	// just does.
	daemonEndTime = 10 * time.Second
	// stopTime is how long that is waited for.
	stopTime = daemonEndTime + 5*time.Second
)

// serveFlags are how `serve` runs. Spawn and spawned are what the program says to
// itself: start the daemon and go, and be it.
type serveFlags struct{ stop, detach, spawn, spawned bool }

func (a *app) serveCommand() *cobra.Command {
	var how serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon of a workspace in the foreground, or end it",
		Long: `Run the daemon of a workspace in the foreground. The commands mcp and call start one
in the background when they need it, and it ends after half an hour without work;
this is for watching it, or for having another program look after it.`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			switch {
			case how.stop && how.detach:
				return wrongUse("--stop ends the daemon and --detach starts it; name one of them")
			case how.stop:
				return a.stopDaemon()
			case how.detach:
				return a.detachDaemon()
			case how.spawn:
				return a.spawnDaemon(false, "--spawned")
			}
			return a.runDaemon(how.spawned)
		},
	}
	a.placeFlags(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&how.stop, "stop", false, "end the daemon, with all language servers and process sessions, and wait for it")
	flags.BoolVar(&how.detach, "detach", false, "start the daemon in the background, unless it is there")
	flags.StringVar(&a.flags.LogLevel, "log-level", "", "debug, info, warn or error")
	for _, hidden := range []struct {
		name string
		flag *bool
	}{{"spawn", &how.spawn}, {"spawned", &how.spawned}} {
		flags.BoolVar(hidden.flag, hidden.name, false, "")
		_ = flags.MarkHidden(hidden.name) // it is there
	}
	return cmd
}

// runDaemon is the daemon.
func (a *app) runDaemon(spawned bool) error {
	debug.SetGCPercent(defaultGOGC)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	cfg, err := a.load()
	if err != nil {
		return err
	}
	out, closeLog := a.daemonLog(cfg, spawned)
	defer closeLog()
	logger := slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: cfg.Level()}))
	served, err := daemon.Open(ctx, &daemon.Options{
		Config: cfg, Build: build(), Version: version(), Logger: logger, Person: servePerson,
		Ending: func() { // whatever hangs, the process ends when it is told to
			stop() // a signal ends the program at once from here on
			time.AfterFunc(daemonEndTime, func() { os.Exit(exitFailed) })
		},
	})
	switch {
	case errors.Is(err, daemon.ErrAnother) && spawned:
		return nil // somebody else was quicker
	case errors.Is(err, daemon.ErrAnother):
		return tools.Errorf(tools.CodeStateUnavailable, "a daemon serves %s already; `prism-ls serve --stop` ends it", cfg.Root)
	case err != nil:
		logger.Error("the daemon could not start", "error", err)
		return err
	}
	if !spawned {
		fmt.Fprintf(a.err, "serving %s; end with Ctrl-C or `prism-ls serve --stop`\n", cfg.Root)
	}
	return served.Serve(ctx)
}

// servePerson serves a person's command about process sessions.
func servePerson(ctx context.Context, conn io.ReadWriteCloser, sessions *host.Sessions) error {
	sessions.TakeUp(ctx, procsess.Caller{Operator: true}, false)
	return people.Serve(ctx, conn, people.Local(sessions.Registry()))
}

// daemonLog is where the daemon logs to.
func (a *app) daemonLog(cfg *config.Config, spawned bool) (out io.Writer, closeLog func()) {
	if cfg.StateDir == "" {
		return a.err, func() {}
	}
	file := logfile.New(cfg.LogFile())
	closeLog = func() { _ = file.Close() } // a log never takes anything down
	if spawned {
		return file, closeLog
	}
	return io.MultiWriter(file, a.err), closeLog
}

func (a *app) stopDaemon() error {
	cfg, err := a.locate()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	status, found, err := a.findDaemon(cfg).Stop(ctx)
	switch {
	case err != nil:
		return tools.Errorf(tools.CodeStateUnavailable, "the daemon has not ended: %w", err)
	case !found:
		fmt.Fprintf(a.out, "no daemon serves %s\n", cfg.Root)
	default:
		fmt.Fprintf(a.out, "ended the daemon of %s (process %d)\n", cfg.Root, status.PID)
	}
	return nil
}

func (a *app) detachDaemon() error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	d := a.findDaemon(cfg)
	d.Start = func() error { return a.spawnDaemon(true, "--spawn") }
	status, found, err := d.Find(context.Background())
	if err != nil || !found {
		return tools.Errorf(tools.CodeStateUnavailable, "the daemon was not started: %w", err)
	}
	fmt.Fprintf(a.out, "process %d serves %s\n", status.PID, cfg.Root)
	return nil
}

// spawnDaemon runs `serve` in the background, for the workspace of these flags.
func (a *app) spawnDaemon(wait bool, role string) error {
	cfg, err := a.locate()
	if err != nil {
		return err
	}
	args := []string{"serve", role, "--root", cfg.Root}
	if cfg.StateDir != "" {
		args = append(args, "--state-dir", cfg.StateDir)
	}
	if a.flags.File != "" {
		args = append(args, "--config", absolute(cfg, a.flags.File))
	}
	return daemon.Spawn(cfg.System, wait, args...)
}

// findDaemon reaches the daemon of a workspace if it is there.
func (a *app) findDaemon(cfg *config.Config) *daemon.Dialer {
	return &daemon.Dialer{Config: cfg, Build: build()}
}

// useDaemon reaches the daemon of a workspace, and starts it if it is not there;
// nil where it is not wanted.
func (a *app) useDaemon(cfg *config.Config) *daemon.Dialer {
	if a.noDaemon || cfg.System.NoDaemon || !cfg.Daemon.Enabled {
		return nil
	}
	d := a.findDaemon(cfg)
	at := *a // with the root that a client has named, perhaps
	at.flags.Root = cfg.Root
	d.Start = func() error { return at.spawnDaemon(true, "--spawn") }
	return d
}

// daemonSettings are what the daemon has to know of this client.
func (a *app) daemonSettings(cfg *config.Config) *daemon.Settings {
	flags := a.flags
	flags.Root, flags.StateDir = cfg.Root, cfg.StateDir
	if flags.File != "" {
		flags.File = absolute(cfg, flags.File)
	}
	return &daemon.Settings{Flags: flags, System: cfg.System}
}

func absolute(cfg *config.Config, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(cfg.System.WorkDir, file)
}

// withoutDaemon reports whether err only means that there is no daemon, and says
// so to a person where that is not as it should be.
func (a *app) withoutDaemon(err error) bool {
	var none *daemon.Unavailable
	if !errors.As(err, &none) {
		return false
	}
	if !none.Quiet {
		fmt.Fprintf(a.err, "prism-ls works without its daemon: %s\n", oneLine(none.Reason))
	}
	return true
}
