package enforce

import (
	"slices"

	"github.com/noren-privacy/noren/kanon/cost"
	"github.com/noren-privacy/noren/kanon/privacy"
)

// NewJudge judges groups while they are made (package cost): each must have req.K
// records and keep req in every attribute, or, where persons is not nil, its own
// requirement by persons.
func NewJudge(req privacy.Requirement, attributes []*privacy.Attribute, persons *Persons) cost.Judge {
	j := &judge{req: req, attributes: attributes, persons: persons}
	if persons != nil {
		attributes = nil
		for _, a := range persons.Attributes {
			attributes = append(attributes, a.Attribute)
		}
	}
	if len(attributes) > 0 {
		j.strata, j.exact = strata(attributes)
		j.exact = j.exact && persons == nil
	}
	return j
}

type judge struct {
	req        privacy.Requirement
	attributes []*privacy.Attribute
	persons    *Persons
	strata     []uint32
	exact      bool
	records    []int32 // of the table, nil for all
}

// Holds implements [cost.Judge].
func (j *judge) Holds(records []int32) bool {
	if len(records) < j.req.K {
		return false
	}
	if j.persons != nil {
		if j.records != nil {
			table := make([]int32, len(records))
			for n, i := range records {
				table[n] = j.records[i]
			}
			records = table
		}
		return j.persons.Holds(records)
	}
	for _, a := range j.attributes {
		var h privacy.Histogram
		for _, i := range records {
			if j.records != nil {
				i = j.records[i]
			}
			h.Add(a.Codes[i])
		}
		if !a.Holds(&h, j.req) {
			return false
		}
	}
	return true
}

// Strata implements [cost.Judge].
func (j *judge) Strata() ([]uint32, bool) { return j.strata, j.exact }

// Subset implements [cost.Judge].
func (j *judge) Subset(records []int32) cost.Judge {
	sub := &judge{req: j.req, attributes: j.attributes, persons: j.persons, exact: j.exact, records: slices.Clone(records)}
	if j.records != nil {
		for n, i := range records {
			sub.records[n] = j.records[i]
		}
	}
	if j.strata != nil {
		sub.strata = make([]uint32, len(records))
		for n, i := range records {
			sub.strata[n] = j.strata[i]
		}
	}
	return sub
}

// parts is into how many parts of about equal size the values of an attribute are
// divided for strata.
const parts = 8

// strata numbers the records by the parts that their values are in; exact tells that
// every part is a value.
func strata(attributes []*privacy.Attribute) (out []uint32, exact bool) {
	n := len(attributes[0].Codes)
	out, exact = make([]uint32, n), true
	for _, a := range attributes {
		exact = exact && a.Cardinality <= parts
		count := make([]int, a.Cardinality)
		for _, code := range a.Codes {
			count[code]++
		}
		part := make([]uint32, a.Cardinality)
		below := 0
		for code, c := range count {
			switch {
			case a.Cardinality <= parts:
				part[code] = uint32(code)
			case n > 0:
				part[code] = uint32(min(parts-1, below*parts/n))
			}
			below += c
		}
		number := map[[2]uint32]uint32{}
		for i, code := range a.Codes {
			key := [2]uint32{out[i], part[code]}
			s, ok := number[key]
			if !ok {
				s = uint32(len(number))
				number[key] = s
			}
			out[i] = s
		}
	}
	return out, exact
}
