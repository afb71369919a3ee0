//go:build !linux

package procsess

import (
	"errors"
	"os"

	"github.com/prism-ls/prism-ls/tools/child"
)

// openFile is not known here.
type openFile struct{}

func terminalFile(*os.File) (openFile, error) { return openFile{}, errors.ErrUnsupported }

func pipeFile(*os.File) (openFile, error) { return openFile{}, errors.ErrUnsupported }

// openersOf: nothing is known here.
func openersOf([]child.Info, ...openFile) []child.Info { return nil }
