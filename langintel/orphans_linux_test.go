package langintel_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/langintel/lsptest"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// holderArgument makes the test binary a program that holds a client, as prism-ls
// does: arguments are the workspace, the state directory, and the server's program
// and arguments.
const holderArgument = "langintel-holder"

// holdServers is that program, if it is what the process was started for.
func holdServers() {
	if len(os.Args) < 5 || os.Args[1] != holderArgument {
		return
	}
	if err := hold(os.Args[2], os.Args[3], os.Args[4], os.Args[5:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// hold asks a server something, says so, and ends with its input or by SIGTERM.
func hold(root, state, program string, args []string) error {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	work, err := workspace.Open(root, &workspace.Options{StateDir: state})
	if err != nil {
		return err
	}
	owner := child.NewOwner(nil)
	client, err := langintel.New(work, owner, &langintel.Options{
		Env: child.Environment(os.Environ(), nil),
		Servers: []langintel.Spec{{
			Name: "scripted", Program: program, Args: args, Ready: langintel.Blocks(),
			Languages: []langintel.Language{{ID: "x", Patterns: []string{"*.x"}}},
		}},
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if _, err := client.Hover(ctx, firstWord); err != nil {
		return err
	}
	fmt.Println("ready")
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	select {
	case <-ended:
	case <-terminated:
	}
	if err := client.Close(); err != nil {
		return err
	}
	if err := owner.Close(); err != nil {
		return err
	}
	return work.Close()
}

// Nothing of a server is left after prism-ls, however that ends, and whatever the
// server started.
func TestOrphans(t *testing.T) {
	rounds := 5
	if soak() {
		rounds = 100
	}
	for _, way := range []struct {
		name string
		end  func(cmd *exec.Cmd, in io.Closer) error
	}{
		{"killed", func(cmd *exec.Cmd, _ io.Closer) error { return cmd.Process.Kill() }},
		{"terminated", func(cmd *exec.Cmd, _ io.Closer) error { return cmd.Process.Signal(syscall.SIGTERM) }},
		{"input closed", func(_ *exec.Cmd, in io.Closer) error { return in.Close() }},
	} {
		t.Run(way.name, func(t *testing.T) {
			var slowest time.Duration
			for range rounds {
				slowest = max(slowest, orphan(t, way.end))
			}
			t.Logf("%d of %d left nothing, after %v at most", rounds, rounds, slowest)
		})
	}
}

// orphan starts a holder with a server that will not go, ends it in one way, and
// returns how long it took until nothing was left.
func orphan(t *testing.T, end func(cmd *exec.Cmd, in io.Closer) error) time.Duration {
	t.Helper()
	mark := newMark()
	spec, _ := scriptedSpec(t, &lsptest.Script{
		Stubborn: true, Start: []lsptest.Action{{Run: strings.ReplaceAll(litter, "NUM", mark)}},
		On: []lsptest.Rule{on("textDocument/hover", lsptest.Action{Reply: aHover})},
	})
	cmd := exec.CommandContext(t.Context(), spec.Program, append([]string{holderArgument, scriptedRoot(t), t.TempDir(), spec.Program}, spec.Args...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	script := spec.Args[1] // the server's own command line carries it
	eventually(t, "the server and its children run", func() bool { return len(carriers(mark)) >= litterSize && len(carriers(script)) >= 2 })
	began := time.Now()
	if err := end(cmd, in); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it may have been killed
	const limit = 5 * time.Second
	for {
		left := append(carriers(mark), carriers(script)...)
		took := time.Since(began)
		if len(left) == 0 {
			return took
		}
		if took > limit {
			t.Fatalf("left after %v: %q", took, left)
		}
		<-time.After(5 * time.Millisecond)
	}
}
