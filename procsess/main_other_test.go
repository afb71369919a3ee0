//go:build !linux

package procsess_test

func runRole() {}
