//go:build !linux

package daemon

import (
	"context"
	"net"
	"os"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/tools"
)

// unsupported says that there is no daemon here: who connects, and what started
// it, is known on Linux only.
func unsupported() error {
	return &Unavailable{Reason: "the daemon runs on Linux only", Quiet: true, Err: tools.Errorf(tools.CodeStateUnavailable, "the daemon runs on Linux only")}
}

type peer struct{}

func checkPeer(*net.UnixConn) (*peer, error) { return nil, unsupported() }

func (*peer) notOurs() error  { return unsupported() }
func (*peer) starter() string { return "agent" }
func (*peer) close()          {}

func watchHangup(*net.UnixConn, func()) (stop func(), err error) { return nil, unsupported() }

type place struct{ path string }

func choose(*config.Config) (*place, error)       { return nil, unsupported() }
func everywhere(*config.Config) ([]*place, error) { return nil, unsupported() }

func (*place) close()                                      {}
func (*place) dial(context.Context) (*net.UnixConn, error) { return nil, unsupported() }
func (*place) lockFile() (*os.File, error)                 { return nil, unsupported() }
func (*place) listen() (*net.UnixListener, error)          { return nil, unsupported() }
func (*place) socket() os.FileInfo                         { return nil }
func (*place) removed() bool                               { return false }
func (*place) removeSocket() error                         { return unsupported() }

// Spawn does nothing here.
func Spawn(config.System, bool, ...string) error { return unsupported() }
