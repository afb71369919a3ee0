//go:build !linux

package workspace

// playRole has nothing to play: the tests that start the binary again are for Linux.
func playRole(role string) { panic("no role " + role) }
