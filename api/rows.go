package api

// RowsRequest asks for the first records of a table.
type RowsRequest struct {
	Table
	// Rows is the number of records, at most 1000. Defaults to 20.
	Rows int `json:"rows,omitempty"`
}

// Rows is the first records of a table. It is private: it holds cells.
type Rows struct {
	// Columns are the names of the columns, in order.
	Columns []string `json:"columns"`
	// Rows has the texts of each record; a missing value is empty.
	Rows [][]string `json:"rows"`
}
