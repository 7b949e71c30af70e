package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
)

type tokenBody struct {
	ID       string   `json:"id" doc:"The id of the token."`
	Name     string   `json:"name" doc:"The name that its principal gave it."`
	Made     string   `json:"made" doc:"When it was made."`
	Ends     string   `json:"ends" doc:"When it ends."`
	Networks []string `json:"networks" nullable:"false" doc:"The networks that it may be used from; none for all."`
	UsedDay  string   `json:"used_day,omitempty" doc:"The last day of use."`
}

type newTokenBody struct {
	ID     string `json:"id" doc:"The id of the token."`
	Name   string `json:"name" doc:"The name of the token."`
	Secret string `json:"secret" doc:"The token, which is shown once."`
	Ends   string `json:"ends" doc:"When it ends."`
}

type newTokenInput struct {
	Body struct {
		Name     string   `json:"name" minLength:"1" maxLength:"100" doc:"A name for the token."`
		Days     int      `json:"days" minimum:"1" maximum:"365" doc:"How many days it lives."`
		Networks []string `json:"networks,omitempty" nullable:"false" maxItems:"20" doc:"Networks such as 10.0.0.0/8 that it may be used from; none for all."`
	}
}

type idInput struct {
	ID string `path:"id" maxLength:"64" doc:"The id of the object."`
}

// registerTokens adds a principal's own bearer tokens.
func (s *Server) registerTokens(api huma.API, _ *http.ServeMux) {
	register(s, api, op("GET", "/tokens", "The principal's own tokens"), access{}, s.listTokens)
	register(s, api, op("POST", "/tokens", "Make a token"), access{changes: true, action: "token.make"}, s.makeToken)
	register(s, api, op("DELETE", "/tokens/{id}", "End a token"), access{action: "token.end"}, s.endToken)
}

func (s *Server) listTokens(ctx context.Context, c *call, in *Listing) (*output[page[tokenBody]], error) {
	after, err := in.position()
	if err != nil {
		return nil, err
	}
	all, err := s.store.Tokens(ctx, c.actor.ID, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	items := make([]tokenBody, len(all))
	for i, t := range all {
		items[i] = tokenBody{
			t.ID, t.Name, t.Made.Format(time.RFC3339), t.Ends.Format(time.RFC3339),
			append([]string{}, strings.Fields(t.Networks)...), t.UsedDay,
		}
	}
	return &output[page[tokenBody]]{paged(items, in.Limit, func(t *tokenBody) string { return t.ID })}, nil
}

func (s *Server) makeToken(ctx context.Context, c *call, in *newTokenInput) (*output[newTokenBody], error) {
	if c.actor.Session == nil {
		return nil, problem.New("forbidden", "A token cannot make a token.").Hinted("sign in with a browser, or make one on the server's machine")
	}
	t, secret, err := s.auth.NewToken(ctx, c.actor.ID, in.Body.Name, in.Body.Days, in.Body.Networks)
	if errors.Is(err, auth.ErrTokens) {
		return nil, problem.New("too-many", "You have too many tokens.").Hinted("end one that is not used")
	}
	if err != nil {
		return nil, err
	}
	c.note("token", t.ID)
	return &output[newTokenBody]{newTokenBody{t.ID, t.Name, secret, t.Ends.Format(time.RFC3339)}}, nil
}

func (s *Server) endToken(ctx context.Context, c *call, in *idInput) (*empty, error) {
	if store.ValidID("tk", in.ID) {
		c.id = in.ID
	}
	err := s.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.RevokeToken(ctx, in.ID, c.actor.ID) })
	if errors.Is(err, store.ErrNotFound) {
		return nil, problem.NotFound()
	}
	return nil, err
}

type grantBody struct {
	Role   string `json:"role" enum:"steward,analyst,auditor" doc:"The role."`
	Object string `json:"object" doc:"The id of the table, or * for all objects."`
}

type principalBody struct {
	ID      string      `json:"id" doc:"The id of the principal."`
	Name    string      `json:"name" doc:"The name of the principal."`
	Grants  []grantBody `json:"grants" nullable:"false" doc:"The roles of the principal."`
	SeenDay string      `json:"last_seen_day,omitempty" doc:"The last day on which the principal was seen."`
}

// registerPrincipals adds the list of principals. They change by commands on the
// server's machine alone.
func (s *Server) registerPrincipals(api huma.API, _ *http.ServeMux) {
	register(s, api, op("GET", "/principals", "Principals and their roles"), access{roles: []auth.Role{auth.Steward, auth.Auditor}},
		s.listPrincipals)
}

func (s *Server) listPrincipals(ctx context.Context, _ *call, in *Listing) (*output[page[principalBody]], error) {
	after, err := in.position()
	if err != nil {
		return nil, err
	}
	all, err := s.store.Principals(ctx, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	items := make([]principalBody, len(all))
	for i, p := range all {
		items[i] = principalBody{ID: p.ID, Name: p.Name, SeenDay: p.SeenDay, Grants: []grantBody{}}
		for _, g := range p.Grants {
			items[i].Grants = append(items[i].Grants, grantBody{g.Role, g.Object})
		}
	}
	return &output[page[principalBody]]{paged(items, in.Limit, func(p *principalBody) string { return p.ID })}, nil
}
