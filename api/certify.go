package api

// CertifyRequest asks to certify a release that was made and verified before and has not
// left: see [Service.Anonymize]. The table is that of which it was made, with its
// specification.
//
// [Service.Anonymize]: https://pkg.go.dev/github.com/noren-privacy/noren/service#Service.Anonymize
type CertifyRequest struct {
	Table
	// Release is what the making returned. Required.
	Release *Release `json:"-"`
	// File is the file of the release. Required.
	File string `json:"file"`
	// Name is the name of the file as the certificate states it. Defaults to that of File.
	Name string `json:"name,omitempty"`
	// Certificate is the file of the certificate. Required.
	Certificate string `json:"certificate"`
	// Notes are public facts that the certificate states, in plain sentences. Optional.
	Notes []string `json:"notes,omitempty"`
}

// Certified describes a certificate that was made.
type Certified struct {
	// KeyID is the id of the key that signed.
	KeyID string `json:"key_id"`
	// SHA256 is the SHA-256 of the file, in hexadecimal digits.
	SHA256 string `json:"sha256"`
	// Bytes is the size of the file.
	Bytes int64 `json:"bytes"`
	// Time is the time that the certificate states.
	Time string `json:"time"`
}
