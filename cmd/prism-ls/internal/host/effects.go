package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/sqlstate"
)

// Effects is the account of what the tools have changed in the workspace.
type Effects struct {
	Store state.EffectStore
	// Owner is whose all of them are.
	Owner state.Owner
	// Look tells what is there now.
	Look state.Looker
}

// Effects returns the account, for a person. Its errors are those of [Shared.Stores].
func (h *Host) Effects() (*Effects, error) { return h.shared.effects() }

func (s *Shared) effects() (*Effects, error) {
	stores, err := s.Stores()
	if err != nil {
		return nil, err
	}
	return &Effects{Store: stores.Effects(), Owner: effectOwner(s.cfg.Root), Look: s.look}, nil
}

// effectOwner owns all effects in the workspace, whoever's calls they are of, so that
// a person can look through them, and so that any client can go on with a run.
func effectOwner(root string) state.Owner {
	sum := sha256.Sum256([]byte(root))
	return state.Owner{Account: "workspace " + hex.EncodeToString(sum[:])}
}

// look is a state.Looker over files and refs.
func (s *Shared) look(ctx context.Context, w tools.Witness) (tools.Seen, error) {
	if w.Ref == "" {
		return s.files.Look(ctx, w.Path)
	}
	if s.git == nil {
		return tools.Seen{}, tools.Errorf(tools.CodeGitNotRepository, "there is no git to ask")
	}
	return s.git.Look(ctx, w)
}

// tidy removes what has ended in any workspace, in those too that are gone, where all
// of it is the user's. A database is a fleet's, and has its other users' own times.
func (s *Shared) tidy() func(context.Context, time.Time) error {
	if s.cfg.StateDSN() != "" {
		return nil
	}
	return func(ctx context.Context, before time.Time) error {
		stores, err := s.stores.Open(ctx)
		if err != nil {
			return err
		}
		if all, ok := stores.(*sqlstate.Stores); ok {
			_, err = all.Tidy(ctx, before, state.PageRecords.Hard)
		}
		return err
	}
}

// openAccount keeps account of what the clients' tools change, where there is a place
// for it. It opens no store.
func (s *Shared) openAccount() error {
	effects, err := s.effects()
	if err != nil {
		return nil // calls of a run are refused, and others go on
	}
	s.account, err = state.NewAccount(effects.Store, &state.AccountOptions{
		Owner:  func(tools.EffectCall) state.Owner { return effects.Owner },
		Tenant: s.cfg.Root,
		// A run goes on in whichever client its host has started anew, which has neither
		// the session nor always the name that it had before.
		Session: func(tools.EffectCall) string { return "" },
		Look:    effects.Look,
		// What a call of a run answers is told again in full, and changes of a thousand
		// files are known file by file.
		ResultBytes: state.EffectResultBytes.Hard,
		TTL:         time.Duration(s.cfg.Effects.ClaimSeconds) * time.Second,
		Keep:        time.Duration(s.cfg.Effects.KeepDays) * 24 * time.Hour,
		Tidy:        s.tidy(),
		Logger:      s.log,
	})
	return err
}
