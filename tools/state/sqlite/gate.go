package sqlite

import (
	"context"
	"math/rand/v2"
	"os"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/filelock"
)

// gate lets one process at a time write. SQLite has a lock of its own for that, whose
// waiters sleep for up to 100 ms between attempts and give up one by one; and whose
// shared memory loses its locks when anything else in this process opens and closes
// the same file (fcntl(2)). A lock of flock(2) has neither.
type gate struct{ file *os.File }

func openGate(path string) (*gate, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return &gate{file}, nil
}

// Waiters sleep from shortest to longest, a random part of it, so that none is always
// late: a commit takes about 0.2 ms.
const shortest, longest = 50 * time.Microsecond, 4 * time.Millisecond

func (g *gate) enter(ctx context.Context) error {
	for pause := shortest; ; pause = min(2*pause, longest) {
		if ok, err := g.try(); ok || err != nil {
			return err
		}
		select {
		case <-time.After(pause/4 + rand.N(pause)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (g *gate) try() (bool, error) {
	ok, err := filelock.Try(g.file)
	if err != nil {
		return false, tools.Errorf(tools.CodeStateUnavailable, "locking %s: %w", g.file.Name(), err)
	}
	return ok, nil
}

func (g *gate) leave() { _ = filelock.Release(g.file) }

func (g *gate) close() error { return g.file.Close() }
