//go:build !linux

package procsess

import (
	"context"

	"github.com/prism-ls/prism-ls/tools"
)

// Recover says that no session outlives prism-ls on this system.
func (r *Registry) Recover(context.Context, Caller, ...string) ([]Recovered, error) {
	return nil, tools.Errorf(tools.CodeRecoveryUnsupported, "durable sessions need Linux")
}
