//go:build !linux

package procsess

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
)

// launch says that this system has no sessions.
func (r *Registry) launch(_ context.Context, l *launch, _ *entry) (verbs, error) {
	if l.Pipe {
		return nil, tools.Errorf(tools.CodeProcessUnsupported, "sessions need Linux")
	}
	return nil, tools.Errorf(tools.CodePTYUnsupported, "terminals need Linux")
}
