package verify

import (
	"context"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/table"
)

// sensitive gathers one sensitive column: each distinct text once, and which of
// them each record has.
type sensitive struct {
	field   table.Field
	texts   texts
	builder *table.Builder
	index   map[string]uint32
	missing uint32 // entry plus 1 of the missing value
	weights []int64
	entries []uint32 // by record
}

func newSensitive(f table.Field, stored *table.StoredColumn, tokens map[string]bool) (*sensitive, error) {
	if f.Type == table.Date && stored.Proposed != nil && *stored.Proposed == table.Date {
		f.Layout = table.ISODate // as a day that a file holds as such is shown
	}
	b, err := table.NewBuilder(f, nil)
	if err != nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.Textf("column %s", f.Name), Err: err}
	}
	return &sensitive{field: f, texts: texts{stored: stored, tokens: tokens}, builder: b, index: map[string]uint32{}}, nil
}

// add takes value i of v; the error is that of its type and holds no value.
func (s *sensitive) add(v *table.Vector, i int) error {
	text, missing := s.texts.at(v, i)
	if missing {
		if s.missing == 0 {
			s.builder.AppendMissing()
			s.weights = append(s.weights, 0)
			s.missing = uint32(len(s.weights))
		}
		s.count(s.missing - 1)
		return nil
	}
	entry, known := s.index[string(text)]
	if !known {
		if err := s.builder.Append(text); err != nil {
			return err
		}
		entry = uint32(len(s.weights))
		s.weights = append(s.weights, 0)
		s.index[string(text)] = entry
	}
	s.count(entry)
	return nil
}

func (s *sensitive) count(entry uint32) {
	s.weights[entry]++
	s.entries = append(s.entries, entry)
}

// Sensitive is what was found of one sensitive column.
type Sensitive struct {
	// Column is the column's name.
	Column string `json:"column"`
	// DistinctL is the largest l for which distinct l-diversity holds in every class. Missing
	// values do not count unless requested.
	DistinctL int `json:"distinct_l"`
	// EntropyL is the largest l for which entropy l-diversity holds in every class.
	EntropyL float64 `json:"entropy_l"`
	// RecursiveL is the largest l for which recursive (c,l)-diversity holds in every class,
	// where it was required.
	RecursiveL *int `json:"recursive_l,omitempty"`
	// C is the c of recursive (c,l)-diversity.
	C float64 `json:"c,omitempty"`
	// T is the largest distance of a class from the whole table.
	T float64 `json:"t"`
	// Distance is the distance between values: ordered or equal.
	Distance string `json:"distance"`
	// ByPerson is true if each person counts once.
	ByPerson bool `json:"by_person,omitempty"`
	// NotDiverse is the number of classes without the required diversity.
	NotDiverse int64 `json:"not_diverse"`
	// NotClose is the number of classes without the required closeness.
	NotClose int64 `json:"not_close"`
}

// judge looks at every class: the records of class c are list[start[c]:start[c+1]].
// person, where it is not nil, is the person of each record: each counts once.
func (s *sensitive) judge(ctx context.Context, list, start []uint32, req privacy.Requirement, person []uint32) (Sensitive, error) {
	out := Sensitive{Column: s.field.Name, DistinctL: math.MaxInt, EntropyL: math.Inf(1)}
	a, err := privacy.NewWeighted(s.builder.Column(), s.weights)
	if err != nil {
		return out, err
	}
	out.Distance = a.DistanceKind()
	recursive := req.Diversity != nil && req.Diversity.Model == privacy.Recursive
	if recursive {
		out.C = req.Diversity.C
	}
	least := math.MaxInt
	var h privacy.Histogram
	var codes []uint32
	var people privacy.People
	var by *privacy.ByPerson
	if person != nil {
		by = privacy.NewByPerson(a, person, func(record int) uint32 { return a.Codes[s.entries[record]] })
		out.ByPerson = true
	}
	for c := range len(start) - 1 {
		if c&1023 == 0 && ctx.Err() != nil {
			return out, ctx.Err()
		}
		if by != nil {
			people.Reset()
			for _, record := range list[start[c]:start[c+1]] {
				people.Add(person[record], a.Codes[s.entries[record]])
			}
			by.Worst(&people, &h, req.Diversity)
			out.levels(&h, &least, recursive)
			out.T = max(out.T, by.Distance(&people))
			if !by.Diverse(&people, req.Diversity) {
				out.NotDiverse++
			}
			if !by.Close(&people, req.Closeness) {
				out.NotClose++
			}
			continue
		}
		codes = codes[:0]
		for _, record := range list[start[c]:start[c+1]] {
			codes = append(codes, a.Codes[s.entries[record]])
		}
		slices.Sort(codes)
		h.Reset()
		for i := 0; i < len(codes); {
			from := i
			for i < len(codes) && codes[i] == codes[from] {
				i++
			}
			h.AddN(codes[from], int64(i-from))
		}
		counted := a.Counted(&h, req.Diversity)
		out.levels(&counted, &least, recursive)
		out.T = max(out.T, a.Distance(&h))
		if !a.Diverse(&h, req.Diversity) {
			out.NotDiverse++
		}
		if !a.Close(&h, req.Closeness) {
			out.NotClose++
		}
	}
	if recursive {
		out.RecursiveL = &least
	}
	return out, nil
}

// levels takes over the l that a class reaches.
func (s *Sensitive) levels(h *privacy.Histogram, least *int, recursive bool) {
	s.DistinctL = min(s.DistinctL, h.DistinctL())
	s.EntropyL = min(s.EntropyL, h.EntropyL())
	if recursive {
		*least = min(*least, h.RecursiveL(s.C))
	}
}

// failures says in words what the column does not keep.
func (s *Sensitive) failures(req privacy.Requirement, classes int64) noren.Texts {
	var words noren.Texts
	if s.NotDiverse > 0 {
		words = append(words, noren.Textf("%d of %d {class|classes} {1|is|are} not diverse in %s as asked for (%s)", s.NotDiverse, classes,
			s.Column, req.Diversity))
	}
	if s.NotClose > 0 {
		words = append(words, noren.Textf("%d of %d {class|classes} {1|is|are} farther than %g from the whole table in %s: the farthest is at "+
			"%.4g", s.NotClose, classes, req.Closeness.T, s.Column, s.T))
	}
	return words
}
