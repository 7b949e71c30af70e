package assess

import (
	"math"
	"slices"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// finite is v's address, or nil when v has no form in JSON.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// numbers are the values of a number column, original or published: an
// interval for each record, of width zero for a plain number.
type numbers struct {
	lo, hi  []float64
	mean    []float64 // what a cell says the mean is, the middle where nothing; nil for all middles
	present []bool
	missing int64 // shown as missing
	unread  int64 // neither a number nor a range
	ranges  bool
}

// mid is the expected value of record i.
func (x *numbers) mid(i int) float64 {
	if x.mean != nil {
		return x.mean[i]
	}
	return x.lo[i] + (x.hi[i]-x.lo[i])/2
}

// readNumbers reads column c, which publishes values of the column described
// by f, and may hold texts with ranges.
func readNumbers(c *table.Column, f *table.Field) *numbers {
	n := c.Len()
	x := &numbers{lo: make([]float64, n), present: make([]bool, n)}
	if c.Field.Type.IsNumber() {
		for i := range n {
			if c.IsMissing(i) {
				x.missing++
				continue
			}
			x.lo[i], x.present[i] = c.Number(i), true
		}
		x.hi = x.lo
		return x
	}
	x.hi = make([]float64, n)
	parsed := make([]publish.Span, len(c.Dict))
	known := make([]bool, len(c.Dict))
	for j, word := range c.Dict {
		p := &parsed[j]
		*p, known[j] = publish.ParseSpan(word, f)
		if !p.HasMean {
			p.Mean = p.Lo + (p.Hi-p.Lo)/2
		} else if x.mean == nil {
			x.mean = make([]float64, n)
		}
		x.ranges = x.ranges || known[j] && p.Range
	}
	for i := range n {
		if c.IsMissing(i) {
			x.missing++
			continue
		}
		p := &parsed[c.Codes[i]]
		if !known[c.Codes[i]] {
			x.unread++
			continue
		}
		x.lo[i], x.hi[i], x.present[i] = p.Lo, p.Hi, true
		if x.mean != nil {
			x.mean[i] = p.Mean
		}
	}
	return x
}

// spread holds the sums that several figures are made of, by two passes: the
// mean first, then the squares about it, corrected for what the mean was
// rounded by (Chan, Golub and LeVeque 1983).
type spread struct {
	count    int64
	mean, ss float64 // ss = sum (x - mean)^2
	min, max float64
}

func (x *numbers) spread() spread {
	s := spread{min: math.Inf(1), max: math.Inf(-1)}
	for i, here := range x.present {
		if here {
			s.count++
			s.min, s.max = min(s.min, x.mid(i)), max(s.max, x.mid(i))
		}
	}
	if s.count == 0 {
		return spread{}
	}
	if s.min == s.max { // constant: exactly no spread, whatever rounding says
		s.mean = s.min
		return s
	}
	// Sums are taken about the middle of the range, so that neither a large
	// offset nor a large magnitude is felt.
	origin := s.min/2 + s.max/2
	n, total := float64(s.count), 0.0
	for i, here := range x.present {
		if here {
			total += x.mid(i) - origin
		}
	}
	offset := total / n
	var ss, drift float64
	for i, here := range x.present {
		if here {
			d := (x.mid(i) - origin) - offset
			ss += d * d
			drift += d
		}
	}
	s.mean = origin + offset
	s.ss = max(0, ss-drift*drift/n)
	return s
}

// moments describes the column.
func (x *numbers) moments(s spread) Moments {
	m := Moments{Count: s.count, Missing: x.missing}
	if rows := len(x.present); rows > 0 {
		m.MissingShare = float64(x.missing) / float64(rows)
	}
	if s.count == 0 {
		return m
	}
	m.Mean, m.Min, m.Max = finite(s.mean), finite(s.min), finite(s.max)
	if s.count > 1 {
		m.SD = finite(math.Sqrt(s.ss / float64(s.count-1)))
	}
	sorted := make([]float64, 0, s.count)
	for i, here := range x.present {
		if here {
			sorted = append(sorted, x.mid(i))
		}
	}
	slices.Sort(sorted)
	m.Q1, m.Median, m.Q3 = finite(quantile(sorted, 0.25)), finite(quantile(sorted, 0.5)), finite(quantile(sorted, 0.75))
	return m
}

// quantile interpolates between order statistics (type 7).
func quantile(sorted []float64, p float64) float64 {
	h := p * float64(len(sorted)-1)
	low := int(h)
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	t := h - float64(low)
	return sorted[low]*(1-t) + sorted[low+1]*t
}

// binsMost is the largest number of bins of a histogram.
const binsMost = 40

// histogramOf lays both columns over bins from the original's smallest to its
// largest value; what the release has beyond falls into the outer bins.
func histogramOf(original, release *numbers, s spread, f *table.Field) *Histogram {
	if s.count == 0 || math.IsInf(s.max-s.min, 0) {
		return nil
	}
	lo, hi, bins := s.min, s.max, 1
	if hi > lo {
		bins = min(binsMost, max(5, int(math.Ceil(math.Cbrt(float64(s.count))*2))))
		if f.Type != table.Decimal {
			// Bins of whole width: no comb where some hold one more integer.
			width := math.Max(1, math.Ceil((hi-lo+1)/float64(bins)))
			bins = int(math.Ceil((hi - lo + 1) / width))
			h := &Histogram{Edges: make([]float64, bins+1)}
			for i := range h.Edges {
				// The last bin ends with the largest value: no axis goes on to values that there are not.
				h.Edges[i] = min(lo-0.5+float64(i)*width, hi+0.5)
			}
			return h.counted(original, release)
		}
	} else {
		lo, hi = lo-0.5, hi+0.5
	}
	h := &Histogram{Edges: make([]float64, bins+1)}
	for i := range h.Edges {
		h.Edges[i] = lo + (hi-lo)*float64(i)/float64(bins)
	}
	h.Edges[bins] = hi
	return h.counted(original, release)
}

// counted is the histogram with its counts; nil where its bins have no width.
func (h *Histogram) counted(original, release *numbers) *Histogram {
	if h.Edges[0] >= h.Edges[1] { // a spread below the resolution of numbers
		return nil
	}
	h.Original, h.Release = original.count(h.Edges), release.count(h.Edges)
	return h
}

func (x *numbers) count(edges []float64) []float64 {
	bins := len(edges) - 1
	counts := make([]float64, bins)
	width := edges[1] - edges[0]
	bin := func(v float64) int {
		return min(bins-1, max(0, int(math.Floor(min(max((v-edges[0])/width, -1), float64(bins))))))
	}
	for i, here := range x.present {
		if !here {
			continue
		}
		lo, hi := x.lo[i], x.hi[i]
		a, b := bin(lo), bin(hi)
		if a == b {
			counts[a]++
			continue
		}
		for j := a; j <= b; j++ {
			from, to := max(lo, edges[j]), min(hi, edges[j+1])
			if j == a {
				from = lo
			}
			if j == b {
				to = hi
			}
			counts[j] += max(0, to-from) / (hi - lo)
		}
	}
	return counts
}
