package child

import (
	"io"
	"log/slog"
)

// Options are an owner's settings; nil and zero fields mean the defaults.
type Options struct {
	// Helper is the argument vector that executes a program whose first
	// statement is Main; one more argument is appended. Nil is this program.
	Helper []string
	// Logger receives what no caller can be told; nil discards it.
	Logger *slog.Logger
	// Spares is how many idle reapers are kept ready at the least; 0 is 1.
	// Each is a process of a few MiB, mostly shared.
	Spares int
	// Solo makes this process itself the subreaper of what is started, without
	// any helper: for a process that exists for one program. It is Linux only, and
	// has a price: one program at a time, no other child processes here, no other
	// wait for children (os/exec), and a SIGKILL of this process leaves the tree
	// to itself. Close then waits for what was let go, since it is kept alive here.
	Solo bool
}

func (o *Options) orDefault() Options {
	var options Options
	if o != nil {
		options = *o
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if options.Spares <= 0 {
		options.Spares = 1
	}
	return options
}
