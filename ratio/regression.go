package ratio

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Regression is a linear regression on the weighted public records.
type Regression struct {
	// Coefficients are the intercept and one for each column of x. Carried is not
	// looked at for them, and 0.
	Coefficients []*Answer `json:"coefficients"`
	// R2 is the share of the weighted variation of y that it explains.
	R2       float64  `json:"r2"`
	Warnings []string `json:"warnings,omitempty"`
}

// Regression estimates the least-squares regression of y on x that the private records
// would give: x is N x k and y has one value for each public record; records without a
// number in one of them are left out. Standard errors are those of the sandwich
// formula (White 1980), and redraws for privacy. It corrects for covariate shift where
// y depends on the columns of the weights alike among private and public records.
// Error: [noren.Usage].
func (w *Weights) Regression(x *Points, y []float64) (*Regression, error) {
	if x.Rows != len(w.W) {
		return nil, usage("regression", "one row for each public record is needed", "")
	}
	y = w.asked(y)
	if err := w.fits(y); err != nil {
		return nil, err
	}
	k := x.Dim + 1
	var rows []int
	for i := range y {
		if !math.IsNaN(y[i]) && isWhole(x.Row(i)) {
			rows = append(rows, i)
		}
	}
	if len(rows) <= k {
		return nil, usage("regression", "there are not enough public records with values in every column", "")
	}
	at := func(i, j int) float64 {
		if j == 0 {
			return 1
		}
		return x.Row(i)[j-1]
	}
	fit := func(weights []float64) ([]float64, *mat.Cholesky, bool) {
		m, r := mat.NewSymDense(k, nil), make([]float64, k)
		for _, i := range rows {
			for a := range k {
				v := weights[i] * at(i, a)
				r[a] += v * y[i]
				for c := a; c < k; c++ {
					m.SetSym(a, c, m.At(a, c)+v*at(i, c))
				}
			}
		}
		var c mat.Cholesky
		if !c.Factorize(m) || c.Cond() > 1e14 {
			return nil, nil, false
		}
		beta, err := solve(&c, r)
		return beta, &c, err == nil
	}
	beta, chol, ok := fit(w.W)
	if !ok {
		return nil, usage("regression", "the columns cannot be told apart among the weighted public records", "leave out a column that follows from the others or hardly varies")
	}
	public, private := mat.NewSymDense(k, nil), mat.NewSymDense(k, nil)
	var sw, sy, left, all, everyone float64
	for _, v := range w.W {
		everyone += v
	}
	for _, i := range rows {
		sw += w.W[i]
		sy += w.W[i] * y[i]
	}
	row := mat.NewVecDense(k, nil)
	for _, i := range rows {
		r := y[i]
		for a := range k {
			row.SetVec(a, at(i, a))
			r -= beta[a] * at(i, a)
		}
		public.SymRankOne(public, w.W[i]*w.W[i]*r*r, row)
		private.SymRankOne(private, w.W[i]*r*r*everyone/w.Meta.Records, row)
		left += w.W[i] * r * r
		all += w.W[i] * (y[i] - sy/sw) * (y[i] - sy/sw)
	}
	moved := make([]deviation, k)
	err := w.redrawn(func(weights, _ []float64) {
		if b, _, ok := fit(weights); ok {
			for a, v := range b {
				moved[a].add(v)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	out := &Regression{Warnings: w.Meta.Check.Findings}
	if all > 0 {
		out.R2 = 1 - left/all
	}
	var inverse mat.SymDense
	if err := chol.InverseTo(&inverse); err != nil {
		if _, near := err.(mat.Condition); !near {
			return nil, broken("regression", "the linear system could not be solved")
		}
	}
	deviationOf := func(middle *mat.SymDense, a int) float64 {
		column := mat.NewVecDense(k, mat.Row(nil, a, &inverse))
		return math.Sqrt(max(0, mat.Inner(column, middle, column)))
	}
	for a, v := range beta {
		c := &Answer{Value: v, Parts: Parts{Public: deviationOf(public, a), Privacy: moved[a].sd(), Private: deviationOf(private, a)}}
		c.SE = c.Parts.total()
		out.Coefficients = append(out.Coefficients, c)
	}
	return out, nil
}
