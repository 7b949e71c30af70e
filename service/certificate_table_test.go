package service_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// A certificate of a table of a database holds for the table with its records in any order,
// and for no other.
func TestCertificateOfATable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clinic.db")
	db, err := sql.Open("sqlite", path)
	must(t, err)
	_, err = db.ExecContext(t.Context(),
		"CREATE TABLE released (age INTEGER, ward TEXT); INSERT INTO released VALUES (30, 'a'), (30, 'a'), (40, NULL), (40, 'b')"+
			"; CREATE TABLE other_order AS SELECT * FROM released ORDER BY age DESC, ward; CREATE TABLE changed AS SELECT * FROM released; UPDATE "+
			"changed SET ward = '' WHERE ward IS NULL"+
			"; CREATE TABLE longer AS SELECT * FROM released; INSERT INTO longer VALUES (30, 'a'); CREATE TABLE turned AS SELECT ward, age FROM "+
			"released")
	must(t, err)
	must(t, db.Close())
	name := func(table string) string { return "sqlite:" + path + "?table=" + table }

	src, err := file.Open(t.Context(), name("released"), file.Options{})
	must(t, err)
	sum, size, err := table.SumRecords(t.Context(), src)
	must(t, err)
	must(t, src.Close())
	key, err := certificate.LoadOrCreateKey(filepath.Join(t.TempDir(), "key.pem"))
	must(t, err)
	write := func(released certificate.Released) string {
		signed, err := certificate.Sign(key, certificate.Certificate{
			Released: released, Mechanism: certificate.Mechanism{Name: "anonymize"}, Guarantee: noren.Guarantee{
				Model: "k-anonymity", K: 2, Quasi: []string{"age"},
			},
			Accounting: certificate.NoBudget, Tool: certificate.Tool{Name: "noren", Version: "test"}, Time: "2026-11-21T00:00:00Z",
		})
		must(t, err)
		text, err := signed.Encode()
		must(t, err)
		to := filepath.Join(t.TempDir(), "certificate.json")
		out, err := atomicfile.Create(to, false)
		must(t, err)
		_, err = out.Write(text)
		must(t, err)
		must(t, out.Commit())
		return to
	}
	ofTable := write(certificate.Table(sum, size))
	ofFile := certificate.Table(sum, size)
	ofFile.Kind = certificate.KindFile
	s := &service.Service{Note: func(api.Note) {}}
	for _, c := range []struct{ file, certificate, want string }{
		{name("released"), ofTable, ""},
		{name("other_order"), ofTable, ""},
		{name("changed"), ofTable, "the table is not the one that was released"},
		{name("longer"), ofTable, "the table is not the one that was released"},
		{name("turned"), ofTable, "the table is not the one that was released"},
		{name("released"), write(ofFile), "it is of a file, and not of a table of a database"},
		{path, ofTable, "it is of a table of a database, and not of a file"},
	} {
		out, err := s.CertificateCheck(t.Context(), &api.CertificateCheckRequest{File: c.file, Certificate: c.certificate})
		if c.want == "" && (err != nil || !out.Valid) {
			t.Errorf("%s: %v", c.file, err)
		}
		if c.want != "" && (noren.KindOf(err) != noren.NotMet || !strings.Contains(err.Error(), c.want) || out.Valid) {
			t.Errorf("%s: got %v, expected %s", c.file, err, c.want)
		}
	}
	if _, err := s.CertificateCheck(t.Context(), &api.CertificateCheckRequest{File: name("none"), Certificate: ofTable}); noren.KindOf(
		err) != noren.Usage {
		t.Errorf("a table that does not exist: %v", err)
	}
}
