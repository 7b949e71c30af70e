package ratio

import (
	"context"
	"math"
	"math/big"
	"math/bits"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/cputime"
)

// blockRows is how many records are worked on at once. It is fixed, so that no
// result depends on the number of processors.
const blockRows = 512

// eachBlock calls work for every block of rows, on all processors, and stops when
// the context ends. Each goroutine calls start once for memory of its own.
func eachBlock(ctx context.Context, rows int, start func() func(lo, hi int)) error {
	blocks := (rows + blockRows - 1) / blockRows
	var next atomic.Int64
	var wg sync.WaitGroup
	worker := func() {
		work := start()
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= blocks {
				return
			}
			work(i*blockRows, min(rows, (i+1)*blockRows))
		}
	}
	for range min(cputime.Workers(ctx), blocks) - 1 {
		wg.Go(worker)
	}
	worker()
	wg.Wait()
	return ctx.Err()
}

// fixedBits: kernels are added in units of 2^-52. A block of 512 kernels of at most
// 1 stays below 2^62.
const fixedBits = 52

// Sum returns s = sum over the records of phi(x), b numbers of units of 2^-52: each
// kernel is rounded to a whole number of units on its own, and the sum is exact. So
// it does not depend on the order of the records, on blocks or on workers, to the
// last bit, and what one record can change in it is what that record's own rounded
// kernels can.
func (k *Kernel) Sum(ctx context.Context, x *Points) ([]*big.Int, error) {
	b := k.Size()
	if x.Dim != k.Centres.Dim {
		return nil, noren.Usagef("records", "records and centres have another number of coordinates")
	}
	type wide struct{ hi, lo uint64 }
	total := make([]wide, b)
	var mu sync.Mutex
	err := eachBlock(ctx, x.Rows, func() func(lo, hi int) {
		phi, sum := make([]float64, b), make([]uint64, b)
		return func(lo, hi int) {
			clear(sum)
			for i := lo; i < hi; i++ {
				k.Phi(phi, x.Row(i))
				for l, v := range phi {
					sum[l] += uint64(int64(v*(1<<fixedBits) + 0.5)) // at most 2^52: a signed number is converted in one go
				}
			}
			mu.Lock()
			for l, s := range sum {
				var carry uint64
				total[l].lo, carry = bits.Add64(total[l].lo, s, 0)
				total[l].hi += carry
			}
			mu.Unlock()
		}
	})
	if err != nil {
		return nil, err
	}
	out := make([]*big.Int, b)
	for l, t := range total {
		out[l] = new(big.Int).SetUint64(t.hi)
		out[l].Lsh(out[l], 64).Add(out[l], new(big.Int).SetUint64(t.lo))
	}
	return out, nil
}

// Mean returns h = (1/n) sum over the records of phi(x), b numbers: the only thing
// that the method takes from private data. It is the exact sum of [Kernel.Sum]
// divided by n, rounded once.
func (k *Kernel) Mean(ctx context.Context, x *Points) ([]float64, error) {
	if x.Rows < 1 {
		return nil, noren.Usagef("records", "at least one record is needed")
	}
	s, err := k.Sum(ctx, x)
	if err != nil {
		return nil, err
	}
	return fixedMean(s, x.Rows), nil
}

// fixedMean divides sums of units of 2^-52 by n.
func fixedMean(s []*big.Int, n int) []float64 {
	h := make([]float64, len(s))
	den := new(big.Int).Lsh(big.NewInt(int64(n)), fixedBits)
	for l, v := range s {
		h[l], _ = new(big.Rat).SetFrac(v, den).Float64()
	}
	return h
}

// Features are the public half: the kernels of the public records and their second
// moments. They are not changed once made.
type Features struct {
	Kernel *Kernel
	Phi    *mat.Dense    // N x b
	H      *mat.SymDense // b x b: (1/N) sum of phi phi^T
}

// stripes is into how many runs the public records are cut for H. Each is added in
// order and then the runs are, so that H does not depend on the workers.
const stripes = 16

// NewFeatures computes the kernels of the public records e (N x d), which take 8 N b
// bytes. Errors: [noren.Usage], or the context's.
func NewFeatures(ctx context.Context, k *Kernel, e *Points) (*Features, error) {
	if e.Rows < 2 || e.Dim != k.Centres.Dim {
		return nil, noren.Usagef(noren.Phrase("public records"),
			"at least two public records are needed, with as many coordinates as the centres")
	}
	n, b := e.Rows, k.Size()
	phi := mat.NewDense(n, b, nil)
	err := eachBlock(ctx, n, func() func(lo, hi int) {
		return func(lo, hi int) {
			for i := lo; i < hi; i++ {
				k.Phi(phi.RawRowView(i), e.Row(i))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	var parts [stripes]*mat.SymDense
	var next atomic.Int64
	var wg sync.WaitGroup
	worker := func() {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= stripes {
				return
			}
			parts[i] = mat.NewSymDense(b, nil)
			raw := phi.RawMatrix()
			for lo, end := n*i/stripes, n*(i+1)/stripes; lo < end && ctx.Err() == nil; lo += blockRows {
				rows := min(blockRows, end-lo)
				blas64.Syrk(blas.Trans, 1, blas64.General{Rows: rows, Cols: b, Stride: raw.Stride, Data: raw.Data[lo*raw.Stride:]}, 1,
					parts[i].RawSymmetric())
			}
		}
	}
	for range min(cputime.Workers(ctx), stripes) - 1 {
		wg.Go(worker)
	}
	worker()
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h := mat.NewSymDense(b, nil)
	for _, p := range parts {
		h.AddSym(h, p)
	}
	h.ScaleSym(1/float64(n), h)
	return &Features{Kernel: k, Phi: phi, H: h}, nil
}

// Size is p, the number of features.
func (f *Features) Size() int { _, p := f.Phi.Dims(); return p }

// Rows is N.
func (f *Features) Rows() int { r, _ := f.Phi.Dims(); return r }

// ridge is the Cholesky factor of H + lambda I.
func (f *Features) ridge(lambda float64) (*mat.Cholesky, error) {
	if !(lambda > 0) || math.IsInf(lambda, 1) {
		return nil, noren.Usagef("lambda", "lambda must be a number above 0")
	}
	b := f.Kernel.Size()
	a := mat.NewSymDense(b, nil)
	a.CopySym(f.H)
	for l := range b {
		a.SetSym(l, l, a.At(l, l)+lambda)
	}
	var c mat.Cholesky
	if !c.Factorize(a) {
		return nil, noren.Usagef("lambda", "the kernels of the public records cannot be told apart at so small a lambda").
			Hinted("use a larger lambda or fewer centres")
	}
	return &c, nil
}

// Solve returns alpha~ = (H + lambda I)^-1 h, b numbers: uLSIF without the
// positive part (Kanamori, Hido and Sugiyama 2009, section 2). Error: [noren.Usage].
func (f *Features) Solve(h []float64, lambda float64) ([]float64, error) {
	if len(h) != f.Kernel.Size() {
		return nil, noren.Usagef("h", "one mean for each centre is needed")
	}
	c, err := f.ridge(lambda)
	if err != nil {
		return nil, err
	}
	return solve(c, h)
}

func solve(c *mat.Cholesky, h []float64) ([]float64, error) {
	x := mat.NewVecDense(len(h), nil)
	if err := c.SolveVecTo(x, mat.NewVecDense(len(h), h)); err != nil {
		if _, near := err.(mat.Condition); !near {
			return nil, broken("uLSIF", "the linear system could not be solved")
		}
	}
	return x.RawVector().Data, nil
}

// At returns phi(e_i) . alpha for the N public records, which may be negative.
func (f *Features) At(alpha []float64) []float64 {
	w := mat.NewVecDense(f.Rows(), nil)
	w.MulVec(f.Phi, mat.NewVecDense(len(alpha), alpha))
	return w.RawVector().Data
}
