package server

import (
	"archive/zip"
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/server/records"
)

// bundle checks what a recipient gets of a release with nothing else at hand.
func (s *steward) bundle(t *testing.T, rel *records.Release) {
	t.Helper()
	a := s.do(t, 200, "GET", "/releases/"+rel.ID+"/bundle", nil, nil)
	if got := a.header.Get("Content-Disposition"); got != "attachment; filename="+rel.FileName+".zip" {
		t.Errorf("%s", got)
	}
	z, err := zip.NewReader(strings.NewReader(a.body), int64(len(a.body)))
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string][]byte{}
	var names []string
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if parts[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		names = append(names, f.Name)
	}
	signed := rel.FileName + ".certificate.json"
	if want := []string{"README.txt", rel.FileName, signed, "noren-key.pem"}; !slices.Equal(names, want) {
		t.Fatalf("%v", names)
	}
	page := string(parts["README.txt"])
	command := "noren certificate check " + rel.FileName + " " + signed + " --trust noren-key.pem"
	if strings.Count(page, command) != 2 || strings.Contains(page, "%!") || strings.Count(page, fingerprint(s.keyID())) != 2 {
		t.Errorf("%s", page)
	}
	block, _ := pem.Decode(parts["noren-key.pem"])
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	var c certificate.Signed
	if err := json.Unmarshal(parts[signed], &c); err != nil {
		t.Fatal(err)
	}
	if r, err := certificate.Check(t.Context(), &c, bytes.NewReader(parts[rel.FileName]), key.(ed25519.PublicKey)); err != nil || !r.Trusted {
		t.Errorf("%+v, %v", r, err)
	}
}

// A name becomes one word of a shell, and no flag.
func TestShellWord(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"a.csv": "a.csv", "-x.csv": "./-x.csv", "a b.csv": "'a b.csv'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "奈良.csv": "'奈良.csv'"} {
		if got := shellWord(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
