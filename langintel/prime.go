package langintel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"go.lsp.dev/protocol"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// primed are the documents that load every project.
type primed struct {
	mu    sync.Mutex
	paths []string
	// known: paths are those of the files as they are; what changes them unsets it.
	known atomic.Bool
}

// reconsider has the documents worked out anew when a change may concern which
// they are: a file that was made or is gone, or one that is not the server's own
// language, such as a project's configuration.
func (v *session) reconsider(ch change) {
	if ch.kind != protocol.FileChangeTypeChanged || v.spec.language(ch.path) == "" {
		v.primed.known.Store(false)
	}
}

// maxPrimed bounds the documents that are opened only to have their projects
// loaded.
const maxPrimed = 50

// prime sees to it that one document of each project that the spec names is open:
// others may have taken its place since, and the server then forgets the project.
func (v *session) prime(ctx context.Context) error {
	if v.spec.Prime == nil {
		return nil
	}
	v.primed.mu.Lock()
	defer v.primed.mu.Unlock()
	if !v.primed.known.Swap(true) {
		v.primed.paths = v.spec.Prime(v.client.filesNow(ctx))
	}
	most := min(maxPrimed, int(v.client.opts.MaxOpen)/2)
	for i, name := range v.primed.paths {
		if i == most {
			return fmt.Errorf("%d of %d are, which is as many as may be", most, len(v.primed.paths))
		}
		if v.docs.keep(name) {
			continue
		}
		_, err := v.docs.sync(ctx, workspace.Path{Rel: name, Real: name})
		if err != nil && !errors.Is(err, tools.CodeNotFound) {
			return err
		}
	}
	return nil
}
