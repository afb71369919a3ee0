//go:build !linux

package main

import "testing"

func programs() map[string]func() { return map[string]func(){"prism-ls": main} }

// supervised runs the tests; there are no daemons here.
type supervised struct{ m *testing.M }

func (s supervised) Run() int { return s.m.Run() }

func endDaemons(string) []string { return nil }
