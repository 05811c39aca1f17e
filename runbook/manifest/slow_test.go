//go:build !race

package manifest

// slower is 1 without the race detector.
const slower = 1
