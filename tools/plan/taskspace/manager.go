package taskspace

import (
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
	"github.com/prism-ls/prism-ls/tools/state"
)

// Options configure a Manager.
type Options struct {
	// Stores keep the records, the leases and what is saved. They are required, and
	// stay the host's to close.
	Stores state.Stores
	// Git runs git. It is required.
	Git *git.Runner
	// Repositories are the host's repositories: an ID, and the absolute path of a work
	// tree.
	Repositories map[string]string
	// Directory is where work trees are made, as an absolute path. It is made when it is
	// needed, for its user alone.
	Directory string
	// LeaseSeconds is how long a lease lasts without its holder being alive:
	// state.LeaseTime.
	LeaseSeconds int64
	Limits       Limits
	// Logger hears of what goes wrong beside the result; nil is nobody.
	Logger *slog.Logger
}

// Manager makes and takes away the workspaces of tasks. It holds no state beside its
// options, and is safe for concurrent use, also by several processes over the same
// stores and directory.
type Manager struct {
	stores       state.Stores
	git          *git.Runner
	repositories map[string]string
	directory    string
	ttl          time.Duration
	limits       Limits
	log          *slog.Logger
	seam         *seam
}

// seam lets a test fail, or end the process, before the step of that name. It is nil
// outside of tests.
type seam struct{ at func(step string) error }

// renewStep is the one that happens beside the others.
const renewStep = "renew"

// before is called before everything that changes the disk or the store.
func (m *Manager) before(step string) error {
	if m.seam == nil {
		return nil
	}
	return m.seam.at(step)
}

// New returns a Manager. It opens and starts nothing.
func New(opts *Options) (*Manager, error) {
	if opts == nil || opts.Stores == nil || opts.Git == nil {
		return nil, tools.Errorf(tools.CodeToolInput, "task workspaces need stores and git")
	}
	if !filepath.IsAbs(opts.Directory) {
		return nil, tools.Errorf(tools.CodeToolInput, "the directory for task workspaces is %q, must be an absolute path", opts.Directory)
	}
	m := &Manager{
		stores: opts.Stores, git: opts.Git, directory: filepath.Clean(opts.Directory), log: opts.Logger,
		repositories: map[string]string{},
	}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	for id, path := range opts.Repositories {
		if err := checkRepository(id, path); err != nil {
			return nil, err
		}
		m.repositories[id] = filepath.Clean(path)
	}
	seconds, err := state.LeaseTime.Option(opts.LeaseSeconds)
	if err != nil {
		return nil, err
	}
	m.ttl = time.Duration(seconds) * time.Second
	m.limits, err = opts.Limits.resolve()
	return m, err
}

// checkRepository checks one entry of Options.Repositories.
func checkRepository(id, path string) error {
	switch {
	case !isName(id, 64):
		return tools.Errorf(tools.CodeToolInput, "the repository ID %q must be up to 64 letters, digits, dots, dashes and underscores, and begin with a letter or digit", id)
	case !filepath.IsAbs(path):
		return tools.Errorf(tools.CodeToolInput, "repository %s is at %q, must be an absolute path", id, path)
	}
	return nil
}

// isName reports whether text can be a part of a path and of a ref on every system,
// with at most so many bytes.
func isName(text string, most int) bool {
	if text == "" || len(text) > most || strings.HasSuffix(text, ".") || strings.HasSuffix(text, ".lock") || strings.Contains(text, "..") {
		return false
	}
	for i, r := range text {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-", r)) {
			return false
		}
	}
	return true
}

// known names the repositories for an error.
func (m *Manager) known() string {
	var names []string
	for id := range m.repositories {
		names = append(names, id)
	}
	if len(names) == 0 {
		return "none is configured"
	}
	slices.Sort(names)
	return "known are " + strings.Join(names, ", ")
}
