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
	"github.com/prism-ls/prism-ls/tools/search"
	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/sqlite"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// Shared is what all clients of one workspace have in common: its files, what
// searches them, and the language servers. It depends on the settings that
// [Identify] names, and on no client's profile or choice of tools.
type Shared struct {
	cfg           *config.Config
	log           *slog.Logger
	owner         *child.Owner
	files         *workspace.Workspace
	git           *git.Runner // nil where there is no git
	searcher      *search.Searcher
	language      *langintel.Client
	languageTools []*tools.Tool
	sessions      *Sessions
	// readByCLI is what the calls of the command line have read: they are one
	// owner, and each is a client of its own.
	readByCLI *builtin.ReadPathSet
	stores    *state.Lazy    // nil where there is no place
	account   *state.Account // of what the clients' tools change; nil as stores
}

// OpenShared opens what clients share. It starts no process. Close ends all that
// is not a client's own, but for the sessions.
func OpenShared(cfg *config.Config, logger *slog.Logger, sessions *Sessions) (*Shared, error) {
	s := &Shared{
		cfg: cfg, sessions: sessions, log: logger, owner: child.NewOwner(&child.Options{Logger: logger}),
		readByCLI: builtin.NewReadPathSet(), stores: newStores(cfg, logger),
	}
	for _, step := range []func() error{s.openFiles, s.openGit, s.openSearch, s.openLanguage, s.openAccount} {
		if err := step(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// Close ends the language servers and closes the workspace. The clients have to
// be closed before.
func (s *Shared) Close() error {
	var errs []error
	if s.language != nil {
		errs = append(errs, s.language.Close())
	}
	if s.account != nil {
		errs = append(errs, s.account.Close())
	}
	errs = append(errs, s.owner.Close())
	if s.stores != nil {
		errs = append(errs, s.stores.Close())
	}
	if s.files != nil {
		errs = append(errs, s.files.Close())
	}
	s.sweepOutput()
	return errors.Join(errs...)
}

// outputTime is how long the whole output of a command is kept.
const outputTime = 7 * 24 * time.Hour

// sweepOutput removes whole outputs that nobody will ask for any more.
func (s *Shared) sweepOutput() {
	if s.cfg.StateDir == "" {
		return
	}
	entries, err := os.ReadDir(s.cfg.OutputDir())
	if err != nil {
		return // there is nothing to sweep
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > outputTime {
			_ = os.Remove(filepath.Join(s.cfg.OutputDir(), entry.Name())) // another process may have been quicker
		}
	}
}

func (s *Shared) openFiles() error {
	opts := &workspace.Options{
		StateDir: s.cfg.StateDir, Home: s.cfg.System.Home, ReadRoots: slices.Clone(s.cfg.ReadRoots),
		UndoTransactions: s.cfg.Undo.Transactions, UndoBytes: s.cfg.Undo.Bytes, Logger: s.log,
	}
	if file := s.cfg.StateFile(); file != "" {
		opts.Unopened = sqlite.Files(file)
	}
	if dir := outputDir(s.cfg, s.log); dir != "" {
		opts.ReadRoots = append(opts.ReadRoots, dir) // so that `read` can show what a result truncated
	}
	files, err := workspace.Open(s.cfg.Root, opts)
	s.files = files
	return err
}

// outputDir returns the directory for whole outputs, or "" where it cannot be
// made: temporary files then do.
func outputDir(cfg *config.Config, logger *slog.Logger) string {
	if cfg.StateDir == "" {
		return ""
	}
	dir := cfg.OutputDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		logger.Info("whole outputs go to the directory for temporary files", "error", err)
		return ""
	}
	return dir
}

// openGit finds git outside of the workspace, unless a person trusts it.
func (s *Shared) openGit() error {
	path := s.cfg.Git.Path
	if path == "" {
		exclude := []string{s.cfg.Root}
		if s.cfg.Trusted {
			exclude = nil
		}
		found, err := git.Find(s.cfg.System.Path, exclude...)
		if err != nil {
			s.log.Info("there is no git: nothing is known of ignored files", "error", err)
			return nil
		}
		path = found
	}
	s.git = git.New(s.owner, s.gitOptions(path))
	return nil
}

func (s *Shared) openSearch() error {
	// Repositories of today are larger than the library's defaults.
	limits := search.Limits{Entries: 100_000, Files: 100_000, ScanBytes: 1 << 30}
	searcher, err := search.New(s.files, &search.Options{Git: s.git, Limits: limits})
	s.searcher = searcher
	return err
}

// environment is what programs inherit.
func environment(cfg *config.Config) []string {
	return child.Environment(cfg.System.Environ, cfg.Environment)
}
