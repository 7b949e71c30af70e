package outlier

import "github.com/noren-privacy/noren"

// PlanRow compares the expected noise with the expected count for a number of
// records and an epsilon.
type PlanRow struct {
	// Records is the number of records.
	Records int `json:"records"`
	// Epsilon is the privacy cost.
	Epsilon float64 `json:"epsilon"`
	// Count is the expected number of outliers, from the given share.
	Count float64 `json:"count"`
	// SmoothSD is the standard deviation of the best Lomax noise if the guess is right.
	SmoothSD float64 `json:"smooth_sd"`
	// GlobalSD is the standard deviation of the Laplace mechanism on the global sensitivity,
	// whatever the data.
	GlobalSD float64 `json:"global_sd"`
	// Smooth is SmoothSD divided by Count.
	Smooth float64 `json:"smooth_sd_per_count"`
	// Global is GlobalSD divided by Count.
	Global float64 `json:"global_sd_per_count"`
}

// Useful is whether the smaller standard deviation is below half the count.
func (r PlanRow) Useful() bool { return min(r.Smooth, r.Global) < 0.5 }

// PlanTable compares noise and count over numbers of records and epsilons, with
// share the public guess of the share of outliers. Other facts are f's.
func PlanTable(f Facts, share float64, records []int, epsilons []float64) ([]PlanRow, error) {
	if !(share > 0 && share <= 1) {
		return nil, &noren.Error{Kind: noren.Usage, Where: "share", What: "the expected share of outliers must lie between 0 and 1"}
	}
	var rows []PlanRow
	for _, n := range records {
		for _, e := range epsilons {
			one := f
			one.Records, one.Epsilon = n, e
			p, err := NewPlan(one)
			if err != nil {
				return nil, err
			}
			count := share * float64(n)
			rows = append(rows, PlanRow{
				Records: n, Epsilon: e, Count: count, SmoothSD: p.Smooth.SD, GlobalSD: p.Global.SD,
				Smooth: p.Smooth.SD / count, Global: p.Global.SD / count,
			})
		}
	}
	return rows, nil
}
