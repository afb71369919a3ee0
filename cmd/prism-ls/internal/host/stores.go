package host

import (
	"context"
	"log/slog"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/postgres"
	"github.com/prism-ls/prism-ls/tools/state/sqlite"
	"github.com/prism-ls/prism-ls/tools/state/sqlstate"
)

// Stores are the user's, for all workspaces. They are opened when first used, and
// tried again at the next use while that fails. CodeStateUnavailable: there is no
// place for any.
func (s *Shared) Stores() (state.Stores, error) {
	if s.stores == nil {
		return nil, tools.Errorf(tools.CodeStateUnavailable, "there is no state directory, and no database is configured ([state] dsn)")
	}
	return s.stores, nil
}

// newStores opens nothing. It is nil where there is no place.
func newStores(cfg *config.Config, logger *slog.Logger) *state.Lazy {
	dsn, file := cfg.StateDSN(), cfg.StateFile()
	if dsn == "" && file == "" {
		return nil
	}
	// Whoever saves records bounds them by what they are.
	limits := state.Limits{RecordBytes: state.RecordBytes.Hard, EffectResultBytes: state.EffectResultBytes.Hard}
	return state.NewLazy(func(ctx context.Context) (state.Stores, error) {
		if dsn != "" {
			return orNone(postgres.Open(ctx, dsn, &postgres.Options{Limits: limits}))
		}
		return orNone(sqlite.OpenContext(ctx, file, &sqlite.Options{Limits: limits, Logger: logger}))
	})
}

// orNone keeps a nil pointer from being an interface that is not nil.
func orNone(stores *sqlstate.Stores, err error) (state.Stores, error) {
	if err != nil {
		return nil, err
	}
	return stores, nil
}

// SummarizeStores looks at the stores, and makes none.
func SummarizeStores(ctx context.Context, cfg *config.Config) (sqlstate.Summary, error) {
	switch dsn, file := cfg.StateDSN(), cfg.StateFile(); {
	case dsn != "":
		return postgres.Summarize(ctx, dsn, nil)
	case file != "":
		return sqlite.Summarize(ctx, file, nil)
	}
	return sqlstate.Summary{}, tools.Errorf(tools.CodeStateUnavailable, "there is no state directory, and no database is configured ([state] dsn)")
}

// AcceptStores takes stores that were put back to an earlier time for what they are to
// be. Of a database it is the caller's word that they were.
func AcceptStores(ctx context.Context, cfg *config.Config) (sqlstate.Acceptance, error) {
	if dsn := cfg.StateDSN(); dsn != "" {
		return postgres.Accept(ctx, dsn, nil)
	}
	if _, err := SummarizeStores(ctx, cfg); err != nil {
		return sqlstate.Acceptance{}, err
	}
	return sqlite.Accept(ctx, cfg.StateFile(), nil)
}
