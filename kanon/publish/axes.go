package publish

import (
	"cmp"
	"slices"

	"github.com/noren-privacy/noren/table"
)

const (
	// binsMost is how many bins a column has in tables of two columns, beside
	// the one of missing values.
	binsMost = 255
	// cellsMost is how many cells all tables of two columns have together.
	cellsMost = 1 << 21
	// partnersMost is with how many other columns a column has a table, where
	// there are many columns.
	partnersMost = 32
)

// axis puts the values of a column into bins, the last of which is of missing
// values.
type axis struct {
	bins  int
	edges []float64 // of a number
	code  []uint8   // of a category: the bin of each code
}

// tables are the counts of the original over two columns.
type tables struct {
	axes  []axis
	pairs []pair
	rows  int64
	bins  [][]uint8 // scratch: of each column, for a run of records
}

// pair is the table of two columns a < b: cell (x, y) is at x*bins(b) + y.
type pair struct {
	a, b   int
	counts []uint32
}

// newTables chooses bins and pairs. The columns have been counted.
func newTables(columns []planned) *tables {
	t := &tables{axes: make([]axis, len(columns)), bins: make([][]uint8, len(columns))}
	for b := range columns {
		for a := range b {
			if apart := b - a; len(columns) > partnersMost+1 && min(apart, len(columns)-apart) > partnersMost/2 {
				continue
			}
			t.pairs = append(t.pairs, pair{a: a, b: b})
		}
	}
	for most := binsMost; ; most /= 2 {
		for j := range columns {
			t.axes[j] = columns[j].axis(most)
		}
		cells := 0
		for _, p := range t.pairs {
			cells += t.axes[p.a].bins * t.axes[p.b].bins
		}
		if cells <= cellsMost || most < 8 {
			break
		}
	}
	for i := range t.pairs {
		p := &t.pairs[i]
		p.counts = make([]uint32, t.axes[p.a].bins*t.axes[p.b].bins)
	}
	return t
}

// axis puts a column into most bins, or fewer.
func (c *planned) axis(most int) axis {
	if c.counts == nil {
		edges := c.values.edges()
		for len(edges) >= most {
			half := edges[:0]
			for i := 1; i < len(edges); i += 2 {
				half = append(half, edges[i])
			}
			edges = half
		}
		return axis{bins: len(edges) + 2, edges: edges}
	}
	x := axis{code: make([]uint8, len(c.counts))}
	if len(c.counts) <= most {
		for code := range x.code {
			x.code[code] = uint8(code)
		}
		x.bins = len(c.counts) + 1
		return x
	}
	// The most frequent values have bins of their own, the others go together in
	// runs of neighbours that are about as frequent.
	order := make([]uint32, len(c.counts))
	for code := range order {
		order[code] = uint32(code)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		if c.counts[a] != c.counts[b] {
			return cmp.Compare(c.counts[b], c.counts[a])
		}
		return int(a) - int(b)
	})
	alone := most - max(1, most/4)
	single := make([]bool, len(order))
	rest := uint64(0)
	for i, code := range order {
		single[code] = i < alone
		if single[code] {
			x.code[code] = uint8(i)
		} else {
			rest += c.counts[code]
		}
	}
	runs, seen := uint64(most-alone), uint64(0)
	for code := range x.code {
		if !single[code] {
			x.code[code] = uint8(uint64(alone) + min(runs-1, seen*runs/max(1, rest)))
			seen += c.counts[code]
		}
	}
	x.bins = most + 1
	return x
}

// look counts a run of records.
func (t *tables) look(cols []*table.Column) {
	t.rows += int64(cols[0].Len())
	for j, col := range cols {
		x := &t.axes[j]
		bins := slices.Grow(t.bins[j][:0], col.Len())[:col.Len()]
		gaps := col.Missing() > 0
		for i := range bins {
			switch {
			case gaps && col.IsMissing(i):
				bins[i] = uint8(x.bins - 1)
			case x.code != nil:
				bins[i] = x.code[col.Codes[i]]
			default:
				bins[i] = binOf(x.edges, col.Number(i))
			}
		}
		t.bins[j] = bins
	}
	for i := range t.pairs {
		p := &t.pairs[i]
		a, b, width := t.bins[p.a], t.bins[p.b], t.axes[p.b].bins
		for i, x := range a {
			p.counts[int(x)*width+int(b[i])]++
		}
	}
}
