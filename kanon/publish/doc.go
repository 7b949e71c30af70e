// Package publish gives all records of a group one common value in every
// quasi-identifier.
//
//	columns, err := publish.Publish(ctx, quasi, stored, group, groups, publish.Options{Mode: publish.Matched})
//	...
//	columns[0].Fill(&vector, group[first:last]) // the released values of some records
//
// # The guarantee
//
// What a record shows is a function of its group alone: two records of one
// group show the same text in every column, so that each group lies within one
// class of the release. A group's values follow from the values of its members
// and from the whole table's (for ties), never from their order.
//
// # The modes
//
// [Aggregate] (microaggregation) takes for
//
//   - numbers and dates the mean, computed exactly and rounded once to the [Grid] of
//     the column, to the even neighbour where it lies in the middle;
//   - ordered categories the lower median;
//   - categories the most frequent value, of several the one that the whole
//     table has more often, then the first by bytes.
//
// A published category occurs in its group. A mean need not.
//
// [Matched] chooses one value a group and column for the whole table: numbers and
// dates by the ranks of the original, within the range of the group, and
// categories among the group's own so that the counts of the tables of one and two
// columns stay near the original's. Which value a group shows then depends on
// those counts; that all records of a group show the same does not change.
// docs/k-anonymity.md, "Matched values", has the steps.
//
// [Generalize] takes for
//
//   - numbers, dates and ordered categories the range [lo-hi], or the value
//     where all are equal; where the field has a rounding, its ends are rounded
//     outwards;
//   - categories the lowest common ancestor in the hierarchy, or without one the
//     set {a, b} of the values present, by bytes, or the value where all are
//     equal. [ParseRange] reads ranges of numbers back.
//
// With [Fixed] ranges the ends are those of grids that are the same for every
// table, and a category without a hierarchy shows its value or *.
//
// [Shares] takes for
//
//   - numbers and dates the range, and the mean beside it where every value of the
//     range stays possible for every record (docs/k-anonymity.md, "Shares and
//     means", has the proof): [lo-hi] mean m, which [ParseSpan] reads back;
//   - categories the values with their shares, {a 0.60, b 0.40}, which
//     [ParseShares] reads back.
//
// # Missing values
//
// A group shows a missing value where all of its members lack one: an empty text
// or a null. Otherwise its common value comes from those who have one.
package publish
