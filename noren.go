package noren

import (
	"fmt"
	"strconv"
	"strings"
)

// UnitName is a privacy unit as an argument of a text: record is a word of Noren, and another unit
// the name of a column.
func UnitName(unit string) any {
	if unit == "record" {
		return Term("record")
	}
	return unit
}

// Guarantee states what a release guarantees, for which privacy unit and under which
// assumptions. It is written into results and certificates; a release is never
// made without one, and one is never written that was not checked.
type Guarantee struct {
	// Model is the name of the guarantee, for instance "k-anonymity".
	Model string `json:"model"`
	// K is the smallest number of records that share their quasi-identifiers; for k-anonymity
	// with a Unit, the smallest number of persons.
	K int `json:"k,omitempty"`
	// Quasi are the columns that an adversary is assumed to know.
	Quasi []string `json:"quasi_identifiers,omitempty"`
	// Diversity is the l-diversity of every class, one entry per sensitive column.
	Diversity []Diversity `json:"diversity,omitempty"`
	// Closeness is the t-closeness of every class, one entry per sensitive column.
	Closeness []Closeness `json:"closeness,omitempty"`
	// Epsilon is the epsilon of (epsilon, delta)-differential privacy: for neighbouring tables
	// D and D' and every set S of outputs, P(D in S) <= e^epsilon P(D' in S) + delta (Dwork et
	// al. 2006).
	Epsilon float64 `json:"epsilon,omitempty"`
	// Delta is the delta of (epsilon, delta)-differential privacy.
	Delta float64 `json:"delta,omitempty"`
	// Neighbours is the relation of neighbouring tables in the guarantee: "add-remove" or
	// "replace-one".
	Neighbours string `json:"neighbours,omitempty"`
	// Unit is the privacy unit, in which neighbouring tables differ: "record", or the name of
	// the column that tells whose records belong together, all of which then count as one. For
	// k-anonymity it is that column, or empty where records are counted.
	Unit string `json:"unit,omitempty"`
	// Linkage is the number of records of a person that an adversary is assumed to know: "one"
	// or "all". Empty where records are counted.
	Linkage string `json:"unit_linkage,omitempty"`
	// Pseudonyms is true if the release shows which records belong to one person.
	Pseudonyms bool `json:"pseudonyms,omitempty"`
	// Assumptions are the assumptions of the guarantee, in plain sentences.
	Assumptions Texts `json:"assumptions,omitempty"`
}

// Diversity is an l-diversity guarantee for one sensitive column
// (Machanavajjhala et al. 2007).
type Diversity struct {
	// Column is the sensitive column.
	Column string `json:"column"`
	// Model is the kind of l-diversity: distinct, entropy or recursive.
	Model string `json:"model"`
	// L is the parameter l.
	L float64 `json:"l"`
	// C is the parameter c of recursive diversity.
	C float64 `json:"c,omitempty"`
	// CountMissing is true if a missing value counts as one of the values.
	CountMissing bool `json:"count_missing,omitempty"`
}

// Closeness is a t-closeness guarantee for one sensitive column (Li, Li and
// Venkatasubramanian 2007).
type Closeness struct {
	// Column is the sensitive column.
	Column string `json:"column"`
	// Distance is the distance between values: ordered or equal.
	Distance string `json:"distance"`
	// T is the parameter t.
	T float64 `json:"t"`
}

// String says g in one line.
func (g Guarantee) String() string {
	var b strings.Builder
	b.WriteString(g.Model)
	if g.K > 0 {
		fmt.Fprintf(&b, ", k = %d", g.K)
		if g.Linkage != "" {
			fmt.Fprintf(&b, " persons (%s)", g.Unit)
		}
		fmt.Fprintf(&b, " over %s", strings.Join(g.Quasi, ", "))
		if g.Linkage == "all" {
			b.WriteString(", all records of a person linked")
		}
		if g.Pseudonyms {
			b.WriteString(" by pseudonyms")
		}
	}
	if g.Epsilon > 0 || g.Delta > 0 {
		fmt.Fprintf(&b, ", epsilon = %s", decimal(g.Epsilon))
		if g.Delta > 0 {
			fmt.Fprintf(&b, ", delta = %s", decimal(g.Delta))
		}
		if g.Neighbours != "" {
			fmt.Fprintf(&b, ", neighbours %s", g.Neighbours)
		}
		if g.Unit != "" {
			fmt.Fprintf(&b, " of one %s", g.Unit)
		}
	}
	for _, d := range g.Diversity {
		fmt.Fprintf(&b, "; %s %g-diversity of %s", d.Model, d.L, d.Column)
		if d.CountMissing {
			b.WriteString(" (missing values counted)")
		}
	}
	for _, c := range g.Closeness {
		fmt.Fprintf(&b, "; %g-closeness of %s (%s distance)", c.T, c.Column, c.Distance)
	}
	return b.String()
}

// decimal writes x as the shortest decimal that is x again, without an exponent.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Progress receives the progress of a stage of long work: done of total
// units, total <= 0 when it is not known. It is called from one goroutine at
// a time, at most some tens of times a second, and must return at once. A nil
// Progress is allowed everywhere: use [Progress.Report].
type Progress func(stage string, done, total int64)

// Report calls p unless it is nil.
func (p Progress) Report(stage string, done, total int64) {
	if p != nil {
		p(stage, done, total)
	}
}
