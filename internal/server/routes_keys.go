package server

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/server/auth"
)

// keyID is the id of the key that signs.
func (s *Server) keyID() string { return certificate.KeyID(s.key.Public().(ed25519.PublicKey)) }

type keyBody struct {
	ID           string `json:"id" doc:"The id of the key, as certificates name it."`
	Fingerprint  string `json:"fingerprint" doc:"The id in groups of four characters, to compare by eye."`
	PEM          string `json:"pem" doc:"The public key in PEM."`
	Since        string `json:"since" doc:"Since when it signs."`
	Until        string `json:"until,omitempty" doc:"Until when it signed."`
	State        string `json:"state" enum:"in use,retired" doc:"Whether it signs now."`
	Certificates int64  `json:"certificates" doc:"How many certificates of this server it signed."`
}

type certificateBody struct {
	ID        string          `json:"id" doc:"The id of the certificate."`
	Release   string          `json:"release" doc:"The id of the release."`
	At        string          `json:"at" doc:"When it was signed."`
	FileName  string          `json:"file_name" doc:"The name of the released file."`
	SHA256    string          `json:"sha256" doc:"The SHA-256 of the released file, in hexadecimal."`
	Guarantee json.RawMessage `json:"guarantee" doc:"The guarantee that it states."`
}

type checkInput struct {
	Body struct {
		Certificate json.RawMessage `json:"certificate" doc:"The certificate, as it was issued."`
		SHA256      string          `json:"sha256,omitempty" pattern:"^[0-9a-f]{64}$" doc:"The SHA-256 of the file at hand, in hexadecimal."`
	}
}

type checkBody struct {
	Valid     bool            `json:"valid" doc:"No check failed."`
	Trusted   bool            `json:"trusted" doc:"A key of this server signed it."`
	Failed    []failedBody    `json:"failed" nullable:"false" doc:"The checks that failed."`
	Guarantee json.RawMessage `json:"guarantee" doc:"The guarantee that it states; null where it does not have its form."`
	KeyID     string          `json:"key_id" doc:"The id of the key that signed it."`
}

type failedBody struct {
	Check  string `json:"check" enum:"form,signature,key,file" doc:"The check."`
	Reason string `json:"reason" doc:"What is wrong."`
}

// registerKeys adds keys, certificates and the check of a certificate.
func (s *Server) registerKeys(api huma.API, _ *http.ServeMux) {
	register(s, api, op("GET", "/keys", "Public keys that sign certificates"), access{public: true}, s.listKeys)
	register(s, api, op("GET", "/certificates", "Certificates of releases"),
		access{roles: auth.Roles(), object: anyObject}, s.listCertificates)
	register(s, api, op("POST", "/certificates/check", "Check a certificate"), access{public: true}, s.checkCertificate)
}

func (s *Server) listKeys(ctx context.Context, _ *call, _ *empty) (*output[page[keyBody]], error) {
	all, err := s.store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	items := make([]keyBody, len(all))
	for i, k := range all {
		items[i] = keyBody{
			ID: k.ID, Fingerprint: fingerprint(k.ID), PEM: k.PEM, Since: k.Since.Format(time.RFC3339), State: "in use",
			Certificates: k.Certificates,
		}
		if !k.Until.IsZero() {
			items[i].Until, items[i].State = k.Until.Format(time.RFC3339), "retired"
		}
	}
	return &output[page[keyBody]]{page[keyBody]{Items: items}}, nil
}

// fingerprint writes the hexadecimal part of a key's id in groups of four characters.
func fingerprint(id string) string {
	_, hex, _ := strings.Cut(id, ":")
	var groups []string
	for len(hex) > 4 {
		groups, hex = append(groups, hex[:4]), hex[4:]
	}
	return strings.Join(append(groups, hex), " ")
}

func (s *Server) listCertificates(ctx context.Context, c *call, in *Listing) (*output[page[certificateBody]], error) {
	after, err := in.position()
	if err != nil {
		return nil, err
	}
	items := []certificateBody{}
	var unreadable []string
	for len(items) <= in.Limit {
		all, err := s.store.Certificates(ctx, after, in.Limit+1)
		if err != nil {
			return nil, err
		}
		for _, one := range all {
			after = one.ID
			if c.actor.Has(one.Object, auth.Roles()...) {
				if !json.Valid([]byte(one.Guarantee)) {
					unreadable = append(unreadable, one.ID)
					continue
				}
				items = append(items, certificateBody{
					one.ID, one.Release, one.Made.Format(time.RFC3339), one.FileName, one.SHA256,
					json.RawMessage(one.Guarantee),
				})
			}
		}
		if len(all) <= in.Limit {
			break
		}
	}
	if len(items) > in.Limit+1 {
		items = items[:in.Limit+1]
	}
	out := paged(items, in.Limit, func(c *certificateBody) string { return c.ID })
	out.Unreadable = unreadable
	return &output[page[certificateBody]]{out}, nil
}

// checkCertificate checks the form and the signature of a certificate, and that it states
// a file of the hash that the client computed. The file itself is never sent.
func (s *Server) checkCertificate(ctx context.Context, _ *call, in *checkInput) (*output[checkBody], error) {
	out := checkBody{Failed: []failedBody{}, Guarantee: json.RawMessage("null")}
	fail := func(check string, reason noren.Format) {
		out.Failed = append(out.Failed, failedBody{check, languageOf(ctx).Shown(noren.Textf(reason))})
	}
	signed, err := certificate.Parse(in.Body.Certificate)
	if err != nil {
		fail("form", "it does not have the form of a certificate")
		return &output[checkBody]{out}, nil
	}
	c := &signed.Certificate
	if out.Guarantee, err = json.Marshal(c.Guarantee); err != nil {
		return nil, err
	}
	out.KeyID = signed.Signature.KeyID
	keys, err := s.store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	var trusted []ed25519.PublicKey
	for _, k := range keys {
		public, err := certificate.ParsePublicKey([]byte(k.PEM))
		if err != nil {
			return nil, err
		}
		trusted = append(trusted, public)
	}
	if out.Trusted, err = signed.SignedBy(trusted...); err != nil {
		fail("signature", "the signature does not hold: the certificate was changed after it was signed")
	} else if !out.Trusted {
		fail("key", "it is signed by a key that is none of this server's")
	}
	if in.Body.SHA256 != "" && in.Body.SHA256 != c.Released.SHA256 {
		fail("file", "the file is not the one that the certificate states")
	}
	out.Valid = len(out.Failed) == 0
	return &output[checkBody]{out}, nil
}
