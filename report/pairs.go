package report

import (
	"math"
	"sort"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
)

// pairsMost is how many pairs of columns are listed.
const pairsMost = 45

// pairTable lists the pairs of columns whose correlation changed most.
func pairTable(c *assess.Correlations) *Table {
	type pair struct {
		first, second int
		change        float64
	}
	var pairs []pair
	for i := range c.Columns {
		for j := range i {
			was, is := c.Original[i][j], c.Release[i][j]
			switch {
			case was != nil && is != nil:
				pairs = append(pairs, pair{j, i, math.Abs(*was - *is)})
			case was != nil || is != nil:
				pairs = append(pairs, pair{j, i, math.Inf(1)})
			}
		}
	}
	sort.SliceStable(pairs, func(a, b int) bool { return pairs[a].change > pairs[b].change })
	t := &Table{Header: Header("Pair", "Original", "Release", "Change"), Numeric: []bool{false, true, true, true}}
	if len(pairs) > pairsMost {
		t.Caption = noren.Textf("The pairs that changed most")
		pairs = pairs[:pairsMost]
	}
	for _, p := range pairs {
		change := "–"
		was, is := c.Original[p.second][p.first], c.Release[p.second][p.first]
		if was != nil && is != nil {
			change = correlation(*is - *was)
		}
		t.Add(Verbatim(plain(c.Columns[p.first])+" – "+plain(c.Columns[p.second])), optional(was, correlation), optional(is, correlation), change)
	}
	return t
}
