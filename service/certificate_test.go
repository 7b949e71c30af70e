package service_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/ledger"
)

// workbook writes the people as a workbook.
func (s *stage) workbook(t *testing.T) string {
	t.Helper()
	f := excelize.NewFile()
	defer func() { _ = f.Close() }()
	for i, line := range strings.Split(strings.TrimSpace(peopleCSV), "\n") {
		for j, cell := range strings.Split(line, ",") {
			at, err := excelize.CoordinatesToCellName(j+1, i+1)
			if err == nil {
				err = f.SetCellStr("Sheet1", at, cell)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	path := filepath.Join(s.dir, "people.xlsx")
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// certified writes a release and its certificate, signed by key.
func (s *stage) certified(t *testing.T, key ed25519.PrivateKey) (file, cert string) {
	t.Helper()
	text := []byte("age\n30-39\n30-39\n")
	released := certificate.Answer(text)
	released.Kind = "file"
	signed, err := certificate.Sign(key, certificate.Certificate{
		Released: released, Mechanism: certificate.Mechanism{Name: "anonymize"},
		Guarantee:  noren.Guarantee{Model: "k-anonymity", K: 2, Quasi: []string{"age"}},
		Accounting: certificate.NoBudget, Tool: s.Tool, Time: "2026-11-21T07:00:00Z",
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.write(t, "out.csv", string(text)), s.encoded(t, "out.json", signed)
}

func (s *stage) encoded(t *testing.T, name string, signed *certificate.Signed) string {
	t.Helper()
	text, err := signed.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return s.write(t, name, string(text))
}

func failed(r *api.CertificateCheck) []string {
	var names []string
	for _, f := range r.Failed {
		names = append(names, f.Check)
	}
	return names
}

func TestCertificateCheck(t *testing.T) {
	stranger := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	for name, c := range map[string]struct {
		change  func(t *testing.T, s *stage, r *api.CertificateCheckRequest)
		failed  []string
		trusted bool
		kind    noren.Kind
	}{
		"valid": {trusted: true},
		"by a stranger": {change: func(t *testing.T, s *stage, r *api.CertificateCheckRequest) {
			r.File, r.Certificate = s.certified(t, stranger)
		}},
		"by another than the trusted key": {change: func(t *testing.T, s *stage, r *api.CertificateCheckRequest) {
			text, err := certificate.EncodePublicKey(stranger.Public().(ed25519.PublicKey))
			if err != nil {
				t.Fatal(err)
			}
			r.Trust = []string{s.write(t, "stranger.pem", string(text))}
		}, failed: []string{api.CheckKey}, kind: noren.NotMet},
		"another file": {change: func(t *testing.T, s *stage, r *api.CertificateCheckRequest) {
			s.write(t, "out.csv", "age\n30-39\n40-49\n")
		}, failed: []string{api.CheckFile}, trusted: true, kind: noren.NotMet},
		"changed, and another file": {change: func(t *testing.T, s *stage, r *api.CertificateCheckRequest) {
			text, err := os.ReadFile(r.Certificate)
			if err != nil {
				t.Fatal(err)
			}
			s.write(t, "out.json", strings.Replace(string(text), `"k": 2`, `"k": 5`, 1))
			s.write(t, "out.csv", "")
		}, failed: []string{api.CheckSignature, api.CheckFile}, kind: noren.NotMet},
		"no certificate": {change: func(t *testing.T, s *stage, r *api.CertificateCheckRequest) {
			r.Certificate = r.File
		}, failed: []string{api.CheckForm}, kind: noren.BadData},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			var r api.CertificateCheckRequest
			r.File, r.Certificate = s.certified(t, s.key)
			if c.change != nil {
				c.change(t, s, &r)
			}
			out, err := s.CertificateCheck(t.Context(), &r)
			if out == nil {
				t.Fatal(err)
			}
			if (err != nil) != (c.failed != nil) || err != nil && noren.KindOf(err) != c.kind {
				t.Errorf("got %v", err)
			}
			if !slices.Equal(failed(out), c.failed) || out.Trusted != c.trusted || out.Valid != (c.failed == nil) {
				t.Errorf("got %+v", out)
			}
			valid(t, "noren.certificate.check-1.json", out)
			// The document has all its fields if checks failed, too.
			text, err := json.Marshal(out)
			var fields map[string]any
			if err != nil || json.Unmarshal(text, &fields) != nil || fields["failed"] == nil || len(fields) != 9 {
				t.Errorf("got %s, %v", text, err)
			}
		})
	}
}

func TestCertificateCheckNeedsFiles(t *testing.T) {
	s := newStage(t)
	file, cert := s.certified(t, s.key)
	for name, r := range map[string]api.CertificateCheckRequest{
		"no certificate": {File: file, Certificate: filepath.Join(s.dir, "absent")},
		"no file":        {File: filepath.Join(s.dir, "absent"), Certificate: cert},
		"no key":         {File: file, Certificate: cert, Trust: []string{filepath.Join(s.dir, "absent")}},
	} {
		out, err := s.CertificateCheck(t.Context(), &r)
		if out != nil || noren.KindOf(err) != noren.Usage {
			t.Errorf("%s: got %+v, %v", name, out, err)
		}
	}
}

func TestCertificateShowAndKey(t *testing.T) {
	s := newStage(t)
	_, cert := s.certified(t, s.key)
	shown, err := s.CertificateShow(t.Context(), &api.CertificateShowRequest{Certificate: cert})
	if err != nil || shown.Certificate.Guarantee.K != 2 {
		t.Errorf("got %+v, %v", shown, err)
	}
	public, err := s.CertificateKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if key, err := certificate.ParsePublicKey([]byte(public.PEM)); err != nil || !key.Equal(s.key.Public()) {
		t.Errorf("got %+v, %v", public, err)
	}
}

// charge spends epsilon 0.5 of the people and returns the certificate of the answer.
func (s *stage) charge(t *testing.T) *certificate.Signed {
	t.Helper()
	ctx := t.Context()
	l, err := ledger.Open(ctx, s.Ledger, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	book, err := l.Book(ctx, "people")
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := l.Reserve(ctx, ledger.Request{
		Dataset: book.Name, Principal: "mori", Hash: sha256.Sum256([]byte("count")), Mechanism: json.RawMessage(`{"name":"count"}`),
		Cost: ledger.Cost{Epsilon: 500_000_000}, Unit: book.Unit, Version: book.Version, Definition: book.DefinitionHash,
	})
	if err != nil {
		t.Fatal(err)
	}
	payload := []byte("4")
	if err := r.Settle(context.WithoutCancel(ctx), payload, []byte("signature"), "key"); err != nil {
		t.Fatal(err)
	}
	c := r.Charge()
	hash := strings.Repeat("0", 64)
	signed, err := certificate.Sign(s.key, certificate.Certificate{
		Released: certificate.Answer(payload), Mechanism: certificate.Mechanism{Name: "count"},
		Guarantee:  noren.Guarantee{Model: "differential privacy", Epsilon: 0.5, Neighbours: "add-remove", Unit: "record"},
		Accounting: certificate.Charged,
		Source: &certificate.Source{
			Dataset: "people", Version: 1, DefinitionSHA256: hash, Fingerprint: "hmac-sha256:" + hash,
			Reading: json.RawMessage("{}"),
		},
		Analyst: &certificate.Analyst{Name: "mori", Identity: certificate.Declared}, RequestSHA256: hash,
		Charge: &certificate.Charge{
			Ledger: c.Ledger, ID: c.ID, Link: c.Link, Head: hex.EncodeToString(c.Head[:]), Accounts: c.Accounts,
			EpsilonNano: c.Cost.Epsilon,
		},
		Tool: s.Tool, Time: "2026-11-21T07:00:00Z",
	})
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// A ledger that was restored together with its head file lacks a charge; the
// certificate of the answer charges it again, once.
func TestLedgerReconcileWithCertificates(t *testing.T) {
	s := grantedStage(t)
	ctx := t.Context()
	restore := map[string][]byte{}
	for _, path := range []string{s.Ledger, s.Ledger + ".head"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		restore[path] = text
	}
	signed := s.charge(t)
	cert := s.encoded(t, "answer.json", signed)
	if h, err := s.LedgerHistory(ctx, &api.LedgerHistoryRequest{Analyst: "mori"}); err != nil || len(h.Charges) != 1 ||
		h.Charges[0].State != "released" || h.Charges[0].Cost.Epsilon != "0.5" {
		t.Errorf("got %+v, %v", h, err)
	}
	for path, text := range restore {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []int{1, 0} {
		did, err := s.LedgerReconcile(ctx, &api.LedgerReconcileRequest{Certificates: []string{cert}})
		if err != nil || len(did.Recovered) != want || len(did.Raised) != want {
			t.Errorf("run %d: got %+v, %v", i, did, err)
		}
	}
	if out, err := s.LedgerShow(ctx, &api.LedgerShowRequest{Dataset: "people"}); err != nil || out.Datasets[0].Spent.Epsilon != "0.5" {
		t.Errorf("got %+v, %v", out, err)
	}

	_, uncharged := s.certified(t, s.key)
	_, err := s.LedgerReconcile(ctx, &api.LedgerReconcileRequest{Certificates: []string{uncharged}})
	is(t, err, noren.Usage, uncharged, "no-charge")
	stranger := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	_, unknown := s.certified(t, stranger)
	_, err = s.LedgerReconcile(ctx, &api.LedgerReconcileRequest{Certificates: []string{unknown}})
	is(t, err, noren.NotMet, unknown, "untrusted")
}
