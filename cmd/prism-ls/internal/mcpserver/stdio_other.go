//go:build !linux

package mcpserver

import "os"

// ClaimStdout takes standard output for the protocol: prints of Go code go to
// standard error from then on. Descriptor 1 itself is moved on Linux only.
func ClaimStdout() (*os.File, error) {
	out := os.Stdout
	os.Stdout = os.Stderr
	return out, nil
}

// WatchClosed does nothing here: that nobody reads is noticed when the next
// frame is written.
func WatchClosed(*os.File, func()) (stop func(), err error) {
	return func() {}, nil
}
