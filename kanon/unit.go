package kanon

import (
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// Linkage is what somebody who looks for a person is taken to know of the
// records of that person.
type Linkage uint8

const (
	// LinkOne: the quasi-identifiers of one record.
	LinkOne Linkage = iota
	// LinkAll: those of all records, and that they are of one person.
	LinkAll
)

// String is "one" or "all".
func (l Linkage) String() string {
	if l == LinkAll {
		return "all"
	}
	return "one"
}

// ParseLinkage is the inverse of [Linkage.String].
func ParseLinkage(s string) (Linkage, error) {
	switch s {
	case "one":
		return LinkOne, nil
	case "all":
		return LinkAll, nil
	}
	return 0, &noren.Error{Kind: noren.Usage, What: "unknown linkage %q", Args: []any{s}, Hint: "one or all"}
}

// unitFaults says what contradicts itself about the unit.
func (o *Options) unitFaults(s *table.Schema) noren.Texts {
	var faults noren.Texts
	if o.Unit == "" {
		if o.Linkage != LinkOne || o.Pseudonym {
			faults = append(faults, noren.Textf("linkage and pseudonyms are about persons: name the column that tells them apart as the unit"))
		}
		return faults
	}
	at := slices.IndexFunc(s.Fields, func(f table.Field) bool { return f.Name == o.Unit })
	switch {
	case at < 0:
		faults = append(faults, noren.Textf("the table has no column %q to be the unit", o.Unit))
	case s.Fields[at].Role != table.Identifier:
		faults = append(faults, noren.Textf("the unit %q is a column of role %s: expected identifier, as it is not kept", o.Unit,
			s.Fields[at].Role))
	}
	switch {
	case o.Pseudonym && o.Linkage != LinkAll:
		faults = append(faults, noren.Textf("pseudonyms link the records of a person: they need a linkage of all records"))
	case o.Pseudonym && (o.Diversity != nil || o.Closeness != nil):
		faults = append(faults,
			noren.Textf("pseudonyms cannot go with l-diversity or t-closeness, which are not kept among the records that pseudonyms link"))
	}
	return faults
}

// unitField is the field by which the unit is read: text as the file holds it.
func (o *Options) unitField() table.Field {
	return table.Field{Name: o.Unit, Type: table.Category}
}

// PersonsOf numbers the persons of a column of labels, which is a category, from
// 1; a record without a label has [privacy.NoPerson].
func PersonsOf(labels *table.Column) []uint32 {
	of := make([]uint32, labels.Len())
	for i := range of {
		if !labels.IsMissing(i) {
			of[i] = labels.Codes[i] + 1
		}
	}
	return of
}
