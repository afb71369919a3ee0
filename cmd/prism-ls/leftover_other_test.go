//go:build !linux

package main

import "testing"

// supervised runs the tests; there are no daemons here.
type supervised struct{ m *testing.M }

func (s supervised) Run() int { return s.m.Run() }

func endDaemons(string) []string { return nil }
