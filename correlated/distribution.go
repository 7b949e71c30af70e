package correlated

import (
	"errors"
	"math"
	"slices"
	"sort"
)

// distribution is a measure on packed step counts with finitely many atoms. Masses are
// kept as logarithms: products of small probabilities leave the range of
// floating numbers soon, and with it would go the states that leak most. All
// operations add and multiply numbers that are not negative, so that every
// mass keeps its relative accuracy; a Fourier transform would not
// (docs/correlated-privacy.md, section 2).
type dist struct {
	lo  int64     // the key of the first atom, when dense
	key []int64   // increasing keys; nil when dense
	log []float64 // log masses, -Inf allowed
	lin []float64 // the masses of a normalised distribution, below tiny cut to 0
}

// tiny is where linear masses are cut. What is cut adds up to less than one
// part in 1e15 of any density above [guard].
const (
	tiny  = 1e-290
	guard = 1e-270
)

// space says how distributions are kept: dense over a run of keys, or as sorted atoms.
type space struct {
	dense bool
	most  int // the largest number of atoms of a distribution
}

var errTooManyAtoms = errors.New("a distribution has too many atoms")

// defaultAtoms bounds a single distribution.
const defaultAtoms = 1 << 18

// newSpace chooses by the query: dense where steps are small.
func newSpace(q *boundQuery) *space {
	s := &space{most: defaultAtoms}
	span := int64(1)
	widest := int64(0)
	for _, d := range q.dims {
		span = d.stride * d.size
	}
	for _, r := range q.rows {
		for _, k := range r.key {
			widest = max(widest, k)
		}
	}
	s.dense = span <= 1<<13 || len(q.dims) == 1 && widest <= 64
	return s
}

func (l *dist) len() int { return len(l.log) }

func (l *dist) at(i int) int64 {
	if l.key == nil {
		return l.lo + int64(i)
	}
	return l.key[i]
}

// point is the unit mass at key 0.
func (s *space) point() *dist {
	l := &dist{log: []float64{0}, lin: []float64{1}}
	if !s.dense {
		l.key = []int64{0}
	}
	return l
}

// term is a measure moved by shift and multiplied by exp(weight).
type term struct {
	dist   *dist
	shift  int64
	weight float64
}

// mix adds measures. The result is not normalised; it is nil when it has no
// mass.
func (s *space) mix(terms []term) (*dist, error) {
	live := terms[:0:0]
	for _, t := range terms {
		if t.dist != nil && t.weight > negInf {
			live = append(live, t)
		}
	}
	if len(live) == 0 {
		return nil, nil
	}
	if s.dense {
		lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
		for _, t := range live {
			lo, hi = min(lo, t.dist.lo+t.shift), max(hi, t.dist.lo+t.shift+int64(t.dist.len()))
		}
		if hi-lo > int64(s.most) {
			return nil, errTooManyAtoms
		}
		out := &dist{lo: lo, log: make([]float64, hi-lo)}
		for i := range out.log {
			out.log[i] = negInf
		}
		for _, t := range live {
			at := out.log[t.dist.lo+t.shift-lo:]
			for i, v := range t.dist.log {
				at[i] = logAdd(at[i], v+t.weight)
			}
		}
		return out, nil
	}
	out := live[0].moved()
	for _, t := range live[1:] {
		out = merge(out, t)
		if out.len() > s.most {
			return nil, errTooManyAtoms
		}
	}
	return out, nil
}

func (t term) moved() *dist {
	out := &dist{key: slices.Clone(t.dist.key), log: slices.Clone(t.dist.log)}
	for i := range out.key {
		out.key[i] += t.shift
		out.log[i] += t.weight
	}
	return out
}

func merge(a *dist, t term) *dist {
	n := a.len() + t.dist.len()
	out := &dist{key: make([]int64, 0, n), log: make([]float64, 0, n)}
	i, j := 0, 0
	for i < a.len() || j < t.dist.len() {
		switch {
		case j == t.dist.len() || i < a.len() && a.key[i] < t.dist.key[j]+t.shift:
			out.key, out.log = append(out.key, a.key[i]), append(out.log, a.log[i])
			i++
		case i == a.len() || t.dist.key[j]+t.shift < a.key[i]:
			out.key, out.log = append(out.key, t.dist.key[j]+t.shift), append(out.log, t.dist.log[j]+t.weight)
			j++
		default:
			out.key, out.log = append(out.key, a.key[i]), append(out.log, logAdd(a.log[i], t.dist.log[j]+t.weight))
			i, j = i+1, j+1
		}
	}
	return out
}

// normalise returns l scaled to mass one, and the log of its mass. l may be
// changed; nil, or no mass, gives nil.
func normalise(l *dist) (*dist, float64) {
	if l == nil {
		return nil, negInf
	}
	total := logSum(l.log)
	if total == negInf {
		return nil, negInf
	}
	l.lin = make([]float64, len(l.log))
	for i := range l.log {
		l.log[i] -= total
		if v := math.Exp(l.log[i]); v >= tiny {
			l.lin[i] = v
		}
	}
	return l, total
}

// convolve is the distribution of the sum of independent draws from a and b, both
// normalised.
func (s *space) convolve(a, b *dist) (*dist, error) {
	if b.len() == 1 && b.at(0) == 0 {
		return a, nil
	}
	if a.len() == 1 && a.at(0) == 0 {
		return b, nil
	}
	if !s.dense {
		return s.convolveAtoms(a, b)
	}
	n := a.len() + b.len() - 1
	if n > s.most {
		return nil, errTooManyAtoms
	}
	out := &dist{lo: a.lo + b.lo, log: make([]float64, n), lin: make([]float64, n)}
	convolveLinear(out.lin, a.lin, b.lin)
	for k, v := range out.lin {
		switch {
		case v >= guard:
			out.log[k] = math.Log(v)
		default:
			// Too small to trust the sum of products that may have been cut.
			out.log[k] = convolveLog(a.log, b.log, k)
			out.lin[k] = math.Exp(out.log[k])
			if out.lin[k] < tiny {
				out.lin[k] = 0
			}
		}
	}
	return out, nil
}

// convolveLinear adds the convolution of a and b to dst, which has
// len(a)+len(b)-1 entries.
func convolveLinear(dst, a, b []float64) {
	if len(a) > len(b) {
		a, b = b, a
	}
	for i, x := range a {
		if x == 0 {
			continue
		}
		at := dst[i : i+len(b)]
		for j, y := range b {
			at[j] += x * y
		}
	}
}

// convolveLog is entry k of the convolution of exp(a) and exp(b).
func convolveLog(a, b []float64, k int) float64 {
	from, to := max(0, k-len(b)+1), min(k, len(a)-1)
	top := negInf
	for i := from; i <= to; i++ {
		top = max(top, a[i]+b[k-i])
	}
	if top == negInf {
		return negInf
	}
	sum := 0.0
	for i := from; i <= to; i++ {
		sum += math.Exp(a[i] + b[k-i] - top)
	}
	return top + math.Log(sum)
}

func (s *space) convolveAtoms(a, b *dist) (*dist, error) {
	if a.len() > 64*s.most/max(1, b.len()) {
		return nil, errTooManyAtoms
	}
	if out := s.convolveScratch(a, b); out != nil {
		return out, nil
	}
	type atom struct {
		key int64
		log float64
	}
	all := make([]atom, 0, a.len()*b.len())
	for i := range a.key {
		for j := range b.key {
			all = append(all, atom{a.key[i] + b.key[j], a.log[i] + b.log[j]})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].key < all[j].key })
	out := &dist{}
	for i := 0; i < len(all); {
		j, top := i, negInf
		for ; j < len(all) && all[j].key == all[i].key; j++ {
			top = max(top, all[j].log)
		}
		sum := 0.0
		for _, x := range all[i:j] {
			if x.log > negInf {
				sum += math.Exp(x.log - top)
			}
		}
		out.key, out.log = append(out.key, all[i].key), append(out.log, top+math.Log(sum))
		i = j
	}
	if out.len() > s.most {
		return nil, errTooManyAtoms
	}
	out.lin = make([]float64, out.len())
	for i, v := range out.log {
		if x := math.Exp(v); x >= tiny {
			out.lin[i] = x
		}
	}
	return out, nil
}

// convolveScratch adds up on a run of keys where that is not much longer than
// the list of products; nil where it is, or where a mass is too small for plain
// numbers.
func (s *space) convolveScratch(a, b *dist) *dist {
	lo := a.key[0] + b.key[0]
	span := a.key[a.len()-1] + b.key[b.len()-1] - lo + 1
	if span > 1<<22 || span > 16*int64(a.len())*int64(b.len()) {
		return nil
	}
	sums := make([]float64, span)
	for i, k := range a.key {
		at, x := sums[k-a.key[0]:], a.lin[i]
		for j, l := range b.key {
			at[l-b.key[0]] += x * b.lin[j]
		}
	}
	touched := make([]bool, span)
	for _, k := range a.key {
		for _, l := range b.key {
			touched[k+l-lo] = true
		}
	}
	out := &dist{}
	for i, v := range sums {
		if !touched[i] {
			continue
		}
		if v < guard {
			return nil
		}
		out.key, out.log, out.lin = append(out.key, lo+int64(i)), append(out.log, math.Log(v)), append(out.lin, v)
	}
	if out.len() > s.most {
		return nil
	}
	return out
}

// logAdd is log(exp(a)+exp(b)).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if b == negInf {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

func logSum(l []float64) float64 {
	top := negInf
	for _, v := range l {
		top = max(top, v)
	}
	if top == negInf {
		return negInf
	}
	sum := 0.0
	for _, v := range l {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}
