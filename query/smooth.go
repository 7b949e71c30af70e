package query

import (
	"context"
	"math"
	"math/big"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

// smooth answers medians by the smooth sensitivity of Nissim, Raskhodnikova and Smith
// (2007), with two-sided Lomax noise.
//
// The values, clamped and on the grid, in order are x_1 <= ... <= x_n; x_i is the lower
// bound for i < 1 and the upper for i > n. The median is x_m, m = ceil(n/2). Lemma 0 of
// docs/outliers.md: where U_0 bounds what one step to a neighbour changes,
// and U_t(X) <= U_(t+1)(X') for all neighbours, S = max_t e^(-beta t) U_t is a
// beta-smooth upper bound. With noise (S/a) Z, Z of density (p-1)/2 (1+|z|)^-p and
//
//	a = min(e^(eps/p) - 1, e^beta (e^((eps-beta)/p) - 1)),  (p-1) beta <= eps,
//
// the result is epsilon-private per step; here p = 6 and beta = eps/5, the default of
// that note. Rounding to the grid and clamping are post-processing.
//
// One step adds or removes one value:
//
//	U_t = x_(floor((n+t)/2)+1) - x_(floor((n-t)/2)).
//
// One value more turns x_i into something in [x_(i-1), x_i], one less into something in
// [x_i, x_(i+1)]. n even: m is m+1 after an addition and m after a removal, so the median
// stays in [x_m, x_(m+1)]; n odd: m and m-1, and it stays in [x_(m-1), x_m]. Both are
// [x_floor(n/2), x_(floor(n/2)+1)], of length U_0. For X' = X + z, U_(t+1)(X') =
// x'_(floor((n+t)/2)+2) - x'_(floor((n-t)/2)), where x'_(i+1) >= x_i and x'_i <= x_i: at
// least U_t(X). For X' = X - z it is x'_(floor((n+t)/2)+1) - x'_(floor((n-t)/2)-1),
// where x'_i >= x_i and x'_(i-1) <= x_i: likewise.
//
// One step removes at most one value and adds at most one (a record that is replaced,
// may leave the selection or enter it):
//
//	U_t = max over i = m-t-1..m of x_(i+t+1) - x_i,
//
// the bound of Nissim, Raskhodnikova and Smith. U_0: a step moves the median by at most
// one gap beside x_m, to its left or right. U_t(X) <= U_(t+1)(X'): a window [x_i,
// x_(i+t+1)] lies, after a removal, in a window of t+1 gaps of the rest that starts at i
// or i-1, and that, after an addition, in one of t+2 gaps with the same start: if n did
// not change, it starts in [m-t-2, m] as U_(t+1)(X') asks. After an addition alone the
// start is i in [m-t-1, m], and m' is m or m+1. After a removal alone the window has t+1
// gaps and lies within [m-t-2, m+t+1] and so, with m' = m or m-1, within the reach
// [m'-t-2, m'+t+2] of the windows of t+2 gaps.
//
// A unit of several records is as many steps: in add-remove rows steps of the first
// kind; in replace-one rows steps of the second for one group, and 2 rows of the first
// for several. The mechanism runs at epsilon divided by the steps; the groups'
// losses add up to at most that, the number of steps of a unit.
type smooth struct {
	q       *Query
	grid    grid
	replace bool     // steps are of the second kind
	epsilon *big.Rat // per step
	beta    *big.Rat // of S
	a       *big.Rat // rounded down
	lomax   *noise.Lomax
	powers  *powers // of beta
}

// SmoothParameters are the public parameters of the smooth median.
type SmoothParameters struct {
	Shape string `json:"shape"` // p
	// Epsilon of one step, beta and a, as quotients of whole numbers.
	Epsilon string `json:"step_epsilon"`
	Beta    string `json:"beta"`
	A       string `json:"a"`
	Steps   string `json:"step"` // "add-or-remove" or "replace"
}

const (
	lomaxShape = 6
	// smoothBits is the precision of e^(-beta t), and floorBits that of the least S,
	// 2^-floorBits steps of the grid. max(S, constant) is as smooth as S; and terms
	// below the constant need not be looked at.
	smoothBits = 192
	floorBits  = 64
	// slackBits: S as computed is at most 1 + 2^-slackBits times what it stands for,
	// and beta is less by as much as that can add to it.
	slackBits = 60
)

func newSmooth(q *Query, g grid, a, b int64) (*smooth, error) {
	if a != 1 || b != 2 {
		return nil, noren.Usagef("rank", "smooth sensitivity is for the median").Hinted("leave the rank out, or use the exponential mechanism")
	}
	s := &smooth{q: q, grid: g}
	steps := q.o.MaxRows
	if q.o.Neighbours == account.ReplaceOne {
		s.replace = len(q.groups.texts) == 1
		if !s.replace {
			steps *= 2
		}
	}
	s.epsilon = q.o.Cost.EpsilonRat()
	s.epsilon.Quo(s.epsilon, new(big.Rat).SetInt64(steps))
	beta := new(big.Rat).Mul(s.epsilon, big.NewRat(1, lomaxShape-1))
	slack := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), slackBits-1))
	s.beta = new(big.Rat).Sub(beta, slack)
	if s.beta.Cmp(new(big.Rat).Mul(beta, big.NewRat(1, 2))) < 0 {
		return nil, noren.Usagef("epsilon", "is too small for smooth sensitivity with that number of records of one unit").
			Hinted("give a larger epsilon or fewer records")
	}
	s.a = smoothA(s.epsilon, beta)
	s.powers = newPowers(s.beta, smoothBits)
	var err error
	s.lomax, err = noise.NewLomax(big.NewRat(lomaxShape, 1))
	return s, err
}

// smoothA is a, rounded down.
func smoothA(epsilon, beta *big.Rat) *big.Rat {
	const prec = 256
	unit := new(big.Int).Lsh(big.NewInt(1), prec)
	lower := func(x *big.Rat) *big.Rat { // of e^x
		lo, _ := expBounds(x, prec)
		return new(big.Rat).SetFrac(lo, unit)
	}
	shape := big.NewRat(1, lomaxShape)
	one := big.NewRat(1, 1)
	first := lower(new(big.Rat).Mul(epsilon, shape))
	first.Sub(first, one)
	second := new(big.Rat).Sub(epsilon, beta)
	second = lower(second.Mul(second, shape))
	second.Sub(second, one)
	second.Mul(second, lower(beta))
	if first.Cmp(second) > 0 {
		first = second
	}
	// Fewer digits are enough, again rounded down.
	n := new(big.Int).Lsh(first.Num(), 128)
	return new(big.Rat).SetFrac(n.Quo(n, first.Denom()), new(big.Int).Lsh(big.NewInt(1), 128))
}

func (s *smooth) answer(ctx context.Context, t *table.Table, records *scan, src *noise.Source) ([]Group, error) {
	values, err := s.grid.values(ctx, s.q, t, records)
	if err != nil {
		return nil, err
	}
	groups := make([]Group, len(values))
	for i, v := range values {
		x := ordered{expand(v), s.grid.Lo(), s.grid.Hi()}
		sens, err := s.sensitivity(ctx, x)
		if err != nil {
			return nil, err
		}
		scale := sens.Quo(sens, s.a)
		scale.Mul(scale, s.grid.Step())
		k, err := s.lomax.AddTo(src, s.grid.Rat(x.at(x.middle())), scale, s.grid.Grid)
		if err != nil {
			return nil, err
		}
		groups[i] = Group{Value: number(s.grid.Value(min(max(k, s.grid.Lo()), s.grid.Hi())))}
	}
	return groups, nil
}

// expand lists each value of runs as often as it occurs.
func expand(runs []run) []int64 {
	out := make([]int64, 0, total(runs))
	for _, r := range runs {
		for range r.count {
			out = append(out, r.place)
		}
	}
	return out
}

// ordered are values in order, with the bounds before and behind.
type ordered struct {
	values []int64
	lo, hi int64
}

// at is x_i.
func (x ordered) at(i int) int64 {
	switch {
	case i < 1:
		return x.lo
	case i > len(x.values):
		return x.hi
	}
	return x.values[i-1]
}

// middle is m.
func (x ordered) middle() int { return (len(x.values) + 1) / 2 }

// sensitivity is max(S, 2^-floorBits) in steps of the grid, rounded up.
func (s *smooth) sensitivity(ctx context.Context, x ordered) (*big.Rat, error) {
	// Terms from reach on are under the floor: U_t < 2^54 and e^(-beta reach) <=
	// 2^-(54+floorBits).
	beta, _ := s.beta.Float64()
	reach := int(min(float64(len(x.values)+1), math.Ceil((54+floorBits)*math.Ln2/beta*1.001)+1))
	best := new(big.Int).Lsh(big.NewInt(1), smoothBits-floorBits)
	term := new(big.Int)
	raise := func(u int64, t int) {
		_, hi := s.powers.of(int64(t))
		if term.Mul(hi, big.NewInt(u)).Cmp(best) > 0 {
			best.Set(term)
		}
	}
	var windows []window
	if s.replace {
		var err error
		if windows, err = widest(ctx, x, s.powers, reach); err != nil {
			return nil, err
		}
	} else {
		n := len(x.values)
		for t := range reach + 1 { // U_t does not grow beyond t = n
			windows = append(windows, window{(n - t) >> 1, (n+t)/2 + 1}) // a shift rounds down
		}
	}
	// Floating point tells which can be the largest, and integers how large it is.
	most := 0.0
	value := func(w window) float64 {
		return float64(x.at(w.to)-x.at(w.from)) * math.Exp(-beta*float64(w.to-w.from-1))
	}
	for i, w := range windows {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		most = max(most, value(w))
	}
	for _, w := range windows {
		if value(w) >= most*(1-1e-9) {
			raise(x.at(w.to)-x.at(w.from), w.to-w.from-1)
		}
	}
	return new(big.Rat).SetFrac(best, new(big.Int).Lsh(big.NewInt(1), smoothBits)), nil
}

// accuracy has no bound: the noise is scaled to the data. EvenSpread is the error for
// values spread evenly.
func (s *smooth) accuracy(level float64, records int64) (Accuracy, error) {
	length := s.grid.Value(s.grid.width())
	gap := length / float64(records+1)
	beta, _ := s.beta.Float64()
	a, _ := s.a.Float64()
	// max_t (t+1) e^(-beta t) is at t = 1/beta - 1; U_t stops at the bounds.
	t := min(max(0, 1/beta-1), float64(records))
	sens := min(length, (t+1)*gap) * math.Exp(-beta*t)
	return Accuracy{Level: level, Records: records, EvenSpread: finite(min(length, s.lomax.Interval(level)*sens/a+s.grid.half()))}, nil
}

func (s *smooth) parameters(p *Parameters) {
	j := s.grid.J()
	p.GridBits = &j
	p.Smooth = &SmoothParameters{
		Shape: s.lomax.P().RatString(), Epsilon: s.epsilon.RatString(), Beta: s.beta.RatString(), A: s.a.RatString(),
		Steps: "add-or-remove",
	}
	if s.replace {
		p.Smooth.Steps = "replace"
	}
}

func (s *smooth) assumptions() noren.Texts {
	return append(s.grid.assumptions(s.q.o.Column), noren.Textf("the scale of the noise depends on the data and is not released"))
}
