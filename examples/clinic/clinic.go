// Package clinic is a synthetic clinic: 5,000 visits of some 1,400 people over
// two years, to show and to test what Noren does with a table about people.
// The table, the hierarchies of its categories and a specification for it are
// embedded in the program, so that a walk-through needs no file.
//
// Its people are invented. Names are strung together from syllables, places and
// postcodes are invented, and illnesses follow rough tables of age, sex and
// season that are written in this package. The table may be shown to anyone;
// no result on it says anything about real patients.
//
// [Generate] makes the same bytes from the same seed on every platform, and a
// test holds the embedded files against it.
package clinic

import (
	"embed"
	"io/fs"
)

//go:generate go run ./generate

// The embedded files, by their names in [FS].
const (
	VisitsFile     = "visits.csv"     // the table: Visits records and a header
	SpecFile       = "noren.yaml"     // what its columns are and how to release them
	QuestionsFile  = "questions.yaml" // questions to it, for noren ask
	PostcodeFile   = "postcode.csv"   // postcode, area, prefecture, region, *
	DepartmentFile = "department.csv" // department, division, *
	DiagnosisFile  = "diagnosis.csv"  // diagnosis, group, *
)

const (
	// Visits is the number of records of the table.
	Visits = 5000
	// Seed is the seed that the embedded table was made with.
	Seed = 20240101
)

//go:embed visits.csv noren.yaml questions.yaml postcode.csv department.csv diagnosis.csv
var files embed.FS

// FS holds the embedded files. The paths of hierarchies in noren.yaml are
// relative to it.
func FS() fs.FS { return files }

// Columns returns the names of the table's columns in their order.
func Columns() []string {
	return []string{
		"visit_id", "person_id", "name", "age", "sex", "postcode", "visit_date", "department",
		"diagnosis", "severity", "insurance", "weight_kg", "systolic", "cost_yen", "note",
	}
}
