package server

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/server/records"
	"github.com/noren-privacy/noren/internal/server/store"
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

// The texts of a download are in the language that its link names, which is that of the page, and else in that of
// the browser. A release of an earlier version has its dossier in English alone.
func TestDownloadsInTheLanguageOfThePage(t *testing.T) {
	t.Parallel()
	s := start(t, nil).steward(t)
	recipe := s.recipe(t, s.people(t, 60, "x").ID, nil)
	rel := s.release(t, recipe.ID, s.preview(t, recipe.ID))
	dossier := func(query string, change func(*http.Request)) string {
		a := s.do(t, 200, "GET", "/releases/"+rel.ID+"/dossier"+query, nil, change)
		return a.header.Get("Content-Disposition") + a.body
	}
	english, japanese := dossier("", nil), dossier("?lang=ja", nil)
	if !strings.Contains(english, `<html lang="en"`) || !strings.Contains(japanese, `<html lang="ja"`) ||
		!strings.Contains(japanese, rel.FileName+".dossier.ja.html") || !strings.Contains(japanese, "情報損失") ||
		strings.Contains(japanese, "One steward") {
		t.Errorf("the dossier is in another language: %.300s\n%.300s", english, japanese)
	}
	if dossier("?lang=en", speaking("ja")) != english || dossier("", speaking("ja")) != japanese {
		t.Error("the language of a link does not stand above that of the browser, or that of the browser is not the default")
	}
	for query, first := range map[string]string{"": "What you received", "?lang=ja": "受け取ったもの"} {
		z := s.do(t, 200, "GET", "/releases/"+rel.ID+"/bundle"+query, nil, nil).body
		if at := strings.Index(z, first); at < 0 || at > 100 {
			t.Errorf("%q: the page of the bundle begins elsewhere than with %s", query, first)
		}
	}
	for _, part := range []string{"dossier", "bundle"} {
		s.do(t, 422, "GET", "/releases/"+rel.ID+"/"+part+"?lang=fr", nil, nil)
	}
	row, err := s.store.FindResource(t.Context(), store.KindRelease, rel.ID)
	if err != nil {
		t.Fatal(err)
	}
	row.Doc = regexp.MustCompile(`"dossier\.ja\.html":"[0-9a-f]+",`).ReplaceAll(row.Doc, nil)
	if err := s.store.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error { return tx.PutResource(ctx, row) }); err != nil {
		t.Fatal(err)
	}
	if dossier("?lang=ja", nil) != english {
		t.Error("a release without a dossier in Japanese has none")
	}
}

// A name becomes one word of a shell, and no flag.
func TestShellWord(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a.csv": "a.csv", "-x.csv": "./-x.csv", "a b.csv": "'a b.csv'", "it's": `'it'\''s'`,
		"$(x)": "'$(x)'", "奈良.csv": "'奈良.csv'",
	} {
		if got := shellWord(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
