//go:build !linux

package procsess

import (
	"errors"
	"os"
)

// termios is not known here.
type termios struct{}

func terminalMode(*os.File) (*termios, error) { return nil, errors.ErrUnsupported }

func inputMode(*os.File) InputMode { return "" }

func interruptKey(string) (index int, ok bool) { return 0, false }

func controlByte(*os.File, string) (b byte, special bool) { return 0, false }

// typedLine: where lines are cut is not known here.
type typedLine struct{}

func (*typedLine) fits(*termios, []byte) error { return nil }

func (*typedLine) wrote(*termios, []byte) {}
