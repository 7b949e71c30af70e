package correlated

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
)

// influence tells how far the state of record i shows at distance d in a
// direction: the largest over pairs a,a' and over u of
// log P(X_{i+-d}=u|X_i=a)/P(..|X_i=a'), by ordered pair at a*k+a'.
type influence interface {
	left(i, d int) []float64
	right(i, d int) []float64
}

// QuiltScale is the scale of the Markov quilt mechanism (Song, Wang and
// Chaudhuri 2017) for a query with one coordinate on a chain: osc(g) times the
// largest score of a record. The score of a quilt is the number of records
// inside it over epsilon less its influence, and a record has that of its best
// quilt. It protects against adversaries who know no record's state. With
// approximate, influences are bounded by the chain's eigengap; the chain must
// then be homogeneous, irreducible and aperiodic.
func QuiltScale(ctx context.Context, m Model, q *Query, epsilon float64, approximate bool) (float64, error) {
	bound, err := q.bind(m)
	if err != nil {
		return 0, err
	}
	if len(bound.dims) > 1 {
		return 0, noren.Usagef("query", "the Markov quilt mechanism is for queries with one coordinate")
	}
	if !(epsilon > 0) {
		return 0, noren.Usagef("epsilon", "epsilon is a positive number")
	}
	most := 0.0
	for _, member := range m.members() {
		c, ok := member.(*Chain)
		if !ok || m.Kind() == "box" {
			return 0, noren.Usagef("model", "the Markov quilt mechanism is for chains, and this model is a %s", m.Kind())
		}
		var f influence = exactInfluence(c)
		if approximate {
			a, err := approximateInfluence(c)
			if err != nil {
				return 0, err
			}
			f = a
		}
		s, err := quiltScale(ctx, c, bound, epsilon, f)
		if err != nil {
			return 0, err
		}
		most = max(most, s)
	}
	return most, nil
}

// quiltScale searches the quilts of every record: both sides, one side, and the
// trivial one of all records. A quilt with more than best*epsilon records
// inside cannot be better than the best so far.
func quiltScale(ctx context.Context, c *Chain, q *boundQuery, epsilon float64, f influence) (float64, error) {
	n := c.Records()
	most, tried := 0.0, 0
	for i := range n {
		if i%256 == 0 {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
		}
		best := float64(n) / epsilon
		ended := false // a record may have as many quilts as there are records, or their square
		try := func(inside int, e float64) {
			if tried++; tried%1024 == 0 {
				ended = ended || ctx.Err() != nil
			}
			if e < epsilon {
				best = min(best, float64(inside)/(epsilon-e))
			}
		}
		k := c.States(i)
		fits := func(inside int) bool { return !ended && float64(inside)/epsilon < best }
		for d := 1; d <= i && fits(d+n-1-i); d++ {
			try(d+n-1-i, worstPair(k, f.left(i, d), nil))
		}
		for d := 1; d <= n-1-i && fits(d+i); d++ {
			try(d+i, worstPair(k, f.right(i, d), nil))
		}
		for al := 1; al <= i && fits(al); al++ {
			left := f.left(i, al)
			for be := 1; be <= n-1-i && fits(al+be-1); be++ {
				try(al+be-1, worstPair(k, left, f.right(i, be)))
			}
		}
		if ended {
			return 0, ctx.Err()
		}
		most = max(most, best)
	}
	return q.osc([]float64{q.dims[0].unit}) * most, nil
}

func worstPair(k int, left, right []float64) float64 {
	worst := 0.0
	for j := range k * k {
		if j/k == j%k {
			continue
		}
		v := left[j]
		if right != nil {
			v += right[j]
		}
		worst = max(worst, v)
	}
	return worst
}

// chainInfluence computes influences from powers of the transition matrices.
// For record i it remembers those at all distances so far; homogeneous chains
// share the powers.
type chainInfluence struct {
	chain   *Chain
	shared  bool
	dist    [][]float64 // marginals
	at      int
	rights  [][]float64
	lefts   [][]float64
	forward []*kernel // products of steps from i on
	back    []*kernel // products of steps up to i
}

func exactInfluence(c *Chain) *chainInfluence {
	f := &chainInfluence{chain: c, shared: c.Homogeneous(), at: -1, dist: make([][]float64, c.Records())}
	f.dist[0] = c.init
	for i, s := range c.step {
		f.dist[i+1] = c.pool[s].next(f.dist[i])
	}
	return f
}

func (f *chainInfluence) move(i int) {
	if f.at == i {
		return
	}
	f.at, f.lefts, f.rights = i, f.lefts[:0], f.rights[:0]
	if !f.shared {
		f.forward, f.back = f.forward[:0], f.back[:0]
	}
}

func (k *kernel) times(o *kernel) *kernel {
	p := &kernel{rows: k.rows, cols: o.cols, p: make([]float64, k.rows*o.cols)}
	for x := range k.rows {
		for y := range k.cols {
			for z := range o.cols {
				p.p[x*p.cols+z] += k.at(x, y) * o.at(y, z)
			}
		}
	}
	return p
}

// right: P(X_{i+d}=u|X_i=a) are the entries of the product of the steps.
func (f *chainInfluence) right(i, d int) []float64 {
	f.move(i)
	for len(f.forward) < d {
		step := f.chain.pool[f.chain.step[min(i+len(f.forward), len(f.chain.step)-1)]]
		if len(f.forward) > 0 {
			step = f.forward[len(f.forward)-1].times(step)
		}
		f.forward = append(f.forward, step)
	}
	for len(f.rights) < d {
		p := f.forward[len(f.rights)]
		f.rights = append(f.rights, logRatios(p.rows, p.cols, func(a, u int) float64 { return p.at(a, u) }))
	}
	return f.rights[d-1]
}

// left: P(X_{i-d}=u|X_i=a) = P(X_{i-d}=u) P(X_i=a|X_{i-d}=u)/P(X_i=a).
func (f *chainInfluence) left(i, d int) []float64 {
	f.move(i)
	for len(f.back) < d {
		step := f.chain.pool[f.chain.step[max(0, i-1-len(f.back))]]
		if len(f.back) > 0 {
			step = step.times(f.back[len(f.back)-1])
		}
		f.back = append(f.back, step)
	}
	for len(f.lefts) < d {
		p, at := f.back[len(f.lefts)], i-len(f.lefts)-1
		f.lefts = append(f.lefts, logRatios(p.cols, p.rows, func(a, u int) float64 {
			if f.dist[i][a] == 0 {
				return 0
			}
			return f.dist[at][u] * p.at(u, a) / f.dist[i][a]
		}))
	}
	return f.lefts[d-1]
}

// logRatios is max_u log p(a,u)/p(a',u) for all pairs of possible states.
func logRatios(k, others int, p func(a, u int) float64) []float64 {
	possible := make([]bool, k)
	for a := range k {
		for u := range others {
			possible[a] = possible[a] || p(a, u) > 0
		}
	}
	out := make([]float64, k*k)
	for a := range k {
		for c := range k {
			if a == c || !possible[a] || !possible[c] {
				continue
			}
			most := negInf
			for u := range others {
				if v := p(a, u); v > 0 {
					most = max(most, math.Log(v/p(c, u))) // +Inf where only a allows u
				}
			}
			out[a*k+c] = most
		}
	}
	return out
}

// gapInfluence bounds influences by how fast the chain forgets: with pi its
// stationary distribution and g the eigengap of P P*, |P^d(x,y)/pi(y)-1| <= 1/D for
// D = pi_min e^{g d/2}. To the right the ratio is at most (D+1)/(D-1). To the
// left it is P^d(u,a) P(X_i=a') / (P^d(u,a') P(X_i=a)), and P(X_i=.) is a mixture
// of rows of P^i, i >= d, which gives the square.
type gapInfluence struct {
	least, gap float64
	k          int
}

var errNoGap = errors.New("no eigengap")

// approximateInfluence fails for chains that do not forget, or are not
// homogeneous.
func approximateInfluence(c *Chain) (*gapInfluence, error) {
	no := func(what noren.Format) error {
		return &noren.Error{Kind: noren.Usage, Where: "model", What: what, Err: errNoGap}
	}
	if !c.Homogeneous() || len(c.step) == 0 {
		return nil, no("the approximate quilts are for homogeneous chains of two records or more")
	}
	p := c.pool[c.step[0]]
	k := p.rows
	if !p.primitive() {
		return nil, no("the approximate quilts need a chain that can get from any state to any other, at any late time")
	}
	pi := p.stationary()
	f := &gapInfluence{least: math.Inf(1), k: k}
	for _, v := range pi {
		f.least = min(f.least, v)
	}
	// P P* with P*(x,y) = pi(y) P(y,x)/pi(x) is self-adjoint for pi.
	s := mat.NewSymDense(k, nil)
	for x := range k {
		for y := range x + 1 {
			sum := 0.0
			for z := range k {
				sum += p.at(x, z) * p.at(y, z) / pi[z]
			}
			s.SetSym(x, y, sum*math.Sqrt(pi[x]*pi[y]))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(s, false) {
		return nil, no("the eigenvalues of this chain cannot be found")
	}
	values := eigen.Values(nil) // increasing; the last is 1
	f.gap = 1
	if k > 1 {
		f.gap = 1 - values[k-2]
	}
	if !(f.gap > 0) || !(f.least > 0) {
		return nil, no("this chain forgets too slowly")
	}
	return f, nil
}

// primitive reports whether a power of k has only positive entries (Wielandt:
// that of (n-1)^2+1, or any beyond, tells).
func (k *kernel) primitive() bool {
	n := k.rows
	rows := make([]uint64, n)
	for x := range n {
		rows[x] = k.reach(1 << x)
	}
	all := uint64(math.MaxUint64) >> (64 - n)
	for step := 1; step < (n-1)*(n-1)+1; step *= 2 {
		squared := make([]uint64, n)
		for x := range n {
			for y := range n {
				if rows[x]>>y&1 == 1 {
					squared[x] |= rows[y]
				}
			}
		}
		rows = squared
	}
	for _, r := range rows {
		if r != all {
			return false
		}
	}
	return true
}

// stationary is the distribution that k leaves as it is, by elimination without
// subtraction (Grassmann, Taksar and Heyman 1985).
func (k *kernel) stationary() []float64 {
	n := k.rows
	a := make([][]float64, n)
	for x := range a {
		a[x] = append([]float64(nil), k.p[x*n:(x+1)*n]...)
	}
	for m := n - 1; m > 0; m-- {
		sum := 0.0
		for y := range m {
			sum += a[m][y]
		}
		for x := range m {
			a[x][m] /= sum
			for y := range m {
				a[x][y] += a[x][m] * a[m][y]
			}
		}
	}
	pi := make([]float64, n)
	pi[0] = 1
	total := 1.0
	for m := 1; m < n; m++ {
		for x := range m {
			pi[m] += pi[x] * a[x][m]
		}
		total += pi[m]
	}
	for m := range pi {
		pi[m] /= total
	}
	return pi
}

func (f *gapInfluence) at(d int, power float64) []float64 {
	out := make([]float64, f.k*f.k)
	v := math.Inf(1)
	if e := math.Exp(-f.gap*float64(d)/2) / f.least; e < 1 {
		v = power * (math.Log1p(e) - math.Log1p(-e))
	}
	for j := range out {
		if j/f.k != j%f.k {
			out[j] = v
		}
	}
	return out
}

func (f *gapInfluence) left(_, d int) []float64  { return f.at(d, 2) }
func (f *gapInfluence) right(_, d int) []float64 { return f.at(d, 1) }
