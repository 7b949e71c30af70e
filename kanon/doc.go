// Package kanon produces k-anonymous releases of tables, from the file that is read
// to the file that was verified.
//
//	src, err := file.Open(ctx, "visits.csv", file.Options{})
//	...
//	result, err := kanon.Anonymize(ctx, kanon.Job{
//		Source: src,
//		Schema: schema, // a field a column, with roles and types
//		Output: kanon.Output{Path: "out.csv"},
//		Options: kanon.Options{K: 5, Refine: refine.Fast},
//	}, nil)
//
// # Guarantee
//
// In the file that is written, every combination of values of the columns
// whose role is quasi-identifier that occurs, occurs in at least K records; each
// class is as diverse, and as close to the whole table, in every sensitive
// column as was asked for. Identifiers are not in it. All other columns are as
// they were, value for value. A missing value counts as a value.
//
// The guarantee is checked on the written file by a verifier that knows nothing
// of the partition (kanon/verify), before the file is created. When anything
// fails, no file is left.
//
// With a Unit, K and what is asked of sensitive columns count persons and not
// records; with Linkage LinkAll all records of a person lie in classes of the same
// K persons ("Persons" in docs/k-anonymity.md has the definitions and proofs).
//
// docs/k-anonymity.md says what the guarantee does not cover: columns that are
// not named quasi-identifiers are not protected, and without a Unit records are
// counted, not persons.
//
// # The steps
//
// read -> space -> partition -> enforce -> refine -> publish -> write -> verify.
// Each is a package below this one and can be used alone; [Anonymize] runs
// all of them.
//
// A table of more than 40,000 records is cut into blocks (kanon/partition's
// CellTree), and the steps from space to publish are done for each block by
// itself; what exceeds the memory allowed is held in temporary files
// (kanon/records). The release depends neither on the memory nor on the number
// of workers.
package kanon
