package api

import (
	"github.com/noren-privacy/noren/assess"
)

// OverlapRequest asks what two releases of the same people give away together. The table
// is the source of the first release, with its specification.
type OverlapRequest struct {
	Table
	// Release is the file of the first release. Required.
	Release string `json:"release"`
	// Previous is the file of the other release. Required.
	Previous string `json:"previous"`
	// PreviousSource is the table that Previous was made from. Required.
	PreviousSource string `json:"previous_source"`
	// PreviousQuasi are the quasi-identifiers of Previous. Defaults to the columns that differ
	// from PreviousSource; it is refused where another column may be one.
	PreviousQuasi []string `json:"previous_quasi,omitempty"`
	// PreviousCertificate is the certificate of Previous, which states its
	// quasi-identifiers. Optional; not beside PreviousQuasi.
	PreviousCertificate string `json:"previous_certificate,omitempty"`
	// Classes is the class of each record of the table in Release: see
	// [Release]. Defaults to pairing rows by the columns that were kept, which
	// must tell them apart.
	Classes []uint32 `json:"-"`
	// PreviousClasses is the same for Previous.
	PreviousClasses []uint32 `json:"-"`
}

// Overlap tells what two releases give away together. It is private.
type Overlap struct {
	assess.Overlap
}
