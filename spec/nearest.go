package spec

import "strings"

// nearest is a hint that names the column most like name, or lists them all.
// Names of the file are said only where it is known that they are names: where
// confirmed says so: one of the columns that the specification names is among them,
// or they are not the file's. That the steward takes the first line for names does not confirm it. What stands on the first line of any other file may be a record.
func nearest(name string, among []string, confirmed bool) string {
	if !confirmed {
		return "no column that is named is in the file: does its first line hold the names of the columns?"
	}
	best, distance := "", 3
	for _, other := range among {
		if d := editDistance(strings.ToLower(name), strings.ToLower(other)); d < distance {
			best, distance = other, d
		}
	}
	if best != "" {
		return "did you mean " + best + "?"
	}
	if len(among) > 20 {
		return "its columns are " + strings.Join(among[:20], ", ") + ", ..."
	}
	return "its columns are " + strings.Join(among, ", ")
}

// editDistance is the Levenshtein distance in bytes.
func editDistance(a, b string) int {
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
	return row[len(b)]
}
