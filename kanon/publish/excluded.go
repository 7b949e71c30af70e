package publish

import (
	"context"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/mathext"

	"github.com/noren-privacy/noren/table"
)

// Excluded tells how many persons who are not in the table the release shows not
// to be in it, because no class spans their values. The ends of each share are those
// of the interval of Clopper and Pearson at 95 %: what leaving out every record of the
// table would give is outside in at most 5 % of samples.
type Excluded struct {
	// Tight is the share of persons outside the table whom the release shows not to be in it,
	// if ranges ended at the values of the group.
	Tight float64 `json:"tight"`
	// TightLow is the lower end of the 95 % interval of Tight.
	TightLow float64 `json:"tight_low"`
	// TightHigh is the upper end of the 95 % interval of Tight.
	TightHigh float64 `json:"tight_high"`
	// Shown is the share of persons outside the table whom the release shows not to be in it,
	// with ranges as published.
	Shown float64 `json:"shown"`
	// ShownLow is the lower end of the 95 % interval of Shown.
	ShownLow float64 `json:"shown_low"`
	// ShownHigh is the upper end of the 95 % interval of Shown.
	ShownHigh float64 `json:"shown_high"`
	// Sampled is the number of records that were left out, one at a time, to
	// take the part of such a person.
	Sampled int `json:"sampled"`
}

// excludedMost is how many records are left out at most.
const excludedMost = 1_000

// Outsiders counts [Excluded], for a way to publish that shows boxes, while the
// groups of a table become known: each record of a sample is taken out of its group,
// and looked for in the boxes of all groups. A record of the table so takes the part
// of a person of the same population who is not in it. The figure belongs to the
// steward.
type Outsiders struct {
	mode    Mode
	ways    []Ranges // Tight, and the published one where it is another
	records []uint32
	at      map[uint32]int // by record: its place in the sample
	cols    []*table.Column
	inside  [][]atomic.Bool // by way and place: whether a group spans its values
}

// SampleOutsiders chooses, by the seed, the records of a table of n that are left out,
// in ascending order.
func SampleOutsiders[I uint32 | int64](n int, seed uint64) []I {
	some := min(n, excludedMost)
	chosen := make(map[I]bool, some)
	out := make([]I, 0, some)
	for c := uint64(0); len(out) < some; c++ {
		i := I(mix(seed^mix(c)) % uint64(n))
		if !chosen[i] {
			chosen[i] = true
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return out
}

// NewOutsiders begins to count, with the sampled records and their columns.
func NewOutsiders(records []uint32, cols []*table.Column, o Options) *Outsiders {
	out := &Outsiders{mode: o.Mode, ways: []Ranges{Tight}, records: records, at: make(map[uint32]int, len(records)), cols: cols}
	if o.Ranges != Tight {
		out.ways = append(out.ways, o.Ranges)
	}
	for at, i := range records {
		out.at[i] = at
	}
	for range out.ways {
		out.inside = append(out.inside, make([]atomic.Bool, len(records)))
	}
	return out
}

// Look takes in the groups of some records, given by their columns; records are their
// numbers in the table. It may be called from several goroutines. Errors are the
// context's, or of kind Internal for arguments that do not fit each other.
func (o *Outsiders) Look(ctx context.Context, cols []*table.Column, records, group []uint32, groups int) error {
	m, err := sortByGroup(group, groups)
	if err != nil {
		return err
	}
	own := make([]int32, groups) // the number of sampled records in the group
	for j, i := range records {
		if _, ok := o.at[i]; ok {
			own[group[j]]++
		}
	}
	for w, ranges := range o.ways {
		inside := o.inside[w]
		var left []int // places that no group is known to span
		for at := range o.records {
			if !inside[at].Load() {
				left = append(left, at)
			}
		}
		var spanned, others []uint32
		places := make([]int, 0, len(left))
		for g := range groups {
			if g&255 == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
				left = slices.DeleteFunc(left, func(at int) bool { return inside[at].Load() })
			}
			all := m.of(g)
			if own[g] > 0 {
				// Each sampled record of the group by itself, without it in the box.
				spanned = spanned[:0]
				for _, j := range all {
					if _, ok := o.at[records[j]]; ok {
						spanned = append(spanned, j)
					}
				}
				for _, j := range spanned {
					others = others[:0]
					for _, i := range all {
						if i != j {
							others = append(others, i)
						}
					}
					at := o.at[records[j]]
					if len(others) > 0 && len(o.spans(cols, others, ranges, append(places[:0], at))) > 0 {
						inside[at].Store(true)
					}
				}
			}
			places = append(places[:0], left...)
			if own[g] > 0 {
				places = slices.DeleteFunc(places, func(at int) bool {
					return slices.ContainsFunc(spanned, func(j uint32) bool { return records[j] == o.records[at] })
				})
			}
			for _, at := range o.spans(cols, all, ranges, places) {
				inside[at].Store(true)
			}
		}
	}
	return nil
}

// spans keeps of the places those whose values a group of these records spans.
func (o *Outsiders) spans(cols []*table.Column, all []uint32, ranges Ranges, places []int) []int {
	for j, col := range cols {
		if len(places) == 0 {
			return nil
		}
		of := o.cols[j]
		in := boxOf(col, all, o.mode, ranges)
		kept := places[:0]
		for _, at := range places {
			// A record without a value may be in a class that shows others' values.
			if of.IsMissing(at) || in != nil && in(of, at) {
				kept = append(kept, at)
			}
		}
		places = kept
	}
	return places
}

// Excluded is what all groups looked at come to.
func (o *Outsiders) Excluded() *Excluded {
	e := &Excluded{Sampled: len(o.records)}
	for w := range o.ways {
		outside := 0
		for at := range o.records {
			if !o.inside[w][at].Load() {
				outside++
			}
		}
		e.Shown = float64(outside) / float64(max(1, e.Sampled))
		e.ShownLow, e.ShownHigh = shareInterval(outside, e.Sampled)
		if w == 0 {
			e.Tight, e.TightLow, e.TightHigh = e.Shown, e.ShownLow, e.ShownHigh
		}
	}
	return e
}

// shareInterval is the interval of Clopper and Pearson at 95 % for a share of which k
// of n draws were.
func shareInterval(k, n int) (low, high float64) {
	const tail = 0.025
	low, high = 0, 1
	bisect := func(below func(p float64) bool) float64 {
		lo, hi := 0.0, 1.0
		for range 60 {
			if mid := (lo + hi) / 2; below(mid) {
				lo = mid
			} else {
				hi = mid
			}
		}
		return (lo + hi) / 2
	}
	if k > 0 {
		low = bisect(func(p float64) bool { return mathext.RegIncBeta(float64(k), float64(n-k+1), p) <= tail })
	}
	if k < n {
		high = bisect(func(p float64) bool { return mathext.RegIncBeta(float64(k+1), float64(n-k), p) < 1-tail })
	}
	return low, high
}

// CountExcluded is what [Outsiders] finds in a table whose groups are all known.
func CountExcluded(ctx context.Context, cols []*table.Column, group []uint32, groups int, o Options) (*Excluded, error) {
	sample := SampleOutsiders[uint32](len(group), o.Seed)
	of := make([]*table.Column, len(cols))
	for j, col := range cols {
		of[j] = col.Select(sample)
	}
	records := make([]uint32, len(group))
	for i := range records {
		records[i] = uint32(i)
	}
	out := NewOutsiders(sample, of, o)
	if err := out.Look(ctx, cols, records, group, groups); err != nil {
		return nil, err
	}
	return out.Excluded(), nil
}

// holder reports whether a cell may stand for value i of a column that has the same
// dictionary; the value is not missing.
type holder func(of *table.Column, i int) bool

// boxOf is what a group of these records shows in a column, nil where it shows no
// value.
func boxOf(col *table.Column, all []uint32, mode Mode, ranges Ranges) holder {
	present := all
	if col.Missing() > 0 {
		present = nil
		for _, i := range all {
			if !col.IsMissing(int(i)) {
				present = append(present, i)
			}
		}
	}
	if len(present) == 0 {
		return nil
	}
	return spanOf(col, present, mode, ranges)
}

func spanOf(col *table.Column, all []uint32, mode Mode, ranges Ranges) holder {
	f := &col.Field
	fixed := ranges == Fixed
	switch {
	case f.Type != table.Decimal && f.Type.IsNumber():
		return wholeSpan(f, col, all, fixed)
	case f.Type.IsNumber():
		lo, hi := col.Number(int(all[0])), col.Number(int(all[0]))
		for _, i := range all[1:] {
			lo, hi = min(lo, col.Number(int(i))), max(hi, col.Number(int(i)))
		}
		if fixed {
			lo, hi = fixedNumbers(f, col, all)
		}
		return func(of *table.Column, i int) bool { return lo <= of.Number(i) && of.Number(i) <= hi }
	case mode == Generalize && f.Type == table.Ordered:
		lo, hi := levelsOf(col, all)
		if fixed {
			lo, hi = fixedLevels(lo, hi, uint32(len(col.Dict)))
		}
		return func(of *table.Column, i int) bool { return lo <= of.Codes[i] && of.Codes[i] <= hi }
	case mode == Generalize && f.Hierarchy != nil:
		return nodeOf(col, all)
	}
	codes := distinct(col, all, nil)
	if fixed && len(codes) > 1 {
		return func(*table.Column, int) bool { return true }
	}
	slices.Sort(codes)
	return func(of *table.Column, i int) bool {
		_, ok := slices.BinarySearch(codes, of.Codes[i])
		return ok
	}
}

// wholeSpan is the range of a group of whole numbers or dates. It compares all 64 bits.
func wholeSpan(f *table.Field, col *table.Column, all []uint32, fixed bool) holder {
	lo, hi := wholeEnds(col, all)
	if fixed {
		var ok bool
		lo, hi, ok = fixedWhole(f, col, all)
		if !ok {
			return func(*table.Column, int) bool { return true }
		}
	}
	return func(of *table.Column, i int) bool { return lo <= of.Ints[i] && of.Ints[i] <= hi }
}

// nodeOf is the lowest common ancestor of a group.
func nodeOf(col *table.Column, all []uint32) holder {
	h := col.Field.Hierarchy
	var leaves []uint32
	for _, i := range all {
		leaf, ok := h.Leaf(col.Dict[col.Codes[i]])
		if !ok {
			return func(*table.Column, int) bool { return true }
		}
		leaves = append(leaves, leaf)
	}
	level, node := h.Common(leaves)
	return func(of *table.Column, i int) bool {
		leaf, ok := h.Leaf(of.Dict[of.Codes[i]])
		return ok && h.Ancestor(leaf, level) == node
	}
}
