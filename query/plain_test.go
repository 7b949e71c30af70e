package query

// The record-by-record evaluation that the loops over columns must agree with: the same
// integers for every table and query.

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

// truth is the value of a plainCondition: in this order, and is the lesser and or the
// greater (Kleene's logic).
type truth int8

const (
	isFalse truth = -1
	unknown truth = 0 // a value is missing
	isTrue  truth = 1
)

// plainCondition decides record i.
type plainCondition func(i int) truth

// compile binds p to the columns of a table.
func (p *Predicate) plain(t *table.Table) (plainCondition, error) {
	columns := make([]*table.Column, len(p.fields))
	for i := range p.fields {
		c, err := bind(t, &p.fields[i])
		if err != nil {
			return nil, err
		}
		columns[i] = c
	}
	return p.root.plain(columns), nil
}

func (n *node) plain(columns []*table.Column) plainCondition {
	switch n.kind {
	case nodeAnd, nodeOr:
		sub := make([]plainCondition, len(n.sub))
		for i := range n.sub {
			sub[i] = n.sub[i].plain(columns)
		}
		if n.kind == nodeAnd {
			return func(i int) truth {
				v := isTrue
				for _, s := range sub {
					v = min(v, s(i))
					if v == isFalse {
						break
					}
				}
				return v
			}
		}
		return func(i int) truth {
			v := isFalse
			for _, s := range sub {
				v = max(v, s(i))
				if v == isTrue {
					break
				}
			}
			return v
		}
	case nodeNot:
		sub := n.sub[0].plain(columns)
		return func(i int) truth { return -sub(i) }
	case nodeMissing:
		c := columns[n.field]
		return func(i int) truth { return truthOf(c.IsMissing(i)) }
	}
	c := columns[n.field]
	test := n.plainTest(c)
	return func(i int) truth {
		if c.IsMissing(i) {
			return unknown
		}
		return truthOf(test(i))
	}
}

func truthOf(b bool) truth {
	if b {
		return isTrue
	}
	return isFalse
}

// test is the comparison for records that have a value.
func (n *node) plainTest(c *table.Column) func(i int) bool {
	switch c.Field.Type {
	case table.Integer, table.Date:
		return plainNumbers(n, c.Ints, func(v literal) int64 { return v.whole })
	case table.Decimal:
		return plainNumbers(n, c.Floats, func(v literal) float64 { return v.number })
	case table.Ordered:
		return plainNumbers(n, c.Codes, func(v literal) uint32 { return uint32(v.whole) })
	}
	// A category is decided once for each of its distinct texts.
	hit := make([]bool, max(1, len(c.Dict)))
	for code, text := range c.Dict {
		in := slices.ContainsFunc(n.values, func(v literal) bool { return v.text == text })
		hit[code] = in != (n.kind == nodeCompare && n.op == notEqual)
	}
	return func(i int) bool { return hit[c.Codes[i]] }
}

func plainNumbers[T int64 | float64 | uint32](n *node, values []T, of func(literal) T) func(i int) bool {
	if n.kind == nodeIn {
		set := make(map[T]bool, len(n.values))
		for _, v := range n.values {
			set[of(v)] = true
		}
		return func(i int) bool { return set[values[i]] }
	}
	with := of(n.values[0])
	switch n.op {
	case equal:
		return func(i int) bool { return values[i] == with }
	case notEqual:
		return func(i int) bool { return values[i] != with }
	case less:
		return func(i int) bool { return values[i] < with }
	case lessEqual:
		return func(i int) bool { return values[i] <= with }
	case greater:
		return func(i int) bool { return values[i] > with }
	default:
		return func(i int) bool { return values[i] >= with }
	}
}

// plain returns the group of record i, -1 where it has none.
func (k *keys) plain(t *table.Table) (func(i int) int, error) {
	if len(k.fields) == 0 {
		return func(int) int { return 0 }, nil
	}
	places := make([]func(i int) int32, len(k.fields))
	for c := range k.fields {
		column, err := bind(t, &k.fields[c])
		if err != nil {
			return nil, err
		}
		places[c] = plainPlace(column, k.local[c], k.missing[c])
	}
	if len(places) == 1 {
		// The place among the distinct values is the order of the keys.
		return func(i int) int { return int(places[0](i)) }, nil
	}
	return func(i int) int {
		group := int32(0)
		for c := range places {
			at := places[c](i)
			if at < 0 {
				return -1
			}
			next, ok := k.steps[c][[2]int32{group, at}]
			if !ok {
				return -1
			}
			group = next
		}
		return int(group)
	}, nil
}

// plainPlace returns where the value of record i stands among local, or -1.
func plainPlace(c *table.Column, local []literal, missing int) func(i int) int32 {
	var of func(i int) int32
	switch c.Field.Type {
	case table.Integer, table.Date:
		of = plainPlaceOf(c.Ints, local, missing, func(v literal) int64 { return v.whole })
	case table.Decimal:
		of = plainPlaceOf(c.Floats, local, missing, func(v literal) float64 { return v.number })
	default:
		// Decided once for each of the distinct texts.
		byText := map[string]int32{}
		for at, v := range local {
			if at != missing {
				byText[v.text] = int32(at)
			}
		}
		byCode := make([]int32, max(1, len(c.Dict)))
		for code, text := range c.Dict {
			byCode[code] = -1
			if at, ok := byText[text]; ok {
				byCode[code] = at
			}
		}
		of = func(i int) int32 { return byCode[c.Codes[i]] }
	}
	return func(i int) int32 {
		if c.IsMissing(i) {
			return int32(missing)
		}
		return of(i)
	}
}

func plainPlaceOf[T int64 | float64](values []T, local []literal, missing int, of func(literal) T) func(i int) int32 {
	places := map[T]int32{}
	for at, v := range local {
		if at != missing {
			places[of(v)] = int32(at)
		}
	}
	return func(i int) int32 {
		if at, ok := places[values[i]]; ok {
			return at
		}
		return -1
	}
}

// plain adds up record by record; the result is private data.
func (s *sums) plain(t *table.Table, each func(func(i, group int)) error) ([]noise.Sum, error) {
	out := make([]noise.Sum, s.add.cells*s.add.coords)
	var visit func(i, group int)
	switch s.q.o.Kind {
	case Count:
		visit = func(_, group int) { out[group].Add(1) }
	case Histogram:
		bin, err := s.plainBinOf(t)
		if err != nil {
			return nil, err
		}
		bins := s.q.bins()
		visit = func(i, group int) {
			if b := bin(i); b >= 0 {
				out[group*bins+b].Add(1)
			}
		}
	default:
		place, err := s.grid.plainPlaceOf(t, s.q.field)
		if err != nil {
			return nil, err
		}
		lo, hi := s.grid.Lo(), s.grid.Hi()
		visit = func(i, group int) {
			k, ok := place(i)
			if !ok {
				return
			}
			switch s.q.o.Kind {
			case Sum:
				out[group].Add(k)
			case Mean:
				out[2*group].Add(k - lo)
				out[2*group+1].Add(hi - k)
			default:
				y, z := k-lo, hi-k
				out[3*group].Add(y * y)
				out[3*group+1].Add(2 * y * z)
				out[3*group+2].Add(z * z)
			}
		}
	}
	return out, each(visit)
}

// plainPlaceOf returns the place on the grid of the value of record i; ok is false where
// it is missing, or not finite.
func (g grid) plainPlaceOf(t *table.Table, f *table.Field) (func(i int) (k int64, ok bool), error) {
	c, err := bind(t, f)
	if err != nil {
		return nil, err
	}
	return func(i int) (int64, bool) {
		if c.IsMissing(i) {
			return 0, false
		}
		k, err := g.Quantise(c.Number(i))
		return k, err == nil
	}, nil
}

// plainBinOf returns the bin of record i, -1 where it is in none.
func (s *sums) plainBinOf(t *table.Table) (func(i int) int, error) {
	if s.q.o.Values != nil {
		k, err := s.valueKeys()
		if err != nil {
			return nil, err
		}
		return k.plain(t)
	}
	c, err := bind(t, s.q.field)
	if err != nil {
		return nil, err
	}
	edges := s.q.o.Bins
	return func(i int) int {
		v := c.Number(i)
		if c.IsMissing(i) || !(v >= edges[0] && v < edges[len(edges)-1]) {
			return -1
		}
		lo, hi := 0, len(edges)-1 // edges[lo] <= v < edges[hi]
		for hi-lo > 1 {
			if mid := (lo + hi) / 2; v >= edges[mid] {
				lo = mid
			} else {
				hi = mid
			}
		}
		return lo
	}, nil
}

// plain returns a loop over the records that count, with their groups.
func (q *Query) plain(ctx context.Context, t *table.Table) (func(visit func(i, group int)) error, error) {
	columns := make([]*table.Column, len(q.fields))
	for i := range q.fields {
		c, err := bind(t, &q.fields[i])
		if err != nil {
			return nil, err
		}
		columns[i] = c
	}
	var keep []bool
	if q.o.Unit != account.Record {
		unit, err := bindUnit(t, q.o.Unit)
		if err != nil {
			return nil, err
		}
		if keep, err = boundRows(ctx, t, columns, unit, q.o.MaxRows, q.o.Key); err != nil {
			return nil, err
		}
	}
	selects := plainCondition(func(int) truth { return isTrue })
	if q.predicate != nil {
		var err error
		if selects, err = q.predicate.plain(t); err != nil {
			return nil, err
		}
	}
	group, err := q.groups.plain(t)
	if err != nil {
		return nil, err
	}
	return func(visit func(i, group int)) error {
		for i := range t.Rows {
			if i%checkEvery == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			if keep != nil && !keep[i] || selects(i) != isTrue {
				continue
			}
			if g := group(i); g >= 0 {
				visit(i, g)
			}
		}
		return nil
	}, nil
}
