//go:build !race

package procsess

const raceEnabled = false
