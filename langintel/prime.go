package langintel

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// primed says whether the documents that load every project are open.
type primed struct {
	mu   sync.Mutex
	done bool
}

// maxPrimed bounds the documents that are opened only to have their projects
// loaded.
const maxPrimed = 50

// prime opens one document of each project that the spec names, once a session.
func (v *session) prime(ctx context.Context) error {
	if v.spec.Prime == nil {
		return nil
	}
	v.primed.mu.Lock()
	defer v.primed.mu.Unlock()
	if v.primed.done {
		return nil
	}
	paths := v.spec.Prime(&Files{client: v.client, ctx: ctx, all: v.client.watch.all(ctx)})
	most := min(maxPrimed, int(v.client.opts.MaxOpen)/2)
	for i, name := range paths {
		if i == most {
			return fmt.Errorf("%d of %d are, which is as many as may be", most, len(paths))
		}
		_, err := v.docs.sync(ctx, workspace.Path{Rel: name, Real: name})
		if err != nil && !errors.Is(err, tools.CodeNotFound) {
			return err
		}
	}
	v.primed.done = true
	return nil
}
