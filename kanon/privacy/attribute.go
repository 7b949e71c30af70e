package privacy

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// Attribute is a sensitive column of a whole table, coded: its distinct values
// have the codes 0, 1, ... in their order (numbers and dates by size, ordered
// categories by level, other categories by bytes). Make it by [NewAttribute] or
// [NewWeighted]; it must not be changed after.
type Attribute struct {
	// Name is the column's.
	Name string
	// Codes has one entry a record. Missing values have a code of their own,
	// the one behind the last value's.
	Codes []uint32
	// Cardinality is the number of codes, that of missing values included
	// where one is missing.
	Cardinality int
	// Ordered tells which distance closeness is measured by.
	Ordered bool
	// Whole counts the records of each code in the whole table.
	Whole []int64

	total   uint64   // records
	values  int      // distinct values without the missing one
	missing uint64   // records without a value
	upTo    []uint64 // upTo[j]: records of a value with a code below j, for j in [0,values]
	sums    []uint64 // sums[j] = upTo[1] + ... + upTo[j]
}

// NewAttribute codes the column.
func NewAttribute(col *table.Column) *Attribute {
	return newAttribute(col, func(int) int64 { return 1 })
}

// NewWeighted is NewAttribute where entry i of the column stands for weights[i]
// >= 0 records of the table: a caller that has met each distinct value once and
// counted it need not keep the records. Codes then has one entry an entry of
// the column. Weights that do not fit the column are an error of kind
// noren.Usage.
func NewWeighted(col *table.Column, weights []int64) (*Attribute, error) {
	if len(weights) != col.Len() || len(weights) > 0 && slices.Min(weights) < 0 {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: noren.Textf("column %s", col.Field.Name),
			What: "%d {weight|weights} for %d {entry|entries}: expected as many, none below 0", Args: []any{len(weights), col.Len()},
		}
	}
	return newAttribute(col, func(i int) int64 { return weights[i] }), nil
}

func newAttribute(col *table.Column, weight func(int) int64) *Attribute {
	a := &Attribute{Name: col.Field.Name, Ordered: col.Field.Type != table.Category, Codes: make([]uint32, col.Len())}
	switch {
	case col.Ints != nil:
		rank(a, col, col.Ints)
	case col.Floats != nil:
		rank(a, col, col.Floats)
	case col.Codes != nil:
		rank(a, col, col.Codes)
	}
	a.Cardinality = a.values
	if col.Missing() > 0 {
		a.Cardinality++
	}
	a.Whole = make([]int64, a.Cardinality)
	for i, code := range a.Codes {
		w := weight(i)
		a.total += uint64(w)
		a.Whole[code] += w
	}
	if a.Cardinality > a.values {
		a.missing = uint64(a.Whole[a.values])
	}
	if a.Ordered {
		a.upTo = make([]uint64, a.values+1)
		a.sums = make([]uint64, a.values+1)
		for j := range a.values {
			a.upTo[j+1] = a.upTo[j] + uint64(a.Whole[j])
			a.sums[j+1] = a.sums[j] + a.upTo[j+1]
		}
	}
	return a
}

// rank codes the records by the order of their values; a.values is set.
func rank[T cmp.Ordered](a *Attribute, col *table.Column, of []T) {
	distinct := make([]T, 0, len(of))
	for i, v := range of {
		if !col.IsMissing(i) {
			distinct = append(distinct, v)
		}
	}
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	a.values = len(distinct)
	for i, v := range of {
		if col.IsMissing(i) {
			a.Codes[i] = uint32(a.values)
			continue
		}
		at, _ := slices.BinarySearch(distinct, v)
		a.Codes[i] = uint32(at)
	}
}

// DistanceKind names the distance of [Attribute.Distance]: "ordered" or "equal".
func (a *Attribute) DistanceKind() string {
	const ordered, equal noren.Term = "ordered", "equal"
	if a.Ordered {
		return string(ordered)
	}
	return string(equal)
}

// Holds reports whether a class with these counts keeps req: its size, its
// diversity and its closeness to the whole table. h must count codes of a.
func (a *Attribute) Holds(h *Histogram, req Requirement) bool {
	return h.total >= int64(req.K) && a.Diverse(h, req.Diversity) && a.Close(h, req.Closeness)
}

// Diverse reports whether d holds in a class; a nil d asks for nothing.
//
// Unless d counts missing values, it is asked of the records with a value alone.
// Merging keeps it as before: the counts of the values in a union are the sums of
// those in its parts, whatever the missing ones are, and a part without any value
// adds nothing.
func (a *Attribute) Diverse(h *Histogram, d *Diversity) bool {
	if d == nil {
		return true
	}
	counted := a.Counted(h, d)
	h = &counted
	switch {
	case d.Model == Distinct:
		return float64(h.DistinctL()) >= d.L
	case d.Model == Entropy:
		return h.EntropyL() >= d.L*(1-EntropyTolerance)
	case d.Model == Recursive:
		return h.recursive(d.L, d.C)
	}
	return false
}

// Counted is h as diversity d counts it, without the missing values unless d has
// them counted; a nil d does not. It shares the memory of h.
func (a *Attribute) Counted(h *Histogram, d *Diversity) Histogram {
	last := len(h.pairs) - 1
	if last < 0 || a.Cardinality == a.values || int(h.pairs[last].Code) != a.values || d != nil && d.CountMissing {
		return *h
	}
	return Histogram{pairs: h.pairs[:last:last], total: h.total - h.pairs[last].Count}
}

// Close reports whether c holds in a class; a nil c asks for nothing. It is
// exact.
func (a *Attribute) Close(h *Histogram, c *Closeness) bool {
	if c == nil {
		return true
	}
	share, move, ok := a.distance(h)
	if !ok {
		return c.T >= 1
	}
	// The numerators and denominators are whole and exact; a few roundings on
	// the way to d leave a relative error below 1e-15.
	d := share.float() + move.float()
	switch {
	case d < c.T*(1-1e-14) || d == 0:
		return true
	case d > c.T*(1+1e-14):
		return false
	}
	exact := share.rat()
	return exact.Add(exact, move.rat()).Cmp(decimal(c.T)) <= 0
}

// Distance is how far the values of a class are from those of the whole table,
// in [0,1]; 0 for an empty class. It is correctly rounded up to a relative
// 1e-15. A histogram that is no part of the whole table is at distance 1, and so
// is every class of a table of more than 2^32-1 records, whose distances are not
// computed: products of two counts would not fit 64 bits.
//
// With p_i and q_i the shares of value i in the class and in the table, it is
// the earth mover's distance of Li, Li and Venkatasubramanian (2007, section 5):
//
//   - equal, for categories: every two values are 1 apart, and the distance is
//     half of sum |p_i - q_i|, that is the sum of the positive p_i - q_i. A
//     missing value is one of the values.
//   - ordered, for numbers, dates and ordered categories: the m distinct values
//     of the table are ranked, ranks i and j are |i-j|/(m-1) apart, and the
//     distance is 1/(m-1) times the sum of |p_1+...+p_i - q_1-...-q_i|.
//
// # Missing values of an ordered column
//
// A missing value has no rank, and any rank given to it would make it close to
// some value by decree. Instead, with s and u the shares of records of the
// class and of the table that have a value, and E the ordered distance of the
// values among these alone,
//
//	D = |s - u| + min(s, u) E   (without the second term where s = 0).
//
// Without missing values it is E. D is the cost of one way to move the class's
// shares to the table's: the missing shares that are common stay, min(s,u) moves
// within the line of values in proportion, and |s-u| moves between values and
// missing at cost 1, the most that any two values are apart. So D is at least
// the earth mover's distance for every place that a missing value might be given
// at a distance of at most 1 from each value: closeness by D is closeness in
// each of these readings. D <= |s-u| + min(s,u) = max(s,u) <= 1, and D >= |s-u|:
// it also bounds what a class tells about whether a value is missing.
//
// # Merging
//
// D of the union of two classes is at most the larger of theirs. Without missing
// values D is a sum of absolute values of linear functions of p, hence convex,
// and the union's p is a weighted mean w_1 p_1 + w_2 p_2. With missing values,
// s = w_1 s_1 + w_2 s_2, and by the same convexity E <= v_1 E_1 + v_2 E_2 with
// v_i = w_i s_i / s.
//
//   - Both s_i <= u: D_i = u - s_i + s_i E_i, so D <= w_1 D_1 + w_2 D_2.
//   - Both s_i >= u: D_i = s_i - u + u E_i. Let s_1 <= s_2, hence v_2 >= w_2. If
//     E_1 >= E_2, then E <= w_1 E_1 + w_2 E_2 and D <= w_1 D_1 + w_2 D_2; else
//     s <= s_2 and E <= E_2 give D <= D_2.
//   - s_1 < u < s_2: the mixture of both whose share is exactly u has, by the
//     first case's formula, D <= w_1 D_1 + w_2 (u - s_2 + s_2 E_2), and the
//     bracket is at most D_2, as D_2 minus it is (s_2-u)(2-E_2) >= 0. The union
//     lies between that mixture and one of the classes, on one side of u, where
//     one of the first two cases applies.
//
// # Cost
//
// O(m') for equal and O(m' log m) for ordered with m' values in the class and m
// in the table: between two values that occur, the class's cumulated share is
// constant and the table's only grows, so the absolute difference changes sign
// once at most and both sides of that place are sums known beforehand.
func (a *Attribute) Distance(h *Histogram) float64 {
	share, move, ok := a.distance(h)
	if !ok {
		return 1
	}
	return min(1, share.float()+move.float())
}

// distance is the exact distance as the sum of two fractions: for ordered
// columns |s-u| and min(s,u) E, for others zero and the whole. ok is false
// where h is no part of the table, or the table is too large.
func (a *Attribute) distance(h *Histogram) (share, move fraction, ok bool) {
	if h.total == 0 {
		return share, move, true
	}
	if a.total > math.MaxUint32 || uint64(h.total) > a.total || uint64(h.pairs[len(h.pairs)-1].Code) >= uint64(a.Cardinality) {
		return share, move, false
	}
	n, all := uint64(h.total), a.total
	if !a.Ordered {
		// p_i - q_i = (h_i all - Whole_i n) / (n all); every product is below
		// 2^64, and so is the sum of the positive differences, at most n all.
		sum := uint64(0)
		for _, p := range h.pairs {
			if x, y := uint64(p.Count)*all, uint64(a.Whole[p.Code])*n; x > y {
				sum += x - y
			}
		}
		return share, fraction{wide{lo: sum}, product(n, all)}, true
	}
	pairs, with := h.pairs, n
	if last := pairs[len(pairs)-1]; int(last.Code) == a.values {
		pairs, with = pairs[:len(pairs)-1], n-uint64(last.Count)
	}
	wholeWith := all - a.missing
	x, y := with*all, wholeWith*n // s and u over n all
	share = fraction{wide{lo: max(x, y) - min(x, y)}, product(n, all)}
	if with == 0 || a.values < 2 {
		return share, move, true
	}
	// E = gap / (with wholeWith (m-1)), and min(s,u) is with/n or wholeWith/all.
	move.over = a.gap(pairs, with)
	if x <= y {
		move.under = product(n*uint64(a.values-1), wholeWith)
	} else {
		move.under = product(with*uint64(a.values-1), all)
	}
	return share, move, true
}

// gap is the sum over all ranks j of |P_j U - S Q_j|, where P_j and Q_j count the
// records of the class and of the table with a value of rank j or less, and S
// and U those with any value. With fewer than 2^32 records and ranks it is below
// 2^96.
func (a *Attribute) gap(pairs []Pair, with uint64) wide {
	wholeWith := a.total - a.missing
	var sum wide
	// segment adds the ranks from lo to hi-1, on which P_j is p.
	segment := func(lo, hi int, p uint64) {
		if lo >= hi {
			return
		}
		level := p * wholeWith
		// The first rank at which the table's side is the larger.
		turn := hi
		switch {
		case with*a.upTo[lo+1] > level:
			turn = lo
		case with*a.upTo[hi] > level:
			turn = lo + sort.Search(hi-lo, func(j int) bool { return with*a.upTo[lo+j+1] > level })
		}
		sum = sum.plus(product(level, uint64(turn-lo)).minus(product(with, a.sums[turn]-a.sums[lo])))
		sum = sum.plus(product(with, a.sums[hi]-a.sums[turn]).minus(product(level, uint64(hi-turn))))
	}
	lo, p := 0, uint64(0)
	for _, pair := range pairs {
		segment(lo, int(pair.Code), p)
		lo, p = int(pair.Code), p+uint64(pair.Count)
	}
	segment(lo, a.values, p)
	return sum
}
