package service

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/formula"
	"github.com/noren-privacy/noren/table/parts"
)

// certifier writes the certificate of a k-anonymous release. The certificate is
// complete before the release is created.
type certifier struct {
	key  ed25519.PrivateKey
	tool certificate.Tool
	file *atomicfile.File
	// manifest says that the bytes are those of the manifest of a folder.
	manifest bool
	// notes are public facts that the certificate states.
	notes []string
	// signed is what was signed.
	signed *certificate.Signed
}

func (s *Service) newCertifier(path string, force bool) (*certifier, error) {
	if s.Signer == nil {
		return nil, noren.Usagef("certificate", "expected a key to sign with, got none")
	}
	key, err := s.Signer()
	if err != nil {
		return nil, err
	}
	f, err := atomicfile.Create(path, force)
	if err != nil {
		return nil, err
	}
	return &certifier{key: key, tool: s.Tool, file: f}, nil
}

// verified signs a file that was released.
func (c *certifier) verified(ctx context.Context, r *kanon.Result, released io.Reader) error {
	what, err := certificate.HashReader(ctx, released)
	if err != nil {
		return err
	}
	switch {
	case c.manifest:
		what.Name = parts.ManifestName
	case r.Output != "-":
		what.Name = filepath.Base(r.Output)
	}
	return c.sign(r, what)
}

// verifiedTable signs a table of a database that was released.
func (c *certifier) verifiedTable(ctx context.Context, r *kanon.Result, released table.Source) error {
	sum, size, err := table.SumRecords(ctx, released)
	if err != nil {
		return err
	}
	what := certificate.Table(sum, size)
	if name := file.TableName(r.Output); !strings.ContainsAny(name, `/\`) {
		what.Name = name
	}
	return c.sign(r, what)
}

// sign signs what was released. The certificate states what the request says and what the released
// file shows, and nothing else of the result: the method that was used and the number of
// suppressed records can depend on private data (TestCertificateOrigins).
func (c *certifier) sign(r *kanon.Result, what certificate.Released) error {
	columns := make([]map[string]string, len(r.Columns))
	for i, f := range r.Columns {
		columns[i] = map[string]string{"column": f.Column, "role": f.Role, "fate": f.Fate}
	}
	of := map[string]any{
		"columns": columns,
		"k":       r.K, "quasi_identifiers": r.Guarantee.Quasi, "publish": r.Publish, "scale": r.Scale, "refine": r.Refine,
	}
	if r.Requested.Method != "" { // a release of an earlier program has none
		of["method"] = r.Requested.Method
	}
	if r.Requested.Suppress != "" {
		of["suppress"] = r.Requested.Suppress
	}
	if f := r.Formulas; f != nil && f.Choice == formula.Text.String() {
		of["formulas"] = f.Choice
	}
	if r.Unit != "" {
		of["unit"], of["unit_linkage"], of["pseudonym"] = r.Unit, r.Linkage, r.Pseudonym
	}
	parameters, err := json.Marshal(of)
	if err != nil {
		return err
	}
	signed, err := certificate.Sign(c.key, certificate.Certificate{
		Released: what, Mechanism: certificate.Mechanism{Name: "anonymize", Parameters: parameters},
		Guarantee: r.Guarantee, Accounting: certificate.NoBudget, Notes: c.notes, Tool: c.tool, Time: certificate.Time(time.Now()),
	})
	if err != nil {
		return err
	}
	c.signed = signed
	out, err := signed.Encode()
	if err != nil {
		return err
	}
	if _, err := c.file.Write(out); err != nil {
		return &noren.Error{Where: "certificate", What: "the certificate cannot be written", Err: err}
	}
	return nil
}
