package api

// FitRequest asks whether all values of a table are what its specification states.
type FitRequest struct {
	Table
}

// Fit tells how the values of a table fit its specification. It is private.
type Fit struct {
	// Rows is the number of records.
	Rows int64 `json:"rows"`
	// Persons is the number of different texts of the unit; 0 where there is none.
	Persons int64 `json:"persons,omitempty"`
	// Form is how the table was read.
	Form TableForm `json:"form"`
	// Hidden is what a workbook hides of the table; absent where it hides nothing.
	Hidden *Hidden `json:"hidden,omitempty"`
	// Columns has an entry for each column, in order.
	Columns []FittedColumn `json:"columns"`
}

// FittedColumn tells how the values of a column fit its type.
type FittedColumn struct {
	// Name is the column's name.
	Name string `json:"name"`
	// Type is integer, decimal, date, ordered or category.
	Type string `json:"type"`
	// Misfits is the number of values that are not of the type.
	Misfits int64 `json:"misfits"`
	// First are the numbers, from 1, of the first records with such a value.
	First []int64 `json:"first,omitempty"`
	// Missing is the number of records without a value.
	Missing int64 `json:"missing"`
}

// Misfits is the number of values that do not fit, and of columns with such values.
func (f *Fit) Misfits() (values int64, columns int) {
	for _, c := range f.Columns {
		values += c.Misfits
		if c.Misfits > 0 {
			columns++
		}
	}
	return values, columns
}
