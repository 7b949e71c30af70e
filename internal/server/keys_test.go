package server

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/store"
)

// signed is a certificate by a key.
func signed(t *testing.T, key ed25519.PrivateKey, name string) *certificate.Signed {
	t.Helper()
	released := certificate.Answer([]byte("x"))
	released.Kind, released.Name = "file", name
	s, err := certificate.Sign(key, certificate.Certificate{
		Released: released, Mechanism: certificate.Mechanism{Name: "anonymize", Parameters: json.RawMessage(`{"k":5}`)},
		Guarantee: noren.Guarantee{Model: "k-anonymity", K: 5, Quasi: []string{"age"}}, Accounting: certificate.NoBudget,
		Tool: certificate.Tool{Name: "noren", Version: "test"}, Time: "2026-11-22T08:00:00Z",
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Anybody can check a certificate: each kind of fault has its check.
func TestCheckCertificate(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	_, foreign, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	own := signed(t, r.key, "out.csv")
	text := func(s *certificate.Signed) string {
		out, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	for name, c := range map[string]struct {
		certificate, sha256 string
		failed              string
		trusted             bool
	}{
		"own":            {text(own), "", "", true},
		"own, with file": {text(own), own.Certificate.Released.SHA256, "", true},
		"other file":     {text(own), strings.Repeat("0", 64), "file", true},
		"changed":        {strings.Replace(text(own), `"out.csv"`, `"new.csv"`, 1), "", "signature", false},
		"other key":      {text(signed(t, foreign, "out.csv")), "", "key", false},
		"no certificate": {`{"a":1}`, "", "form", false},
		"a list":         {`[1,2]`, "", "form", false},
	} {
		body := map[string]any{"certificate": json.RawMessage(c.certificate)}
		if c.sha256 != "" {
			body["sha256"] = c.sha256
		}
		var out checkBody
		a := r.ask(t, "POST", "/api/v1/certificates/check", "", body, nil)
		if a.status != 200 {
			t.Fatalf("%s: %d %s", name, a.status, a.body)
		}
		a.decode(t, &out)
		failed := ""
		if len(out.Failed) > 0 {
			failed = out.Failed[0].Check
		}
		if failed != c.failed || out.Trusted != c.trusted || out.Valid != (c.failed == "") || len(out.Failed) > 1 {
			t.Errorf("%s: %s", name, a.body)
		}
		if c.failed != "form" && !strings.Contains(string(out.Guarantee), `"k":5`) {
			t.Errorf("%s: the guarantee is %s", name, out.Guarantee)
		}
	}
	for _, bad := range []map[string]any{
		{},
		{"certificate": 1, "sha256": "x"},
		{"certificate": map[string]any{}, "sha256": strings.Repeat("A", 64)},
	} {
		if a := r.ask(t, "POST", "/api/v1/certificates/check", "", bad, nil); a.status != 422 {
			t.Errorf("%v: %d %s", bad, a.status, a.body)
		}
	}
}

// The list of certificates shows those of tables that the principal has a role on, the
// newest first; a key that was replaced is shown as retired and still trusted.
func TestKeysAndCertificates(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	r := start(t, func(c *Config) { *c = cfg })
	old := signed(t, r.key, "old.csv")
	add := func(id, object string) {
		err := r.store.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
			return tx.AddCertificate(ctx, &store.Certificate{
				ID: id, Release: "rl_" + ours, Object: object, KeyID: r.keyID(), FileName: id + ".csv",
				SHA256: strings.Repeat("0", 64), Guarantee: `{"k":5}`,
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, object := range []string{"tb_" + ours, "tb_" + theirs, "tb_" + ours, "tb_" + theirs, "tb_" + theirs, "tb_" + ours} {
		add(string(rune('a'+i)), object)
	}
	all, mine := r.token(t, "Ito", auth.Auditor, auth.Everything), r.token(t, "Mori", auth.Analyst, "tb_"+ours)
	for token, want := range map[string]string{all: "fedcba", mine: "fca"} {
		got, after := "", ""
		for {
			var p page[certificateBody]
			r.ask(t, "GET", "/api/v1/certificates?limit=2&after="+after, token, nil, nil).decode(t, &p)
			for _, c := range p.Items {
				got += c.ID
			}
			after = p.Next
			if after == "" {
				break
			}
		}
		if got != want {
			t.Errorf("certificates %s, want %s", got, want)
		}
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(r.path("key", "key.pem")); err != nil {
		t.Fatal(err)
	}
	if err := Accept(t.Context(), cfg.Dir); err != nil {
		t.Fatal(err)
	}
	r = start(t, func(c *Config) { *c = cfg })
	var keys page[keyBody]
	r.ask(t, "GET", "/api/v1/keys", "", nil, nil).decode(t, &keys)
	if len(keys.Items) != 2 || keys.Items[0].State != "in use" || keys.Items[0].Certificates != 0 || keys.Items[1].State != "retired" ||
		keys.Items[1].Certificates != 6 || keys.Items[1].Until == "" || len(keys.Items[0].Fingerprint) != 39 {
		t.Errorf("%+v", keys.Items)
	}
	text, err := old.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var out checkBody
	r.ask(t, "POST", "/api/v1/certificates/check", "", map[string]any{"certificate": json.RawMessage(text)}, nil).decode(t, &out)
	if !out.Valid || !out.Trusted {
		t.Errorf("a certificate by the retired key: %+v", out)
	}
}
