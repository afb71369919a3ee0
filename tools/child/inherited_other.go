//go:build !windows

package child

func inheritedHere(string) bool { return false }
