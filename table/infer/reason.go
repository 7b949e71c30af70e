package infer

import (
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/table"
)

// Reason says why a type or a role is proposed. It holds numbers of values and records,
// formats and positions, and never a value of the table.
type Reason struct {
	// Code names the reason: one of the messages of package lang.
	Code string
	// Of is the type or the role.
	Of string
	// Text is both in English.
	Text string
	// Args are the numbers and texts of the reason by name: int64, int or string. A
	// condition is 1 or 0.
	Args map[string]any
}

// Codes of reasons of roles.
const (
	// RoleOpen: nothing tells what the values are. The role is a guess without a reason.
	RoleOpen = "role-open"
	// RoleDate: the values are dates.
	RoleDate = "role-date"
	// RolePlace: the name says that the values are places.
	RolePlace = "role-place"
)

// TypeTwo is the code of the reason of a type: at most two whole numbers, as codes are.
const TypeTwo = "type-two"

// Odd tells that a column is text although nearly all its values are numbers or dates: the reason names the first that is none.
func (r Reason) Odd() bool { return r.Code == oddNumber || r.Code == oddFormat || r.Code == oddDate }

// args are the arguments of a reason.
type args = map[string]any

// flag is a condition as an argument.
func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// typeReason gives the reason of a type.
func typeReason(kind table.Type, r Reason) Reason { return r.of(kind.String()) }

// roleReason gives the reason of a role.
func roleReason(role table.Role, r Reason) (table.Role, Reason) { return role, r.of(role.String()) }

// RoleReason is the reason of a role that was chosen elsewhere.
func RoleReason(role table.Role, r Reason) Reason { return r.of(role.String()) }

// of is the reason of a type or role.
func (r Reason) of(name string) Reason {
	r.Of = name
	why, _ := lang.English.Message(r.Code, r.Args)
	r.Text = name + ": " + why
	return r
}

// In is the type or the role and its reason in a language.
func (r Reason) In(l lang.Lang) string {
	why, ok := l.Message(r.Code, r.Args)
	if !ok {
		return r.Text
	}
	return l.Term(r.Of) + ": " + why
}

// Below is the reason [RoleOpen] in a list of columns, below which stands what to do about it.
func (r Reason) Below() Reason { return Reason{Code: "role-open-below", Args: r.Args}.of(r.Of) }

// countOf says how many values a column has, as arguments.
func countOf(c *Column) args {
	return args{
		"values": c.Distinct, "records": c.Records, "unique": flag(c.Unique && c.Distinct > 1),
		"about": flag(c.Estimated && !c.Unique),
	}
}
