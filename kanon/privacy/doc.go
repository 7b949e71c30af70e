// Package privacy defines the privacy models of a release of records: k-anonymity (Samarati 2001,
// Sweeney 2002), l-diversity (Machanavajjhala et
// al. 2007) and t-closeness (Li, Li and Venkatasubramanian 2007). It
// reads no file and uses nothing of how classes were made.
//
// A class is the set of all records that show the same quasi-identifiers. An
// [Attribute] is one sensitive column of the whole table; a [Histogram] counts
// its values in one class; a [Requirement] says what every class must keep:
//
//	req := privacy.Requirement{K: 5, Diversity: &privacy.Diversity{Model: privacy.Distinct, L: 3}}
//	salary, err := privacy.NewAttribute(column)
//	...
//	var h privacy.Histogram
//	for _, record := range class {
//		h.Add(salary.Codes[record])
//	}
//	ok := salary.Holds(&h, req)
//
// # Guarantee
//
// Holds never answers yes for a class that does not keep the requirement. Sizes,
// distinct and recursive diversity and closeness are decided in exact
// arithmetic, and a bound is the decimal number it is written as: 0.1 is a
// tenth, not the binary fraction next to it. Entropy diversity alone is
// transcendental; it is computed to within a relative 1e-13, and an effective
// number of values within a relative 1e-12 of l counts as l ([EntropyTolerance]).
//
// # Missing values
//
// A missing value is a value of its own, never one that is left out: that a
// person's diagnosis is not recorded may itself be sensitive. It counts
// for diversity like any other. For closeness of an ordered column see
// [Attribute.Distance].
//
// # Merging classes
//
// Every model is monotone: if two classes keep a requirement, so does their
// union. A group that does not keep it can therefore be repaired by merging,
// and merging never breaks what held. With h and g the counts of the two
// classes, n and m their sizes, and h+g the counts of the union:
//
//   - Size: n+m >= n >= k.
//   - Distinct: a value that occurs in h occurs in h+g.
//   - Entropy: the shares of the union are the mean of the two classes' shares
//     weighted by n and m, and entropy is concave in the shares, so the union's
//     is at least the smaller of the two (up to the rounding above).
//   - Recursive: with max(h) the largest count and top(h) the sum of the l-1
//     largest, the condition r1 < c (r_l + ... + r_m) reads
//     max(h) + c top(h) - c n < 0. Both max and top are the largest of a set of
//     sums of counts and hence subadditive: max(h+g) <= max(h) + max(g), and so
//     for top. With c > 0 the left side for h+g is at most the sum of the left
//     sides for h and g, which are negative.
//   - Closeness: the distance is quasi-convex in the shares of the class; the
//     proof is at [Attribute.Distance].
package privacy
