//go:build !linux

package sqlite_test

func playRole() {}
