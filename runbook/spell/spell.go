// Package spell finds the word that somebody probably meant.
//
// It must never choose for them: it only suggests.
package spell

import "strings"

// Nearest returns the known word closest to word, or "" when none is close
// enough to be a likely slip of the fingers. Case does not count; of equally
// close words the first wins.
func Nearest(word string, known []string) string {
	best, found := len([]rune(word))/3+1, ""
	for _, k := range known {
		if d := Distance(strings.ToLower(word), strings.ToLower(k)); d < best || d == best && found == "" && d < len(k) {
			best, found = d, k
		}
	}
	return found
}

// Hint is Nearest as the end of a sentence: " (did you mean x?)", or "".
func Hint(word string, known []string) string {
	if k := Nearest(word, known); k != "" {
		return " (did you mean " + k + "?)"
	}
	return ""
}

// Distance counts the letters to add, drop, change or swap with their
// neighbour that lead from a to b (optimal string alignment).
func Distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	rows := make([][]int, len(from)+1)
	for i := range rows {
		rows[i] = make([]int, len(to)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(from); i++ {
		for j := 1; j <= len(to); j++ {
			change := 1
			if from[i-1] == to[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(from)][len(to)]
}
