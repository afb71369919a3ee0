//go:build !linux

package search

import (
	"errors"

	"github.com/prism-ls/prism-ls/tools/workspace"
)

// errUnsupported: the walker reads directories with getdents64 and openat,
// which only its Linux side does so far.
var errUnsupported = errors.New("listing and searching are available on Linux only")

const direntBuffer = 0

func openRoot(*workspace.Workspace, workspace.Path) (int, error) { return -1, errUnsupported }
func openDirAt(int, string) (int, error)                         { return -1, errUnsupported }
func rewind(int)                                                 {}
func closeFD(int)                                                {}
func openFileAt(int, string) (int, int64, bool, error)           { return -1, 0, false, errUnsupported }
func readFD(int, []byte) (int, error)                            { return 0, errUnsupported }
func sizeAt(int, string) (int64, bool)                           { return 0, false }
func vanished(error) bool                                        { return false }
func (l *listing) read(int, int) (bool, error)                   { return false, errUnsupported }
