package host

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/policy"
	"github.com/prism-ls/prism-ls/tools/search"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// Host is everything that serves one workspace.
type Host struct {
	cfg      *config.Config
	log      *slog.Logger
	owner    *child.Owner
	files    *workspace.Workspace
	git      *git.Runner // nil where there is no git
	searcher *search.Searcher
	audit    *policy.Audit // nil where there is no state directory
	language *langintel.Client
	events   *tools.Events
	registry *tools.Registry
}

// Open puts a host together. Close ends all that its calls started.
func Open(cfg *config.Config, logger *slog.Logger) (*Host, error) {
	h := &Host{cfg: cfg, log: logger, owner: child.NewOwner(&child.Options{Logger: logger})}
	for _, step := range []func() error{h.openFiles, h.openGit, h.openSearch, h.openRegistry} {
		if err := step(); err != nil {
			return nil, errors.Join(err, h.Close())
		}
	}
	return h, nil
}

// Registry has the tools that are on offer.
func (h *Host) Registry() *tools.Registry { return h.registry }

// Close ends what the calls started, newest first, and waits for it.
func (h *Host) Close() error {
	h.events.Close()
	var errs []error
	if h.language != nil {
		errs = append(errs, h.language.Close())
	}
	errs = append(errs, h.owner.Close())
	if h.audit != nil {
		errs = append(errs, h.audit.Close())
	}
	if h.files != nil {
		errs = append(errs, h.files.Close())
	}
	h.sweepOutput()
	return errors.Join(errs...)
}

// outputTime is how long the whole output of a command is kept.
const outputTime = 7 * 24 * time.Hour

// sweepOutput removes whole outputs that nobody will ask for any more.
func (h *Host) sweepOutput() {
	if h.cfg.StateDir == "" {
		return
	}
	entries, err := os.ReadDir(h.cfg.OutputDir())
	if err != nil {
		return // there is nothing to sweep
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > outputTime {
			_ = os.Remove(filepath.Join(h.cfg.OutputDir(), entry.Name())) // another process may have been quicker
		}
	}
}

func (h *Host) openFiles() error {
	opts := &workspace.Options{
		StateDir: h.cfg.StateDir, Home: h.cfg.System.Home, ReadRoots: slices.Clone(h.cfg.ReadRoots),
		UndoTransactions: h.cfg.Undo.Transactions, UndoBytes: h.cfg.Undo.Bytes, Logger: h.log,
	}
	if dir := h.outputDir(); dir != "" {
		opts.ReadRoots = append(opts.ReadRoots, dir) // so that `read` can show what a result truncated
	}
	files, err := workspace.Open(h.cfg.Root, opts)
	h.files = files
	return err
}

// outputDir returns the directory for whole outputs, or "" where it cannot be
// made: temporary files then do.
func (h *Host) outputDir() string {
	if h.cfg.StateDir == "" {
		return ""
	}
	dir := h.cfg.OutputDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.log.Info("whole outputs go to the directory for temporary files", "error", err)
		return ""
	}
	return dir
}

// openGit finds git outside of the workspace, unless a person trusts it.
func (h *Host) openGit() error {
	path := h.cfg.Git.Path
	if path == "" {
		exclude := []string{h.cfg.Root}
		if h.cfg.Trusted {
			exclude = nil
		}
		found, err := git.Find(h.cfg.System.Path, exclude...)
		if err != nil {
			h.log.Info("there is no git: nothing is known of ignored files", "error", err)
			return nil
		}
		path = found
	}
	h.git = git.New(h.owner, &git.Options{Path: path, Env: h.environment()})
	return nil
}

// environment is what programs inherit.
func (h *Host) environment() []string {
	return child.Environment(h.cfg.System.Environ, h.cfg.Environment)
}

func (h *Host) openSearch() error {
	// Repositories of today are larger than the library's defaults.
	limits := search.Limits{Entries: 100_000, Files: 100_000, ScanBytes: 1 << 30}
	searcher, err := search.New(h.files, &search.Options{Git: h.git, Limits: limits})
	h.searcher = searcher
	return err
}

func (h *Host) openRegistry() error {
	list, err := h.tools()
	if err != nil {
		return err
	}
	opts, err := h.registryOptions()
	if err != nil {
		return err
	}
	all, err := tools.NewRegistry(list, opts)
	if err != nil {
		return err
	}
	h.registry, err = all.Select(tools.Filter{
		Toolsets: h.toolsets(list), ReadOnly: h.cfg.ReadOnly, Exclude: h.cfg.ExcludeTools,
	})
	return err
}

// tools makes every tool; each toolset is a line here.
func (h *Host) tools() ([]*tools.Tool, error) {
	var list []*tools.Tool
	for _, make := range []func() ([]*tools.Tool, error){h.coreTools, h.languageTools} {
		set, err := make()
		if err != nil {
			return nil, err
		}
		list = append(list, set...)
	}
	return list, nil
}

func (h *Host) coreTools() ([]*tools.Tool, error) { return builtin.Core(h.coreDeps()) }

func (h *Host) coreDeps() *builtin.Deps {
	return &builtin.Deps{
		Workspace: h.files, Searcher: h.searcher, Owner: h.owner,
		ReadPaths: builtin.NewReadPathSet(), RequireReadBeforeWrite: h.cfg.ReadBeforeWrite,
		Read:  builtin.ReadOptions{Dependencies: h.dependency},
		Shell: h.shellOptions(),
	}
}

// toolsets returns the groups to select: the given ones, or those of the
// default ones that this build has.
func (h *Host) toolsets(list []*tools.Tool) []string {
	if len(h.cfg.Toolsets) > 0 {
		return h.cfg.Toolsets
	}
	return slices.DeleteFunc(config.DefaultToolsets(), func(set string) bool {
		return !slices.ContainsFunc(list, func(tool *tools.Tool) bool { return tool.Spec().Toolset == set })
	})
}

func (h *Host) registryOptions() (*tools.RegistryOptions, error) {
	rules, err := policy.New(&policy.Options{
		Profile: policy.Profile(h.cfg.Profile), Rules: h.cfg.Rules, AllowUnattended: h.cfg.AllowUnattended,
		State: h.stateInside(), Private: h.stateInside("roots"),
	})
	if err != nil {
		return nil, err
	}
	opts := &tools.RegistryOptions{
		Root: h.cfg.Root, Policy: rules, Approvals: tools.ApprovalScope(h.cfg.Approvals.Scope),
		ApprovalTimeout: h.cfg.ApprovalTimeout(), Logger: h.log,
	}
	h.events = tools.NewEvents(h.filesChanged, 0)
	opts.Events = h.events
	redactor := policy.NewRedactor(h.cfg.System.Secrets(h.cfg.SecretVariables))
	opts.Redactor = redactor
	if h.cfg.StateDir != "" {
		opts.Consents = policy.NewConsents(h.cfg.ConsentsDir())
		h.audit = policy.NewAudit(h.cfg.AuditFile(), redactor)
		opts.Recorder = h.audit
	}
	return opts, nil
}
