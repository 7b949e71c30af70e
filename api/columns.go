package api

// ColumnsRequest asks for the columns of a table.
type ColumnsRequest struct {
	// Table is the name of a data set, or the path of a file. Required.
	Table string `json:"table"`
	// Delimiter of a text file. Detected where empty.
	Delimiter string `json:"delimiter,omitempty"`
	// Encoding of a text file. Detected where empty.
	Encoding string `json:"encoding,omitempty"`
}

// Columns is the columns of a table.
type Columns struct {
	// Dataset is the name of the data set; empty for a file that no ledger knows.
	Dataset string `json:"dataset,omitempty"`
	// Names are the names of the columns, in the order of the table.
	Names []string `json:"names"`
}
