//go:build !linux

package sqlite_test

import "os"

func dataSync(file *os.File) error { return file.Sync() }
