package server

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"mime"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/records"
	"github.com/noren-privacy/noren/lang"
)

type releaseInput struct {
	Key  string `header:"Idempotency-Key" required:"true" minLength:"1" maxLength:"200" doc:"A new random text with each new request, and the same one when it is repeated."`
	Body struct {
		Recipe  string   `json:"recipe" maxLength:"64" doc:"The id of the recipe."`
		SHA256  string   `json:"preview_sha256" pattern:"^[0-9a-f]{64}$" doc:"The SHA-256 of the preview's file that was looked at."`
		Studied []string `json:"previous_studied,omitempty" nullable:"false" maxItems:"1000" doc:"The ids of earlier releases of the same people that the steward has studied."`
	}
}

type releaseListing struct {
	Table string `query:"table" maxLength:"64" doc:"The id of a table; releases of all tables where left out."`
	Listing
}

// registerReleases adds releases.
func (s *Server) registerReleases(api huma.API, mux *http.ServeMux) {
	ask := op("POST", "/releases", "Release the file of a preview")
	ask.DefaultStatus = http.StatusAccepted
	register(s, api, ask, access{roles: stewards, object: anyObject, changes: true, action: "release.ask"}, s.askRelease)
	register(s, api, op("GET", "/releases", "Releases, the newest first"), access{roles: auth.Roles(), object: anyObject}, s.listReleases)
	register(s, api, op("GET", "/releases/{id}", "A release"), access{roles: auth.Roles(), object: "id"}, s.getRelease)
	compare := op("POST", "/releases/{id}/compare", "Compare a release with another of the same people")
	compare.DefaultStatus = http.StatusAccepted
	register(s, api, compare, access{roles: stewards, object: "id", action: "compare"}, s.compareReleases)
	bundle := op("GET", "/releases/{id}/bundle",
		"What the recipient of a release needs: the file, its certificate, the public key, and a page that says how to check them")
	bundle.Parameters = []*huma.Param{pathParameter("id", "The id of the release."), inLanguage()}
	bundle.Responses = map[string]*huma.Response{
		"200": {Description: "A ZIP archive, as an attachment.", Content: map[string]*huma.MediaType{"application/zip": {}}},
	}
	whole := access{roles: []auth.Role{auth.Steward, auth.Analyst}, object: "id", noted: true, action: "release.bundle"}
	s.handle(api, mux, bundle, whole, func(w http.ResponseWriter, r *http.Request, c *call) error { return s.sendBundle(w, r, c, &whole) })
	for _, part := range []struct {
		name, summary, media string
		roles                []auth.Role
	}{
		{
			name: records.PartFile, summary: "The file of a release", media: "application/octet-stream",
			roles: []auth.Role{auth.Steward, auth.Analyst},
		},
		{name: records.PartCertificate, summary: "The certificate of a release", media: "application/json", roles: auth.Roles()},
		{name: records.PartDossier, summary: "The page about risk and utility of a release; it is private", media: "text/html", roles: stewards},
		{name: records.PartRecipe, summary: "The noren.yaml of a release", media: "application/yaml", roles: auth.Roles()},
	} {
		o := op("GET", "/releases/{id}/"+part.name, part.summary)
		o.Parameters = []*huma.Param{pathParameter("id", "The id of the release.")}
		if part.name == records.PartDossier {
			o.Parameters = append(o.Parameters, inLanguage())
		}
		content := map[string]*huma.MediaType{part.media: {}}
		if part.name == records.PartFile {
			content["text/csv"], content["text/tab-separated-values"] = &huma.MediaType{}, &huma.MediaType{}
		}
		o.Responses = map[string]*huma.Response{"200": {Description: "The file, as an attachment.", Content: content}}
		a := access{roles: part.roles, object: "id", noted: true, action: "release." + part.name}
		s.handle(api, mux, o, a, func(w http.ResponseWriter, r *http.Request, c *call) error {
			return s.sendPart(w, r, c, &a, part.name, part.media)
		})
	}
}

func (s *Server) askRelease(ctx context.Context, c *call, in *releaseInput) (*accepted, error) {
	// The role on the recipe's table decides, as its id is in the body.
	table, err := s.ownerOf(ctx, in.Body.Recipe)
	if err != nil {
		return nil, err
	}
	if !c.actor.Has(table, auth.Steward) {
		return nil, problem.NotFound()
	}
	c.note("recipe", in.Body.Recipe)
	out, _, err := once(ctx, s, c, in.Key, in.Body, func() (*accepted, error) {
		return begun(s.records.StartRelease(ctx, records.Asking{
			Recipe: in.Body.Recipe, SHA256: in.Body.SHA256, Studied: in.Body.Studied,
			By: c.actor.ID,
		}))
	})
	return out, err
}

func (s *Server) listReleases(ctx context.Context, c *call, in *releaseListing) (*output[page[records.Release]], error) {
	before, err := in.number()
	if err != nil {
		return nil, err
	}
	items, next, unreadable, err := s.records.Releases(ctx, in.Table, before, in.Limit,
		func(table string) bool { return c.actor.Has(table, auth.Roles()...) })
	if err != nil {
		return nil, err
	}
	for i := range items {
		items[i] = *seenRelease(c, &items[i])
	}
	return &output[page[records.Release]]{pageOf(items, next, unreadable)}, nil
}

// seenRelease is a release as a principal may see it: the seed is for stewards alone.
func seenRelease(c *call, r *records.Release) *records.Release {
	if c.actor.Has(r.Table, auth.Steward) {
		return r
	}
	out := *r
	out.SeedCommand = ""
	return &out
}

func (s *Server) getRelease(ctx context.Context, c *call, in *idInput) (*output[*records.Release], error) {
	r, err := s.records.GetRelease(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &output[*records.Release]{seenRelease(c, r)}, nil
}

// mayCompare refuses the other release of a comparison where the principal is no steward
// of its table.
func (s *Server) mayCompare(ctx context.Context, c *call, with string) error {
	if !strings.HasPrefix(with, "rl_") {
		return problem.NotFound()
	}
	table, err := s.ownerOf(ctx, with)
	if err != nil {
		return err
	}
	if !c.actor.Has(table, auth.Steward) {
		return problem.NotFound()
	}
	c.note("with", with)
	return nil
}

func (s *Server) compareReleases(ctx context.Context, c *call, in *compareInput) (*accepted, error) {
	if err := s.mayCompare(ctx, c, in.Body.With); err != nil {
		return nil, err
	}
	return begun(s.records.Compare(ctx, in.ID, in.Body.With, c.actor.ID))
}

// sendPart sends a file of a release once the audit log has it.
func (s *Server) sendPart(w http.ResponseWriter, r *http.Request, c *call, a *access, part, media string) error {
	from := part
	if part == records.PartDossier {
		l, err := downloadLanguage(r)
		if err != nil {
			return err
		}
		if l == lang.Japanese {
			from = records.PartDossierJapanese
		}
	}
	f, err := s.records.Open(r.Context(), c.id, from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	name, release := f.Name, f.Release
	if err := s.record(r.Context(), c, a, nil); err != nil {
		return err
	}
	h := w.Header()
	if part == records.PartFile {
		if sum, err := hex.DecodeString(release.SHA256); err == nil {
			h.Set("Repr-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(sum)+":")
		}
		h.Set("Link", "<"+apiPrefix+"/releases/"+release.ID+`/certificate>; rel="describedby"`)
		switch filepath.Ext(name) {
		case ".csv", ".txt":
			media = "text/csv; charset=utf-8"
		case ".tsv":
			media = "text/tab-separated-values; charset=utf-8"
		}
	}
	h.Set("Content-Type", media)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	http.ServeContent(w, r, "", time.Time{}, f)
	return nil
}
