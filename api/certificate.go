package api

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/certificate"
)

// CertificateCheckSchema names the form of [CertificateCheck].
const CertificateCheckSchema = "noren.certificate.check/1"

// CertificateCheckRequest asks whether a certificate is valid and states a file.
type CertificateCheckRequest struct {
	// File is the released file or folder, or the table of a database. Required.
	File string `json:"file"`
	// Certificate is the file of the certificate. Required.
	Certificate string `json:"certificate"`
	// Trust are files of public keys. If there are any, the certificate must be signed
	// by one of them; otherwise the key of the signer is trusted, and a certificate by
	// another key is valid and not trusted.
	Trust []string `json:"trust,omitempty"`
}

// CertificateShowRequest asks what a certificate states.
type CertificateShowRequest struct {
	// Certificate is the file of the certificate. Required.
	Certificate string `json:"certificate"`
}

// CertificateKey is the public key of the signer.
type CertificateKey struct {
	// PEM is the key in PEM.
	PEM string `json:"pem"`
}

// The checks of a certificate.
const (
	// CheckForm: the certificate has the form of its format.
	CheckForm = "form"
	// CheckSignature: the signature holds over exactly what the certificate states.
	CheckSignature = "signature"
	// CheckKey: one of the trusted keys signed it.
	CheckKey = "key"
	// CheckFile: the file is, byte for byte, the one that the certificate states.
	CheckFile = "file"
)

// CertificateCheck is the result of checking a certificate.
type CertificateCheck struct {
	// Accounting is how the release was accounted for: charged, unaccounted or no-budget;
	// empty where the file does not have the form of a certificate.
	Accounting certificate.Accounting `json:"accounting"`
	// Certificate is the file of the certificate.
	Certificate string `json:"certificate"`
	// Failed are the checks that failed; empty where the certificate is valid.
	Failed []FailedCheck `json:"failed"`
	// File is the released file.
	File string `json:"file"`
	// Guarantee is the guarantee that the certificate states; null where the file does not
	// have the form of a certificate.
	Guarantee *noren.Guarantee `json:"guarantee"`
	// KeyID is the id of the key of the signature.
	KeyID string `json:"key_id"`
	// Schema is always noren.certificate.check/1.
	Schema string `json:"schema"`
	// Trusted is true if a trusted key made the signature.
	Trusted bool `json:"trusted"`
	// Valid is true if no check failed.
	Valid bool `json:"valid"`
	// Time is when the release was made, RFC 3339 in UTC.
	Time string `json:"-"`
	// StatesSchema says whether the certificate states how the table was read.
	StatesSchema bool `json:"-"`
}

// FailedCheck is a check of a certificate that failed.
type FailedCheck struct {
	// Name of the check: form, signature, key or file.
	Check string `json:"check"`
	// Reason is what is wrong.
	Reason string `json:"reason"`
}
