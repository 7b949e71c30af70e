package assess

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/verify"
)

// Persons measures a table of which persons have several records: how many
// persons are in a class, and how many fit all records of a person. All figures
// are exact for the table they were taken of.
type Persons struct {
	// Column is the column that tells persons apart; records without a text there
	// belong to no person.
	Column string `json:"column"`
	// Persons is the number of persons.
	Persons int64 `json:"persons"`
	// Without is the number of records of no person.
	Without int64 `json:"records_without_person"`
	// Smallest is the smallest number of persons of a class.
	Smallest int64 `json:"smallest_class"`
	// Mean is the average number of persons of a class.
	Mean float64 `json:"average_class"`
	// Largest is the largest number of persons of a class.
	Largest int64 `json:"largest_class"`
	// MaxRisk is 1 / Smallest: the largest probability of guessing the person of a record
	// right within its class. It is 1 where all records of a class belong to no person.
	MaxRisk float64 `json:"max_risk"`
	// K is the required k; 0 where none was required.
	K int `json:"k,omitempty"`
	// BelowK is the number of classes of fewer than K persons, and of the records in them.
	BelowK verify.BelowK `json:"below_k"`
	// Fit is the number of persons who fit all records of a person (the intersection attack).
	Fit privacy.Fit `json:"fit"`
}

// NewPersons measures a table of these classes; person is the person of each
// record, [privacy.NoPerson] for none. Errors are of kind Usage (another number
// of records), BadData (no record) or the context's.
func NewPersons(ctx context.Context, column string, c Classes, person []uint32, k int) (*Persons, error) {
	switch {
	case len(c.Of) != len(person):
		return nil, &noren.Error{
			Kind: noren.Usage, Where: noren.Textf("column %s", column),
			What: "persons are given of another number of records than the table has",
		}
	case len(person) == 0:
		return nil, &noren.Error{Kind: noren.BadData, What: "the table has no records", Hint: "there is nothing to measure"}
	}
	links := privacy.NewLinks(c.Of, person, len(c.Size))
	p := &Persons{Column: column, Persons: links.Persons(), Without: links.Unassigned(), K: k}
	classes, total := int64(0), int64(0)
	for id, size := range c.Size {
		if size == 0 {
			continue
		}
		n := links.In(id)
		if classes == 0 || n < p.Smallest {
			p.Smallest = n
		}
		p.Largest = max(p.Largest, n)
		classes, total = classes+1, total+n
		if n < int64(k) {
			p.BelowK.Classes++
			p.BelowK.Records += int64(size)
		}
	}
	p.Mean = float64(total) / float64(classes)
	p.MaxRisk = 1 / float64(max(1, p.Smallest))
	var err error
	p.Fit, err = links.Fit(ctx, k)
	return p, err
}

// VerifiedPersons is what the verifier found of persons in a release, nil where
// it counted none.
func VerifiedPersons(v *verify.Result) *Persons {
	if v == nil || v.Unit == nil {
		return nil
	}
	u := v.Unit
	return &Persons{
		Column: u.Column, Persons: u.Persons, Without: u.Unassigned,
		Smallest: u.ClassSize.Min, Mean: u.ClassSize.Mean, Largest: u.ClassSize.Max,
		MaxRisk: 1 / float64(max(1, u.ClassSize.Min)), K: v.K, BelowK: v.BelowK, Fit: u.Fit,
	}
}
