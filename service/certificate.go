package service

import (
	"context"
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/parts"
)

// trusted are the public keys in files; without files those of the service.
func (s *Service) trusted(files []string) ([]ed25519.PublicKey, error) {
	if len(files) > 0 || s.Trusted == nil {
		return certificate.LoadPublicKeys(files...)
	}
	return s.Trusted()
}

// CertificateShow returns what a certificate states. It does not check the signature:
// see [Service.CertificateCheck].
func (s *Service) CertificateShow(_ context.Context, r *api.CertificateShowRequest) (*certificate.Signed, error) {
	return certificate.Load(r.Certificate)
}

// CertificateCheck checks the form, the signature and the key of a certificate, and
// that it states the file, of a folder its manifest and every file, or the table of a
// database, whatever the order of its records. If a check fails, it returns both the result, which lists
// all checks that failed, and the error of the first: of kind BadData for the form, of
// kind NotMet for all others. A file that cannot be read is an error without a result.
func (s *Service) CertificateCheck(ctx context.Context, r *api.CertificateCheckRequest) (*api.CertificateCheck, error) {
	keys, err := s.trusted(r.Trust)
	if err != nil {
		return nil, err
	}
	out := &api.CertificateCheck{Schema: api.CertificateCheckSchema, File: r.File, Certificate: r.Certificate, Failed: []api.FailedCheck{}}
	var first error
	fail := func(check, where string, err error) {
		placed := &noren.Error{Kind: noren.KindOf(err), Code: noren.CodeOf(err), Where: where, Err: err}
		if check == api.CheckForm { // its error has the place
			errors.As(err, &placed)
		}
		if first == nil {
			first = placed
		}
		out.Failed = append(out.Failed, api.FailedCheck{Check: check, Reason: placed.Error()})
	}
	signed, err := certificate.Load(r.Certificate)
	if noren.KindOf(err) == noren.BadData {
		fail(api.CheckForm, r.Certificate, err)
		return out, first
	}
	if err != nil {
		return nil, err
	}
	c := &signed.Certificate
	out.Accounting, out.Guarantee, out.KeyID, out.Time, out.StatesSchema = c.Accounting, &c.Guarantee, signed.Signature.KeyID, c.Time,
		c.StatesSchema()
	if out.Trusted, err = signed.SignedBy(keys...); err != nil {
		fail(api.CheckSignature, r.Certificate, err)
	}
	if len(r.Trust) > 0 && err == nil && !out.Trusted {
		fail(api.CheckKey, r.Certificate, &noren.Error{
			Kind: noren.NotMet, Code: "untrusted",
			What: "it is signed by a key that is none of those trusted (%s)", Args: []any{signed.Signature.KeyID},
		})
	}
	if err := s.matches(ctx, signed, r.File); err != nil {
		if noren.KindOf(err) != noren.NotMet {
			return nil, err
		}
		fail(api.CheckFile, r.File, err)
	}
	out.Valid = first == nil
	if out.Valid && !out.StatesSchema && out.Accounting != certificate.NoBudget {
		s.note(api.Info, "schema-unstated", "the certificate states no schema: its guarantee holds for the column types that its query declared")
	}
	if out.Valid && !out.Trusted {
		s.note(api.Warning, "key-unknown",
			"the certificate is signed by a key that is unknown here: ask the publisher of the file for the public key")
	}
	return out, first
}

// matches makes sure that a certificate states a file, the manifest of a folder and
// by it every file of the folder, or a table of a database.
func (s *Service) matches(ctx context.Context, signed *certificate.Signed, path string) error {
	if file.IsDatabase(path) && signed.Certificate.Released.Kind == certificate.KindTable {
		src, err := file.Open(ctx, path, file.Options{Progress: s.Progress})
		if err != nil {
			return err
		}
		defer func() { _ = src.Close() }()
		sum, size, err := table.SumRecords(ctx, src)
		if err != nil {
			return err
		}
		return signed.MatchesTable(certificate.Table(sum, size))
	}
	if file.IsDatabase(path) {
		return signed.MatchesTable(certificate.Released{})
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return signed.MatchesFile(ctx, path)
	}
	if err := signed.MatchesFile(ctx, filepath.Join(path, parts.ManifestName)); err != nil {
		return err
	}
	return parts.CheckManifest(ctx, path)
}

// CertificateKey returns the public key of the signer, for others to check
// certificates with.
func (s *Service) CertificateKey(context.Context) (*api.CertificateKey, error) {
	key, err := s.Signer()
	if err != nil {
		return nil, err
	}
	text, err := certificate.EncodePublicKey(key.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, err
	}
	return &api.CertificateKey{PEM: string(text)}, nil
}
