package daemon

import (
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
)

// spare is how many parts without a client are kept warm: those of an agent and
// of a person's terminal, where their environments do not fit.
const spare = 2

// part is what some of the clients share: those whose settings and environment
// fit. Most of the time there is one.
type part struct {
	id     host.Identity
	shared *host.Shared
	users  int
}

// parts are those of one daemon, the last used one last.
type parts struct {
	log      *slog.Logger
	sessions *host.Sessions

	mu      sync.Mutex
	list    []*part
	current host.Identity // of the newest client
	closing sync.WaitGroup
}

// take returns what fits the settings, opened if it is not there yet. What was
// opened for other settings ends once its last client has gone: an edited
// configuration or a change of trust counts from the next client on.
func (p *parts) take(cfg *config.Config) (*part, error) {
	id, err := host.Identify(cfg)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current = id
	at := slices.IndexFunc(p.list, func(have *part) bool { return have.id.Fits(id) })
	if at < 0 {
		if len(p.list) > 0 {
			p.log.Info("settings or environment of a client differ: it gets language servers of its own", "root", cfg.Root)
		}
		shared, err := host.OpenShared(cfg, p.log, p.sessions)
		if err != nil {
			return nil, err
		}
		p.list = append(p.list, &part{id: id, shared: shared})
		at = len(p.list) - 1
	}
	taken := p.list[at]
	taken.users++
	p.list = append(slices.Delete(p.list, at, at+1), taken)
	p.retire()
	return taken, nil
}

// leave gives a part back.
func (p *parts) leave(taken *part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken.users--
	p.retire()
}

// retire closes parts that have no client: those of settings that are no more,
// and beyond the spare ones those that were used least recently.
func (p *parts) retire() {
	idle := 0
	for i := len(p.list) - 1; i >= 0; i-- {
		have := p.list[i]
		if have.users > 0 {
			continue
		}
		if idle++; idle <= spare && have.id.SameSettings(p.current) {
			continue
		}
		p.list = slices.Delete(p.list, i, i+1)
		p.closing.Go(func() {
			if err := have.shared.Close(); err != nil {
				p.log.Warn("something did not end well", "error", err)
			}
		})
	}
}

// close ends the sessions and closes all parts, and waits for it. No client may be left.
func (p *parts) close() error {
	p.mu.Lock()
	list := p.list
	p.list = nil
	p.mu.Unlock()
	errs := []error{p.sessions.Close()}
	for _, have := range list {
		errs = append(errs, have.shared.Close())
	}
	p.closing.Wait()
	return errors.Join(errs...)
}
