//go:build race

package manifest

// slower is how much longer the race detector makes work take: five to ten
// times (https://go.dev/doc/articles/race_detector).
const slower = 8
