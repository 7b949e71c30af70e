package privacy

import (
	"fmt"
	"math"
	"strings"

	"github.com/noren-privacy/noren"
)

// Requirement is what every class of a release must keep.
type Requirement struct {
	// K is the smallest number of records in a class. Required, at least 1.
	K int
	// Diversity, where not nil, is asked of every sensitive column.
	Diversity *Diversity
	// Closeness, where not nil, is asked of every sensitive column.
	Closeness *Closeness
}

// Diversity is l-diversity (Machanavajjhala et al. 2007, definitions 4.1 and
// 4.2 and section 3 for the distinct form). With n_1 >= ... >= n_m the counts
// of the values that occur in a class of n records:
//
//   - Distinct: m >= L.
//   - Entropy: exp(-sum (n_i/n) ln(n_i/n)) >= L.
//   - Recursive: n_1 < C (n_L + n_(L+1) + ... + n_m).
type Diversity struct {
	// Model says which of the definitions. Defaults to Distinct.
	Model DiversityModel
	// L is at least 1, and whole for Distinct and Recursive. Required.
	L float64
	// C is above 0 for Recursive and 0 for the others.
	C float64
	// CountMissing says that a missing value is one of the values. Defaults to
	// counting the records with a value only: a class in which nothing is
	// recorded, or one value and nothing else, is not diverse.
	CountMissing bool
}

// DiversityModel tells the definitions of l-diversity apart.
type DiversityModel uint8

const (
	// Distinct counts the values.
	Distinct DiversityModel = iota
	// Entropy counts the values by how evenly they occur.
	Entropy
	// Recursive bounds the commonest value by the rarer ones.
	Recursive
)

var modelNames = [...]string{Distinct: "distinct", Entropy: "entropy", Recursive: "recursive"}

// String names m as in a specification: "distinct", "entropy" or "recursive".
func (m DiversityModel) String() string {
	if int(m) < len(modelNames) {
		return modelNames[m]
	}
	return fmt.Sprintf("diversity-model(%d)", m)
}

// ParseDiversityModel is the inverse of [DiversityModel.String].
func ParseDiversityModel(s string) (DiversityModel, error) {
	for m, name := range modelNames {
		if s == name {
			return DiversityModel(m), nil
		}
	}
	return 0, noren.Reasonf("unknown diversity model %q: one of %s", s, strings.Join(modelNames[:], ", "))
}

// Closeness is t-closeness (Li, Li and Venkatasubramanian 2007): the
// distribution of a sensitive column in a class is at most T away from its
// distribution in the whole table, see [Attribute.Distance].
type Closeness struct {
	// T is in [0,1]. 0 asks for equal distributions.
	T float64
}

// Validate reports everything that contradicts itself in r, as one error of
// kind noren.Usage.
func (r Requirement) Validate() error {
	var faults noren.Texts
	check := func(ok bool, format noren.Format, args ...any) {
		if !ok {
			faults = append(faults, noren.Textf(format, args...))
		}
	}
	check(r.K >= 1, "k is %d: it must be at least 1", r.K)
	if d := r.Diversity; d != nil {
		check(int(d.Model) < len(modelNames), "no diversity model has the number %d", d.Model)
		check(d.L >= 1 && !math.IsInf(d.L, 0), "l of %s diversity is %g: it must be at least 1", d.Model, d.L)
		if d.Model == Recursive {
			check(d.C > 0 && !math.IsInf(d.C, 0), "c of recursive diversity is %g: it must be above 0", d.C)
		} else {
			check(d.C == 0, "c goes with recursive diversity, not with %s", d.Model)
		}
		if d.Model != Entropy && d.L >= 1 && !math.IsInf(d.L, 0) {
			check(d.L == math.Trunc(d.L), "l of %s diversity is %g: it must be a whole number", d.Model, d.L)
		}
	}
	if c := r.Closeness; c != nil {
		check(c.T >= 0 && c.T <= 1, "t of closeness is %g: it must be from 0 to 1", c.T)
	}
	if len(faults) == 0 {
		return nil
	}
	return &noren.Error{Kind: noren.Usage, Where: noren.Phrase("privacy requirement"), What: "%s", Args: []any{faults}}
}

// String says r in one line: "k = 5, recursive 3-diversity (c = 2), 0.2-closeness".
func (r Requirement) String() string { return r.Text().String() }

// Text is what [Requirement.String] says, as a text.
func (r Requirement) Text() noren.Text {
	t := noren.Textf("k = %d", r.K)
	if d := r.Diversity; d != nil {
		t = noren.Textf("%s, %s", t, d.Text())
	}
	if c := r.Closeness; c != nil {
		t = noren.Textf("%s, %s", t, noren.Textf("%g-closeness", c.T))
	}
	return t
}

// String says d in a few words: "recursive 3-diversity (c = 2)".
func (d Diversity) String() string { return d.Text().String() }

// Text is what [Diversity.String] says, as a text.
func (d Diversity) Text() noren.Text {
	switch d.Model {
	case Distinct:
		return noren.Textf("distinct %g-diversity", d.L)
	case Entropy:
		return noren.Textf("entropy %g-diversity", d.L)
	}
	return noren.Textf("recursive %g-diversity (c = %g)", d.L, d.C)
}

// Guarantee states what a release keeps whose classes over the columns quasi
// all meet req in the sensitive columns attrs, and what that rests on.
func Guarantee(quasi []string, req Requirement, attrs []*Attribute) noren.Guarantee {
	g := noren.Guarantee{Model: "k-anonymity", K: req.K, Quasi: append([]string(nil), quasi...)}
	for _, a := range attrs {
		if d := req.Diversity; d != nil {
			g.Diversity = append(g.Diversity, noren.Diversity{Column: a.Name, Model: d.Model.String(), L: d.L, C: d.C, CountMissing: d.CountMissing})
		}
		if c := req.Closeness; c != nil {
			g.Closeness = append(g.Closeness, noren.Closeness{Column: a.Name, Distance: a.DistanceKind(), T: c.T})
		}
	}
	g.Assumptions = noren.Sentences(
		"An attacker who looks for a person in the table knows at most the quasi-identifiers named here about that person; no other column is "+
			"known to the attacker or can be linked to another source.",
		onePerson,
		"These records are released once; releases that overlap can be compared, and together they tell more than each alone.",
		"A missing value is a value like any other: what is not recorded is seen not to be recorded.",
	)
	if len(g.Diversity) == 0 && len(g.Closeness) == 0 {
		return withAssumptions(g, "What all records of a class have in common is known of each of them: k-anonymity hides which record is "+
			"whose, not a value that a whole class shares.")
	}
	if len(g.Diversity) > 0 {
		if !req.Diversity.CountMissing {
			g = withAssumptions(g, missingNotCounted)
		}
		g.Assumptions = append(g.Assumptions, diversityAssumption(*req.Diversity))
	}
	if len(g.Closeness) > 0 {
		g = withAssumptions(g,
			"The distribution of a sensitive column over the whole table is no secret; closeness bounds only what a class tells beyond it.")
	}
	return withAssumptions(g,
		"Each sensitive column is protected by itself: an attacker who already knows one of them about a person may learn another from it.")
}

// onePerson is what a guarantee of records rests on, and one of persons does not.
const onePerson noren.Format = "Every record belongs to a different person; where several records belong to one person, k records may " +
	"stand for fewer than k persons."

// What diversity takes a missing value for, of records and of persons.
const (
	missingNotCounted noren.Format = "Diversity counts the records with a value: a missing value of a sensitive column is none of its values."
	missingAnyValue   noren.Format = "A missing value of a sensitive column may be any of the values of its class: diversity counts its " +
		"person for each of them."
)

func withAssumptions(g noren.Guarantee, sentence noren.Format, args ...any) noren.Guarantee {
	g.Assumptions = append(g.Assumptions, noren.Textf(sentence, args...))
	return g
}

func diversityAssumption(d Diversity) noren.Text {
	switch d.Model {
	case Entropy:
		return noren.Textf(
			"The attacker cannot rule out values of a sensitive column by other knowledge, and values that differ are not alike in meaning.")
	default:
		if d.L <= 2 {
			return noren.Textf(
				"The attacker cannot rule out any value of a sensitive column by other knowledge, and values that differ are not alike in meaning.")
		}
		return noren.Textf("The attacker can rule out fewer than %g values of a sensitive column by other knowledge, and values that differ "+
			"are not alike in meaning.", d.L-1)
	}
}

// OfPersons is g for a release whose classes were counted by persons, told apart
// by the column unit; linked where all records of a person are in classes of the
// same K persons, with pseudonyms where those of a person show that they are.
func OfPersons(g noren.Guarantee, unit string, linked, pseudonyms bool) noren.Guarantee {
	g.Unit, g.Linkage = unit, "one"
	known := noren.Textf("An attacker who looks for a person in the table knows at most the quasi-identifiers of one record of that " +
		"person, and not how many records the person has; together, several records of a person may fit fewer than k persons.")
	if linked {
		g.Linkage = "all"
		known = noren.Textf(
			"An attacker may know the quasi-identifiers of all records of a person, but not how many records of the person are in a class.")
	}
	if pseudonyms {
		g.Pseudonyms = true
		known = noren.Textf("An attacker may know the quasi-identifiers of all records of a person, and sees which of the released records " +
			"show the same pseudonym; the records without a pseudonym are linked to no person.")
	}
	persons := noren.Textf("Records with the same text in the unit's column, and no others, are of one person; a record without a text " +
		"there counts for no person, and whose it is must not be known.")
	var assumptions noren.Texts
	for _, a := range g.Assumptions {
		switch a.Format {
		case onePerson:
			assumptions = append(assumptions, known, persons)
			continue
		case missingNotCounted:
			a = noren.Textf(missingAnyValue)
		}
		assumptions = append(assumptions, a)
	}
	g.Assumptions = assumptions
	return g
}
