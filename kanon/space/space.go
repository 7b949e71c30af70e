// Package space turns the quasi-identifiers of a table into points with distances.
//
// It defines distances, partitions and their sums of squared errors.
//
// A [Space] is a mixed Euclidean space of n records. Its squared distance is
//
//	d²(i,j) = sum over numeric axes (x_i - x_j)²
//	        + sum over categorical axes w [c_i != c_j].
//
// This is the squared Euclidean distance of an embedding: put code c of an axis
// of weight w at sqrt(w/2) e_c, with e_c the c-th unit vector; two different
// codes are then at squared distance w/2 + w/2 = w. Centres, sums of squares
// and all that follows are those of the embedding, which is never built: a
// group of m records, m_c of them with code c, has its centre's coordinate c at
// sqrt(w/2) m_c/m, so that the axis adds to its sum of squared errors
//
//	(w/2) sum_c [ m_c (1 - m_c/m)² + (m - m_c) (m_c/m)² ] = (w/2) (m - sum_c m_c²/m).
package space

import (
	"cmp"
	"fmt"
	"math"

	"github.com/noren-privacy/noren"
)

// Scaling says how numbers are made comparable.
type Scaling uint8

const (
	// MinMax maps every column to [0,1], a constant one to 0.
	MinMax Scaling = iota
	// ZScore divides the distance from the mean by the sample deviation.
	ZScore
	// None takes numbers as they are.
	None
)

var scalingNames = [...]string{MinMax: "minmax", ZScore: "zscore", None: "none"}

// String is "minmax", "zscore" or "none".
func (s Scaling) String() string {
	if int(s) < len(scalingNames) {
		return scalingNames[s]
	}
	return fmt.Sprintf("scaling(%d)", s)
}

// ParseScaling is the inverse of [Scaling.String].
func ParseScaling(s string) (Scaling, error) {
	for i, name := range scalingNames {
		if s == name {
			return Scaling(i), nil
		}
	}
	return 0, &noren.Error{Kind: noren.Usage, What: "unknown scaling %q", Args: []any{s}, Hint: "one of minmax, zscore, none"}
}

// Categorical is an axis of codes 0..Cardinality-1; two different ones are at
// squared distance Weight.
type Categorical struct {
	Codes       []uint32
	Cardinality int
	Weight      float64
}

// Space holds n points. It does not change once it is made and may be used by
// several goroutines.
type Space struct {
	n       int
	numbers [][]float64
	words   []Categorical
	lanes   []lanes // of the words, which share a 64-bit word a record
	// kept are near lists that were found before, ranked by keptTies.
	kept     *Near
	keptTies Ties
}

// New makes a space of n records from axes that are scaled already.
func New(n int, numbers [][]float64, words []Categorical) (*Space, error) {
	for a, x := range numbers {
		if len(x) != n {
			return nil, noren.Reasonf("numeric axis %d has %d {value|values} for %d {record|records}", a, len(x), n)
		}
		for _, v := range x {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, noren.Reasonf("numeric axis %d holds a value that is not finite", a)
			}
		}
	}
	for a, w := range words {
		if len(w.Codes) != n {
			return nil, noren.Reasonf("categorical axis %d has %d {code|codes} for %d {record|records}", a, len(w.Codes), n)
		}
		for _, c := range w.Codes {
			if int(c) >= w.Cardinality {
				return nil, noren.Reasonf("categorical axis %d holds a code beyond its cardinality", a)
			}
		}
	}
	return &Space{n: n, numbers: numbers, words: words, lanes: lanesOf(words)}, nil
}

// Len is n, the number of records.
func (s *Space) Len() int { return s.n }

// Numbers are the numeric axes, n scaled values each.
func (s *Space) Numbers() [][]float64 { return s.numbers }

// Words are the categorical axes.
func (s *Space) Words() []Categorical { return s.words }

// Distance2 is the squared distance of two records.
func (s *Space) Distance2(i, j int) float64 {
	var d float64
	for _, x := range s.numbers {
		t := x[i] - x[j]
		d += float64(t * t)
	}
	for a := range s.words {
		w := &s.words[a]
		if w.Codes[i] != w.Codes[j] {
			d += w.Weight
		}
	}
	return d
}

// Subset is the space of the given records, in that order, in memory of its
// own.
func (s *Space) Subset(records []int32) *Space {
	sub := &Space{n: len(records), numbers: make([][]float64, len(s.numbers)), words: make([]Categorical, len(s.words)), lanes: s.lanes}
	for a, x := range s.numbers {
		y := make([]float64, len(records))
		for i, r := range records {
			y[i] = x[r]
		}
		sub.numbers[a] = y
	}
	for a, w := range s.words {
		codes := make([]uint32, len(records))
		for i, r := range records {
			codes[i] = w.Codes[r]
		}
		sub.words[a] = Categorical{Codes: codes, Cardinality: w.Cardinality, Weight: w.Weight}
	}
	return sub
}

// Compare orders two records by their values on all axes: 0 where they are at
// the same place.
func (s *Space) Compare(i, j int32) int {
	for _, x := range s.numbers {
		if c := cmp.Compare(x[i], x[j]); c != 0 {
			return c
		}
	}
	for a := range s.words {
		if c := cmp.Compare(s.words[a].Codes[i], s.words[a].Codes[j]); c != 0 {
			return c
		}
	}
	return 0
}
