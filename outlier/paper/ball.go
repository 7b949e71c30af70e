package paper

import "math/big"

// Ball is the smallest ball that encloses some points, exactly.
type Ball struct {
	Members []int // of the points that it was made for
	Centre  []*big.Rat
	Radius2 *big.Rat
}

// Enumerate is algorithm 1: the balls of radius at most r about subsets of the
// points, by deciding for each point in turn whether it is in, and keeping of
// those that hold one another the larger. As printed it stops one point early
// twice (line 3 ends the recursion before the last point is decided, and line 6
// takes the ball before the point of line 7 is in), so that the last two points
// are never looked at; here they are, and subsets whose ball is already too
// large are not grown. Exponential in the number of points.
func Enumerate(points [][]int64, radius2 int64) []Ball {
	r2 := new(big.Rat).SetInt64(radius2)
	var grow func(i int, chosen []int) []Ball
	grow = func(i int, chosen []int) []Ball {
		ball := enclose(points, chosen, nil)
		if ball != nil && ball.Radius2.Cmp(r2) > 0 {
			return nil
		}
		if i == len(points) {
			if ball == nil {
				return nil
			}
			ball.Members = append([]int(nil), chosen...)
			return []Ball{*ball}
		}
		with := grow(i+1, append(chosen[:len(chosen):len(chosen)], i))
		return append(with, grow(i+1, chosen)...)
	}
	return grow(0, nil)
}

// enclose returns the smallest ball about the chosen points with those of edge
// on its boundary (Welzl 1991), or nil for no point at all.
func enclose(points [][]int64, chosen, edge []int) *Ball {
	if len(chosen) == 0 {
		return through(points, edge)
	}
	last := chosen[len(chosen)-1]
	rest := chosen[:len(chosen)-1]
	ball := enclose(points, rest, edge)
	if ball != nil && ball.holds(points[last]) {
		return ball
	}
	return enclose(points, rest, append(edge[:len(edge):len(edge)], last))
}

// holds reports whether p lies in b.
func (b *Ball) holds(p []int64) bool {
	sum := new(big.Rat)
	for j, c := range b.Centre {
		e := new(big.Rat).SetInt64(p[j])
		e.Sub(e, c)
		sum.Add(sum, e.Mul(e, e))
	}
	return sum.Cmp(b.Radius2) <= 0
}

// through returns the smallest ball with affinely independent points on its
// boundary: its centre is p0 + sum lambda_i v_i, v_i = p_i - p0, with
// 2 sum_j (v_i . v_j) lambda_j = |v_i|^2.
func through(points [][]int64, edge []int) *Ball {
	if len(edge) == 0 {
		return nil
	}
	p0 := points[edge[0]]
	m := len(edge) - 1
	v := make([][]*big.Rat, m)
	for i := range v {
		for j, x := range points[edge[i+1]] {
			v[i] = append(v[i], new(big.Rat).SetInt64(x-p0[j]))
		}
	}
	system := make([][]*big.Rat, m)
	for i := range system {
		for j := range m {
			system[i] = append(system[i], new(big.Rat).Mul(big.NewRat(2, 1), dot(v[i], v[j])))
		}
		system[i] = append(system[i], dot(v[i], v[i]))
	}
	lambda := solve(system)
	b := &Ball{Radius2: new(big.Rat)}
	for j, x := range p0 {
		away := new(big.Rat)
		for i := range v {
			away.Add(away, new(big.Rat).Mul(lambda[i], v[i][j]))
		}
		b.Radius2.Add(b.Radius2, new(big.Rat).Mul(away, away))
		b.Centre = append(b.Centre, away.Add(away, new(big.Rat).SetInt64(x)))
	}
	return b
}

func dot(a, b []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for j := range a {
		sum.Add(sum, new(big.Rat).Mul(a[j], b[j]))
	}
	return sum
}

// solve eliminates in a regular system whose rows end in the right side.
func solve(a [][]*big.Rat) []*big.Rat {
	n := len(a)
	for c := range n {
		for r := c; r < n; r++ {
			if a[r][c].Sign() != 0 {
				a[c], a[r] = a[r], a[c]
				break
			}
		}
		for r := range n {
			if r == c || a[r][c].Sign() == 0 {
				continue
			}
			f := new(big.Rat).Quo(a[r][c], a[c][c])
			for j := c; j <= n; j++ {
				a[r][j].Sub(a[r][j], new(big.Rat).Mul(f, a[c][j]))
			}
		}
	}
	x := make([]*big.Rat, n)
	for i := range x {
		x[i] = new(big.Rat).Quo(a[i][n], a[i][i])
	}
	return x
}
