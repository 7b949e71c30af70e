package correlated

import (
	"fmt"
)

// The codes of this package's errors that a front end may distinguish.
const (
	codeModel   = "model"   // the model and the question do not go together
	codeRecords = "records" // the model has another number of records
)

// index names an entry of a list: "P[3]" and 1 give "P[3][1]".
func index(where string, i int) string { return fmt.Sprintf("%s[%d]", where, i) }
