package host

import (
	"errors"
	"log/slog"
	"slices"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/check"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/policy"
)

// Host is what serves one client: the tools it may use, under its own profile,
// with its own environment, secrets and account of what was read. What several
// clients have in common is [Shared].
type Host struct {
	shared    *Shared
	lone      bool // shared is nobody else's
	cfg       *config.Config
	log       *slog.Logger
	owner     *child.Owner
	readPaths *builtin.ReadPathSet
	audit     *policy.Audit // nil where there is no state directory
	events    *tools.Events
	redactor  tools.Redactor
	checks    *check.Runner
	all       *tools.Registry // of every toolset
	registry  *tools.Registry
	options   *tools.RegistryOptions // of both
}

// Open puts together what serves a single client. Close ends all that its calls
// started, and the language servers.
func Open(cfg *config.Config, logger *slog.Logger) (*Host, error) {
	sessions, err := OpenSessions(cfg, logger, 0)
	if err != nil {
		return nil, err
	}
	shared, err := OpenShared(cfg, logger, sessions)
	if err != nil {
		return nil, errors.Join(err, sessions.Close())
	}
	h := &Host{shared: shared, lone: true, cfg: cfg, log: logger, owner: shared.owner, readPaths: builtin.NewReadPathSet()}
	return h.open()
}

// Agent opens what serves one client among several. Close ends all that its calls
// started, and nothing that is shared.
func (s *Shared) Agent(cfg *config.Config, logger *slog.Logger) (*Host, error) {
	return s.client(cfg, logger, builtin.NewReadPathSet())
}

// CommandLine opens what serves one call of the command line, which knows what
// the calls before it have read.
func (s *Shared) CommandLine(cfg *config.Config, logger *slog.Logger) (*Host, error) {
	return s.client(cfg, logger, s.readByCLI)
}

func (s *Shared) client(cfg *config.Config, logger *slog.Logger, seen *builtin.ReadPathSet) (*Host, error) {
	h := &Host{shared: s, cfg: cfg, log: logger, owner: child.NewOwner(&child.Options{Logger: logger}), readPaths: seen}
	return h.open()
}

func (h *Host) open() (*Host, error) {
	h.keepReadPaths()
	if err := h.openRegistry(); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// Registry has the tools that are on offer.
func (h *Host) Registry() *tools.Registry { return h.registry }

// All has the tools of every toolset, whatever is on offer.
func (h *Host) All() *tools.Registry { return h.all }

// Sessions are the process sessions of the workspace.
func (h *Host) Sessions() *procsess.Registry { return h.shared.sessions.Registry() }

// Language is the client of the language servers.
func (h *Host) Language() *langintel.Client { return h.shared.language }

// Close ends what the calls started, newest first, and waits for it.
func (h *Host) Close() error {
	h.events.Close()
	h.flushReadPaths()
	var errs []error
	if h.lone {
		errs = append(errs, h.shared.sessions.Close(), h.shared.Close())
	} else {
		errs = append(errs, h.owner.Close())
	}
	if h.audit != nil {
		errs = append(errs, h.audit.Close())
	}
	return errors.Join(errs...)
}

func (h *Host) openRegistry() error {
	list, err := h.tools()
	if err != nil {
		return err
	}
	if h.options, err = h.registryOptions(); err != nil {
		return err
	}
	if h.all, err = tools.NewRegistry(list, h.options); err != nil {
		return err
	}
	h.registry, err = h.all.Select(tools.Filter{
		Toolsets: h.toolsets(list), ReadOnly: h.cfg.ReadOnly, Exclude: h.cfg.ExcludeTools,
	})
	return err
}

// tools makes every tool; each toolset is a line here.
func (h *Host) tools() ([]*tools.Tool, error) {
	var err error
	if h.checks, err = h.openChecks(); err != nil {
		return nil, err
	}
	var list []*tools.Tool
	for _, make := range []func() ([]*tools.Tool, error){h.coreTools, h.gitTools, h.checkTools, h.shared.languageToolset, h.processTools, h.planTools, h.workspaceTools} {
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
		Workspace: h.shared.files, Searcher: h.shared.searcher, Owner: h.owner,
		ReadPaths: h.readPaths, RequireReadBeforeWrite: h.cfg.ReadBeforeWrite,
		Read:  builtin.ReadOptions{Dependencies: h.shared.language.Dependency},
		Shell: h.shellOptions(), Decision: builtin.DecisionOptions{Kept: h.keptDecisions()},
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
	h.events = tools.NewEvents(h.shared.filesChanged, 0)
	opts.Events = h.events
	if h.shared.account != nil {
		opts.Effects = h.shared.account
	}
	redactor := policy.NewRedactor(append(h.cfg.System.Secrets(h.cfg.SecretVariables), h.cfg.StateSecrets()...))
	opts.Redactor, h.redactor = redactor, redactor
	if h.cfg.StateDir != "" {
		opts.Consents = policy.NewConsents(h.cfg.ConsentsDir())
		h.audit = policy.NewAudit(h.cfg.AuditFile(), redactor)
		opts.Recorder = h.audit
	}
	return opts, nil
}
