package api

// Work is what answering a request takes, by public parameters alone: kinds, columns, cells
// and the bound on the number of records.
type Work struct {
	// AtMost is the largest number of records that the data set may have.
	AtMost int64 `json:"at_most"`
	// Columns is the number of different columns that are read.
	Columns int `json:"columns"`
	// Persons is true if records are selected person by person, because the privacy unit is a
	// column.
	Persons bool `json:"persons"`
	// Questions are the questions.
	Questions []QuestionWork `json:"questions"`
}

// QuestionWork is what answering one question takes.
type QuestionWork struct {
	// Kind is the kind of the question.
	Kind string `json:"kind"`
	// Columns is the number of columns that the question reads.
	Columns int `json:"columns"`
	// Cells is the number of values of the answer.
	Cells int `json:"cells"`
	// Texts is true if the question reads a column of other values than numbers.
	Texts bool `json:"texts,omitempty"`
	// Terms is at least the number of comparisons of the question's condition.
	Terms int `json:"terms"`
	// Grouped is the number of columns whose values are looked up in a list: those of the groups, and
	// that of a histogram of listed values.
	Grouped int `json:"grouped,omitempty"`
	// Hashed is the number of those of them that are numbers or dates, which take longer than texts.
	Hashed int `json:"hashed,omitempty"`
	// Listed is the largest number of values of such a list, or of bins.
	Listed int `json:"listed,omitempty"`
	// Digits is the number of decimal places of the rank of a quantile.
	Digits int `json:"digits,omitempty"`
	// K is the number of neighbours below which a record is an outlier, in a count of outliers.
	K int `json:"k,omitempty"`
	// Degrees is the number of neighbours up to which a count of outliers needs exact counts: it
	// grows as epsilon falls, where the noise follows the table.
	Degrees int `json:"degrees,omitempty"`
}

// Calibration is how long answers take on one machine, measured on made-up tables.
type Calibration struct {
	// Records is the number of records of the made-up table.
	Records int `json:"records"`
	// Base is the time of a request on a table of one record, in seconds. It and Load are times
	// of the wall clock, all others are processor time.
	Base float64 `json:"base_s"`
	// Turn is the processor time of a request on a table of one record between the reading
	// and the end of the computation, in seconds: all processors compute answers.
	Turn float64 `json:"turn_s,omitempty"`
	// Load is the time of reading, in seconds per record and column.
	Load float64 `json:"load_s"`
	// Persons is the time of picking the records of persons, in seconds per record.
	Persons float64 `json:"persons_s"`
	// Cell is the time of a value of an answer, in seconds.
	Cell float64 `json:"cell_s"`
	// Record is the time of each kind of question, in seconds per record.
	Record map[string]float64 `json:"record_s"`
	// Numbers is that of questions that read columns of numbers alone. A kind that it lacks takes
	// as long as Record says.
	Numbers map[string]float64 `json:"numbers_s,omitempty"`
	// Single is that of questions of numbers alone whose condition has at most one comparison: those
	// of Record and Numbers have two. A kind that it lacks takes as long as Numbers says.
	Single map[string]float64 `json:"single_s,omitempty"`
}

// CalibrateRequest asks for a calibration.
type CalibrateRequest struct {
	// Dir is a folder in which made-up tables and a ledger are written, and removed again.
	// Required.
	Dir string `json:"dir"`
	// Records is the number of records of the made-up table. Defaults to 200,000.
	Records int `json:"records,omitempty"`
}
