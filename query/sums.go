package query

import (
	"context"
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

// sums answers what is computed from sums of whole numbers over records, with the
// same noise added to each sum: counts, sums, means, variances and histograms.
//
// Guarantee: the released integers are private for the query's cost, by
// [additive.sensitivity] and [newSampler]; everything after (dividing, clamping,
// intervals) sees only them and is post-processing. The grouping, the predicate and
// the rounding of a value are decided record by record by public rules. The integers
// do not depend on the order of the records, as integer addition does not.
//
// What a record adds to the sums of its cell, with k its value's place on the grid, l
// and h those of the bounds and W = h - l:
//
//	count, histogram  1
//	sum               k
//	mean              k - l,  h - k
//	variance          (k-l)^2,  2 (k-l)(h-k),  (h-k)^2
//
// The coordinates of a mean add up to W for every record, and those of a variance to
// W^2 (they are Bernstein's basis), so that their L1 norm is known and the same for
// all: the two (three) sums cost as much as one. With their noisy values A, B
// (or C2, C1, C0) and T their total,
//
//	n        = T/W             (T/W^2)
//	mean     = l + W A/T
//	variance = W^2 (C0 C2 - C1^2/4)/T^2
//
// the last because y = (k-l)/W has E y^2 = C2/T and E y = (C2 + C1/2)/T.
type sums struct {
	q     *Query
	add   additive
	noise sampler
	p     NoiseParameters
	rho   account.Rho // of Gaussian noise
	grid  grid        // of sums, means, variances
	level float64
}

func newSums(q *Query) (*sums, error) {
	s := &sums{q: q, level: q.o.Level}
	s.add = additive{cells: len(q.groups.texts) * q.bins(), coords: 1, hi: 1}
	if q.o.Bounds != nil {
		var err error
		if s.grid, err = newGrid(&q.o, q.field.Type != table.Decimal); err != nil {
			return nil, err
		}
	}
	w := s.grid.width()
	switch q.o.Kind {
	case Sum:
		s.add.lo, s.add.hi = min(0, s.grid.Lo()), max(0, s.grid.Hi())
	case Mean:
		s.add.coords, s.add.hi = 2, w
	case Variance:
		s.add.coords, s.add.hi = 3, w*w
	case Histogram:
		if q.o.Values != nil { // found to be readable and distinct before data is read
			if _, err := s.valueKeys(); err != nil {
				return nil, err
			}
		}
	}
	var err error
	change := s.add.sensitivity(q.o.Neighbours, q.o.MaxRows)
	if s.noise, s.p, err = newSampler(q.o.Noise, q.o.Cost, q.o.Rho, change); err != nil {
		return nil, err
	}
	if q.o.Noise == Gaussian {
		s.rho, err = gaussianRho(change, s.p.Sigma2)
	}
	return s, err
}

// valueKeys are the bins of a histogram by values.
func (s *sums) valueKeys() (*keys, error) {
	texts := make([][]string, len(s.q.o.Values))
	for i, v := range s.q.o.Values {
		texts[i] = []string{v}
	}
	return newKeys("values", s.q.o.Fields, []string{s.q.o.Column}, texts)
}

func (s *sums) answer(ctx context.Context, t *table.Table, records *scan, src *noise.Source) ([]Group, error) {
	exact, err := s.exact(ctx, t, records)
	if err != nil {
		return nil, err
	}
	return s.noisy(exact, src)
}

// noisy adds noise to the exact sums and makes the answers of them.
func (s *sums) noisy(exact []noise.Sum, src *noise.Source) ([]Group, error) {
	noisy := make([]int64, len(exact))
	for i := range exact {
		x, err := s.noise.Draw(src)
		if err != nil {
			return nil, err
		}
		// At most 2^31 records of at most 2^31 each: nothing is cut.
		noisy[i] = noise.AddSaturating(exact[i].Saturated(), x)
	}
	return s.groups(noisy), nil
}

// groups makes the answers of the sums of all cells.
func (s *sums) groups(x []int64) []Group {
	groups := make([]Group, s.add.cells)
	for c := range groups {
		groups[c] = s.group(x[c*s.add.coords : (c+1)*s.add.coords])
	}
	return groups
}

// exact adds up; the result is private data.
func (s *sums) exact(ctx context.Context, t *table.Table, records *scan) ([]noise.Sum, error) {
	switch s.q.o.Kind {
	case Count:
		return s.counts(ctx, records, nil)
	case Histogram:
		bin, err := s.binsOf(t)
		if err != nil {
			return nil, err
		}
		return s.counts(ctx, records, bin)
	}
	place, err := s.grid.placesOf(t, s.q.field)
	if err != nil {
		return nil, err
	}
	lo, w := s.grid.Lo(), s.grid.width()
	if s.q.o.Kind == Sum {
		lo = 0
	}
	out := make([]noise.Sum, s.add.cells*s.add.coords)
	part := make([]moments, s.add.cells+1)
	places := make([]int64, min(blockRows, t.Rows))
	var has selection
	held := 0
	// Of n records, sum y = Y and sum y^2 = Q: sum z = n w - Y, 2 sum y z = 2 (w Y - Q)
	// and sum z^2 = n w^2 - 2 w Y + Q, with z = w - y.
	flush := func() {
		for g := range s.add.cells {
			m := &part[g+1]
			switch s.q.o.Kind {
			case Sum:
				out[g].Add(m.y)
			case Mean:
				out[2*g].Add(m.y)
				out[2*g+1].Add(m.n*w - m.y)
			default:
				out[3*g].Add(m.square)
				out[3*g+1].Add(2 * (w*m.y - m.square))
				out[3*g+2].Add(m.n*w*w - 2*w*m.y + m.square)
			}
			*m = moments{}
		}
		held = 0
	}
	err = records.run(ctx, func(b *block) {
		place(b.from, places[:b.rows], &has)
		if !complete(&has, b.rows) {
			b.and(&has)
		}
		b.addTo(part, places[:b.rows], lo, s.q.o.Kind == Variance)
		held += b.rows
		if held > holdRows {
			flush()
		}
	})
	flush()
	return out, err
}

// holdRows is the number of records whose moments are held in 64 bits: places are at most
// 2^31 from 0 and squares at most 2^30, so that every sum stays below 2^62.
const holdRows = 1 << 20

// complete reports whether all n records have a value.
func complete(has *selection, n int) bool {
	var lacking uint64
	for w := range has {
		lacking |= firstBits(n-64*w) &^ has[w]
	}
	return lacking == 0
}

// counts counts the records of each group, or with bin of each bin of each group.
func (s *sums) counts(ctx context.Context, records *scan, bin func(from int, out []int32)) ([]noise.Sum, error) {
	counts := newTally(s.add.cells)
	at := make([]int32, min(blockRows, records.rows))
	bins := int32(s.q.bins())
	err := records.run(ctx, func(b *block) {
		cells := b.groups
		switch {
		case bin == nil && cells == nil:
			counts.add(0, int64(b.count()))
			return
		case bin != nil:
			cells = at[:b.rows]
			bin(b.from, cells)
			if b.all {
				break // one group, all records of it: the bins are the cells
			}
			for i, c := range cells {
				group := int32(0)
				if b.groups != nil {
					group = b.groups[i]
				}
				selected := int32(b.selected[i/64] >> (i % 64) & 1)
				// -1 where the record is in no bin or not selected
				cells[i] = (group*bins + c) | c>>31 | (selected - 1)
			}
		}
		counts.count(cells)
	})
	out := make([]noise.Sum, s.add.cells)
	for c := range out {
		out[c].Add(counts.of(c))
	}
	return out, err
}

// width is the half-width of the interval that holds each of the coordinates' noise
// at once with confidence level: by the union bound, coordinate by coordinate at 1 -
// (1-level)/coords.
func (s *sums) width(level float64) float64 {
	return float64(s.noise.Interval(1 - (1-level)/float64(s.add.coords)))
}

// group makes the answer of one cell from its noisy sums.
//
// The intervals of counts and sums are the noise's own. That of a mean or variance is
// what the formula can give while every coordinate lies within its noise of what was
// released, and is not negative: it holds the value with confidence level at least.
// Half a step of rounding is added.
func (s *sums) group(x []int64) Group {
	w := s.width(s.level)
	switch s.q.o.Kind {
	case Count, Histogram:
		v := float64(x[0])
		return Group{Value: number(v), Interval: interval(max(0, v-w), max(0, v+w))}
	case Sum:
		v := s.grid.Value(x[0])
		step := s.grid.Value(1)
		// How many values were rounded is private; each by half a step at most. The
		// interval is for the sum of the rounded values.
		return Group{Value: number(v), Interval: interval(v-w*step, v+w*step)}
	case Mean:
		return s.mean(float64(x[0]), float64(x[1]), w)
	default:
		return s.variance(float64(x[0]), float64(x[1]), float64(x[2]), w)
	}
}

// mean is l + W A/(A+B), which rises with A and falls with B.
func (s *sums) mean(a, b, w float64) Group {
	lo, width := s.grid.Value(s.grid.Lo()), s.grid.Value(s.grid.width())
	share := func(a, b, otherwise float64) float64 {
		a, b = max(0, a), max(0, b)
		if a+b == 0 {
			return otherwise
		}
		return a / (a + b)
	}
	g := Group{Interval: interval(
		max(s.grid.Value(s.grid.Lo()), lo+width*share(a-w, b+w, 0)-s.grid.half()),
		min(s.grid.Value(s.grid.Hi()), lo+width*share(a+w, b-w, 1)+s.grid.half()),
	)}
	g.Records = records((a + b) / float64(s.grid.width()))
	if a+b >= float64(s.grid.width())/2 { // half a record
		g.Value = number(lo + width*share(a, b, 0.5))
	}
	return g
}

// records is a noisy number of records, to a whole one and at least 0.
func records(n float64) *Number { return number(max(0, math.Round(n))) }

// variance is W^2 f, f = (C0 C2 - C1^2/4)/(C0+C1+C2)^2. Where f > 0 it falls with C1.
// In C0 = a, with C2 = b and C1 = c fixed, the derivative has the sign of b (b + c -
// a) + c^2/2: f rises up to a* = b + c + c^2/(2b) and falls from there; likewise in
// C2. So over a box the least value is at a corner with the largest C1, and the
// largest, with the least C1, on an edge of the box at a* (or its end): inside, both
// derivatives cannot vanish, as a - b > 0 and b - a > 0 would follow for c > 0, and
// for c = 0 they do on a = b alone, where f is 1/4 on the edges too.
func (s *sums) variance(c2, c1, c0, w float64) Group {
	unit := s.grid.Value(s.grid.width())
	unit *= unit
	f := func(a, c, b float64) float64 {
		t := a + b + c
		if t <= 0 {
			return 0
		}
		return (a/t)*(b/t) - (c/t)*(c/t)/4
	}
	top := func(b, c, from, to float64) float64 { // of a, by the edge
		if b <= 0 {
			return from
		}
		return min(max(b+c+c*c/(2*b), from), to)
	}
	aLo, aHi := max(0, c0-w), max(0, c0+w)
	bLo, bHi := max(0, c2-w), max(0, c2+w)
	cLo, cHi := max(0, c1-w), max(0, c1+w)
	lo, hi := math.Inf(1), 0.0
	for _, a := range []float64{aLo, aHi} {
		for _, b := range []float64{bLo, bHi} {
			lo = min(lo, f(a, cHi, b))
		}
		hi = max(hi, f(a, cLo, top(a, cLo, bLo, bHi)))
	}
	for _, b := range []float64{bLo, bHi} {
		hi = max(hi, f(top(b, cLo, aLo, aHi), cLo, b))
	}
	if aLo == 0 && bLo == 0 && cLo == 0 {
		hi = 0.25 // no records at all, and so anything
	}
	// Rounding moves every value by half a step at most, and so the deviation.
	half := s.grid.half()
	low, high := math.Sqrt(max(0, lo)*unit), math.Sqrt(min(max(0, hi), 0.25)*unit)
	g := Group{Interval: interval(math.Pow(max(0, low-half), 2), min(math.Pow(high+half, 2), unit/4))}
	n := float64(s.grid.width()) * float64(s.grid.width())
	g.Records = records((c0 + c1 + c2) / n)
	if c0+c1+c2 >= n/2 { // half a record
		g.Value = number(min(max(0, f(max(0, c0), max(0, c1), max(0, c2))), 0.25) * unit)
	}
	return g
}

// accuracy follows from the half-width w of the coordinates' noise. For shares p_i =
// C_i/T of a total T = n W^.. with c coordinates, the error of the share of weights
// 0 <= v_i <= 1 is sum e_i (v_i - v)/(T + e) for noise e_i with sum e, so at most
//
//	mean      w/(T - 2w) of W: |v_0 - v| + |v_1 - v| = 1
//	variance  (2 + 3 + 9/4 u) u of W^2, u = w/(T - 3w): of E y^2 at most 2u, of E y at
//	          most 3u/2, of (E y)^2 at most 3u + 9/4 u^2
func (s *sums) accuracy(level float64, records int64) (Accuracy, error) {
	w, width := s.width(level), float64(s.grid.width())
	switch s.q.o.Kind {
	case Count, Histogram:
		return Accuracy{Level: level, HalfWidth: finite(w)}, nil
	case Sum:
		return Accuracy{Level: level, HalfWidth: finite(w * s.grid.Value(1))}, nil
	case Mean:
		a := Accuracy{Level: level, Records: records}
		if total := float64(records) * width; total > 2*w {
			a.HalfWidth = finite(min(1, w/(total-2*w))*s.grid.Value(s.grid.width()) + s.grid.half())
		}
		return a, nil
	default:
		a := Accuracy{Level: level, Records: records}
		if total := float64(records) * width * width; total > 3*w {
			u := w / (total - 3*w)
			length := s.grid.Value(s.grid.width())
			half := s.grid.half()
			a.HalfWidth = finite(min(0.25, (5+2.25*u)*u)*length*length + half*length + half*half)
		}
		return a, nil
	}
}

func (s *sums) parameters(p *Parameters) {
	p.Added = &s.p
	if s.q.o.Bounds != nil {
		j := s.grid.J()
		p.GridBits = &j
	}
}

func (s *sums) assumptions() noren.Texts {
	switch s.q.o.Kind {
	case Count:
		return nil
	case Histogram:
		if s.q.o.Bins != nil {
			return noren.Texts{noren.Textf("records without a value in %s, or with one outside the bins, are in no bin", s.q.o.Column)}
		}
		return noren.Texts{noren.Textf("records whose value in %s is not listed are in no bin", s.q.o.Column)}
	}
	return s.grid.assumptions(s.q.o.Column)
}

// assumptions are those of queries over the values of a column.
func (g grid) assumptions(column string) noren.Texts {
	lo, hi := g.Value(g.Lo()), g.Value(g.Hi())
	return noren.Texts{
		noren.Textf("records without a value in %s do not count", column),
		noren.Textf("values in %s below %v count as %v and values above %v as %v, rounded to multiples of %v; answers and intervals are for "+
			"those", column, lo, lo, hi, hi, g.Value(1)),
	}
}
