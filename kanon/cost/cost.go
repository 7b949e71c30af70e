// Package cost measures what groups of records lose by being published.
//
// A [Measure] is an objective of partitioning and refinement, chosen once for a
// release: [Squares], the sum of squared errors, where each group publishes one
// value, and [Boxes], a form of the normalised certainty penalty (NCP; Xu et al.
// 2006), where it publishes ranges and sets. What a partition loses is the sum over
// its groups. A group that takes a record in never loses less.
package cost

// Measure tells what groups of the records 0..Len()-1 lose. It does not change
// and may be used by several goroutines; a [Group] may not.
type Measure interface {
	// Len is the number of records.
	Len() int
	// Axes is the number of axes that records can be ordered by, and Key the place
	// of a record on one of them. Where an axis is not Ordered equal keys mean equal
	// values, and no more.
	Axes() int
	Key(axis int, record int32) float64
	Ordered(axis int) bool
	// NewGroup is a group of no records.
	NewGroup() Group
	// Beginnings sets out[j] to what the records order[:j+1] lose as one group.
	Beginnings(order []int32, out []float64)
	// Subset is the measure of these records, in that order. What a group of them
	// loses is the same.
	Subset(records []int32) Measure
	// Guard is what a change must gain at least: less can be rounding.
	Guard() float64
}

// Group is a group of records under change. Costs are in the unit of the
// measure.
type Group interface {
	// Set makes it the group of these records.
	Set(records []int32)
	// Cost is what it loses.
	Cost() float64
	// With is the cost with a record that is not in it, Without that without one
	// that is; Replaced is the cost with in in the place of out.
	With(in int32) float64
	Without(out int32) float64
	Replaced(out, in int32) float64
	// Vacant is at most Replaced(out, in) for every record in.
	Vacant(out int32) float64
}

// Of is what the records lose as one group.
func Of(m Measure, records []int32) float64 {
	g := m.NewGroup()
	g.Set(records)
	return g.Cost()
}

// Total is the sum over groups, given as the lists of their records.
func Total(m Measure, list, start []int32) float64 {
	g := m.NewGroup()
	var sum float64
	for j := range len(start) - 1 {
		if start[j] == start[j+1] {
			continue
		}
		g.Set(list[start[j]:start[j+1]])
		sum += g.Cost()
	}
	return sum
}

// Judge tells which records may be a group: enough of them, and diverse and close
// where that is asked. Any union of groups that hold need not hold.
type Judge interface {
	// Holds may be called from several goroutines.
	Holds(records []int32) bool
	// Strata tells records with like sensitive values from others: a part of a
	// group with about the same share of each stratum is likely to hold as the
	// group does. They are nil where only numbers of records or persons count, and
	// exact where groups with as many records of each stratum are judged alike.
	Strata() (strata []uint32, exact bool)
	// Subset is the judge of these records, in that order.
	Subset(records []int32) Judge
}
