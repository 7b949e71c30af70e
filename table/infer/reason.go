package infer

import (
	"fmt"

	"github.com/noren-privacy/noren/table"
)

// Reason says why a type or a role is proposed. It holds numbers of values and records,
// formats and positions, and never a value of the table.
type Reason struct {
	// Code names the reason, for programs that write it in another language.
	Code string
	// Text is the reason in English.
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

// args are the arguments of a reason.
type args = map[string]any

// flag is a condition as an argument.
func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// typeReason gives the reason of a type, which its text begins with.
func typeReason(kind table.Type, r Reason) Reason {
	r.Text = kind.String() + ": " + r.Text
	return r
}

// roleReason gives the reason of a role, which its text begins with.
func roleReason(role table.Role, r Reason) (table.Role, Reason) {
	r.Text = role.String() + ": " + r.Text
	return role, r
}

// countOf says how many values a column has, and gives the same as arguments.
func countOf(c *Column) (string, args) {
	values := fmt.Sprintf("%d values", c.Distinct)
	switch {
	case c.Distinct == 1:
		values = "1 value"
	case c.Unique:
		values = "every value is different"
	case c.Estimated:
		values = "about " + values
	}
	return values, args{"values": c.Distinct, "records": c.Records, "unique": flag(c.Unique && c.Distinct > 1), "about": flag(c.Estimated && !c.Unique)}
}
