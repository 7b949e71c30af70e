package ratio

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
)

// Regression is a linear regression on the weighted public records.
type Regression struct {
	// Coefficients are the intercept and one for each column of x. Carried is not
	// looked at for them, and 0.
	Coefficients []*Answer `json:"coefficients"`
	// R2 is the share of the weighted variation of y that it explains.
	R2       float64      `json:"r2"`
	Warnings []noren.Text `json:"warnings,omitempty"`
}

// Regression estimates the least-squares regression of y on x that the private records
// would give: x is N x k and y has one value for each public record; records without a
// number in one of them are left out. The estimating equations of least squares are
// corrected as means are, and so are their errors. It corrects for covariate shift where
// y depends on the columns of the weights alike among private and public records.
// Error: [noren.Usage].
func (w *Weights) Regression(x *Points, y []float64) (*Regression, error) {
	if x.Rows != len(w.W) {
		return nil, noren.Usagef("regression", "one row for each public record is needed")
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
		return nil, noren.Usagef("regression", "there are not enough public records with values in every column")
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
		return nil, noren.Usagef("regression", "the columns cannot be told apart among the weighted public records").
			Hinted("leave out a column that follows from the others or hardly varies")
	}
	var inverse mat.SymDense
	if err := chol.InverseTo(&inverse); err != nil && !isCondition(err) {
		return nil, broken(noren.Phrase("regression"), "the linear system could not be solved")
	}
	var sw, sy, left, all float64
	for _, i := range rows {
		sw += w.W[i]
		sy += w.W[i] * y[i]
	}
	scores := make([]float64, len(y))
	for _, i := range rows {
		r := y[i]
		for a := range k {
			r -= beta[a] * at(i, a)
		}
		scores[i] = r
		left += w.W[i] * r * r
		all += w.W[i] * (y[i] - sy/sw) * (y[i] - sy/sw)
	}
	total := 0.0
	for _, v := range w.W {
		total += v
	}
	out, followed, heavy, untold := &Regression{}, true, false, false
	if all > 0 {
		out.R2 = 1 - left/all
	}
	// One step of Newton's method from the weighted solution: coefficient a is moved by the
	// corrected mean of its influence (A^-1 x_i)_a (y_i - x_i.beta), A the weighted mean of
	// x x^T, whose weighted mean is 0.
	u := make([]float64, len(y))
	for a, v := range beta {
		for _, i := range rows {
			u[i] = 0
			for j := range k {
				u[i] += inverse.At(a, j) * at(i, j)
			}
			u[i] *= scores[i] * total
		}
		c, err := w.correct(u)
		if err != nil {
			return nil, err
		}
		out.Coefficients = append(out.Coefficients, &Answer{Value: v + c.value, Parts: c.parts, SE: c.parts.total()})
		followed, heavy, untold = followed && c.followed, heavy || c.heavy, untold || c.untold
	}
	out.Warnings = append(w.findings(followed), doubts(heavy, untold)...)
	return out, nil
}
