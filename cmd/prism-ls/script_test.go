package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools/child"
)

func TestMain(m *testing.M) {
	child.Main()
	procsess.Main()
	testscript.Main(supervised{m}, programs())
}

// TestScripts runs the program as a person or a script would, one file a
// subject: through the daemon and without it, since nothing may depend on that.
func TestScripts(t *testing.T) {
	t.Parallel()
	for _, way := range []struct{ name, without string }{{"daemon", ""}, {"alone", "1"}} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			testscript.Run(t, testscript.Params{
				Dir:                 filepath.Join("..", "..", "testdata", "script"),
				RequireExplicitExec: true,
				Setup: func(env *testscript.Env) error {
					env.Setenv("PRISM_LS_NO_DAEMON", way.without)
					env.Defer(func() { endDaemons(env.WorkDir) })
					return setDirectories(env)
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status},
			})
		})
	}
}

// setDirectories gives a script a home of its own.
func setDirectories(env *testscript.Env) error {
	for name, dir := range map[string]string{"HOME": "home", "XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "config", "XDG_RUNTIME_DIR": "run"} {
		path := filepath.Join(env.WorkDir, ".outside", dir)
		if err := os.MkdirAll(path, 0o700); err != nil {
			return err
		}
		env.Setenv(name, path)
	}
	return nil
}

// status N CMD… runs a command that must end with that exit status.
func status(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if failure := (*exec.ExitError)(nil); errors.As(err, &failure) {
		got = failure.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}
