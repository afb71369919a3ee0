//go:build !linux

package workspace

import (
	"io/fs"
	"os"
)

func setOwner(*os.File, uint32, uint32) (bool, error) { return true, nil }
func setMode(f *os.File, mode fs.FileMode) error      { return f.Chmod(mode) }
func readXAttrs(*os.File) map[string][]byte           { return nil }
func writeXAttrs(*os.File, map[string][]byte) error   { return nil }

// setTimes has no descriptor-based form here; a copy has a new time.
func setTimes(*os.File, *stat) {}
