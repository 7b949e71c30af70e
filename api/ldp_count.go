package api

import "github.com/noren-privacy/noren/ldp"

// LDPCountedSchema names the form of [LDPCounted] in JSON.
const LDPCountedSchema = "noren.ldp.count/1"

// LDPCounted says what was counted into a file of RAPPOR's counts, from files of reports
// that were counted apart.
type LDPCounted struct {
	// Schema is noren.ldp.count/1.
	Schema string `json:"schema"`
	// Output is the counts file, which ldp estimate reads.
	Output string `json:"output"`
	// Files is the number of files of reports.
	Files int64 `json:"files"`
	// Without is the number of files that name no specification. Unless it is 0, nothing ties
	// the counts to the one by which they were counted, and the counts file names none.
	Without int64 `json:"files_without_specification"`
	// Reports is the number of reports that were counted.
	Reports int64 `json:"reports"`
	// Rejected are the numbers of excluded reports, by reason.
	Rejected ldp.Rejected `json:"rejected"`
}
