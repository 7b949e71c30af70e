package ldp

import (
	"context"
	"encoding/binary"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
)

// Evidence is what one report says of a value: numbers proportional to the
// probability of the report given each label. See [Likelihood] and
// [Map.Likelihood].
type Evidence []float64

// Likelihood returns what a report says of the labels of an oracle. The report
// must be one that Check accepts.
func Likelihood(o Oracle, r Report) Evidence {
	c := o.Channel()
	e := make(Evidence, o.Domain())
	for l := range e {
		e[l] = c.Off
		if o.Supports(r, l) {
			e[l] = c.On
		}
	}
	return e
}

// Likelihood returns what a report says of the candidates of a map and, as the
// last, of all other words together. Of an other word nothing is known, so each
// of its Bloom bits is taken as set as often as chance sets it, which makes the
// estimate of the rest a rough one.
func (m *Map) Likelihood(r RapporReport) (Evidence, error) {
	if int64(r.Cohort) >= m.r.M {
		return nil, &noren.Error{Kind: noren.BadData, Where: "report", Err: errCohort}
	}
	one, zero := m.r.bitProbabilities()
	// Relative to a filter without bits.
	on, off := one/zero, (1-one)/(1-zero)
	factor := func(bit uint32) float64 {
		if r.Bits>>bit&1 == 1 {
			return on
		}
		return off
	}
	e := make(Evidence, len(m.Words)+1)
	for j, bits := range m.bits {
		e[j] = 1
		var done uint32
		for _, at := range bits[int(r.Cohort)*m.r.H : int(r.Cohort+1)*m.r.H] {
			bit := at - r.Cohort*uint32(m.r.K)
			if done>>bit&1 == 0 {
				done |= 1 << bit
				e[j] *= factor(bit)
			}
		}
	}
	set := -math.Expm1(float64(m.r.H) * math.Log1p(-1/float64(m.r.K)))
	if m.r.K == 1 {
		set = 1
	}
	other := 1.0
	for bit := range uint32(m.r.K) {
		other *= 1 - set + set*factor(bit)
	}
	e[len(m.Words)] = other
	return e, nil
}

// Joint is the estimated joint distribution of two attributes.
type Joint struct {
	N          int
	Share      [][]float64 // labels of the first x labels of the second, adding up to 1
	StdErr     [][]float64 // NaN where the share is at 0
	Iterations int
	Converged  bool
}

// maxCells bounds the joint distributions that are estimated.
const maxCells = 1 << 14

// Associate estimates the joint distribution of two attributes of the same people
// from what their reports say of each, by expectation maximisation (Fanti, Pihur
// and Erlingsson, PoPETs 2016): a[i] and b[i] are the evidence of person i.
// The two reports of a person must have been randomised independently; they cost
// the sum of their losses. Standard errors are from the observed information.
func Associate(ctx context.Context, a, b []Evidence, o EM) (*Joint, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if len(a) == 0 || len(a) != len(b) {
		return nil, &noren.Error{Kind: noren.Usage, What: "both attributes need the evidence of the same people, at least one"}
	}
	ka, kb := len(a[0]), len(b[0])
	if ka < 1 || kb < 1 || ka > maxCells || kb > maxCells/ka {
		return nil, &noren.Error{Kind: noren.Usage, What: "the labels of both, multiplied, must be between 1 and %d", Args: []any{maxCells}}
	}
	patterns, err := gather(a, b, ka, kb)
	if err != nil {
		return nil, err
	}
	j := &Joint{N: len(a)}
	f, next := make([]float64, ka*kb), make([]float64, ka*kb)
	for c := range f {
		f[c] = 1 / float64(len(f))
	}
	last := math.Inf(-1)
	for j.Iterations = 1; j.Iterations <= o.MaxIterations; j.Iterations++ {
		clear(next)
		likelihood := 0.0
		for at, p := range patterns {
			if at&255 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			whole := p.dot(f, kb)
			if !(whole > 0) {
				return nil, &noren.Error{
					Kind: noren.BadData, What: "a report that no pair of labels could have made",
					Hint: "see whether the parameters belong to the reports",
				}
			}
			likelihood += p.n * math.Log(whole)
			scale := p.n / whole
			for x, ex := range p.a {
				row := next[x*kb : (x+1)*kb]
				s := scale * ex
				for y, ey := range p.b {
					row[y] += s * ey
				}
			}
		}
		for c := range f {
			f[c] *= next[c] / float64(len(a))
		}
		normalise(f)
		likelihood /= float64(len(a))
		if math.Abs(likelihood-last) < o.Tolerance {
			j.Converged = true
			break
		}
		last = likelihood
	}
	j.Iterations = min(j.Iterations, o.MaxIterations)
	se, err := informationErrors(ctx, patterns, f, kb)
	if err != nil {
		return nil, err
	}
	for x := range ka {
		j.Share = append(j.Share, f[x*kb:(x+1)*kb])
		j.StdErr = append(j.StdErr, se[x*kb:(x+1)*kb])
	}
	return j, nil
}

// pattern is evidence that n people share.
type pattern struct {
	a, b Evidence
	n    float64
}

// dot is the likelihood of the pattern under f.
func (p *pattern) dot(f []float64, kb int) float64 {
	whole := 0.0
	for x, ex := range p.a {
		part := 0.0
		for y, ey := range p.b {
			part += ey * f[x*kb+y]
		}
		whole += ex * part
	}
	return whole
}

// gather puts people with the same evidence together: few labels have few
// different reports, however many people.
func gather(a, b []Evidence, ka, kb int) ([]*pattern, error) {
	index := make(map[string]*pattern)
	var all []*pattern
	var key []byte
	for i := range a {
		if len(a[i]) != ka || len(b[i]) != kb {
			return nil, &noren.Error{Kind: noren.Usage, Where: noren.Textf("person %d", i+1), What: "evidence of another number of labels"}
		}
		key = key[:0]
		for _, e := range [...]Evidence{a[i], b[i]} {
			for _, v := range e {
				if !(v >= 0) || math.IsInf(v, 0) {
					return nil, &noren.Error{
						Kind: noren.BadData, Where: noren.Textf("person %d", i+1),
						What: "evidence that is not a finite number from 0 up",
					}
				}
				key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v))
			}
		}
		p := index[string(key)]
		if p == nil {
			p = &pattern{a: a[i], b: b[i]}
			index[string(key)] = p
			all = append(all, p)
		}
		p.n++
	}
	return all, nil
}

// informationErrors are the standard errors of the shares that are not at 0: the
// log-likelihood's second derivative in all shares but one, which follows from
// the others, is -sum n d d'/P^2 with d the differences to that one's evidence.
func informationErrors(ctx context.Context, patterns []*pattern, f []float64, kb int) ([]float64, error) {
	se := make([]float64, len(f))
	var inside []int
	for c, v := range f {
		se[c] = math.NaN()
		if v > 1e-6 {
			inside = append(inside, c)
		}
	}
	free := len(inside) - 1
	if free < 1 || free > 1000 {
		return se, nil // nothing varies, or too many to invert: no errors are stated
	}
	info := mat.NewSymDense(free, nil)
	d := mat.NewVecDense(free, nil)
	last := inside[free]
	for at, p := range patterns {
		if at&255 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		whole := p.dot(f, kb)
		base := p.a[last/kb] * p.b[last%kb]
		for i, c := range inside[:free] {
			d.SetVec(i, (p.a[c/kb]*p.b[c%kb]-base)/whole)
		}
		info.SymRankOne(info, p.n, d)
	}
	var chol mat.Cholesky
	var inverse mat.SymDense
	if !chol.Factorize(info) || chol.InverseTo(&inverse) != nil {
		return se, nil // the reports do not determine the shares
	}
	whole := 0.0
	for i, c := range inside[:free] {
		se[c] = math.Sqrt(inverse.At(i, i))
		for i2 := range free {
			whole += inverse.At(i, i2)
		}
	}
	se[last] = math.Sqrt(max(whole, 0)) // of 1 - the sum of the others
	return se, nil
}
