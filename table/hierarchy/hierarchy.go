// Package hierarchy proposes generalisation hierarchies from the form of values.
//
// A proposal depends on the set of values that are to be covered, and of numbers
// on their range alone: never on how often a value occurs. The rows that
// [Propose] returns are those that table.NewHierarchy takes, from a value to the
// root "*". A value whose form the kind does not know gets no row and is counted
// as missing. Errors and results name positions, never values.
package hierarchy

import (
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// Root is the name of the last level.
const Root = "*"

// Kind is a form of values, and the levels that belong to it.
type Kind string

// The kinds.
const (
	Auto         Kind = ""
	Number       Kind = "number"       // grids with round, nested widths
	Month        Kind = "month"        // day, month, quarter, year, decade
	Week         Kind = "week"         // day, week and year of ISO 8601
	Fiscal       Kind = "fiscal"       // day, month, quarter and year from April
	Postal       Kind = "postal"       // Japanese postal code by prefix
	Municipality Kind = "municipality" // JIS X 0402 code by prefix and region
	ICD10        Kind = "icd10"        // three characters, block, chapter
)

// Kinds are the kinds that can be named.
var Kinds = []Kind{Number, Month, Week, Fiscal, Postal, Municipality, ICD10}

// Options say what values do not.
type Options struct {
	Kind Kind
	// Steps are the widths of a number's grid, each a multiple of the one before;
	// nil for round widths by the range of the values.
	Steps []string
	// Layout is how dates are written. Defaults to the ISO form.
	Layout table.Layout
}

// Proposal is a hierarchy that covers all values but the missing ones.
type Proposal struct {
	Kind Kind
	Rows [][]string
	// Levels says what every level of a row is.
	Levels noren.Texts
	// Missing are the positions of the values that have no row.
	Missing []int
}

// path gives the levels above a value, without the root; nil for a value of
// another form.
type path func(value string) []string

// Propose makes a hierarchy of distinct values.
func Propose(values []string, o Options) (*Proposal, error) {
	if len(values) == 0 {
		return nil, &noren.Error{Kind: noren.BadData, What: "there are no values to make a hierarchy of"}
	}
	if o.Kind == Auto {
		o.Kind = detect(values, o.Layout)
		if o.Kind == Auto {
			return nil, &noren.Error{Kind: noren.Usage, What: "the values have no form that tells a kind of hierarchy", Hint: "name the kind"}
		}
	}
	if len(o.Steps) > 0 && o.Kind != Number {
		return nil, &noren.Error{Kind: noren.Usage, What: "steps go with kind number, got %s", Args: []any{o.Kind}}
	}
	of, levels, err := o.path(values)
	if err != nil {
		return nil, err
	}
	p := &Proposal{Kind: o.Kind, Levels: slices.Concat(noren.Sentences("value"), levels, noren.Sentences("all"))}
	for i, v := range values {
		above := of(v)
		if above == nil {
			p.Missing = append(p.Missing, i)
			continue
		}
		p.Rows = append(p.Rows, append(append([]string{v}, above...), Root))
	}
	if len(p.Rows) == 0 {
		return nil, &noren.Error{Kind: noren.BadData, What: "no value has the form of kind %s", Args: []any{o.Kind}}
	}
	p.tellApart()
	return p, nil
}

// tellApart appends * to the name of a group that is also a value, where other values
// lie below the group: E11 of E11.9 is E11* where E11 itself is a value. No kind
// takes a value with this character.
func (p *Proposal) tellApart() {
	values := map[string]bool{}
	for _, row := range p.Rows {
		values[row[0]] = true
	}
	wider := map[string]bool{} // groups with the name of a value, and another value below
	for _, row := range p.Rows {
		for _, name := range row[1 : len(row)-1] {
			if name != row[0] && values[name] {
				wider[name] = true
			}
		}
	}
	for _, row := range p.Rows {
		for l := 1; l < len(row)-1; l++ {
			if wider[row[l]] {
				row[l] += "*"
			}
		}
	}
}

func (o *Options) path(values []string) (path, noren.Texts, error) {
	switch o.Kind {
	case Number:
		return numbers(values, o.Steps)
	case Month, Week, Fiscal:
		if o.Layout != "" {
			if err := o.Layout.Validate(); err != nil {
				return nil, nil, (&noren.Error{Kind: noren.Usage}).SayingText(noren.TextOf(err))
			}
		}
		of, levels := dates(o.Kind, o.Layout)
		return of, levels, nil
	case Postal:
		return postal, noren.Sentences("five digits", "three digits", "two digits", "one digit"), nil
	case Municipality:
		return municipality, noren.Sentences("three digits", "prefecture", "region"), nil
	case ICD10:
		return icd10, noren.Sentences("three characters", "block", "chapter"), nil
	}
	return nil, nil, &noren.Error{Kind: noren.Usage, What: "expected a kind among %v, got %q", Args: []any{Kinds, o.Kind}}
}

// detect finds the kind that all values have the form of. Codes of digits alone
// are numbers: nothing in their form tells them apart.
func detect(values []string, layout table.Layout) Kind {
	all := func(of path) bool {
		return !slices.ContainsFunc(values, func(v string) bool { return of(v) == nil })
	}
	days, _ := dates(Month, layout)
	switch {
	case all(days):
		return Month
	case all(func(v string) []string {
		if len(v) != len("100-0001") {
			return nil
		}
		return postal(v)
	}):
		return Postal
	case all(icd10):
		return ICD10
	case all(func(v string) []string {
		if _, _, err := table.ParseDecimal([]byte(v)); err != nil {
			return nil
		}
		return []string{}
	}):
		return Number
	}
	return Auto
}

const stepsFault noren.Format = "expected steps above 0, each a multiple of the one before"
