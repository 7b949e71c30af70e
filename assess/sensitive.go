package assess

import (
	"context"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/table"
)

// Sensitive measures what the classes of a release tell of a sensitive column. All
// figures are exact for the file and count records; they belong to the steward.
type Sensitive struct {
	// Column is the name of the sensitive column.
	Column string `json:"column"`
	// Homogeneous is the number of classes in which all records that have a value have the
	// same one: the value is known of each person who is known to be in the class.
	Homogeneous int64 `json:"homogeneous_classes"`
	// HomogeneousRecords is the number of records in these classes.
	HomogeneousRecords int64 `json:"homogeneous_records"`
	// Classes is the number of all classes.
	Classes int64 `json:"classes"`
	// WorstSize is the size of the class in which the commonest value has the largest share;
	// of several such classes, the size of the largest.
	WorstSize int64 `json:"worst_class_size"`
	// WorstShare is the largest share of the commonest value in a class.
	WorstShare float64 `json:"worst_class_share"`
	// DistinctL is the smallest number of different values in a class.
	DistinctL int `json:"distinct_l"`
	// EntropyL is the smallest exponential of the entropy of a class.
	EntropyL float64 `json:"entropy_l"`
	// T is the largest distance of a class from the whole table.
	T float64 `json:"t"`
	// Distance is the name of the distance by which T is measured.
	Distance string `json:"distance"`
	// Associations are the associations of the quasi-identifiers with the column, before and
	// after.
	Associations []Association `json:"associations,omitempty"`
}

// Association is Cramer's V of a quasi-identifier with a sensitive column, from 0
// to 1, corrected for the number of records (Bergsma 2013). Numbers are cut into
// ten bins of equal counts of the original; cells of several values count in
// parts.
type Association struct {
	// Quasi is the name of the quasi-identifier.
	Quasi string `json:"quasi_identifier"`
	// Original is Cramer's V in the table.
	Original float64 `json:"original"`
	// Release is Cramer's V in the release.
	Release float64 `json:"release"`
}

// NewSensitive measures column, which the release keeps as it is, in a release of
// these classes. Errors are of kind BadData (no record) or the context's.
func NewSensitive(ctx context.Context, classes Classes, column *table.Column) (*Sensitive, error) {
	if column.Len() == 0 || len(classes.Of) != column.Len() {
		return nil, &noren.Error{
			Kind: noren.BadData, Where: noren.Textf("column %s", column.Field.Name),
			What: "expected a value for each record of the release",
		}
	}
	attribute := privacy.NewAttribute(column)
	s := &Sensitive{Column: column.Field.Name, Distance: attribute.DistanceKind(), DistinctL: math.MaxInt, EntropyL: math.Inf(1)}
	start := make([]uint32, len(classes.Size)+1)
	for c, n := range classes.Size {
		start[c+1] = start[c] + n
	}
	list, at := make([]uint32, len(classes.Of)), slices.Clone(start)
	for i, c := range classes.Of {
		list[at[c]] = uint32(i)
		at[c]++
	}
	var h privacy.Histogram
	skip := &privacy.Diversity{}
	for c, n := range classes.Size {
		if c&1023 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if n == 0 {
			continue
		}
		h.Reset()
		for _, i := range list[start[c]:start[c+1]] {
			h.Add(attribute.Codes[i])
		}
		s.T = max(s.T, attribute.Distance(&h))
		known := attribute.Counted(&h, skip)
		s.Classes++
		s.DistinctL, s.EntropyL = min(s.DistinctL, known.DistinctL()), min(s.EntropyL, known.EntropyL())
		if known.Total() == 0 {
			continue
		}
		if known.DistinctL() == 1 {
			s.Homogeneous++
			s.HomogeneousRecords += known.Total()
		}
		most := int64(0)
		for _, p := range known.Pairs() {
			most = max(most, p.Count)
		}
		if share := float64(most) / float64(known.Total()); share > s.WorstShare || share == s.WorstShare && int64(n) > s.WorstSize {
			s.WorstShare, s.WorstSize = share, int64(n)
		}
	}
	return s, nil
}

// associationBins is into how many bins numbers are cut for an association.
const associationBins = 10

// Associate compares how a quasi-identifier goes with a sensitive column in the
// original and in the release: quasi and sensitive are columns of the original,
// shown and kept those of the release.
func Associate(quasi, sensitive, shown, kept *table.Column) Association {
	edges := decileEdges(sensitive)
	a := Association{Quasi: quasi.Field.Name}
	if quasi.Field.Type.IsNumber() {
		cuts := decileEdges(quasi)
		a.Original = association(numberParts(readNumbers(quasi, &quasi.Field), cuts), sensitiveBins(sensitive, edges, sensitive))
		a.Release = association(numberParts(readNumbers(shown, &quasi.Field), cuts), sensitiveBins(kept, edges, sensitive))
		return a
	}
	own := make([]meaning, len(quasi.Dict))
	for code := range own {
		own[code] = meaning{members: []uint32{uint32(code)}, size: 1, known: true}
	}
	a.Original = association(wordParts(quasi, own), sensitiveBins(sensitive, edges, sensitive))
	a.Release = association(wordParts(shown, readMeanings(quasi, shown)), sensitiveBins(kept, edges, sensitive))
	return a
}

// part is a share of a record in a bin.
type part struct {
	bin   uint32
	share float64
}

// parts gives the parts of record i.
type parts func(i int) []part

// decileEdges are edges of bins of a number column, nil for categories.
func decileEdges(c *table.Column) []float64 {
	if !c.Field.Type.IsNumber() {
		return nil
	}
	var sorted []float64
	for i := range c.Len() {
		if !c.IsMissing(i) {
			sorted = append(sorted, c.Number(i))
		}
	}
	slices.Sort(sorted)
	edges := []float64{}
	for n := 1; n < associationBins && len(sorted) > 0; n++ {
		edges = append(edges, sorted[n*len(sorted)/associationBins])
	}
	return slices.Compact(edges)
}

func edgeBin(edges []float64, v float64) uint32 {
	n, found := slices.BinarySearch(edges, v)
	if found {
		n++
	}
	return uint32(n) + 1
}

// numberParts puts a range at its mean.
func numberParts(x *numbers, edges []float64) parts {
	return func(i int) []part {
		if !x.present[i] {
			return []part{{0, 1}}
		}
		return []part{{edgeBin(edges, x.mid(i)), 1}}
	}
}

func wordParts(c *table.Column, means []meaning) parts {
	of := make([][]part, len(means))
	for code := range means {
		m := &means[code]
		for n, id := range m.members {
			of[code] = append(of[code], part{id + 1, m.share(n)})
		}
	}
	missing := []part{{0, 1}}
	return func(i int) []part {
		if c.IsMissing(i) {
			return missing
		}
		return of[c.Codes[i]]
	}
}

// sensitiveBins are the bins of a sensitive column, by the values of the original.
func sensitiveBins(c *table.Column, edges []float64, original *table.Column) []uint32 {
	out := make([]uint32, c.Len())
	code := map[string]uint32{}
	for id, word := range original.Dict {
		code[word] = uint32(id) + 1
	}
	for i := range out {
		switch {
		case c.IsMissing(i):
		case edges != nil && c.Field.Type.IsNumber():
			out[i] = edgeBin(edges, c.Number(i))
		case edges == nil && !c.Field.Type.IsNumber():
			out[i] = code[c.Dict[c.Codes[i]]]
		}
	}
	return out
}

// association is the corrected Cramer's V of the table of both.
func association(x parts, y []uint32) float64 {
	type at struct{ x, y uint32 }
	joint := map[at]float64{}
	rows, columns := map[uint32]float64{}, map[uint32]float64{}
	n := 0.0
	for i, b := range y {
		for _, p := range x(i) {
			joint[at{p.bin, b}] += p.share
			rows[p.bin] += p.share
			columns[b] += p.share
			n += p.share
		}
	}
	if n < 2 {
		return 0
	}
	// Sorted, so that the sum does not depend on the order of a map.
	var terms []float64
	for k, v := range joint {
		terms = append(terms, v*v/(rows[k.x]*columns[k.y]))
	}
	slices.Sort(terms)
	phi := -1.0
	for _, t := range terms {
		phi += t
	}
	r, c := float64(len(rows)), float64(len(columns))
	phi = max(0, phi-(r-1)*(c-1)/(n-1))
	r -= (r - 1) * (r - 1) / (n - 1)
	c -= (c - 1) * (c - 1) / (n - 1)
	if least := min(r, c) - 1; least > 0 {
		return min(1, math.Sqrt(phi/least))
	}
	return 0
}
