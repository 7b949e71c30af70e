package kanon

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/enforce"
	"github.com/noren-privacy/noren/kanon/persons"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/space"
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

// enoughPersons demands k persons.
func (r *run) enoughPersons() error {
	if r.job.Unit == "" {
		return nil
	}
	return EnoughPersons(r.job.Source.Name(), int64(len(r.held.Columns[len(r.held.Columns)-1].Dict)), r.job.K)
}

// byPersons judges groups by persons.
func (r *run) byPersons() *enforce.Persons {
	if r.persons == nil {
		return nil
	}
	p := &enforce.Persons{Of: r.persons, Requirement: r.job.requirement()}
	for _, a := range r.attributes {
		p.Attributes = append(p.Attributes, privacy.NewByPerson(a, r.persons, func(i int) uint32 { return a.Codes[i] }))
	}
	return p
}

// link divides the records so that all records of a person are in classes of the
// same persons.
func (r *run) link(ctx context.Context) error {
	o := persons.LinkOptions{
		Partition: r.job.Partition, Refine: r.job.Refine, Seed: r.seed(), Workers: r.job.Workers,
		Progress: r.job.Progress,
	}
	o.Partition.K, o.Partition.Workers = r.job.K, r.job.Workers
	if len(r.attributes) > 0 {
		if err := r.judged.Feasible(allRecords(r.held.Rows)); err != nil {
			return err
		}
		o.Holds = r.judged.Holds
	}
	var err error
	if r.linked, err = persons.Link(ctx, r.space, r.persons, o); err != nil {
		return err
	}
	r.groups = r.linked.Partition()
	return nil
}

func allRecords(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// settle publishes, and merges groups that publish the same values where they
// are one class that does not keep what is asked by persons: unlike those of
// records, two groups that keep it may not keep it together.
func (r *run) settle(ctx context.Context) error {
	if err := r.publish(ctx); err != nil || r.persons == nil || len(r.attributes) == 0 {
		return err
	}
	for {
		failing := r.failingClasses()
		if len(failing) == 0 {
			return nil
		}
		if err := r.mergeClasses(ctx, failing); err != nil {
			return err
		}
		if err := r.publish(ctx); err != nil {
			return err
		}
	}
}

// failingClasses lists, for each class of several groups that does not keep what
// is asked, its groups.
func (r *run) failingClasses() [][]uint32 {
	list, start := r.groups.Members()
	var failing [][]uint32
	for _, groups := range publish.Same(r.published, r.groups.Groups) {
		var members []int32
		for _, g := range groups {
			members = append(members, list[start[g]:start[g+1]]...)
		}
		if !r.judged.Holds(members) {
			failing = append(failing, groups)
		}
	}
	return failing
}

func (r *run) mergeClasses(ctx context.Context, failing [][]uint32) error {
	before := r.groups.Groups
	if r.linked != nil {
		if err := r.linked.Merge(ctx, failing); err != nil {
			return err
		}
		r.groups = r.linked.Partition()
	} else {
		into := make([]uint32, r.groups.Groups)
		for g := range into {
			into[g] = uint32(g)
		}
		for _, groups := range failing {
			for _, g := range groups {
				into[g] = groups[0]
			}
		}
		merged := space.Partition{Group: make([]uint32, len(r.groups.Group)), Groups: r.groups.Groups}
		for i, g := range r.groups.Group {
			merged.Group[i] = into[g]
		}
		o := enforce.Options{Workers: r.job.Workers, Persons: r.judged, Whole: true, Progress: r.job.Progress}
		groups, _, err := enforce.Enforce(ctx, r.space, merged.Canonical(), r.job.requirement(), nil, o)
		if err != nil {
			return err
		}
		r.groups = groups
	}
	r.result.Merged += max(0, before-r.groups.Groups)
	r.result.SSE = r.space.SSE(r.groups) + r.lost
	r.sizes()
	return nil
}
