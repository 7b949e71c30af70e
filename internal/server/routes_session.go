package server

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/problem"
)

// sessionBody is a session.
type sessionBody struct {
	Principal principalName `json:"principal" doc:"Who is signed in."`
	Role      string        `json:"role" enum:"steward,analyst,auditor" doc:"The principal's role with most rights on any object."`
	IdleUntil string        `json:"idle_until" doc:"When the session ends without a further request."`
	Ends      string        `json:"ends" doc:"When the session ends."`
	Server    serverBody    `json:"server" doc:"The server."`
}

type principalName struct {
	ID   string `json:"id" doc:"The id of the principal."`
	Name string `json:"name" doc:"The name of the principal."`
}

type serverBody struct {
	Name          string `json:"name" doc:"The name of the server."`
	Version       string `json:"version" doc:"The version of the program."`
	Demo          bool   `json:"demo" doc:"The data is invented."`
	SingleSteward bool   `json:"single_steward" doc:"One steward alone decides on a release."`
	LeastK        int    `json:"least_k" doc:"The least k of a release."`
	Language      string `json:"language" enum:"en,ja" doc:"The default language of the page."`
	Sealed        bool   `json:"sealed" doc:"The server refuses changes and releases."`
	SealedReason  string `json:"sealed_reason,omitempty" doc:"Why the server is sealed."`
}

type linkInput struct {
	Body struct {
		Link string `json:"link" maxLength:"200" doc:"The secret of the link, after #/sign-in/."`
	}
}

type lookBody struct {
	Name  string `json:"name" doc:"The name of the principal."`
	Role  string `json:"role" doc:"The principal's role with most rights."`
	Made  string `json:"made" doc:"When the link was made."`
	Until string `json:"until" doc:"When the link expires."`
}

type sessionOutput struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      sessionBody
}

type signOutOutput struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
}

type publicServerBody struct {
	Name     string `json:"name" doc:"The name of the server."`
	Version  string `json:"version" doc:"The version of the program."`
	Demo     bool   `json:"demo" doc:"The data is invented."`
	Language string `json:"language" enum:"en,ja" doc:"The default language of the page."`
	KeyID    string `json:"key_id" doc:"The id of the key that signs certificates."`
}

// registerSession adds signing in and out, and what is public of the server.
func (s *Server) registerSession(api huma.API, _ *http.ServeMux) {
	register(s, api, op("GET", "/server", "The server"), access{public: true},
		func(context.Context, *call, *empty) (*output[publicServerBody], error) {
			return &output[publicServerBody]{publicServerBody{s.cfg.Name, s.cfg.Tool.Version, s.cfg.Demo, s.cfg.Language, s.keyID()}}, nil
		})
	register(s, api, op("POST", "/session/look", "Look at a sign-in link without using it"), access{public: true}, s.lookLink)
	register(s, api, op("POST", "/session", "Sign in with a link"), access{public: true, action: "session.begin"}, s.signIn)
	register(s, api, op("GET", "/session", "The session"), access{},
		func(_ context.Context, c *call, _ *empty) (*output[sessionBody], error) {
			return &output[sessionBody]{s.sessionOf(c.actor)}, nil
		})
	register(s, api, op("DELETE", "/session", "Sign out"), access{action: "session.end"}, s.signOut)
}

// limitSignIn limits looks at links and sign-ins of an address, and refuses them where links
// that were used may be unused in an older store.
func (s *Server) limitSignIn(ctx context.Context) error {
	if s.unsure() {
		return problem.New("sealed", "%s", s.Sealed())
	}
	from, _ := ctx.Value(addressKey{}).(netip.Addr)
	if ok, wait := s.signIns.Allow(s.addressHash(from), s.store.Now()); !ok {
		return tooMany(wait)
	}
	return nil
}

func linkError(err error) error {
	if errors.Is(err, auth.ErrUnknown) {
		return problem.New("link-unusable", "").Hinted("ask for a new link: it lives 10 minutes and works once")
	}
	return err
}

func (s *Server) lookLink(ctx context.Context, _ *call, in *linkInput) (*output[lookBody], error) {
	if err := s.limitSignIn(ctx); err != nil {
		return nil, err
	}
	p, link, err := s.auth.LookLink(ctx, in.Body.Link)
	if err != nil {
		return nil, linkError(err)
	}
	role := (&auth.Actor{Grants: p.Grants}).Role(auth.Everything)
	return &output[lookBody]{lookBody{p.Name, string(role), link.Made.Format(time.RFC3339), link.Until.Format(time.RFC3339)}}, nil
}

func (s *Server) signIn(ctx context.Context, c *call, in *linkInput) (*sessionOutput, error) {
	if err := s.limitSignIn(ctx); err != nil {
		c.noted = true // a flood of attempts does not fill the log
		return nil, err
	}
	actor, err := s.auth.SignIn(ctx, in.Body.Link)
	if err != nil {
		return nil, linkError(err)
	}
	c.actor, c.role = actor, actor.Role(auth.Everything)
	return &sessionOutput{s.cookie(actor.Secret, 0), s.sessionOf(actor)}, nil
}

func (s *Server) signOut(ctx context.Context, c *call, _ *empty) (*signOutOutput, error) {
	if c.actor.Secret != "" {
		if err := s.auth.SignOut(ctx, c.actor.Secret); err != nil {
			return nil, err
		}
	}
	return &signOutOutput{s.cookie("", -1)}, nil
}

// cookie is the session's cookie.
func (s *Server) cookie(secret string, age int) http.Cookie {
	return http.Cookie{
		Name: s.cookieName(), Value: secret, Path: "/", MaxAge: age,
		HttpOnly: true, Secure: s.cfg.secure(), SameSite: http.SameSiteStrictMode,
	}
}

// sessionOf describes the session of a principal. A token has no session that ends for
// lack of requests.
func (s *Server) sessionOf(a *auth.Actor) sessionBody {
	out := sessionBody{
		Principal: principalName{a.ID, a.Name}, Role: string(a.Role(auth.Everything)),
		Server: serverBody{
			Name: s.cfg.Name, Version: s.cfg.Tool.Version, Demo: s.cfg.Demo, SingleSteward: true, LeastK: s.cfg.LeastK,
			Language: s.cfg.Language, SealedReason: string(s.Sealed()),
		},
	}
	out.Server.Sealed = out.Server.SealedReason != ""
	if a.Session != nil {
		out.IdleUntil, out.Ends = a.Session.Seen.Add(auth.Idle).Format(time.RFC3339), a.Session.Ends.Format(time.RFC3339)
	}
	return out
}
