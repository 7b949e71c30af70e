package ratio

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// edge is the standard error of the mean of u by weights that differ along the question:
// exp(theta.z) with z the coordinates, their squares and what the public model tells of u,
// fitted to what was released. It is 0 unless the largest parts of that mean rule it: where
// the private records lie at the edge of the public ones, few public records show how u
// goes on there, and residuals of a fit to all of them are too small (docs/density-ratio.md,
// Theorem 9). u has one value for each public record and fitted one for each row.
func (r *rich) edge(u, fitted []float64) float64 {
	z := independent(r.columns, fitted)
	if z == nil {
		return 0
	}
	_, q := z.Dims()
	w := r.tilt(z, make([]float64, q), edgeSteps).weights
	// Where the ratio of the tables has a bound the error has a variance.
	sorted := slices.Clone(w)
	slices.Sort(sorted)
	if hill(sorted, min(max(leastTail, len(w)/20), len(w)/2)) <= bounded {
		return 0
	}
	own := make([]float64, len(r.rows))
	for k, i := range r.rows {
		own[k] = u[i]
	}
	of, told := singlesOf(w, own), singlesOf(w, fitted)
	if !of.ruled() && !told.ruled() {
		return 0
	}
	// Of more records than the rows the error is smaller.
	return math.Sqrt(of.square * of.enlarged(1/of.weight2) * float64(len(r.rows)) / r.count)
}

const (
	edgeSteps = 15
	// noVariance is Hill's index of a distribution whose variance just ends.
	noVariance = 0.5
	// bounded is Hill's index of weights up to which they are taken to have a bound (its
	// index is 0); chosen on the settings of docs/density-ratio.md, section 15.
	bounded = 0.15
	// mostEdge bounds the standard error with the edge by the one without: the released
	// features follow most of a question also there.
	mostEdge = 2.25
	// mostEdgeOfLine is the same for a single column, where kernels tell the mean near the last
	// record well. Beyond it w u has no variance, and a warning says so.
	mostEdgeOfLine = 1.3
)

// singlesOf are the parts of the mean of v by w.
func singlesOf(w, v []float64) *singles {
	of, mean := &singles{}, 0.0
	for k, x := range v {
		mean += w[k] * x
	}
	for k, x := range v {
		of.add(w[k], x-mean)
	}
	of.shape(w, v, mean)
	return of
}

// ruled reports that the largest parts rule a mean.
func (t *singles) ruled() bool { return t.skewed() && t.index > noVariance }

// withEdge are the parts of a standard error whose public part is at least edge.
func (p Parts) withEdge(edge float64, columns int) Parts {
	most := mostEdge
	if columns == 1 {
		most = mostEdgeOfLine
	}
	rest := p
	rest.Public = 0
	most *= p.total()
	most = math.Sqrt(max(0, most*most-rest.total()*rest.total()))
	p.Public = max(p.Public, min(edge, most))
	return p
}

// independent are the columns of z and one more, each of variance 1 and less its regression
// on those before it, without those of which that leaves nearly nothing; nil where none is
// left.
func independent(z *mat.Dense, more []float64) *mat.Dense {
	n, q := z.Dims()
	out := mat.NewDense(n, q+1, nil)
	kept := 0
	for j := range q + 1 {
		c := slices.Clone(more)
		if j < q {
			mat.Col(c, j, z)
		}
		mean := 0.0
		for _, v := range c {
			mean += v / float64(n)
		}
		for k := range c {
			c[k] -= mean
		}
		before := dot(c, c)
		for l := range kept {
			d := mat.Col(nil, l, out)
			by := dot(c, d) / float64(n)
			for k := range c {
				c[k] -= by * d[k]
			}
		}
		left := dot(c, c)
		if !(left > 1e-4*before) || left/float64(n) < 1e-12 {
			continue
		}
		sd := math.Sqrt(left / float64(n))
		for k := range c {
			c[k] /= sd
		}
		out.SetCol(kept, c)
		kept++
	}
	if kept == 0 {
		return nil
	}
	return out.Slice(0, n, 0, kept).(*mat.Dense)
}
