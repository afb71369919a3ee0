package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/sqlite"
	"github.com/prism-ls/prism-ls/tools/state/statetest"
)

func suite() *statetest.Suite {
	return &statetest.Suite{
		Name: "sqlite", Shared: true, Full: os.Getenv("PRISM_SOAK") != "",
		New: func(t testing.TB) string { return filepath.Join(t.TempDir(), "a b?#%41", "state.db") },
		Stores: func(place string, limits state.Limits) (state.Stores, error) {
			return sqlite.Open(place, &sqlite.Options{Limits: limits})
		},
	}
}

func TestMain(m *testing.M) {
	suite().Main()
	playRole()
	os.Exit(m.Run())
}

func TestSQLite(t *testing.T) { suite().Run(t) }
