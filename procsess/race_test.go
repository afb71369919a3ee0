//go:build race

package procsess

// raceEnabled: the race detector makes everything several times slower.
const raceEnabled = true
