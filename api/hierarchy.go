package api

import "github.com/noren-privacy/noren"

// HierarchyProposeRequest asks for a proposed generalisation hierarchy: of a column of Table,
// or of a public range.
type HierarchyProposeRequest struct {
	// Table holds the values. Empty for a range.
	Table
	// Column is the column of the table. Required with a table.
	Column string `json:"column,omitempty"`
	// Kind is number, month, week, fiscal, postal, municipality or icd10. Defaults to
	// what the form of the values tells.
	Kind string `json:"kind,omitempty"`
	// Layout is how dates are written. Defaults to YYYY-MM-DD.
	Layout string `json:"layout,omitempty"`
	// Low is the first value of a public range.
	Low string `json:"low,omitempty"`
	// High is the last value of a public range.
	High string `json:"high,omitempty"`
	// Steps are the widths of the intervals of numbers, each a multiple of the one
	// before. Defaults to round widths.
	Steps []string `json:"steps,omitempty"`
}

// Hierarchy is a proposed hierarchy. With a table it is private: it holds values.
type Hierarchy struct {
	// Kind is the kind that was used.
	Kind string `json:"kind"`
	// Levels names the levels of each row, from the value to the root.
	Levels []noren.Text `json:"levels"`
	// Rows has one row for each value.
	Rows [][]string `json:"rows"`
}

// HierarchyCheckRequest asks whether a hierarchy covers a column.
type HierarchyCheckRequest struct {
	Table
	// Hierarchy is the file of the hierarchy. Required.
	Hierarchy string `json:"hierarchy"`
	// Column is the column that it must cover. Required.
	Column string `json:"column"`
}

// HierarchyCheck describes a hierarchy that covers a column.
type HierarchyCheck struct {
	// Values is the number of different values of the column.
	Values int `json:"values"`
	// Lines is the number of values of the hierarchy.
	Lines int `json:"lines"`
	// Levels is the number of its levels.
	Levels int `json:"levels"`
}

// HierarchyCoverRequest asks how many values of a column a hierarchy covers.
type HierarchyCoverRequest struct {
	Table
	// Hierarchy is the file of the hierarchy. Required.
	Hierarchy string `json:"hierarchy"`
	// Column is the column. Required.
	Column string `json:"column"`
}

// HierarchyCover tells how many values of a column a hierarchy covers. It is private.
type HierarchyCover struct {
	// Levels is the number of levels of the hierarchy.
	Levels int `json:"levels"`
	// Values is the number of different values of the column.
	Values int `json:"values"`
	// Covered is the number of those that have a line in the hierarchy.
	Covered int `json:"covered"`
	// Uncovered is the number of those that have none.
	Uncovered int `json:"uncovered"`
}
