//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyResize has a channel told when the terminal's window changes its size.
func notifyResize(to chan<- os.Signal) { signal.Notify(to, syscall.SIGWINCH) }
