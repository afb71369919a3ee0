package langintel

import (
	"io"
	"log/slog"
	"time"

	"github.com/prism-ls/prism-ls/tools/git"
)

// Options are a client's settings. nil, and every zero field, is the default;
// numbers beyond a limit of [Limits] are refused by [New].
type Options struct {
	// Servers is the catalogue; nil is [Catalogue].
	Servers []Spec
	// ServerDir is where pinned servers are installed and looked for; empty:
	// nothing is ever installed. It must lie outside the workspace.
	ServerDir string
	// InstallUnasked says which servers are installed there when a question needs
	// them; what [Client.Install] is asked for always is.
	InstallUnasked Unasked
	// Env is the environment of servers as "NAME=value", and its PATH is where
	// they are looked for. nil is an empty one: nothing is found.
	Env []string
	// Trusted says that the workspace's own code may run: build scripts,
	// toolchains that it names, programs inside it.
	Trusted bool
	// Git knows what the repository ignores: a server's edit of an ignored file
	// is refused, and text in one is not searched. nil: nothing counts as ignored.
	Git *git.Runner
	// Progress is told what servers and installations are doing, from any
	// goroutine; it must not block. nil: nobody is told.
	Progress func(Progress)
	// Logger receives what no caller can be told; nil discards it.
	Logger *slog.Logger

	Timeout      time.Duration // one request; default 30 s, at most 120 s
	StartTimeout time.Duration // a server's start; default 120 s, at most 600 s
	IdleTimeout  time.Duration // unused servers are stopped; default 30 min, at most 24 h
	// MemoryBudget is what a server may hold, in bytes, before it is started
	// anew when nobody waits for it; default 4 GiB, at most 64 GiB.
	MemoryBudget int64

	MaxMessageBytes int64 // default 4 MiB, at most 32 MiB
	MaxPending      int64 // requests a server has not answered; default 32, at most 128
	MaxServers      int64 // default 4, at most 8
	MaxRestarts     int64 // default 3, at most 3
	MaxOpen         int64 // documents open at one server; default 100, at most 1000
	MaxDiagnostics  int64 // of one file; default 200, at most 1000
	MaxEditFiles    int64 // files one edit may touch; default 1000, at most 10000
}

// Progress is one step of something that takes time.
type Progress struct {
	Server  string
	Title   string // what is being done, as the server says
	Message string
	Percent int // 0 to 100; -1 unknown
	Done    bool
}

func (o *Options) resolve() (Options, error) {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Servers == nil {
		out.Servers = Catalogue()
	}
	if out.Logger == nil {
		out.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	var err error
	take := func(value int64, e error) int64 {
		if err == nil {
			err = e
		}
		return value
	}
	takeTime := func(value time.Duration, e error) time.Duration { return time.Duration(take(int64(value), e)) }
	out.Timeout = takeTime(duration(limitTimeout(), out.Timeout))
	out.StartTimeout = takeTime(duration(limitStartTimeout(), out.StartTimeout))
	out.IdleTimeout = takeTime(duration(limitIdle(), out.IdleTimeout))
	out.MemoryBudget = take(limitMemory().Option(out.MemoryBudget))
	out.MaxMessageBytes = take(limitMessage().Option(out.MaxMessageBytes))
	out.MaxPending = take(limitPending().Option(out.MaxPending))
	out.MaxServers = take(limitServers().Option(out.MaxServers))
	out.MaxRestarts = take(limitRestarts().Option(out.MaxRestarts))
	out.MaxOpen = take(limitOpen().Option(out.MaxOpen))
	out.MaxDiagnostics = take(limitDiagnostics().Option(out.MaxDiagnostics))
	out.MaxEditFiles = take(limitEditFiles().Option(out.MaxEditFiles))
	return out, err
}
