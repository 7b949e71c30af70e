package ldp

import "math"

// invert replaces a symmetric positive definite k x k matrix, of which the lower triangle
// is read, by its inverse, whole: Cholesky's factor, its inverse, and their product. It
// returns false if the matrix is not positive definite. Decoding inverts one small matrix
// for each cohort and step, for which a general routine takes several times as long.
func invert(a []float64, k int) bool {
	for j := range k {
		row := a[j*k : j*k+j+1]
		for i := range j {
			other := a[i*k : i*k+i+1]
			s := row[i]
			for l, v := range other[:i] {
				s -= row[l] * v
			}
			row[i] = s * other[i] // diagonals hold inverses
		}
		s := row[j]
		for _, v := range row[:j] {
			s -= v * v
		}
		if !(s > 0) || math.IsInf(s, 1) {
			return false
		}
		row[j] = 1 / math.Sqrt(s)
	}
	// The inverse of the factor, column after column, into the upper triangle: entry (i, j)
	// of the inverse, i > j, to a[j][i].
	for j := range k {
		column := a[j*k : (j+1)*k]
		for i := j + 1; i < k; i++ {
			row := a[i*k : i*k+i+1]
			s := row[j] * column[j]
			for l := j + 1; l < i; l++ {
				s += row[l] * column[l]
			}
			column[i] = -s * row[i]
		}
	}
	// The inverse is M^T M, M the inverse of the factor; row j of a from the diagonal on is
	// column j of M, and entry (i, j) with i >= j needs rows of M from i on.
	for j := range k {
		one := a[j*k : (j+1)*k]
		for i := j; i < k; i++ {
			two := a[i*k : (i+1)*k]
			s := 0.0
			for l := i; l < k; l++ {
				s += one[l] * two[l]
			}
			one[i] = s // later entries of row j use entries from i+1 on only
		}
	}
	for j := range k {
		for i := j + 1; i < k; i++ {
			a[i*k+j] = a[j*k+i]
		}
	}
	return true
}
