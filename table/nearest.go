package table

import "strings"

// Nearest returns the first of names that is at most two edits (insertions,
// deletions, substitutions of characters) from name and has a character in common with
// it, of those the nearest, without regard to case; "" if there is none.
func Nearest(name string, names []string) string {
	const limit = 3
	best, distance := "", limit
	own := []rune(strings.ToLower(name))
	for _, other := range names {
		others := []rune(strings.ToLower(other))
		if n := editDistance(own, others, distance); n < min(distance, max(len(own), len(others))) {
			best, distance = other, n
		}
	}
	return best
}

// editDistance is the Levenshtein distance, or limit if it is not less.
func editDistance(a, b []rune, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			above := row[j]
			change := diagonal
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, above+1, row[j-1]+1)
			diagonal = above
		}
	}
	return min(row[len(b)], limit)
}
