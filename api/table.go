package api

import "github.com/noren-privacy/noren/spec"

// Table names a table and states its columns. Every request about one private table
// contains it.
type Table struct {
	// Input is a file, a table of a database (pg:TABLE, sqlite:FILE?table=TABLE), or -
	// for the standard input of the service. Required.
	Input string `json:"input"`
	// SpecFile is the path of a specification (noren.yaml). Optional.
	SpecFile string `json:"spec_file,omitempty"`
	// Spec states roles, types and parameters. It is laid over SpecFile. Optional.
	Spec *spec.Spec `json:"spec,omitempty"`
}
