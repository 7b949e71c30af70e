package query

import (
	"slices"
	"strconv"

	"github.com/noren-privacy/noren/table"
)

// valueText writes v as the column's file would.
func valueText(f *table.Field, v literal) string {
	switch f.Type {
	case table.Integer:
		return strconv.FormatInt(v.whole, 10)
	case table.Decimal:
		return strconv.FormatFloat(v.number, 'f', -1, 64)
	case table.Date:
		return f.Layout.Format(v.whole)
	}
	return v.text
}

// truth is the value of a condition: in this order, and is the lesser and or the
// greater (Kleene's logic).
type truth int8

const (
	isFalse truth = -1
	unknown truth = 0 // a value is missing
	isTrue  truth = 1
)

// condition evaluates record i.
type condition func(i int) truth

// Select reports for each record of a table whether p holds, as a query would: not
// where a value that it needs is missing. The table must have the columns of Fields,
// read as these say.
func (p *Predicate) Select(t *table.Table) ([]bool, error) {
	holds, err := p.compile(t)
	if err != nil {
		return nil, err
	}
	out := make([]bool, t.Rows)
	for i := range out {
		out[i] = holds(i) == isTrue
	}
	return out, nil
}

// compile binds p to the columns of a table.
func (p *Predicate) compile(t *table.Table) (condition, error) {
	columns := make([]*table.Column, len(p.fields))
	for i := range p.fields {
		c, err := bind(t, &p.fields[i])
		if err != nil {
			return nil, err
		}
		columns[i] = c
	}
	return p.root.compile(columns), nil
}

func (n *node) compile(columns []*table.Column) condition {
	switch n.kind {
	case nodeAnd, nodeOr:
		sub := make([]condition, len(n.sub))
		for i := range n.sub {
			sub[i] = n.sub[i].compile(columns)
		}
		if n.kind == nodeAnd {
			return func(i int) truth {
				v := isTrue
				for _, s := range sub {
					if v = min(v, s(i)); v == isFalse {
						break
					}
				}
				return v
			}
		}
		return func(i int) truth {
			v := isFalse
			for _, s := range sub {
				if v = max(v, s(i)); v == isTrue {
					break
				}
			}
			return v
		}
	case nodeNot:
		sub := n.sub[0].compile(columns)
		return func(i int) truth { return -sub(i) }
	case nodeMissing:
		c := columns[n.field]
		return func(i int) truth { return truthOf(c.IsMissing(i)) }
	}
	c := columns[n.field]
	test := n.test(c)
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
func (n *node) test(c *table.Column) func(i int) bool {
	switch c.Field.Type {
	case table.Integer, table.Date:
		return testNumbers(n, c.Ints, func(v literal) int64 { return v.whole })
	case table.Decimal:
		return testNumbers(n, c.Floats, func(v literal) float64 { return v.number })
	case table.Ordered:
		return testNumbers(n, c.Codes, func(v literal) uint32 { return uint32(v.whole) })
	}
	// A category is decided once for each of its distinct texts.
	hit := make([]bool, max(1, len(c.Dict)))
	for code, text := range c.Dict {
		in := slices.ContainsFunc(n.values, func(v literal) bool { return v.text == text })
		hit[code] = in != (n.kind == nodeCompare && n.op == notEqual)
	}
	return func(i int) bool { return hit[c.Codes[i]] }
}

func testNumbers[T int64 | float64 | uint32](n *node, values []T, of func(literal) T) func(i int) bool {
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
