package publish

import (
	"math"
	"slices"

	"github.com/noren-privacy/noren/table"
)

// valuesMost is how many different values of a number column are counted one by
// one; where there are more, neighbours are counted together.
const valuesMost = 1 << 17

// values counts how often each value of a number column occurs, in memory that
// does not grow with the table: where there are more than valuesMost different
// values, those that agree in all but their last bits are counted as one. How
// many bits that takes follows from the set of values, not from their order.
type values struct {
	floats bool
	drop   uint // bits left out
	counts map[uint64]uint32
	total  int64

	// Set by sort.
	at    []float64 // the values, ascending
	times []uint32
}

func newValues(t table.Type) *values {
	return &values{floats: t == table.Decimal, counts: map[uint64]uint32{}}
}

// key orders values as unsigned integers.
func (v *values) key(col *table.Column, i int) uint64 {
	if !v.floats {
		return uint64(col.Ints[i]) ^ 1<<63
	}
	bits := math.Float64bits(col.Floats[i] + 0)
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

func (v *values) value(key uint64) float64 {
	if !v.floats {
		return float64(int64(key ^ 1<<63))
	}
	if key>>63 != 0 {
		return math.Float64frombits(key &^ (1 << 63))
	}
	return math.Float64frombits(^key)
}

// look counts a run of records.
func (v *values) look(col *table.Column) {
	gaps := col.Missing() > 0
	for i := range col.Len() {
		if gaps && col.IsMissing(i) {
			continue
		}
		v.total++
		v.counts[v.key(col, i)>>v.drop]++
		for len(v.counts) > valuesMost {
			v.drop++
			coarser := make(map[uint64]uint32, len(v.counts))
			for k, n := range v.counts {
				coarser[k>>1] += n
			}
			v.counts = coarser
		}
	}
}

// sort ends the counting.
func (v *values) sort() {
	if v.at != nil || len(v.counts) == 0 {
		return
	}
	keys := make([]uint64, 0, len(v.counts))
	for k := range v.counts {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	v.at, v.times = make([]float64, len(keys)), make([]uint32, len(keys))
	for i, k := range keys {
		middle := k << v.drop
		if v.drop > 0 {
			middle |= 1 << (v.drop - 1)
		}
		v.at[i], v.times[i] = v.value(middle), v.counts[k]
	}
	v.counts = nil
}

// edgesEach is how many bins of equal width, and how many of equal counts, the
// edges of a number column come from.
const edgesEach = 16

// edges are the inner edges of the bins of a column, ascending: those of bins of
// equal width and of bins of equal counts together.
func (v *values) edges() []float64 {
	if len(v.at) < 2 {
		return nil
	}
	lo, hi := v.at[0], v.at[len(v.at)-1]
	var out []float64
	for i := 1; i < edgesEach; i++ {
		share := float64(i) / edgesEach
		out = append(out, lo*(1-share)+hi*share)
	}
	seen, next := int64(0), int64(1)
	for i, n := range v.times {
		for next < edgesEach && seen >= v.total*next/edgesEach {
			if i > 0 {
				out = append(out, v.at[i])
			}
			next++
		}
		seen += int64(n)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// binOf is the number of edges that are at most x.
func binOf(edges []float64, x float64) uint8 {
	lo, hi := 0, len(edges)
	for lo < hi {
		m := (lo + hi) / 2
		if edges[m] <= x {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return uint8(lo)
}
