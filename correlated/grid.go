package correlated

import (
	"math"

	"github.com/noren-privacy/noren"
)

// maxGrid bounds the points of one grid.
const maxGrid = 1 << 22

// gridRatios is [evaluator.ratios] with several coordinates. By Theorem 1' the
// supremum is attained on the grid of coordinate atoms: with all coordinates
// but one fixed, both densities are Laplace mixtures in that one. The box that
// holds all atoms is filled, and the passes are run along each axis in turn.
func (e *evaluator) gridRatios(dists []*dist, shift []int64, out []extreme) {
	lo := make([]int64, len(e.dims))
	hi := make([]int64, len(e.dims))
	for c := range lo {
		lo[c] = math.MaxInt64
	}
	each := func(visit func(a, i int, key int64)) {
		for a, l := range dists {
			if l == nil {
				continue
			}
			for i, v := range l.log {
				if v > negInf {
					visit(a, i, l.at(i)+shift[a])
				}
			}
		}
	}
	any := false
	each(func(_, _ int, key int64) {
		any = true
		for c := range e.dims {
			v := e.dims[c].coordinate(key)
			lo[c], hi[c] = min(lo[c], v), max(hi[c], v)
		}
	})
	if !any {
		return
	}
	width := make([]int, len(e.dims))
	total := 1
	for c := range width {
		width[c] = int(hi[c] - lo[c] + 1)
		if total > maxGrid/width[c] {
			e.failed = noren.Reasonf("%s: a grid has too many points", errBudget)
			return
		}
		total *= width[c]
	}
	e.work += total * len(e.dims) * len(dists)
	place := func(key int64) int {
		at, step := 0, 1
		for c := range e.dims {
			at += int(e.dims[c].coordinate(key)-lo[c]) * step
			step *= width[c]
		}
		return at
	}
	key := func(j int) int64 {
		k := int64(0)
		for c := range e.dims {
			k += (lo[c] + int64(j%width[c])) * e.dims[c].stride
			j /= width[c]
		}
		return k
	}
	live := func(a int) bool { return dists[a] != nil }
	for a := range dists {
		if live(a) {
			e.clear(a, total)
		}
	}
	each(func(a, i int, k int64) { e.den[a][place(k)] = dists[a].lin[i] })
	if e.alongAxes(len(dists), live, width, total, false) {
		e.compare(len(dists), live, key, out)
		return
	}
	for a := range dists {
		if live(a) {
			for j := range e.den[a] {
				e.den[a][j] = negInf
			}
		}
	}
	each(func(a, i int, k int64) { e.den[a][place(k)] = dists[a].log[i] })
	e.alongAxes(len(dists), live, width, total, true)
	e.compareLog(len(dists), live, key, out)
}

// alongAxes turns masses on the box into densities, axis after axis; on plain
// numbers it reports whether all stayed above the guard.
func (e *evaluator) alongAxes(k int, live func(int) bool, width []int, total int, logs bool) bool {
	var line []float64
	for a := range k {
		if !live(a) {
			continue
		}
		step := 1
		for c, w := range width {
			if cap(line) < w {
				line = make([]float64, w)
			}
			line = line[:w]
			one := &evaluator{rates: e.rates[c : c+1], rho: e.rho[c : c+1], tmp: e.tmp}
			for from := range total {
				if from/step%w != 0 {
					continue
				}
				for i := range line {
					line[i] = e.den[a][from+i*step]
				}
				if logs {
					one.smoothLog(line, func(int) float64 { return e.rates[c] })
				} else {
					one.smooth(line)
				}
				for i := range line {
					e.den[a][from+i*step] = line[i]
				}
			}
			e.tmp = one.tmp
			step *= w
		}
		if !logs {
			for _, v := range e.den[a] {
				if v < guard {
					return false
				}
			}
		}
	}
	return true
}
