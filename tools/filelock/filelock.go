// Package filelock takes exclusive locks of whole files, between processes and
// between open files of one process. A lock ends when the file is closed, which
// the end of the process does too, however it ends.
package filelock

import (
	"context"
	"os"
	"time"
)

// interval is how long a waiter sleeps between two attempts: no system wakes it,
// since a blocking wait could not be given up.
const interval = 10 * time.Millisecond

// Try takes the lock if it is free, and reports whether it did.
func Try(file *os.File) (bool, error) { return try(file) }

// Wait takes the lock, or returns the context's error when that ends first.
func Wait(ctx context.Context, file *os.File) error {
	for {
		if ok, err := try(file); ok || err != nil {
			return err
		}
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Release gives the lock up and leaves the file open.
func Release(file *os.File) error { return release(file) }
