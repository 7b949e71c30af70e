package api

// CopyRequest asks for a copy of a table in a file.
type CopyRequest struct {
	// Input is the table: see [Table]. Required.
	Input string `json:"input"`
	// Connection is the connection string of a database; it is a secret. Defaults to the
	// settings of the environment.
	Connection string `json:"-"`
	// Output is the file, whose ending tells the format. Only its owner may read it.
	// Required.
	Output string `json:"output"`
	// MostBytes refuses a copy that grows larger. Defaults to no limit.
	MostBytes int64 `json:"most_bytes,omitempty"`
}

// Copy describes a copy.
type Copy struct {
	// Rows is the number of records.
	Rows int64 `json:"rows"`
	// Columns is the number of columns.
	Columns int `json:"columns"`
}

// DatabaseTablesRequest asks for the tables and views of a database.
type DatabaseTablesRequest struct {
	// Connection is the connection string of the database; it is a secret. Defaults to the
	// settings of the environment.
	Connection string `json:"-"`
}

// DatabaseTables lists the tables and views of a database that the user may read.
type DatabaseTables struct {
	// Tables has an entry for each, sorted by name.
	Tables []DatabaseTable `json:"tables"`
}

// DatabaseTable is a table or view of a database.
type DatabaseTable struct {
	// Name is TABLE or SCHEMA.TABLE, as a request names it.
	Name string `json:"name"`
	// Kind is table or view.
	Kind string `json:"kind"`
}
