package survey

import (
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
)

// Privacy states what the reports of a survey cost a person, and what they do not
// protect.
type Privacy struct {
	// Report is the epsilon of one report of one attribute.
	Report float64 `json:"epsilon_per_report"`
	// Record is the epsilon of one report of every attribute of a record.
	Record float64 `json:"epsilon_per_record"`
	// Lifetime is the epsilon of all reports of a record whose values do not change; null
	// where nothing bounds it.
	Lifetime *float64 `json:"epsilon_lifetime"`
	// Guarantee is the guarantee of one report of a record, with its assumptions.
	Guarantee noren.Guarantee `json:"guarantee"`
	// NotProtected is what the guarantee does not cover.
	NotProtected noren.Texts `json:"not_protected"`
}

// newPrivacy states a loss and what is not protected.
func newPrivacy(l ldp.Loss, not noren.Texts) Privacy {
	p := Privacy{Report: l.Report, Record: l.Record, Guarantee: l.Guarantee(), NotProtected: not}
	if !math.IsInf(l.Lifetime, 1) {
		p.Lifetime = &l.Lifetime
	}
	return p
}

// Loss is the three epsilons of p.
func (p *Privacy) Loss() ldp.Loss {
	l := ldp.Loss{Report: p.Report, Record: p.Record, Lifetime: math.Inf(1)}
	if p.Lifetime != nil {
		l.Lifetime = *p.Lifetime
	}
	return l
}

// Privacy states the guarantee of reports by devices that keep their secrets.
func (s *Survey) Privacy() Privacy { return newPrivacy(s.Loss(), s.Unprotected()) }

// PrivacyWithoutSecrets states the guarantee of reports whose devices' secrets are not
// kept: the permanent answers are drawn again for every round, so that nothing bounds
// the loss of a lifetime.
func (s *Survey) PrivacyWithoutSecrets() Privacy {
	if !s.Remembers() {
		return s.Privacy()
	}
	l := s.Loss()
	l.Lifetime = math.Inf(1)
	return newPrivacy(l, append(s.Unprotected(),
		noren.Textf("another round of these people: their devices' secrets were thrown away (a key of the devices keeps them)")))
}

// Guarantee is the guarantee of one report of a record.
func (s *Survey) Guarantee() noren.Guarantee { return s.Loss().Guarantee() }

// Unprotected lists what the guarantee does not cover, for this survey.
func (s *Survey) Unprotected() noren.Texts {
	out := noren.Texts{
		noren.Textf(
			"who reports, when and from where; and everything that is sent beside the report as it is, such as a client's id or a class label"),
	}
	switch {
	case s.Remembers():
		out = append(
			out, noren.Textf("a value that changes: every new value costs a lifetime's epsilon again, and nothing hides that it changed"),
			noren.Textf("a device that loses its secret: its answers cost a lifetime's epsilon again"),
		)
		if s.kind == Words {
			out = append(out, noren.Textf("the cohort, which is public and must not depend on the value"))
		}
	default:
		out = append(out, noren.Textf("repeated reports: each further report costs epsilon again, as this mechanism keeps no state"))
	}
	for j, a := range s.answers {
		if a.bins == nil {
			continue
		}
		out = append(out, edges(s.Columns()[j], a.bins))
	}
	if s.multi != nil {
		out = append(out, noren.Textf("which attributes are asked for, where they were chosen by looking at the data"))
	}
	return out
}

// edges says what the edges of the bins of a column tell of data. The column may have no
// name.
func edges(column string, bins *ldp.Bins) noren.Text {
	paid := bins.Origin() == ldp.Paid
	switch {
	case paid && column == "":
		return noren.Textf("the edges of the bins were computed from data at epsilon %g, which is to be added for the people in those data "+
			"(twice, where it is for adding or removing a record)", bins.PaidEpsilon())
	case paid:
		return noren.Textf("the edges of the bins of %s were computed from data at epsilon %g, which is to be added for the people in those "+
			"data (twice, where it is for adding or removing a record)", column, bins.PaidEpsilon())
	case column == "":
		return noren.Textf("the edges of the bins are taken as public: where they were chosen by looking at the data, they tell of the data " +
			"and nothing protects that")
	}
	return noren.Textf("the edges of the bins of %s are taken as public: where they were chosen by looking at the data, they tell of the "+
		"data and nothing protects that", column)
}
