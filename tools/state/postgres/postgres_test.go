//go:build unix

package postgres_test

import (
	"context"
	"os"
	"testing"

	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/postgres"
	"github.com/prism-ls/prism-ls/tools/state/statetest"
)

func suite() *statetest.Suite {
	return &statetest.Suite{
		Name: "postgres", Shared: true, Full: os.Getenv("PRISM_SOAK") != "",
		New: func(t testing.TB) string { return theServer(t).fresh(t) },
		Stores: func(place string, limits state.Limits) (state.Stores, error) {
			return postgres.Open(context.Background(), place, &postgres.Options{Limits: limits})
		},
	}
}

func TestMain(m *testing.M) {
	child.Main()
	suite().Main()
	code := m.Run()
	if started.server != nil && started.err == nil {
		started.stop()
		_ = os.RemoveAll(started.dir)
	}
	os.Exit(code)
}

func TestPostgres(t *testing.T) { suite().Run(t) }
