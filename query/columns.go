package query

import (
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// bind finds the column of f in t and holds it to be of the type that the query
// was made for. An error is of kind Internal: the table was read with other
// fields.
func bind(t *table.Table, f *table.Field) (*table.Column, error) {
	c := t.Column(f.Name)
	if c == nil {
		return nil, &noren.Error{What: "the table was read without column %s", Args: []any{f.Name}}
	}
	same := c.Field.Type == f.Type && c.Len() == t.Rows
	if f.Type == table.Date { // days are not seconds
		same = same && c.Field.Layout.HasTime() == f.Layout.HasTime()
	}
	if f.Type == table.Ordered {
		same = same && slices.Equal(c.Dict, f.Levels)
	}
	if !same {
		return nil, &noren.Error{What: "column %s was not read as %s as the query was made for", Args: []any{f.Name, f.Type}}
	}
	return c, nil
}

// bindUnit returns the labels of the records of t, by which contributions are
// bounded. An error is of kind Internal: the table was read without them.
func bindUnit(t *table.Table, name string) (*table.Column, error) {
	switch u := t.Unit; {
	case u == nil:
		return nil, &noren.Error{What: "the table was read without the labels of its unit, column %s", Args: []any{name}}
	case u.Field.Name != name || u.Field.Type != table.Category || u.Len() != t.Rows:
		return nil, &noren.Error{What: "the labels of the records were not read from column %s as category", Args: []any{name}}
	default:
		return u, nil
	}
}

// missingFirst sorts faults of columns that do not exist before all others, which may
// follow from them.
func missingFirst(a, b error) int {
	rank := func(err error) int {
		if noren.CodeOf(err) == columnMissing {
			return 0
		}
		return 1
	}
	return rank(a) - rank(b)
}

const columnMissing = "column-missing"

// columnType is the code of a column whose type the query cannot use.
const columnType = "column-type"

// findField returns the field of that name. Without one the error has the code
// "column-missing".
func findField(fields []table.Field, where any, name string) (*table.Field, error) {
	for i := range fields {
		if fields[i].Name == name {
			return &fields[i], nil
		}
	}
	return nil, &noren.Error{
		Kind: noren.Usage, Code: columnMissing, Where: where, What: "there is no column %q", Args: []any{name},
		Hint: "the columns are %s", HintArgs: []any{fieldNames(fields)},
	}
}
