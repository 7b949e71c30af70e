package ratio

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// outerRows is how many rows [outerSum] takes at once: they stay in the cache.
const outerRows = 32

// outerSum is a sum of products of rows with themselves, of which the upper half is kept.
// Rows are added in order and in runs of outerRows, in the same way on every machine.
type outerSum struct {
	sum  *mat.SymDense
	rows []float64
	p    int
}

func newOuterSum(p int) *outerSum {
	return &outerSum{sum: mat.NewSymDense(p, nil), rows: make([]float64, 0, outerRows*p), p: p}
}

// add adds root row (root row)^T.
func (o *outerSum) add(root float64, row []float64) {
	for _, v := range row[:o.p] {
		o.rows = append(o.rows, root*v)
	}
	if len(o.rows) == cap(o.rows) {
		o.flush()
	}
}

// flush adds the rows that were gathered, by tiles of two by four numbers.
func (o *outerSum) flush() {
	p, rows, sum := o.p, o.rows, o.sum.RawSymmetric()
	for i := 0; i < p; i += 2 {
		if i+1 == p {
			o.plain(i, i, p)
			break
		}
		j := i
		for ; j+4 <= p; j += 4 {
			var s00, s01, s02, s03, s10, s11, s12, s13 float64
			for at := 0; at < len(rows); at += p {
				x, y := (*[2]float64)(rows[at+i:]), (*[4]float64)(rows[at+j:])
				s00 += float64(x[0] * y[0])
				s01 += float64(x[0] * y[1])
				s02 += float64(x[0] * y[2])
				s03 += float64(x[0] * y[3])
				s10 += float64(x[1] * y[0])
				s11 += float64(x[1] * y[1])
				s12 += float64(x[1] * y[2])
				s13 += float64(x[1] * y[3])
			}
			a, b := (*[4]float64)(sum.Data[i*sum.Stride+j:]), (*[4]float64)(sum.Data[(i+1)*sum.Stride+j:])
			a[0], a[1], a[2], a[3] = a[0]+s00, a[1]+s01, a[2]+s02, a[3]+s03
			if j > i { // below the diagonal nothing is kept
				b[0] += s10
			}
			b[1], b[2], b[3] = b[1]+s11, b[2]+s12, b[3]+s13
		}
		o.plain(i, j, p)
		o.plain(i+1, max(j, i+1), p)
	}
	o.rows = o.rows[:0]
}

// plain adds the products of column i and those from..to-1.
func (o *outerSum) plain(i, from, to int) {
	sum := o.sum.RawSymmetric()
	for j := from; j < to; j++ {
		s := 0.0
		for at := 0; at < len(o.rows); at += o.p {
			s += float64(o.rows[at+i] * o.rows[at+j])
		}
		sum.Data[i*sum.Stride+j] += s
	}
}

// covariance is that of the rows of psi under weights that add up to sum, and their mean.
func covariance(psi *mat.Dense, w []float64, sum float64) (*mat.SymDense, []float64) {
	_, p := psi.Dims()
	mean, o := make([]float64, p), newOuterSum(p)
	for i, v := range w {
		if v == 0 {
			continue
		}
		row := psi.RawRowView(i)
		o.add(math.Sqrt(v), row)
		for l, x := range row {
			mean[l] += v * x
		}
	}
	o.flush()
	for l := range mean {
		mean[l] /= sum
	}
	out := o.sum
	out.ScaleSym(1/sum, out)
	out.SymRankOne(out, -1, mat.NewVecDense(p, mean))
	return out, mean
}
