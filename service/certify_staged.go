package service

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/spec"
)

// Certify signs a certificate of a release that [Service.Anonymize] made and verified
// before, with its assessment. The certificate is that which Anonymize would have
// written.
//
// It is written only if the file is, byte for byte, the one that was verified then, and
// if the verifier, which reads the file again, finds the same records, classes and k.
// Persons whose column the release dropped were counted when it was made; the SHA-256
// ties that count to the file. Otherwise the error is of kind NotMet. Other errors are
// those of [Service.Verify] and of writing the file.
func (s *Service) Certify(ctx context.Context, r *api.CertifyRequest) (*api.Certified, error) {
	if r.Release == nil || r.Release.SHA256 == "" || r.File == "" || r.Certificate == "" {
		return nil, noren.Usagef(noren.Phrase("release"), "expected a release with its assessment, its file and the name of a certificate")
	}
	what, err := certificate.HashFile(ctx, r.File)
	if err != nil {
		return nil, err
	}
	changed := &noren.Error{
		Kind: noren.NotMet, Where: "file", What: "it is not the file that was verified when the release was made",
		Hint: "make the release again",
	}
	if what.SHA256 != r.Release.SHA256 {
		return nil, changed
	}
	sp, err := specOf(&r.Table)
	if err != nil {
		return nil, err
	}
	again := *sp
	again.Input = sp.Input.Alike() // the release has its own rows and sheets
	if r.Release.Unit != "" {
		// The release has no column of persons, or pseudonyms. k persons of a class are at
		// least k records; diversity and closeness of persons say nothing of records.
		again.Unit = ""
		again.Anonymize = spec.Anonymize{K: r.Release.K}
	}
	quiet := *s
	quiet.Note = nil
	found, err := quiet.Verify(ctx, &api.VerifyRequest{Table: api.Table{Input: r.File, Spec: &again}})
	if err != nil {
		return nil, err
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	if found.Rows != int64(r.Release.Rows) || found.Classes != int64(r.Release.Classes) {
		return nil, changed
	}
	f, err := os.Open(r.File)
	if err != nil {
		return nil, &noren.Error{Where: "file", What: "the release cannot be read back", Err: err}
	}
	defer func() { _ = f.Close() }()
	c, err := s.newCertifier(r.Certificate, false)
	if err != nil {
		return nil, err
	}
	defer c.file.Discard()
	c.notes = r.Notes
	result := r.Release.Result
	result.Output = cmp.Or(r.Name, filepath.Base(r.File))
	if err := c.verified(ctx, &result, f); err != nil {
		return nil, err
	}
	if c.signed.Certificate.Released.SHA256 != what.SHA256 {
		return nil, changed
	}
	if err := c.file.Commit(); err != nil {
		return nil, err
	}
	return &api.Certified{KeyID: c.signed.Signature.KeyID, SHA256: what.SHA256, Bytes: what.Size, Time: c.signed.Certificate.Time}, nil
}
