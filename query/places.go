package query

import (
	"math"

	"github.com/noren-privacy/noren/table"
)

// placer fills out with the places on the grid of the values of the records from one on,
// all between those of the bounds, and has with the records that have a finite value.
type placer func(from int, out []int64, has *selection)

// placesOf returns the placer of a column. Its results are those of [noise.Range.Quantise]
// for each value; a record without a value gets any place between the bounds.
func (g grid) placesOf(t *table.Table, f *table.Field) (placer, error) {
	c, err := bind(t, f)
	if err != nil {
		return nil, err
	}
	lo, hi := g.Lo(), g.Hi()
	switch {
	case c.Ints != nil && g.J() == 0:
		return func(from int, out []int64, has *selection) {
			present(c, from, len(out), has)
			for i, v := range c.Ints[from : from+len(out)] {
				out[i] = min(max(v, lo), hi)
			}
		}, nil
	case c.Floats != nil && math.Abs(float64(g.J())) < 1000:
		// Between the bounds, which are at most 2^53 steps, scaling by a power of two
		// is exact, but for values that fall below the smallest float64 and round to 0
		// as they should.
		low, high, scale := g.Value(lo), g.Value(hi), math.Ldexp(1, g.J())
		return func(from int, out []int64, has *selection) {
			values := c.Floats[from : from+len(out)]
			present(c, from, len(out), has)
			for i, v := range values {
				out[i] = int64(math.RoundToEven(min(max(v, low), high) * scale))
			}
			onlyFinite(values, out, lo, has)
		}, nil
	}
	return func(from int, out []int64, has *selection) {
		present(c, from, len(out), has)
		for i := range out {
			k, err := g.Quantise(c.Number(from + i))
			if err != nil {
				k = lo
				has[i/64] &^= 1 << (i % 64)
			}
			out[i] = k
		}
	}, nil
}

// onlyFinite takes values that are not finite from has, which a table of package table
// never holds, and gives them the place lo.
func onlyFinite(values []float64, out []int64, lo int64, has *selection) {
	sum := 0.0
	for _, v := range values {
		sum += v - v // 0 for finite values, NaN for others
	}
	if sum == 0 {
		return
	}
	for i, v := range values {
		if v-v != 0 {
			out[i] = lo
			has[i/64] &^= 1 << (i % 64)
		}
	}
}

// moments are sums over records of a group: their number, and the sums of y and y^2.
type moments struct{ n, y, square int64 }

// addTo adds the records of a block that are selected and have a value to the moments of
// their groups, with y the place less lo; squares says that squares are needed. The
// moments of group g are at g+1: those at 0 are of no group.
func (b *block) addTo(sums []moments, places []int64, lo int64, squares bool) {
	if b.groups == nil {
		b.addAll(&sums[1], places, lo, squares)
		return
	}
	for i, k := range places {
		s := &sums[b.groups[i]+1]
		y := k - lo
		s.n++
		s.y += y
		if squares {
			s.square += y * y
		}
	}
}

// addAll is addTo for one group.
func (b *block) addAll(s *moments, places []int64, lo int64, squares bool) {
	s.n += int64(b.count())
	var sum, square int64
	switch {
	case b.all && !squares:
		for _, k := range places {
			sum += k
		}
		sum -= int64(len(places)) * lo
	case b.all:
		for _, k := range places {
			y := k - lo
			sum += y
			square += y * y
		}
	default:
		for i, k := range places {
			y := (k - lo) & -int64(b.selected[i/64]>>(i%64)&1)
			sum += y
			square += y * y
		}
	}
	s.y += sum
	s.square += square
}
