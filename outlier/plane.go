package outlier

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"

	"github.com/noren-privacy/noren/internal/geom"
)

// planeCover is exact coverage in the plane: the largest number of points that
// a closed disc of radius r holds. Such a disc can be moved, without losing a
// point, until a point lies on its edge (the set of centres that cover given
// points is an intersection of discs about them, and its edge is made of arcs
// about them). So it is enough to let the centre run around each point p at
// distance r: another point q is covered while the centre's direction lies
// within an interval, and the largest number of intervals over one direction
// decides. The ends of intervals are compared exactly, as the case analysis of
// the proofs does: two that meet in a point meet.
type planeCover struct{ p *profile }

// spot is a place where w points lie.
type spot struct {
	x, y int32
	w    int
}

// edge is an end of the interval of directions of centres that cover the point
// at v = (x, y) from p: the direction of D v + side sqrt(E) v', where D = |v|^2,
// E = D (4r^2 - D) and v' is v turned by 90 degrees. (The centre is at distance
// r from both: v/2 + side v' sqrt(r^2/D - 1/4), here times 2D.)
type edge struct {
	x, y, d int64
	side    int64 // -1 where the interval begins, +1 where it ends
	w       int   // points that enter or leave
	half    int   // 0 for directions in [0, pi), 1 for [pi, 2 pi)
	angle   float64
}

// nearAngle is the difference of angles below which floating point, whose error
// here is below 1e-14, does not decide.
const nearAngle = 1e-9

func (c *planeCover) most(ctx context.Context, first, end, limit int) (int, error) {
	spots := c.spots(first, end)
	coords := make([]int32, 0, 2*len(spots))
	best := 0
	for _, s := range spots {
		coords = append(coords, s.x, s.y)
		best = max(best, s.w)
	}
	tree, err := geom.NewTree(2, coords)
	if err != nil {
		return 0, err
	}
	reach := 4 * c.p.set.Radius2
	var near []int32
	var edges []edge
	for i, s := range spots {
		if best >= limit {
			return limit, nil
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		near = tree.AppendNear(near[:0], coords[2*i:2*i+2], reach)
		sum := 0
		for _, j := range near {
			sum += spots[j].w
		}
		if sum <= best {
			continue
		}
		edges = edges[:0]
		now := s.w // over the direction 0
		for _, j := range near {
			if int(j) == i {
				continue
			}
			q := spots[j]
			begin := newEdge(int64(q.x)-int64(s.x), int64(q.y)-int64(s.y), -1, q.w, reach)
			stop := newEdge(begin.x, begin.y, +1, q.w, reach)
			if compareEdges(&begin, &stop, reach) > 0 {
				now += q.w // it runs across the direction 0
			}
			edges = append(edges, begin, stop)
		}
		slices.SortFunc(edges, func(a, b edge) int {
			// The intervals are closed: what begins comes before what ends.
			return cmp.Or(compareEdges(&a, &b, reach), cmp.Compare(a.side, b.side))
		})
		best = max(best, now)
		for _, e := range edges {
			now -= int(e.side) * e.w
			best = max(best, now)
		}
	}
	return min(best, limit), nil
}

// spots gathers the points at [first, end) of the order that share a place.
func (c *planeCover) spots(first, end int) []spot {
	spots := make([]spot, 0, end-first)
	for _, i := range c.p.order[first:end] {
		spots = append(spots, spot{c.p.points.Data[2*i], c.p.points.Data[2*i+1], 1})
	}
	slices.SortFunc(spots, func(a, b spot) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) })
	out := spots[:0]
	for _, s := range spots {
		if n := len(out); n > 0 && out[n-1].x == s.x && out[n-1].y == s.y {
			out[n-1].w++
			continue
		}
		out = append(out, s)
	}
	return out
}

// newEdge makes an end of the interval for v = (x, y), 0 < |v|^2 <= reach = 4r^2.
func newEdge(x, y, side int64, w int, reach int64) edge {
	e := edge{x: x, y: y, d: x*x + y*y, side: side, w: w}
	turn := math.Atan2(math.Sqrt(float64(reach-e.d)), math.Sqrt(float64(e.d)))
	e.angle = math.Atan2(float64(y), float64(x)) + float64(side)*turn
	if e.angle < 0 {
		e.angle += 2 * math.Pi
	} else if e.angle >= 2*math.Pi {
		e.angle -= 2 * math.Pi
	}
	// Which half the direction lies in is decided exactly where it is close,
	// and the angle is put on the same side.
	switch {
	case math.Min(e.angle, 2*math.Pi-e.angle) < nearAngle:
		e.half = e.exactHalf(reach)
		if e.half == 0 {
			e.angle = 0
		} else {
			e.angle = 2 * math.Pi
		}
	case math.Abs(e.angle-math.Pi) < nearAngle:
		e.half = e.exactHalf(reach)
	case e.angle > math.Pi:
		e.half = 1
	}
	return e
}

// exactHalf tells by the signs of the direction's coordinates:
// D y + side sqrt(E) x and, where that is 0, D x - side sqrt(E) y.
func (e *edge) exactHalf(reach int64) int {
	d, root := big.NewInt(e.d), e.root(reach)
	sign := func(along, across int64) int {
		return signRoot(new(big.Int).Mul(d, big.NewInt(along)), big.NewInt(e.side*across), root)
	}
	if s := sign(e.y, e.x); s > 0 || s == 0 && sign(e.x, -e.y) > 0 {
		return 0
	}
	return 1
}

// root is E = D (4r^2 - D).
func (e *edge) root(reach int64) *big.Int {
	return new(big.Int).Mul(big.NewInt(e.d), big.NewInt(reach-e.d))
}

// compareEdges compares two directions by their angles in [0, 2 pi).
func compareEdges(a, b *edge, reach int64) int {
	if math.Abs(a.angle-b.angle) > nearAngle {
		return cmp.Compare(a.angle, b.angle)
	}
	if a.half != b.half {
		return cmp.Compare(a.half, b.half)
	}
	if a.x == b.x && a.y == b.y && a.side == b.side {
		return 0
	}
	// The cross product of the directions, which are less than 180 degrees
	// apart, is positive when b is further on:
	//   D1 D2 (v1 x v2) + s2 sqrt(E2) D1 (v1 x v2') + s1 sqrt(E1) D2 (v1' x v2)
	//   + s1 s2 sqrt(E1 E2) (v1' x v2')
	// with v1 x v2' = v1 . v2, v1' x v2 = -v1 . v2, v1' x v2' = v1 x v2.
	cross, dot := a.x*b.y-a.y*b.x, a.x*b.x+a.y*b.y
	d1, d2 := big.NewInt(a.d), big.NewInt(b.d)
	e1, e2 := a.root(reach), b.root(reach)
	plain := new(big.Int).Mul(d1, d2)
	plain.Mul(plain, big.NewInt(cross))
	first := new(big.Int).Mul(d2, big.NewInt(-a.side*dot))
	second := new(big.Int).Mul(d1, big.NewInt(b.side*dot))
	both := big.NewInt(a.side * b.side * cross)
	return -signRoots(plain, first, second, both, e1, e2)
}

// signRoot is the sign of a + b sqrt(e), e >= 0.
func signRoot(a, b, e *big.Int) int {
	sb := b.Sign() * e.Sign()
	if sa := a.Sign(); sa == sb || sb == 0 {
		return sa
	} else if sa == 0 {
		return sb
	}
	left := new(big.Int).Mul(a, a)
	right := new(big.Int).Mul(b, b)
	// Opposite signs: the larger magnitude has its way.
	return left.Cmp(right.Mul(right, e)) * a.Sign()
}

// signRoots is the sign of a + b sqrt(e) + c sqrt(f) + d sqrt(e f), e, f >= 0.
func signRoots(a, b, c, d, e, f *big.Int) int {
	ef := new(big.Int).Mul(e, f)
	one := signRoot(a, d, ef) // of a + d sqrt(ef)
	// Of b sqrt(e) + c sqrt(f): that of b e + c sqrt(ef) where e > 0.
	two := c.Sign() * f.Sign()
	if e.Sign() > 0 {
		two = signRoot(new(big.Int).Mul(b, e), c, ef)
	}
	if one == two || two == 0 {
		return one
	} else if one == 0 {
		return two
	}
	// Opposite signs: compare the squares,
	// a^2 + d^2 ef - b^2 e - c^2 f + 2 (ad - bc) sqrt(ef).
	square := func(x, y *big.Int) *big.Int { return new(big.Int).Mul(new(big.Int).Mul(x, x), y) }
	plain := new(big.Int).Mul(a, a)
	plain.Add(plain, square(d, ef))
	plain.Sub(plain, square(b, e))
	plain.Sub(plain, square(c, f))
	mixed := new(big.Int).Mul(a, d)
	mixed.Sub(mixed, new(big.Int).Mul(b, c))
	mixed.Lsh(mixed, 1)
	return signRoot(plain, mixed, ef) * one
}
