package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/git"
)

// finding is one thing that was looked at.
type finding struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Needed: without it prism-ls cannot do its work here.
	Needed bool   `json:"needed"`
	Detail string `json:"detail"`
	// Fix is what a person can do.
	Fix string `json:"fix,omitempty"`
}

// probeTime bounds everything that is tried out.
const probeTime = 20 * time.Second

func (a *app) doctorCommand() *cobra.Command {
	var object bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what works here, what is missing, and how to mend it",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			defer stop()
			ctx, cancel := context.WithTimeout(ctx, probeTime)
			defer cancel()
			findings := a.examine(ctx)
			if object {
				if err := json.NewEncoder(a.out).Encode(map[string][]finding{"findings": findings}); err != nil {
					return err
				}
			} else {
				a.showFindings(findings)
			}
			for _, f := range findings {
				if f.Needed && !f.OK {
					return told{tools.Errorf(tools.CodeStateUnavailable, "%s: %s", f.Name, f.Detail)}
				}
			}
			return nil
		},
	}
	a.placeFlags(cmd)
	cmd.Flags().BoolVar(&object, "json", false, "print one JSON object")
	return cmd
}

func (a *app) showFindings(findings []finding) {
	for _, f := range findings {
		mark := "ok     "
		switch {
		case !f.OK && f.Needed:
			mark = "MISSING"
		case !f.OK:
			mark = "without"
		}
		fmt.Fprintf(a.out, "%s  %-14s %s\n", mark, f.Name, f.Detail)
		if f.Fix != "" && !f.OK {
			fmt.Fprintf(a.out, "         %-14s → %s\n", "", f.Fix)
		}
	}
}

func (a *app) examine(ctx context.Context) []finding {
	findings := []finding{{Name: "prism-ls", OK: true, Detail: version()}}
	cfg, err := a.load()
	if err != nil {
		return append(findings, finding{"configuration", false, true, tools.AsError(err).Message, "mend the file that it names"})
	}
	owner := child.NewOwner(nil)
	defer owner.Close()
	findings = append(findings,
		finding{Name: "workspace", OK: true, Detail: fmt.Sprintf("%s, profile %s", cfg.Root, cfg.Profile)},
		examineTrust(cfg),
		examineState(cfg),
		examineStores(ctx, cfg),
		examineGit(ctx, cfg, owner),
		examineSandbox(ctx, owner),
		a.examineDaemon(ctx, cfg),
	)
	return append(findings, a.examineLanguages(ctx, cfg)...)
}

// examineLanguages looks at the servers of the languages that the workspace has.
func (a *app) examineLanguages(ctx context.Context, cfg *config.Config) []finding {
	opened, err := host.Open(cfg, a.logger(cfg.Level()))
	if err != nil {
		return []finding{{Name: "languages", Detail: tools.AsError(err).Message}}
	}
	defer opened.Close()
	servers, err := opened.Language().Inventory(ctx)
	if err != nil {
		return []finding{{Name: "languages", Detail: tools.AsError(err).Message}}
	}
	var out []finding
	for _, s := range servers {
		if s.Present && s.Serves {
			out = append(out, examineServer(&s))
		}
		if s.Present && s.Name == "gopls" {
			out = append(out, examineGo(cfg))
		}
	}
	return out
}

func examineServer(s *langintel.ServerInfo) finding {
	f := finding{Name: s.Languages[0], OK: true, Detail: fmt.Sprintf("%s: %s (%s)", s.Name, s.Program, s.From), Fix: s.Remedy}
	switch {
	case s.Missing != "":
		f.OK, f.Detail = false, fmt.Sprintf("%s: %s", s.Name, s.Missing)
	case s.From == "":
		f.Detail = fmt.Sprintf("%s %s: %s", s.Name, s.Pinned, s.Remedy)
	case s.Degraded != "":
		f.OK, f.Fix = false, s.Degraded
	}
	return f
}

func examineTrust(cfg *config.Config) finding {
	f := finding{Name: "trust", OK: cfg.Trusted, Detail: "you trust this workspace to run code of its own"}
	if !f.OK {
		f.Detail, f.Fix = "this workspace's own programs and settings are not used", "prism-ls trust"
	}
	return f
}

func examineState(cfg *config.Config) finding {
	f := finding{Name: "state", Detail: cfg.StateDir, Fix: "name a directory that can be written with --state-dir DIR"}
	if cfg.StateDir == "" {
		f.Detail = "there is no home directory to keep state in: no undo, no consents, no audit log"
		return f
	}
	if err := os.MkdirAll(cfg.StateDir, 0o700); err != nil {
		f.Detail = err.Error()
		return f
	}
	probe, err := os.CreateTemp(cfg.StateDir, "doctor-*")
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	f.OK = true
	if err := probe.Close(); err != nil {
		f.OK, f.Detail = false, err.Error()
	}
	if err := os.Remove(probe.Name()); err != nil {
		f.OK, f.Detail = false, err.Error()
	}
	return f
}

func examineStores(ctx context.Context, cfg *config.Config) finding {
	f := finding{Name: "stores"}
	summary, err := host.SummarizeStores(ctx, cfg)
	switch {
	case errors.Is(err, tools.CodeNotFound):
		f.OK, f.Detail = true, "nothing is kept yet; they are made when something has to last"
	case err != nil:
		f.Detail, f.Fix = oneLine(tools.AsError(err).Message), "a local directory with --state-dir DIR, or a database that can be reached in [state] dsn"
	case summary.Behind:
		f.Detail, f.Fix = statePlace(cfg)+" is older than it was, and not used", "prism-ls state accept, if it was put back from a copy on purpose"
	default:
		f.OK, f.Detail = true, fmt.Sprintf("%s, at change %d", statePlace(cfg), summary.Sequence)
	}
	return f
}

func examineGit(ctx context.Context, cfg *config.Config, owner *child.Owner) finding {
	f := finding{Name: "git", Fix: "install git 2.35 or later outside of the workspace, on PATH"}
	path := cfg.Git.Path
	if path == "" {
		found, err := git.Find(cfg.System.Path, cfg.Root)
		if err != nil {
			f.Detail = tools.AsError(err).Message
			return f
		}
		path = found
	}
	out, err := git.New(owner, &git.Options{Path: path, Env: child.Environment(cfg.System.Environ, nil)}).Run(ctx, cfg.Root, []string{"version"}, nil)
	if err != nil {
		f.Detail = tools.AsError(err).Message
		return f
	}
	f.OK, f.Detail = true, fmt.Sprintf("%s (%s)", oneLine(string(out.Stdout)), path)
	return f
}

func examineSandbox(ctx context.Context, owner *child.Owner) finding {
	f := finding{Name: "sandbox", Fix: "a Linux kernel with Landlock (5.13 or later, lsm=landlock); without it the profile guarded asks before every command"}
	can, err := owner.Probe(ctx)
	if err != nil {
		f.Detail = tools.AsError(err).Message
		return f
	}
	f.OK = can.FilesystemIsolated && can.NetworkIsolated
	f.Detail = fmt.Sprintf("file system isolated: %t, network isolated: %t", can.FilesystemIsolated, can.NetworkIsolated)
	return f
}

// examineDaemon says who serves this workspace's clients.
func (a *app) examineDaemon(ctx context.Context, cfg *config.Config) finding {
	f := finding{Name: "daemon", OK: true, Detail: "none runs; `mcp` and `call` start one when they need it"}
	d := a.findDaemon(cfg)
	status, found, err := d.Find(ctx)
	if err == nil && !found {
		err = d.Place()
	}
	switch {
	case err != nil:
		f.OK, f.Detail = false, oneLine(err.Error())
		f.Fix = "a directory for its socket that is this user's alone: XDG_RUNTIME_DIR, or --state-dir DIR"
	case found:
		f.Detail = fmt.Sprintf("process %d, up %s, %d clients, %d process sessions", status.PID, time.Since(status.Started).Round(time.Second), status.Clients, status.Sessions)
		if status.Build != build() {
			f.Detail += ", of another build: " + status.Build
		}
	case !cfg.Daemon.Enabled || cfg.System.NoDaemon:
		f.Detail = "none is wanted"
	}
	return f
}

func examineGo(cfg *config.Config) finding {
	f := finding{Name: "go command", Fix: "install Go from https://go.dev/dl/ for Go's language server"}
	path, err := child.LookPath("go", []string{"PATH=" + cfg.System.Path})
	if err != nil {
		f.Detail = "there is no go on PATH"
		return f
	}
	f.OK, f.Detail = true, filepath.Clean(path)+" ("+runtime.GOOS+"/"+runtime.GOARCH+")"
	return f
}
