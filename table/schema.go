package table

import (
	"fmt"
	"strings"

	"github.com/noren-privacy/noren"
)

// Type says how the values of a column are to be understood.
type Type uint8

const (
	Category Type = iota // words without an order
	Ordered              // words with an order (Field.Levels)
	Integer              // whole numbers, 64 bits
	Decimal              // finite numbers
	Date                 // days, or instants of a day, by Field.Layout
)

var typeNames = [...]string{Category: "category", Ordered: "ordered", Integer: "integer", Decimal: "decimal", Date: "date"}

// String names t as in a specification.
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("type(%d)", t)
}

// ParseType is the inverse of [Type.String].
func ParseType(s string) (Type, error) {
	for t, name := range typeNames {
		if s == name {
			return Type(t), nil
		}
	}
	return 0, noren.Reasonf("unknown type %q: one of %s", s, strings.Join(typeNames[:], ", "))
}

// IsNumber reports whether values of the type lie on a line with distances:
// integers, decimals and dates.
func (t Type) IsNumber() bool { return t == Integer || t == Decimal || t == Date }

// Role says what a release does with a column.
type Role uint8

const (
	Other      Role = iota // kept untouched
	Identifier             // dropped
	Quasi                  // transformed: what an adversary may know
	Sensitive              // kept untouched, checked for diversity and closeness
	Drop                   // dropped: it identifies no person, and is not wanted
)

var roleNames = [...]string{Other: "other", Identifier: "identifier", Quasi: "quasi-identifier", Sensitive: "sensitive", Drop: "drop"}

// String names r as in a specification.
func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return fmt.Sprintf("role(%d)", r)
}

// Dropped reports whether a release leaves a column of the role out.
func (r Role) Dropped() bool { return r == Identifier || r == Drop }

// ParseRole is the inverse of [Role.String]; "quasi" is short for
// "quasi-identifier".
func ParseRole(s string) (Role, error) {
	if s == "quasi" {
		return Quasi, nil
	}
	for r, name := range roleNames {
		if s == name {
			return Role(r), nil
		}
	}
	return 0, noren.Reasonf("unknown role %q: one of %s", s, strings.Join(roleNames[:], ", "))
}

// Field describes one column of a table.
type Field struct {
	Name string
	Role Role
	Type Type
	// Levels are the values of an Ordered column from lowest to highest.
	// Required for Ordered, empty for all others.
	Levels []string
	// Layout is how a Date is written. Defaults to "YYYY-MM-DD".
	Layout Layout
	// Number is how the numbers of an Integer or Decimal column are written in a
	// text file. Defaults to the plain format. A [Builder] takes the plain format
	// alone: file.WithNumbers rewrites a source.
	Number NumberFormat
	// Hierarchy orders the values of a Category into ever larger sets.
	// Optional.
	Hierarchy *Hierarchy
	// Round is the number of decimal places that a published mean of the
	// column is rounded to; negative rounds to tens, hundreds and so on. Nil
	// means: whole numbers for Integer, whole days (or seconds) for Date, and
	// for Decimal the places of the input plus two.
	Round *int
}

// Schema describes the columns of a table in their order.
type Schema struct {
	Fields []Field
}

// Index returns the position of the column of that name, or -1.
func (s *Schema) Index(name string) int {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// WithRole returns the positions of all columns of role r, in order.
func (s *Schema) WithRole(r Role) []int {
	var at []int
	for i := range s.Fields {
		if s.Fields[i].Role == r {
			at = append(at, i)
		}
	}
	return at
}

// Names returns the names of all columns of role r, in order.
func (s *Schema) Names(r Role) []string {
	var names []string
	for _, i := range s.WithRole(r) {
		names = append(names, s.Fields[i].Name)
	}
	return names
}
