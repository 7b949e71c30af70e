package ldp

import (
	"math"
	"slices"
	"sort"

	"github.com/noren-privacy/noren"
)

// Origin says where the edges of bins come from, and so whether they are private.
type Origin uint8

const (
	// Public edges were known before any data.
	Public Origin = iota
	// Paid edges were computed by a private mechanism, whose loss is in PaidEpsilon.
	Paid
	// Fitted edges were computed from raw data: they are not private, and neither
	// is what is published with them. They are for evaluations.
	Fitted
)

// String says o in a word.
func (o Origin) String() string {
	switch o {
	case Paid:
		return "paid"
	case Fitted:
		return "fitted"
	default:
		return "public"
	}
}

// Bins map numbers to labels: bin j is (Edges[j], Edges[j+1]], the first
// one closed. Numbers outside go to the nearest end.
type Bins struct {
	edges  []float64 // ascending, strictly but for the first two
	origin Origin
	paid   float64
}

// NewBins returns the bins between public edges, ascending, two or more.
func NewBins(edges []float64) (*Bins, error) {
	if len(edges) < 2 || len(edges) > MaxDomain+1 {
		return nil, &noren.Error{Kind: noren.Usage, Where: "edges", What: "there must be between 2 and %d", Args: []any{MaxDomain + 1}}
	}
	for j, e := range edges {
		if math.IsNaN(e) || math.IsInf(e, 0) || j > 0 && e <= edges[j-1] {
			return nil, &noren.Error{Kind: noren.Usage, Where: noren.Textf("edge %d", j+1), What: "edges must be finite and ascend"}
		}
	}
	return &Bins{edges: slices.Clone(edges)}, nil
}

// EqualWidth returns l bins of one width over the public range [lo, hi].
func EqualWidth(lo, hi float64, l int) (*Bins, error) {
	if !(lo < hi) || math.IsInf(hi-lo, 0) || l < 1 || l > MaxDomain {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: "range",
			What: "the low end must lie below the high end, both finite, with one bin or more between",
		}
	}
	edges := make([]float64, l+1)
	for j := range edges {
		// Interpolated from both ends, so that the last is hi exactly.
		t := float64(j) / float64(l)
		edges[j] = lo*(1-t) + hi*t
	}
	return NewBins(edges)
}

// PaidBins returns bins between edges that a private mechanism computed at a
// loss of epsilon. Edges that coincide are merged.
func PaidBins(edges []float64, epsilon float64) (*Bins, error) {
	if !(epsilon > 0) || math.IsInf(epsilon, 0) {
		return nil, &noren.Error{Kind: noren.Usage, Where: "epsilon", What: "what the edges cost must be above 0"}
	}
	sorted := slices.Clone(edges)
	slices.Sort(sorted)
	b, err := NewBins(slices.Compact(sorted))
	if err != nil {
		return nil, err
	}
	b.origin, b.paid = Paid, epsilon
	return b, nil
}

// FitEqualWidth returns l bins of one width over the range of values. The edges
// are fitted: they tell the smallest and the largest value.
func FitEqualWidth(values []float64, l int) (*Bins, error) {
	sorted, err := finite(values, l)
	if err != nil {
		return nil, err
	}
	lo, hi := sorted[0], sorted[len(sorted)-1]
	if lo == hi {
		return &Bins{edges: []float64{lo, hi}, origin: Fitted}, nil
	}
	b, err := EqualWidth(lo, hi, l)
	if err != nil {
		return nil, err
	}
	b.origin = Fitted
	return b, nil
}

// FitEqualFrequency returns l bins that hold about equally many of the n values:
// with s the values sorted, the edges are s[0], s[floor(j n/l)] for j = 1..l-1
// and s[n-1] (the paper, section 3.3; 0-based as its figures are). Bins that
// could hold nothing, because values repeat, are left out, so that there may be
// fewer than l. The edges are fitted: each is a value of one person.
func FitEqualFrequency(values []float64, l int) (*Bins, error) {
	s, err := finite(values, l)
	if err != nil {
		return nil, err
	}
	n := len(s)
	edges := []float64{s[0]}
	for j := 1; j <= l; j++ {
		e := s[n-1]
		if j < l {
			e = s[j*n/l]
		}
		// The first bin is closed: [a, a] holds a. Any other (a, a] holds nothing.
		if j == 1 || e > edges[len(edges)-1] {
			edges = append(edges, e)
		}
	}
	return &Bins{edges: edges, origin: Fitted}, nil
}

// finite sorts a copy of values.
func finite(values []float64, l int) ([]float64, error) {
	if len(values) == 0 || l < 1 || l > MaxDomain || l > math.MaxInt/max(1, len(values)) {
		return nil, &noren.Error{Kind: noren.Usage, What: "bins are fitted on one value or more, and there must be one bin or more"}
	}
	s := slices.Clone(values)
	slices.Sort(s) // NaN first
	if math.IsNaN(s[0]) || math.IsInf(s[0], 0) || math.IsInf(s[len(s)-1], 0) {
		return nil, &noren.Error{Kind: noren.BadData, What: "bins are fitted on finite numbers alone"}
	}
	return s, nil
}

// Len is the number of labels.
func (b *Bins) Len() int { return len(b.edges) - 1 }

// Edges returns a copy of the Len()+1 edges.
func (b *Bins) Edges() []float64 { return slices.Clone(b.edges) }

// Origin says where the edges come from.
func (b *Bins) Origin() Origin { return b.origin }

// PaidEpsilon is what the edges cost: 0 for public edges, +Inf for fitted ones.
func (b *Bins) PaidEpsilon() float64 {
	if b.origin == Fitted {
		return math.Inf(1)
	}
	return b.paid
}

// Label returns the label of x, from 0. NaN has none.
func (b *Bins) Label(x float64) (int, error) {
	if math.IsNaN(x) {
		return 0, &noren.Error{
			Kind: noren.BadData, What: "not a number has no bin",
			Hint: "leave the value out, or give missing values a label of their own",
		}
	}
	upper := b.edges[1:]
	return min(sort.SearchFloat64s(upper, x), len(upper)-1), nil
}

// Midpoint is the number that stands for a label: the middle of its bin.
func (b *Bins) Midpoint(label int) float64 { return b.edges[label]/2 + b.edges[label+1]/2 }

// Labels returns the labels of values.
func (b *Bins) Labels(values []float64) ([]int, error) {
	labels := make([]int, len(values))
	for i, v := range values {
		var err error
		if labels[i], err = b.Label(v); err != nil {
			return nil, err
		}
	}
	return labels, nil
}
