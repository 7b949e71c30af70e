// Package infer proposes types, missing values and roles for the columns of a table.
//
// It reads the whole table once. Every proposal has its reason.
//
//	report, err := infer.Infer(ctx, src, infer.Options{})
//	for _, c := range report.Columns {
//		fmt.Println(c.Field.Name, c.Field.Type, c.TypeReason.Text, c.Field.Role, c.RoleReason.Text)
//	}
//
// # Guarantee
//
// The type that is proposed reads the whole file: table/table.Read with the
// fields of a report and its Missing texts refuses no value. (The one exception
// is in Column.Declared: a type that the file itself declares is passed on
// unseen.) Memory is bounded whatever the file holds: distinct values are
// counted exactly up to a limit, and estimated beyond it.
//
// Roles are proposals. What an adversary may know cannot be read from a file;
// only the steward of the data can say. Where nothing tells, the reason says so.
//
// A [Report] holds values of the table (the smallest, the largest, the most
// frequent). It is private, and never part of a
// release. The reasons hold numbers of values and records and never a value.
package infer
