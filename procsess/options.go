package procsess

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/prism-ls/prism-ls/tools"
)

// Options adjust a registry; nil and zero fields mean the defaults.
type Options struct {
	// Env is what programs inherit, as "NAME=value"; see child.Environment.
	Env []string
	// Dir is where programs run that are not told otherwise, an absolute path; ""
	// is the working directory.
	Dir string
	// Shell runs command lines; "" is /bin/sh.
	Shell string
	// StateDir holds output that is too much for memory, and what is needed to take
	// up durable sessions again. "" means that there is neither.
	StateDir string
	// Helper is the argument vector that executes a program whose first statements
	// are child.Main and Main; one more argument is appended. nil is this program.
	Helper []string
	// Guard is asked before a session is started, given input, signalled or killed.
	// What it returns is the caller's answer; without a code of its own that is a
	// CodeProcessPolicy. nil allows.
	Guard func(ctx context.Context, caller Caller, what Request) error
	// Events gets an EventProcess for each change of a session's state, in order:
	// Name is the ID, Detail process_started, _exited, _killed, _released, _expired
	// or _unknown. nil takes and forgets them.
	Events *tools.Events
	Logger *slog.Logger
	// Sessions, Input, Resizes, Spool and Kept: see LiveSessions, InputBytes,
	// ResizeRate, SpoolBytes and KeptBytes.
	Sessions, Input, Resizes, Spool, Kept int64
}

// Request is what a Guard is asked about.
type Request struct {
	// Verb is "start", "input", "signal" or "kill".
	Verb string
	// Session is the session; of one to be started, what is known before.
	Session Info
	// Start is set when a session is to be started.
	Start *Start
}

func (o *Options) orDefault() (Options, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	for _, b := range []struct {
		value *int64
		limit tools.Limit
	}{
		{&opts.Sessions, LiveSessions}, {&opts.Input, InputBytes}, {&opts.Resizes, ResizeRate},
		{&opts.Spool, SpoolBytes}, {&opts.Kept, KeptBytes},
	} {
		value, err := b.limit.Option(*b.value)
		if err != nil {
			return opts, err
		}
		*b.value = value
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if opts.Shell == "" {
		opts.Shell = "/bin/sh"
	}
	if opts.Dir == "" {
		dir, err := os.Getwd()
		if err != nil {
			return opts, tools.AsError(err)
		}
		opts.Dir = dir
	}
	if !filepath.IsAbs(opts.Dir) {
		return opts, tools.Errorf(tools.CodeToolInput, "Dir %q is relative, must be absolute", opts.Dir)
	}
	return opts, nil
}
