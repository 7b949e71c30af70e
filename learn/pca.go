package learn

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
)

// PCA are principal components: the directions in which records differ most.
type PCA struct {
	Mean       []float64   // of the d features
	Components [][]float64 // components x features, of length 1, the widest first
	Variance   []float64   // along each component, with n-1 below
	Share      []float64   // of the whole variance
}

// FitPCA returns the first components of x, n records x d features, n >= 2. Of
// the two directions of a component that one is taken whose largest entry is
// positive, so that the result is determined.
func FitPCA(x *Matrix, components int) (*PCA, error) {
	if err := checkMatrix(x); err != nil {
		return nil, err
	}
	if x.Rows < 2 || components < 1 || components > min(x.Rows, x.Cols) {
		return nil, &noren.Error{Kind: noren.Usage, What: "%d {component|components} of %d {record|records} with %d {feature|features}: take " +
			"1 or more, and no more than either", Args: []any{components, x.Rows, x.Cols}}
	}
	mean, _ := moments(x)
	cov := mat.NewSymDense(x.Cols, nil)
	centred := NewMatrix(x.Rows, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			centred.Set(i, j, v-mean[j])
		}
	}
	cov.SymOuterK(1/float64(x.Rows-1), mat.NewDense(x.Rows, x.Cols, centred.Data).T())
	var eigen mat.EigenSym
	if !eigen.Factorize(cov, true) {
		return nil, &noren.Error{What: "eigendecomposition of the covariance matrix failed"}
	}
	values := eigen.Values(nil) // ascending
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	whole := 0.0
	for _, v := range values {
		whole += max(v, 0)
	}
	p := &PCA{Mean: mean}
	for c := range components {
		k := x.Cols - 1 - c
		v := mat.Col(nil, k, &vectors)
		largest := 0
		for j := range v {
			if math.Abs(v[j]) > math.Abs(v[largest]) {
				largest = j
			}
		}
		if v[largest] < 0 {
			for j := range v {
				v[j] = -v[j]
			}
		}
		p.Components = append(p.Components, v)
		p.Variance = append(p.Variance, max(values[k], 0))
		share := 0.0
		if whole > 0 {
			share = max(values[k], 0) / whole
		}
		p.Share = append(p.Share, share)
	}
	return p, nil
}

// Apply returns the records of x in the coordinates of the components.
func (p *PCA) Apply(x *Matrix) (*Matrix, error) {
	if x.Cols != len(p.Mean) {
		return nil, &noren.Error{Kind: noren.Usage, What: "the components were fitted on another number of features"}
	}
	z := NewMatrix(x.Rows, len(p.Components))
	offset := make([]float64, len(p.Components))
	for c, v := range p.Components {
		offset[c] = dot(v, p.Mean)
	}
	for i := range x.Rows {
		for c, v := range p.Components {
			z.Set(i, c, dot(v, x.Row(i))-offset[c])
		}
	}
	return z, nil
}

// CovarianceWithClass returns how strongly each feature of x goes with the
// class: the length of the vector of its covariances with the indicators of the
// classes (n below). With two classes this is sqrt(2) |cov(feature, class)|.
// Scale x first, or the feature with the largest unit wins.
func CovarianceWithClass(x *Matrix, y []int) ([]float64, error) {
	classes, err := checkClasses(x, y)
	if err != nil {
		return nil, err
	}
	mean, _ := moments(x)
	sums := NewMatrix(classes, x.Cols)
	for i, c := range y {
		row := sums.Row(c)
		for j, v := range x.Row(i) {
			row[j] += v - mean[j]
		}
	}
	strength := make([]float64, x.Cols)
	for j := range strength {
		for c := range classes {
			strength[j] = math.Hypot(strength[j], sums.At(c, j)/float64(x.Rows))
		}
	}
	return strength, nil
}

// SelectByCovariance returns the k features that go most strongly with the class
// ([CovarianceWithClass]), ascending; of equals the first.
func SelectByCovariance(x *Matrix, y []int, k int) ([]int, error) {
	strength, err := CovarianceWithClass(x, y)
	if err != nil {
		return nil, err
	}
	if k < 1 || k > x.Cols {
		return nil, &noren.Error{
			Kind: noren.Usage, What: "%d {feature|features} of %d: take 1 or more, and no more than there are",
			Args: []any{k, x.Cols},
		}
	}
	order := make([]int, x.Cols)
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case strength[a] > strength[b]:
			return -1
		case strength[a] < strength[b]:
			return 1
		}
		return 0
	})
	chosen := order[:k]
	slices.Sort(chosen)
	return chosen, nil
}
