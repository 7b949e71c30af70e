package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/infer"
)

// Recipients are those who receive a release.
type Recipients string

// The recipients, and the k that is proposed for each. The usual thresholds of statistical
// offices and health registers lie between 3 and 11; the more people can try to find a
// person, and the less binds them, the larger the k.
const (
	// Public is anybody.
	Public Recipients = "public"
	// Agreement is those who have signed that they will not try to find persons.
	Agreement Recipients = "agreement"
	// Organisation is colleagues within the organisation that holds the table.
	Organisation Recipients = "organisation"
)

// K is the k that is proposed for the recipients; 0 for unknown ones.
func (r Recipients) K() int {
	switch r {
	case Public:
		return 10
	case Agreement:
		return 5
	case Organisation:
		return 3
	}
	return 0
}

// words says who the recipients are.
func (r Recipients) words() lang.Key {
	switch r {
	case Public:
		return "anybody: the release is public"
	case Agreement:
		return "people who have agreed in writing not to look for persons"
	}
	return "colleagues within the organisation"
}

// Answers are a steward's answers to the questions that decide on roles and k.
type Answers struct {
	// Recipients are those who receive the release. Required.
	Recipients Recipients
	// Known are the columns whose values others may know of a person.
	Known []string
	// Harmful are the columns whose values would harm a person if others learned them.
	Harmful []string
	// Unit is the column that tells persons apart; "" where each record is another
	// person's.
	Unit string
}

// Check refuses answers that contradict themselves or the table. Errors are of kind
// Usage; Where is the name of the answer.
func (a *Answers) Check(r *infer.Report) error {
	var names []string
	for i := range r.Columns {
		names = append(names, r.Columns[i].Field.Name)
	}
	if a.Recipients.K() == 0 {
		return noren.Usagef("recipients", "expected %s, %s or %s", Public, Agreement, Organisation)
	}
	units := []string{}
	if a.Unit != "" {
		units = append(units, a.Unit)
	}
	for _, list := range []struct {
		where   string
		columns []string
	}{{"known", a.Known}, {"harmful", a.Harmful}, {"unit", units}} {
		for _, name := range list.columns {
			if !slices.Contains(names, name) {
				return noren.Usagef(list.where, "the file has no column %s", name).Advising(nearest(name, names, true))
			}
		}
	}
	for _, name := range a.Harmful {
		if slices.Contains(a.Known, name) {
			return noren.Usagef("harmful", "column %s is known to others: nothing is left to learn", name).
				Hinted("name it in one of the two answers")
		}
	}
	for _, name := range append(slices.Clone(a.Known), a.Harmful...) {
		if name == a.Unit {
			return noren.Usagef("unit", "column %s tells persons apart, and is dropped", name).Hinted("name it in one of the answers")
		}
	}
	if len(a.Known) == 0 {
		return noren.Usagef("known", "expected at least one column: without one there is nothing to make common").
			Hinted("such as age, sex or postcode")
	}
	return nil
}

// k is the proposed k.
func (a *Answers) k() int {
	if a == nil {
		return Agreement.K()
	}
	return a.Recipients.K()
}

// comment writes the answers as comments.
func (a *Answers) comment(b *strings.Builder, l lang.Lang) {
	if a == nil {
		return
	}
	none := func(list []string) string {
		if len(list) == 0 {
			return l.Text("nothing")
		}
		return strings.Join(list, ", ")
	}
	unit := l.Text("each record is another person's")
	if a.Unit != "" {
		unit = l.Text("%s tells persons apart", a.Unit)
	}
	b.WriteString("#\n")
	b.WriteString(l.Text("# Answers of the steward:\n"))
	for _, line := range []struct {
		question lang.Key
		answer   string
	}{
		{"Who receives the release?", l.Text(a.Recipients.words()) + fmt.Sprintf(" (k = %d)", a.Recipients.K())},
		{"What may they know of a person?", none(a.Known)},
		{"What would harm a person?", none(a.Harmful)},
		{"Has a person several records?", unit},
	} {
		wrapped(b, "#   ", l.Text(line.question)+" "+line.answer)
	}
}

// decide gives a column the role that follows from the answers.
func (a *Answers) decide(c *infer.Column) {
	if a == nil {
		return
	}
	name := c.Field.Name
	role, why := c.Field.Role, ""
	switch {
	case name == a.Unit:
		role, why = table.Identifier, "unit"
	case slices.Contains(a.Known, name):
		role, why = table.Quasi, "known"
	case slices.Contains(a.Harmful, name):
		role, why = table.Sensitive, "harmful"
	case role == table.Quasi || role == table.Sensitive:
		role, why = table.Other, "neither"
	default:
		return
	}
	c.Field.Role = role
	c.RoleReason = infer.RoleReason(role, infer.Reason{Code: "answered", Args: map[string]any{why: 1}})
	c.Unit = false
}
