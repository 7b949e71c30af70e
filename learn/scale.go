package learn

import (
	"math"

	"github.com/noren-privacy/noren"
)

// Scaler brings features to a common scale: (x - Shift) / Scale, feature by
// feature.
type Scaler struct {
	Shift, Scale []float64 // one each feature; a scale is never 0
}

// FitScaler returns the scaler to mean 0 and variance 1 over the records of x
// (the variance with n below, as scikit-learn's StandardScaler). A feature that
// does not vary is moved to 0 and not stretched.
func FitScaler(x *Matrix) (*Scaler, error) {
	if err := checkMatrix(x); err != nil {
		return nil, err
	}
	mean, variance := moments(x)
	s := &Scaler{Shift: mean, Scale: variance}
	for j, v := range variance {
		s.Scale[j] = math.Sqrt(v)
		if s.Scale[j] == 0 {
			s.Scale[j] = 1
		}
	}
	return s, nil
}

// Apply returns the scaled copy of x, which has as many features as s was
// fitted on.
func (s *Scaler) Apply(x *Matrix) (*Matrix, error) {
	if x.Cols != len(s.Shift) {
		return nil, &noren.Error{Kind: noren.Usage, What: "the scaler was fitted on another number of features"}
	}
	z := NewMatrix(x.Rows, x.Cols)
	for i := range x.Rows {
		from, to := x.Row(i), z.Row(i)
		for j, v := range from {
			to[j] = (v - s.Shift[j]) / s.Scale[j]
		}
	}
	return z, nil
}

// moments are the mean and the variance (n below) of each feature, in two
// passes. A feature that is one number throughout has variance 0 exactly,
// whatever its mean was rounded to.
func moments(x *Matrix) (mean, variance []float64) {
	mean, variance = make([]float64, x.Cols), make([]float64, x.Cols)
	constant := make([]bool, x.Cols)
	for j := range constant {
		constant[j] = true
	}
	n := float64(x.Rows)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			mean[j] += v
			constant[j] = constant[j] && v == x.Data[j]
		}
	}
	for j := range mean {
		mean[j] /= n
		if constant[j] {
			mean[j] = x.Data[j]
		}
	}
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			variance[j] += (v - mean[j]) * (v - mean[j])
		}
	}
	for j := range variance {
		variance[j] /= n
	}
	return mean, variance
}
