package plan_test

import (
	"os"
	"testing"

	"github.com/prism-ls/prism-ls/tools/child"
)

const roleVariable = "PLAN_TEST_ROLE"

func TestMain(m *testing.M) {
	child.Main()
	if os.Getenv(roleVariable) == "goal" {
		goalRole()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
