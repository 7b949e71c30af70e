package ratio

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// edge is what of a question lies where the public records end (docs/density-ratio.md,
// section 7, Theorem 9): the regression of the question on the released features without
// those public records that the log-linear weights say the private table has most of,
// compared with the question there.
type edge struct {
	shares []float64 // of all rows of the public model in the weights, 0 at the edge
	out    []int     // rows at the edge
	mean   []float64 // of the features by shares
	gram   *mat.Cholesky
	line   bool // there is one column
}

const (
	// The edge has at most the 40th part of the public records, and at most a fifth of the
	// private ones by the log-linear weights.
	edgeShare = 40
	edgeMass  = 0.2
	// A record at the edge counts with at most so many standard deviations of the question.
	edgeCap = 3
	// In a single column the edge adds at most this times all other errors: kernels on a
	// line tell the mean beyond the last record well.
	edgeLine = 0.8
	// mostEdged is the number of columns above which every record is at an edge.
	mostEdged = 8
)

// newEdge returns nil where no public record is at an edge: one whose values another
// record has too, as with categories, is not. ridge is that of the corrections.
func (r *rich) newEdge(w *Weights, ridge float64) (*edge, error) {
	n, p := r.y.Dims()
	if w.public.Dim > mostEdged {
		return nil, nil
	}
	alike, places := map[string]int{}, make([]string, n)
	for k, i := range r.rows {
		var b []byte
		for _, v := range w.public.Row(i) {
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(v))
		}
		places[k] = string(b)
		alike[places[k]]++
	}
	var order []int
	for k := range n {
		if alike[places[k]] == 1 {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.other[b], r.other[a]) })
	e := &edge{shares: slices.Clone(r.shares), line: w.public.Dim == 1}
	mass, kept := 0.0, 1.0
	for _, k := range order[:min(len(order), n/edgeShare)] {
		if mass += r.other[k]; mass > edgeMass && len(e.out) > 0 {
			break
		}
		e.out = append(e.out, k)
		kept -= e.shares[k]
		e.shares[k] = 0
	}
	if len(e.out) == 0 || kept <= 0 {
		return nil, nil
	}
	for k := range e.shares {
		e.shares[k] /= kept
	}
	m, mean := weightedCovariance(r.y, e.shares)
	for l := range p {
		m.SetSym(l, l, m.At(l, l)+ridge)
	}
	e.mean = mean
	var ok bool
	if e.gram, ok = factorised(m); !ok {
		return nil, broken("the public model", "the released features could not be told apart")
	}
	return e, nil
}

// beyondEdge is how far an answer may be off because the public records end where private
// ones go on: the mean, by the log-linear weights, of what the regression without the edge
// misses there. others is the standard error of the answer from all else.
func (r *rich) beyondEdge(u []float64, others float64) float64 {
	e := r.edge
	if e == nil {
		return 0
	}
	m, square := 0.0, 0.0
	for k, s := range e.shares {
		v := u[r.rows[k]]
		m += s * v
		square += s * v * v
	}
	most := edgeCap * math.Sqrt(max(0, square-m*m))
	cov := make([]float64, len(e.mean))
	for k, s := range e.shares {
		if s == 0 {
			continue
		}
		d := s * (u[r.rows[k]] - m)
		for l, y := range r.y.RawRowView(k) {
			cov[l] += d * (y - e.mean[l])
		}
	}
	beta, err := solve(e.gram, cov)
	if err != nil {
		return others
	}
	off := 0.0
	for _, k := range e.out {
		x := u[r.rows[k]] - m
		for l, y := range r.y.RawRowView(k) {
			x -= beta[l] * (y - e.mean[l])
		}
		off += r.other[k] * min(most, max(-most, x))
	}
	if off = math.Abs(off); e.line {
		off = min(off, edgeLine*others)
	}
	return off
}
