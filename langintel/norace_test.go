//go:build !race

package langintel_test

const raceDetector = false
