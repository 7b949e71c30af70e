package outlier

import (
	"context"
	"fmt"
	"time"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/outlier"
	"github.com/noren-privacy/noren/outlier/paper"
)

// TimingRow is the running time of an algorithm on a set.
type TimingRow struct {
	Dataset   string `json:"dataset"`
	Algorithm string `json:"algorithm"`
	// Size is the number of records of the window for algorithm 1, of terms that are
	// computed for algorithm 2, and of records for ours.
	Size    int     `json:"size"`
	Seconds float64 `json:"seconds"`
}

// The paper's algorithms.
const (
	Algorithm1 = "algorithm 1, all balls of a window"
	Algorithm2 = "algorithm 2, terms of the smooth sensitivity"
	OurSmooth  = "ours, the smooth bound"
)

// enough is the time after which algorithm 1 is not run on a larger window.
const enough = 200 * time.Millisecond

// Timings measures the running times that the paper claims and does not print. It
// says that algorithm 1, which enumerates the subsets of a window, ends in
// realistic time, as windows have a few records. The windows here are records
// within one ball, where all subsets count. Algorithm 2 computes terms until none
// can be larger; its maxima are by the core functional, as the enumeration would
// not end.
func Timings(ctx context.Context, s *Set) ([]TimingRow, error) {
	var rows []TimingRow
	var near [][]int64
	// The records nearest to the first inlier.
	at := 0
	for s.Outlier[at] {
		at++
	}
	for i := range s.Len() {
		if distance(s.row(at), s.row(i))*step <= s.Radius/2 {
			row := make([]int64, 0, s.Dimension)
			for _, x := range s.row(i) {
				row = append(row, int64(x))
			}
			near = append(near, row)
		}
	}
	for size := 1; size <= len(near); size++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		start := time.Now()
		paper.Enumerate(near[:size], radius2(s.Radius))
		took := time.Since(start)
		rows = append(rows, TimingRow{s.Name, Algorithm1, size, took.Seconds()})
		if took > enough {
			break
		}
	}
	r2 := radius2(s.Radius)
	start := time.Now()
	bound, err := paperBound(ctx, s.Dimension, s.coords, K, r2)
	if err != nil {
		return nil, err
	}
	terms := 0
	beta := paper.Beta(0.5, 1e-3)
	paper.Smooth(s.Len(), beta, func(t int) int { terms++; return bound(t) })
	rows = append(rows, TimingRow{s.Name, Algorithm2, terms, time.Since(start).Seconds()})
	points, err := s.points()
	if err != nil {
		return nil, err
	}
	start = time.Now()
	if _, err := outlier.Diagnose(ctx, points, outlier.Setting{K: K, Radius2: r2, Neighbours: account.ReplaceOne}, 0,
		[]float64{beta}); err != nil {
		return nil, err
	}
	return append(rows, TimingRow{s.Name, OurSmooth, s.Len(), time.Since(start).Seconds()}), nil
}

// timingVerdict says what the times mean.
func timingVerdict(s *Set, rows []TimingRow) []string {
	var window, second TimingRow
	for _, r := range rows {
		switch r.Algorithm {
		case Algorithm1:
			window = r
		case Algorithm2:
			second = r
		}
	}
	return []string{fmt.Sprintf("%s: algorithm 1 takes %.2g s for a window of %d records in one ball, and with each further record at "+
		"least twice as long, as it has twice as many subsets. Algorithm 2 stops after %d of %d terms (epsilon = 0.5, delta = 0.001) and "+
		"takes %.2g s if the maxima are by the core functional; ours takes %.2g s. The paper claims realistic times and prints none.",
		s.Name, window.Seconds, window.Size, second.Size, s.Len()+1, second.Seconds, rows[len(rows)-1].Seconds)}
}
