//go:build race

package langintel_test

// raceDetector multiplies memory and time.
const raceDetector = true
