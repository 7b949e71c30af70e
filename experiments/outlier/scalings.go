package outlier

import (
	"fmt"
	"math"
	"strings"
)

// ScalingRow is the best radius of a set in one scaling of its columns.
type ScalingRow struct {
	Dataset string `json:"dataset"`
	Scaling string `json:"scaling"`
	// From and To are the first and the last radius of the best accuracy, which may
	// have gaps between.
	From     float64 `json:"from"`
	To       float64 `json:"to"`
	Accuracy float64 `json:"accuracy"`
	// PaperRadius is the paper's radius; AtPaper the accuracy there, and Fits
	// whether it is as good as the best.
	PaperRadius float64 `json:"paper_r"`
	AtPaper     float64 `json:"accuracy_at_paper_r"`
	Fits        bool    `json:"fits"`
}

// Scalings computes the best radius in seven scalings, and for the paper's count
// of columns: its wdbc has 32, which are the 30 measurements, the label and a
// number that names the record. The file has no such number; with the label as a
// column there are 31.
func Scalings(s *Set) []ScalingRow {
	n, d := s.Len(), s.Dimension
	column := func(f func(v []float64) (shift, by float64)) []float64 {
		out := make([]float64, len(s.values))
		v := make([]float64, n)
		for j := range d {
			for i := range n {
				v[i] = s.values[i*d+j]
			}
			shift, by := f(v)
			for i := range n {
				if by > 0 {
					out[i*d+j] = (v[i] - shift) / by
				}
			}
		}
		return out
	}
	whole := 0.0
	moments := func(v []float64) (mean, variance float64) {
		for _, x := range v {
			mean += x / float64(len(v))
		}
		for _, x := range v {
			variance += (x - mean) * (x - mean) / float64(len(v))
		}
		return mean, variance
	}
	z := column(func(v []float64) (float64, float64) { m, s := moments(v); return m, math.Sqrt(s) })
	column(func(v []float64) (float64, float64) { _, s := moments(v); whole += s; return 0, 1 })
	by := func(v []float64, f float64) []float64 {
		out := make([]float64, len(v))
		for i, x := range v {
			out[i] = x * f
		}
		return out
	}
	unit := make([]float64, len(z))
	for i := range n {
		norm := 0.0
		for _, x := range s.values[i*d : i*d+d] {
			norm += x * x
		}
		for j := range d {
			unit[i*d+j] = s.values[i*d+j] / math.Sqrt(max(norm, math.SmallestNonzeroFloat64))
		}
	}
	label := make([]float64, 0, n*(d+1))
	share := float64(minority) / float64(n)
	for i := range n {
		v := -share
		if s.Outlier[i] {
			v = 1 - share
		}
		label = append(append(label, z[i*d:i*d+d]...), v/math.Sqrt(share*(1-share)))
	}
	var rows []ScalingRow
	for _, c := range []struct {
		name   string
		d      int
		values []float64
	}{
		{"variance 1", d, z},
		{"variance 1, over the square root of d", d, by(z, 1/math.Sqrt(float64(d)))},
		{"range 0 to 1", d, column(func(v []float64) (float64, float64) {
			lo, hi := v[0], v[0]
			for _, x := range v {
				lo, hi = min(lo, x), max(hi, x)
			}
			return lo, hi - lo
		})},
		{"as they are", d, s.values},
		{"records of length 1", d, unit},
		{"total variance 1", d, by(s.values, 1/math.Sqrt(whole))},
		{"divided by the variance", d, column(moments)},
		{"variance 1, the label as a column", d + 1, label},
	} {
		all := accuracies(s.Name, s.Outlier, K, func(i, j int) float64 {
			sum := 0.0
			for x := range c.d {
				e := c.values[i*c.d+x] - c.values[j*c.d+x]
				sum += e * e
			}
			return math.Sqrt(sum)
		})
		best, at := Best(all), At(all, s.PaperRadius)
		rows = append(rows, ScalingRow{
			Dataset: s.Name, Scaling: c.name, From: best[0].From, To: best[len(best)-1].To, Accuracy: best[0].Accuracy,
			PaperRadius: s.PaperRadius, AtPaper: at.Accuracy, Fits: at.Accuracy == best[0].Accuracy,
		})
	}
	return rows
}

// scalingVerdict says what the paper's radii can be.
func scalingVerdict(rows []ScalingRow) []string {
	fits, sets := map[string][]string{}, map[string]bool{}
	for _, r := range rows {
		sets[r.Dataset] = true
		if r.Fits {
			fits[r.Scaling] = append(fits[r.Scaling], r.Dataset)
		}
	}
	var both []string
	for scaling, of := range fits {
		if len(of) == len(sets) {
			both = append(both, scaling)
		}
	}
	if len(sets) < 2 {
		return nil
	}
	if len(both) > 0 {
		return []string{fmt.Sprintf("The paper's radii 0.3 and 1.3 are the best in this scaling: %s.", strings.Join(both, "; "))}
	}
	return []string{"The paper's radii 0.3 (ionosphere) and 1.3 (wdbc) have its best accuracy in none of seven scalings of the columns for " +
		"both sets, nor with the label as a column: what they are cannot be said. The paper's 32 columns of wdbc are 30 measurements, the " +
		"label and the record's number; the last two are no measurements."}
}
