package outlier

import (
	"math"
	"slices"
)

// K is the paper's k.
const K = 5

// AccuracyRow is the share of records that the query puts right, (TP+TN)/N, for
// all radii in [From, To).
type AccuracyRow struct {
	Dataset  string  `json:"dataset"`
	From     float64 `json:"from"`
	To       float64 `json:"to"`
	Outliers int     `json:"outliers"`
	Accuracy float64 `json:"accuracy"`
}

// Accuracies returns the accuracy for every radius: a record is an outlier for
// radii below the distance of its k-th nearest neighbour, so that it changes at
// those distances alone.
func Accuracies(s *Set, k int) []AccuracyRow {
	return accuracies(s.Name, s.Outlier, k, func(i, j int) float64 { return distance(s.row(i), s.row(j)) * step })
}

// accuracies is Accuracies for any distance.
func accuracies(name string, outlier []bool, k int, distance func(i, j int) float64) []AccuracyRow {
	n := len(outlier)
	reach := make([]float64, n)
	distances := make([]float64, 0, n)
	for i := range n {
		distances = distances[:0]
		for j := range n {
			if j != i {
				distances = append(distances, distance(i, j))
			}
		}
		slices.Sort(distances)
		reach[i] = math.Inf(1)
		if k <= len(distances) {
			reach[i] = distances[k-1]
		}
	}
	ends := slices.Clone(reach)
	slices.Sort(ends)
	ends = slices.Compact(ends)
	from := 0.0
	var rows []AccuracyRow
	for _, to := range append(ends, math.Inf(1)) {
		if to == from {
			continue
		}
		row := AccuracyRow{Dataset: name, From: from, To: to}
		right := 0
		for i, r := range reach {
			out := r > from
			if out {
				row.Outliers++
			}
			if out == outlier[i] {
				right++
			}
		}
		row.Accuracy = float64(right) / float64(n)
		rows = append(rows, row)
		from = to
		if math.IsInf(to, 1) {
			break
		}
	}
	last := &rows[len(rows)-1]
	if math.IsInf(last.To, 1) {
		last.To = last.From // JSON has no infinity: it holds from there on
	}
	return rows
}

func distance(p, q []int32) float64 {
	sum := 0.0
	for j := range p {
		e := float64(p[j]) - float64(q[j])
		sum += e * e
	}
	return math.Sqrt(sum)
}

// At returns the row for a radius.
func At(rows []AccuracyRow, r float64) AccuracyRow {
	for _, row := range rows {
		if r < row.To {
			return row
		}
	}
	return rows[len(rows)-1]
}

// Best returns the rows with the highest accuracy.
func Best(rows []AccuracyRow) []AccuracyRow {
	best := slices.MaxFunc(rows, func(a, b AccuracyRow) int {
		switch {
		case a.Accuracy < b.Accuracy:
			return -1
		case a.Accuracy > b.Accuracy:
			return 1
		}
		return 0
	}).Accuracy
	var out []AccuracyRow
	for _, row := range rows {
		if row.Accuracy == best {
			out = append(out, row)
		}
	}
	return out
}
