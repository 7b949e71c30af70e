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

// condition decides the records of a block: in yes those for which it holds, in no those
// for which it does not hold. For a record in neither, a value that it needs is missing
// (Kleene's logic).
type condition func(from, rows int, yes, no *selection)

// Select reports for each record of a table whether p holds, as a query would: not
// where a value that it needs is missing. The table must have the columns of Fields,
// read as these say.
func (p *Predicate) Select(t *table.Table) ([]bool, error) {
	holds, err := p.compile(t)
	if err != nil {
		return nil, err
	}
	out := make([]bool, t.Rows)
	var yes, no selection
	for from := 0; from < t.Rows; from += blockRows {
		n := min(blockRows, t.Rows-from)
		holds(from, n, &yes, &no)
		for i := range n {
			out[from+i] = yes[i/64]>>(i%64)&1 == 1
		}
	}
	return out, nil
}

// compile binds p to the columns of a table. The condition is for one goroutine.
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
		var yes2, no2 selection
		and := n.kind == nodeAnd
		return func(from, rows int, yes, no *selection) {
			sub[0](from, rows, yes, no)
			for _, s := range sub[1:] {
				s(from, rows, &yes2, &no2)
				for w := range yes {
					if and {
						yes[w], no[w] = yes[w]&yes2[w], no[w]|no2[w]
					} else {
						yes[w], no[w] = yes[w]|yes2[w], no[w]&no2[w]
					}
				}
			}
		}
	case nodeNot:
		sub := n.sub[0].compile(columns)
		return func(from, rows int, yes, no *selection) { sub(from, rows, no, yes) }
	case nodeMissing:
		c := columns[n.field]
		return func(from, rows int, yes, no *selection) {
			present(c, from, rows, no)
			for w := range yes {
				yes[w] = firstBits(rows-64*w) &^ no[w]
			}
		}
	}
	c := columns[n.field]
	test := n.test(c)
	var has selection
	return func(from, rows int, yes, no *selection) {
		test(from, rows, yes)
		present(c, from, rows, &has)
		for w := range yes {
			yes[w], no[w] = yes[w]&has[w], has[w]&^yes[w]
		}
	}
}

// test compares the values of a block of records; a record without a value gets any
// result.
func (n *node) test(c *table.Column) func(from, rows int, out *selection) {
	switch c.Field.Type {
	case table.Integer, table.Date:
		return testNumbers(n, c.Ints, func(v literal) int64 { return v.whole })
	case table.Decimal:
		return testNumbers(n, c.Floats, func(v literal) float64 { return v.number })
	case table.Ordered:
		return testNumbers(n, c.Codes, func(v literal) uint32 { return uint32(v.whole) })
	}
	// A category is decided once for each of its distinct texts, by one look-up where the list
	// is long: every record may have a text of its own, and the time for texts times values
	// would exceed any estimate that follows from the numbers of records and values.
	listed := func(text string) bool {
		return slices.ContainsFunc(n.values, func(v literal) bool { return v.text == text })
	}
	if len(n.values) > few {
		set := make(map[string]bool, len(n.values))
		for _, v := range n.values {
			set[v.text] = true
		}
		listed = func(text string) bool { return set[text] }
	}
	hit := make([]uint8, max(1, len(c.Dict)))
	for code, text := range c.Dict {
		in := listed(text)
		hit[code] = uint8(bit(in != (n.kind == nodeCompare && n.op == notEqual)))
	}
	return func(from, rows int, out *selection) { oneOf(c.Codes[from:from+rows], hit, out) }
}

// few is the number of values up to which a list is compared value by value.
const few = 8

func testNumbers[T columnValue](n *node, values []T, of func(literal) T) func(from, rows int, out *selection) {
	if n.kind == nodeIn {
		if len(n.values) <= few {
			var one selection
			return func(from, rows int, out *selection) {
				clear(out[:])
				for _, v := range n.values {
					equals(values[from:from+rows], of(v), &one)
					for w := range out {
						out[w] |= one[w]
					}
				}
			}
		}
		set := make(map[T]bool, len(n.values))
		for _, v := range n.values {
			set[of(v)] = true
		}
		return func(from, rows int, out *selection) {
			fill(values[from:from+rows], out, func(v T) uint64 { return bit(set[v]) })
		}
	}
	with := of(n.values[0])
	compare, invert := atLeast[T], false
	switch n.op {
	case equal:
		compare = equals[T]
	case notEqual:
		compare, invert = equals[T], true
	case less:
		invert = true
	case lessEqual:
		compare, invert = above[T], true
	case greater:
		compare = above[T]
	}
	if !invert {
		return func(from, rows int, out *selection) { compare(values[from:from+rows], with, out) }
	}
	return func(from, rows int, out *selection) {
		compare(values[from:from+rows], with, out)
		for w := range out {
			out[w] = ^out[w] // beyond the records, the selection of those with a value clears it
		}
	}
}
