package outlier

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/geom"
	"github.com/noren-privacy/noren/table/axis"
)

// profile holds what the sensitivity bounds of one data set are computed from.
type profile struct {
	set Setting
	dim int
	n   int   // records, those without a place among them
	cap int64 // no U_t is greater

	points *axis.Points[int32]
	tree   *geom.Tree
	degree []int32 // of each record with a place; no more than top
	top    int     // degrees are exact below it
	order  []int32 // records with a place, by degree
	start  []int   // start[j]: where in order the degrees >= j begin, j = 0..top+1

	out   outs
	cover cover
}

// newProfile counts degrees. top says up to where they are needed exactly.
func newProfile(ctx context.Context, points *axis.Points[int32], set Setting, top int) (*profile, error) {
	if err := checkPoints(points); err != nil {
		return nil, err
	}
	if err := set.validate(points.Dim); err != nil {
		return nil, err
	}
	p := &profile{set: set, dim: points.Dim, n: points.Records(), points: points}
	p.cap = GlobalSensitivity(set.Neighbours, p.n, p.dim, set.K)
	var err error
	if p.tree, err = geom.NewTree(points.Dim, points.Data); err != nil {
		return nil, noren.Usagef("points", "the coordinates are spread too widely for exact distances").
			Hinted("choose a coarser step or a smaller box")
	}
	p.top = min(top, p.n)
	if p.degree, err = p.tree.Count(ctx, set.Radius2, p.top); err != nil {
		return nil, err
	}
	p.sortByDegree()
	switch {
	case p.dim == 1 && set.Coverage != CoverCore:
		p.cover = newLineCover(p)
	case set.Coverage == CoverExact:
		p.cover = &planeCover{p: p}
	default:
		p.cover = &coreCover{p: p}
	}
	return p, nil
}

func (p *profile) sortByDegree() {
	p.start = make([]int, p.top+2)
	for _, d := range p.degree {
		p.start[d+1]++
	}
	for j := 1; j < len(p.start); j++ {
		p.start[j] += p.start[j-1]
	}
	p.order = make([]int32, len(p.degree))
	next := slices.Clone(p.start)
	for i, d := range p.degree {
		p.order[next[d]] = int32(i)
		next[d]++
	}
}

// query is the number of outliers.
func (p *profile) query() int {
	_, end := p.window(0, p.set.K-1)
	return end + p.points.Unplaced
}

// window returns where in order the records stand whose degree lies in
// [low, high]. Degrees from top on count as top: no window that decides
// anything begins there.
func (p *profile) window(low, high int) (first, end int) {
	at := func(j int) int { return p.start[min(max(j, 0), p.top+1)] }
	return at(low), max(at(low), at(high+1))
}

// aloneIn is the number of records without a place that a window of degrees
// holds.
func (p *profile) aloneIn(low, high int) int {
	if low <= 0 && high >= 0 {
		return p.points.Unplaced
	}
	return 0
}

// covered returns the smaller of limit and F(W[low, high]), the number of
// points with degrees in that window that one ball can hold at most, as the
// chosen coverage bounds it. A record without a place shares no ball.
func (p *profile) covered(ctx context.Context, low, high int, limit int64) (int64, error) {
	first, end := p.window(low, high)
	least := int64(min(1, p.aloneIn(low, high)))
	if first == end || limit <= 0 {
		return min(least, max(limit, 0)), nil
	}
	c, err := p.cover.most(ctx, first, end, int(min(limit, int64(end-first))))
	return min(max(int64(c), least), limit), err
}

// size is the number of records in a window of degrees.
func (p *profile) size(low, high int) int64 {
	first, end := p.window(low, high)
	return int64(end - first + p.aloneIn(low, high))
}

// bound is the theorem's U_t.
func (p *profile) bound(ctx context.Context, t int) (int64, error) {
	if p.cap == 0 {
		return 0, nil
	}
	if p.set.Neighbours == account.ReplaceOne {
		return p.replaceOne(ctx, t)
	}
	return p.addRemove(ctx, t)
}

// replaceOne is theorem 2:
//
//	OC_t = max_a #{i != a : |x_i-x_a| <= r, k-t <= deg(i) <= k+t}
//	IC_t = F(W[k-1-t, k-1+t])
//	U_t  = min(N, G, max(OC_t, IC_t) + t + 1)
func (p *profile) replaceOne(ctx context.Context, t int) (int64, error) {
	k, limit := p.set.K, p.cap-int64(t)-1
	if limit <= 0 {
		return p.cap, nil
	}
	oc, err := p.out.grown(ctx, p, t)
	if err != nil || oc >= limit {
		return p.cap, err
	}
	ic, err := p.covered(ctx, k-1-t, k-1+t, limit)
	if err != nil {
		return 0, err
	}
	return max(oc, ic) + int64(t) + 1, nil
}

// addRemove is theorem 3: with s records added and t-s removed,
//
//	OC_s = s + max_a #{i != a : |x_i-x_a| <= r, k-s <= deg(i) <= k+t-s}
//	IC_s = s + F(W[k-1-s, k-1+t-s])
//	U_t  = min(G, max(1, max_s max(OC_s, IC_s)))
//
// Both are at most s + what the window [k-1-t, k+t], which holds all the
// others, gives: where that cannot raise the maximum, nothing is computed.
func (p *profile) addRemove(ctx context.Context, t int) (int64, error) {
	k, best := p.set.K, int64(1)
	whole, err := p.covered(ctx, k-1-t, k-1+t, p.cap)
	if err != nil {
		return 0, err
	}
	for s := t; s >= 0 && int64(s)+whole > best; s-- {
		if int64(s)+p.size(k-1-s, k-1+t-s) <= best {
			continue
		}
		ic, err := p.covered(ctx, k-1-s, k-1+t-s, p.cap-int64(s))
		if err != nil {
			return 0, err
		}
		best = max(best, ic+int64(s))
		if best >= p.cap {
			return p.cap, nil
		}
	}
	oc, err := p.out.grown(ctx, p, t)
	if err != nil {
		return 0, err
	}
	if oc+int64(t) > best {
		if oc, err = p.out.shifted(ctx, p, t, best); err != nil {
			return 0, err
		}
		best = max(best, oc)
	}
	return min(best, p.cap), nil
}
