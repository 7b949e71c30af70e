package api

import (
	"io"

	"github.com/noren-privacy/noren"
)

// LedgerExportSchema names the form of an exported ledger.
const LedgerExportSchema = "noren.ledger.export/2"

// LedgerExportSchema1 is the form of exports that hold paths of files, as former versions
// of this program wrote them. They are checked as before.
const LedgerExportSchema1 = "noren.ledger.export/1"

// LedgerExportRequest asks to write the whole ledger to a file for an auditor.
type LedgerExportRequest struct {
	// Output is the file to write. Required without To.
	Output string `json:"output"`
	// To receives the export in place of a file.
	To io.Writer `json:"-"`
	// Force replaces a file that exists.
	Force bool `json:"force,omitempty"`
}

// LedgerExported is what an export wrote.
type LedgerExported struct {
	// Schema is always noren.ledger/1.
	Schema string `json:"schema"`
	// Ledger is the ledger's id.
	Ledger string `json:"ledger"`
	// Entries is the number of entries of the chain.
	Entries int64 `json:"entries"`
	// Answers is the number of stored answers.
	Answers int64 `json:"answers"`
	// Head is the head of the chain: 64 hexadecimal digits.
	Head string `json:"head"`
	// KeyID is the id of the key that signed the head.
	KeyID string `json:"key_id"`
}

// LedgerCheckExportRequest asks whether an exported ledger is sound. No ledger is opened.
type LedgerCheckExportRequest struct {
	// File is the exported file. Required.
	File string `json:"file"`
	// Keys are the ids of the keys that may have signed the head and the certificates, or files of public keys.
	// Without any, the key of the head counts, and the result says that nothing vouches
	// for it.
	Keys []string `json:"keys,omitempty"`
}

// LedgerExportCheck is the result of checking an exported ledger.
type LedgerExportCheck struct {
	// Schema is always noren.ledger/1.
	Schema string `json:"schema"`
	// Ledger is the ledger's id.
	Ledger string `json:"ledger"`
	// Sound is true if there are no faults.
	Sound bool `json:"sound"`
	// Entries is the number of entries of the chain.
	Entries int64 `json:"entries"`
	// Charges is the number of charges in all states.
	Charges int64 `json:"charges"`
	// Answers is the number of stored answers with their certificates.
	Answers int64 `json:"answers"`
	// Unbound is the number of grants that were made by an older version of this program and
	// whose paths the export leaves out. Their hashes cannot be computed from the export: the
	// signer of the head states what they say.
	Unbound int64 `json:"unbound"`
	// Head is the head of the chain: 64 hexadecimal digits.
	Head string `json:"head"`
	// KeyID is the id of the key that signed the head.
	KeyID string `json:"key_id"`
	// Trusted is true if the request named the key of the head.
	Trusted bool `json:"trusted"`
	// Faults are the differences that were found.
	Faults []ExportFault `json:"faults"`
}

// ExportFault is a difference that was found in an exported ledger.
type ExportFault struct {
	// Entry is the number of the entry in the chain; 0 where the fault concerns the whole
	// ledger.
	Entry int64 `json:"entry"`
	// Line is the line of the file; 0 where the fault concerns the whole ledger.
	Line int64 `json:"line"`
	// What is the fault, as a sentence.
	What noren.Text `json:"what"`
}
