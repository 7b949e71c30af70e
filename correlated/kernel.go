package correlated

import (
	"math"
	"slices"

	"github.com/noren-privacy/noren"
)

// maxStates is how many states a record may have: supports are kept as bits.
const maxStates = 64

// sumTolerance is how far the sum of a row of probabilities may be from one;
// a row within it is scaled to one.
const sumTolerance = 1e-9

// kernel is a matrix of conditional probabilities: rows states of the one
// record, columns states of the other. A distribution without a condition has one row.
type kernel struct {
	rows, cols int
	p          []float64 // row-major; every row sums to one
	log        []float64
}

func (k *kernel) at(x, y int) float64    { return k.p[x*k.cols+y] }
func (k *kernel) logAt(x, y int) float64 { return k.log[x*k.cols+y] }

// newKernel checks and copies a matrix. where names it in errors.
func newKernel(m [][]float64, where string) (*kernel, error) {
	if len(m) == 0 {
		return nil, &noren.Error{Kind: noren.Usage, Where: where, What: "a matrix needs at least one row"}
	}
	k := &kernel{rows: len(m), cols: len(m[0])}
	if err := checkStates(k.rows, where); err != nil {
		return nil, err
	}
	k.p = make([]float64, 0, k.rows*k.cols)
	for x, row := range m {
		if len(row) != k.cols {
			return nil, noren.Usagef(index(where, x), "this row has %d {entry|entries} and the first has %d", len(row), k.cols)
		}
		row, err := newDistribution(row, index(where, x))
		if err != nil {
			return nil, err
		}
		k.p = append(k.p, row...)
	}
	k.log = logs(k.p)
	return k, nil
}

// newDistribution checks that p is a distribution and returns it scaled to sum to one.
func newDistribution(p []float64, where string) ([]float64, error) {
	if err := checkStates(len(p), where); err != nil {
		return nil, err
	}
	return scaled(p, where)
}

// scaled checks that p holds probabilities whose sum is one within the
// tolerance, and returns them divided by that sum.
func scaled(p []float64, where string) ([]float64, error) {
	sum := 0.0
	for i, v := range p {
		if !(v >= 0 && v <= 1) { // NaN fails too
			return nil, noren.Usagef(index(where, i), "a probability lies between 0 and 1")
		}
		sum += v
	}
	if !(math.Abs(sum-1) <= sumTolerance) {
		return nil, noren.Usagef(where, "the probabilities sum to %.12g, not to 1", sum)
	}
	out := slices.Clone(p)
	if sum != 1 {
		for i := range out {
			out[i] /= sum
		}
	}
	return out, nil
}

func checkStates(n int, where string) error {
	if n < 1 || n > maxStates {
		return noren.Usagef(where, "a record has between 1 and %d states, and here are %d", maxStates, n)
	}
	return nil
}

func logs(p []float64) []float64 {
	l := make([]float64, len(p))
	for i, v := range p {
		l[i] = math.Log(v)
	}
	return l
}

// kernelPool holds each distinct matrix once, so that a chain of a million
// equal steps takes the memory of one, and equal parts of a model are known to be
// equal.
type kernelPool struct {
	all    []*kernel
	byHash map[uint64][]int32
	// bySlice remembers the matrices that callers share between records.
	bySlice map[*[]float64]sharedMatrix
}

type sharedMatrix struct {
	rows int
	id   int32
}

func newKernelPool() *kernelPool {
	return &kernelPool{byHash: map[uint64][]int32{}, bySlice: map[*[]float64]sharedMatrix{}}
}

// intern returns the number of the matrix m, which must not change meanwhile.
func (s *kernelPool) intern(m [][]float64, where string) (int32, error) {
	if len(m) > 0 {
		if known, ok := s.bySlice[&m[0]]; ok && known.rows == len(m) {
			return known.id, nil
		}
	}
	k, err := newKernel(m, where)
	if err != nil {
		return 0, err
	}
	id := s.add(k)
	s.bySlice[&m[0]] = sharedMatrix{len(m), id}
	return id, nil
}

func (s *kernelPool) add(k *kernel) int32 {
	h := hashFloats(uint64(k.rows)<<32|uint64(k.cols), k.p)
	for _, id := range s.byHash[h] {
		if o := s.all[id]; o.rows == k.rows && o.cols == k.cols && slices.Equal(o.p, k.p) {
			return id
		}
	}
	id := int32(len(s.all))
	s.all = append(s.all, k)
	s.byHash[h] = append(s.byHash[h], id)
	return id
}

func hashFloats(h uint64, v []float64) uint64 {
	for _, x := range v {
		h = hashWord(h, math.Float64bits(x))
	}
	return h
}

// hashWord mixes w into h (the finaliser of splitmix64).
func hashWord(h, w uint64) uint64 {
	h ^= w + 0x9e3779b97f4a7c15 + h<<6 + h>>2
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}
