package enforce

import "github.com/noren-privacy/noren/kanon/privacy"

// Persons judges groups by persons: each has records of K persons, and its
// diversity and closeness are those of [privacy.ByPerson]. A union of two groups
// that keep a requirement may fail it where they share persons or entropy is
// asked for, so every union is judged anew.
type Persons struct {
	// Of is the person of each record. Required.
	Of []uint32
	// Requirement is what every group must keep. Required.
	Requirement privacy.Requirement
	// Attributes are the sensitive columns.
	Attributes []*privacy.ByPerson
}

// Holds reports whether a group of these records keeps the requirement. It may
// be called from several goroutines.
func (p *Persons) Holds(records []int32) bool {
	var people privacy.People
	if len(p.Attributes) == 0 {
		for _, i := range records {
			people.Add(p.Of[i], 0)
		}
		return people.Persons() >= int64(p.Requirement.K)
	}
	for _, a := range p.Attributes {
		people.Reset()
		for _, i := range records {
			people.Add(p.Of[i], a.Codes[i])
		}
		if !a.Holds(&people, p.Requirement) {
			return false
		}
	}
	return true
}

// Feasible is nil when these records as one group keep the requirement, and
// otherwise an error of kind NotMet with the column that does not.
func (p *Persons) Feasible(records []int32) error {
	for _, a := range p.Attributes {
		one := &Persons{Of: p.Of, Requirement: p.Requirement, Attributes: []*privacy.ByPerson{a}}
		if !one.Holds(records) {
			return infeasible(a.Name, p.Requirement, true)
		}
	}
	return nil
}
