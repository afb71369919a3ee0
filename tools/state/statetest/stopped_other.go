//go:build !unix

package statetest

import (
	"testing"

	"github.com/prism-ls/prism-ls/tools/state"
)

func (s *Suite) hold(state.CheckpointStore) error { return nil }

func stopped(t *testing.T, _ *Suite) { t.Skip("no process can be stopped here") }
