package sqlite_test

import (
	"os"

	"golang.org/x/sys/unix"
)

func dataSync(file *os.File) error { return unix.Fdatasync(int(file.Fd())) }
