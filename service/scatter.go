package service

import (
	"math"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/table"
)

// scatterOf shows the first two quasi-identifiers that are numbers both in the table and
// in the release; nil where there are not two. Records without a value in one of them
// are left out.
func scatterOf(fields []table.Field, before, after *table.Table) *api.Scatter {
	var at []int
	for j, f := range fields {
		if f.Type.IsNumber() && after.Columns[j].Field.Type.IsNumber() && len(at) < 2 {
			at = append(at, j)
		}
	}
	if len(at) < 2 {
		return nil
	}
	out := &api.Scatter{X: fields[at[0]].Name, Y: fields[at[1]].Name}
	sides := []*api.ScatterSide{&out.Before, &out.After}
	tables := []*table.Table{before, after}
	if max(before.Rows, after.Rows) <= api.ScatterMost {
		for i, t := range tables {
			sides[i].Points = [][2]float64{}
			eachPoint(t.Columns[at[0]], t.Columns[at[1]], func(x, y float64) { sides[i].Points = append(sides[i].Points, [2]float64{x, y}) })
		}
		return out
	}
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, t := range tables {
		eachPoint(t.Columns[at[0]], t.Columns[at[1]], func(x, y float64) {
			low, high = [2]float64{min(low[0], x), min(low[1], y)}, [2]float64{max(high[0], x), max(high[1], y)}
		})
	}
	if low[0] > high[0] {
		return nil // no record has both
	}
	for i, t := range tables {
		side := sides[i]
		side.XEdges, side.YEdges = binEdges(low[0], high[0]), binEdges(low[1], high[1])
		side.Counts = make([][]int64, api.ScatterBins)
		for j := range side.Counts {
			side.Counts[j] = make([]int64, api.ScatterBins)
		}
		eachPoint(t.Columns[at[0]], t.Columns[at[1]], func(x, y float64) {
			side.Counts[binOf(y, low[1], high[1])][binOf(x, low[0], high[0])]++
		})
	}
	return out
}

// eachPoint calls f for each record that has both values.
func eachPoint(x, y *table.Column, f func(x, y float64)) {
	for i := range x.Len() {
		if !x.IsMissing(i) && !y.IsMissing(i) {
			f(x.Number(i), y.Number(i))
		}
	}
}

// binEdges are the ends of equal bins.
func binEdges(low, high float64) []float64 {
	out := make([]float64, api.ScatterBins+1)
	for i := range out {
		out[i] = low + (high-low)*float64(i)/api.ScatterBins
	}
	return out
}

// binOf is the bin of a value; the last bin has its upper end.
func binOf(v, low, high float64) int {
	if high <= low {
		return 0
	}
	return min(api.ScatterBins-1, int((v-low)/(high-low)*api.ScatterBins))
}
