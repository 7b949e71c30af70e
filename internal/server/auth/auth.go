// Package auth says who sends a request, and which roles they have on which objects.
//
// A principal is known by the cookie of a session or by a bearer token. Of both only the
// SHA-256 is stored; the secrets have 256 random bits, so that a fast hash is enough.
// Links that begin a session name a principal, live 10 minutes and work once.
package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/internal/server/limit"
	"github.com/noren-privacy/noren/internal/server/store"
)

// Role is what a principal may do with an object.
type Role string

// The roles.
const (
	// Steward prepares tables and releases them, and may see raw rows.
	Steward Role = "steward"
	// Analyst sees public facts of tables and releases.
	Analyst Role = "analyst"
	// Auditor reads certificates, keys, principals and the audit log.
	Auditor Role = "auditor"
)

// Roles are all roles, the one with most rights first.
func Roles() []Role { return []Role{Steward, Analyst, Auditor} }

// Everything is the object of grants on all objects.
const Everything = "*"

// The lifetimes.
const (
	// Idle is how long a session lives without a request.
	Idle = 30 * time.Minute
	// Lives is how long a session lives at most.
	Lives = 12 * time.Hour
	// LinkLives is how long a sign-in link can be used.
	LinkLives = 10 * time.Minute
	// MostDays is how many days a token lives at most.
	MostDays = 365
	// MostTokens is how many tokens that can be used a principal has at most.
	MostTokens = 100
	// touch is how often the idle time of a session is stored.
	touch = time.Minute
)

// ErrTokens is the cause of an error about one token too many of a principal.
var ErrTokens = errors.New("the principal has too many tokens")

// ErrUnknown is the cause of errors about a secret that is unknown, used or expired.
var ErrUnknown = errors.New("the credential is unknown, used or expired")

// Actor is the principal of a request.
type Actor struct {
	ID, Name string
	Grants   []store.Grant
	// Session is the session of a browser; nil for a token.
	Session *store.Session
	// Secret is the secret of the session, which ends with it.
	Secret string
}

// Has reports whether the actor has one of the roles on an object.
func (a *Actor) Has(object string, roles ...Role) bool {
	return slices.ContainsFunc(a.Grants, func(g store.Grant) bool {
		return (g.Object == object || g.Object == Everything) && slices.Contains(roles, Role(g.Role))
	})
}

// Role is the actor's role with most rights on an object; "" for none. For [Everything]
// it is that of any object.
func (a *Actor) Role(object string) Role {
	for _, r := range Roles() {
		if a.Has(object, r) || object == Everything && slices.ContainsFunc(a.Grants, func(g store.Grant) bool { return Role(g.Role) == r }) {
			return r
		}
	}
	return ""
}

// Auth finds principals in a store.
type Auth struct{ store *store.Store }

// New returns an Auth over a store.
func New(s *store.Store) *Auth { return &Auth{s} }

// secretLength is the length of a secret in base32.
const secretLength = 52

// validSecret reports whether a text can be a secret.
func validSecret(text string) bool {
	if len(text) != secretLength {
		return false
	}
	for i := range len(text) {
		if c := text[i]; (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

func hash(purpose, secret string) []byte {
	sum := sha256.Sum256([]byte("noren " + purpose + "\n" + secret))
	return sum[:]
}

// unknown turns the absence of an entry into [ErrUnknown].
func unknown(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return ErrUnknown
	}
	return err
}

// NewLink makes a sign-in link of a principal and returns its secret.
func (a *Auth) NewLink(ctx context.Context, principal string) (secret string, until time.Time, err error) {
	secret = store.NewSecret()
	err = a.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		until, err = tx.AddLink(ctx, hash("link", secret), principal, LinkLives)
		return err
	})
	return secret, until, err
}

// LookLink says whose link a secret is, and does not use it.
func (a *Auth) LookLink(ctx context.Context, secret string) (*store.Principal, *store.Link, error) {
	if !validSecret(secret) {
		return nil, nil, ErrUnknown
	}
	link, err := a.store.LookLink(ctx, hash("link", secret))
	if err != nil {
		return nil, nil, unknown(err)
	}
	p, err := a.store.PrincipalByID(ctx, link.Principal)
	return p, link, unknown(err)
}

// SignIn uses a link and begins a session.
func (a *Auth) SignIn(ctx context.Context, link string) (*Actor, error) {
	if !validSecret(link) {
		return nil, ErrUnknown
	}
	secret, principal := store.NewSecret(), ""
	var session *store.Session
	err := a.store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		if principal, err = tx.UseLink(ctx, hash("link", link)); err != nil {
			return err
		}
		session, err = tx.AddSession(ctx, hash("session", secret), principal, Lives, Idle)
		return err
	})
	if err != nil {
		return nil, unknown(err)
	}
	return a.actor(ctx, principal, session, secret)
}

func (a *Auth) actor(ctx context.Context, principal string, session *store.Session, secret string) (*Actor, error) {
	p, err := a.store.PrincipalByID(ctx, principal)
	if err == nil && p.Ended {
		err = ErrUnknown
	}
	if err != nil {
		return nil, unknown(err)
	}
	return &Actor{ID: p.ID, Name: p.Name, Grants: p.Grants, Session: session, Secret: secret}, nil
}

// BySession finds the principal of a session's secret, and moves its idle time on.
func (a *Auth) BySession(ctx context.Context, secret string) (*Actor, error) {
	if !validSecret(secret) {
		return nil, ErrUnknown
	}
	h := hash("session", secret)
	s, err := a.store.FindSession(ctx, h, Idle)
	if err != nil {
		return nil, unknown(err)
	}
	if now := a.store.Now(); now.Sub(s.Seen) >= touch {
		if err := a.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.TouchSession(ctx, h, s.Principal) }); err != nil {
			return nil, err
		}
		s.Seen = now
	}
	return a.actor(ctx, s.Principal, s, secret)
}

// Holds finds the principal of a session's secret and leaves its idle time as it is.
func (a *Auth) Holds(ctx context.Context, secret string) (*Actor, error) {
	if !validSecret(secret) {
		return nil, ErrUnknown
	}
	s, err := a.store.FindSession(ctx, hash("session", secret), Idle)
	if err != nil {
		return nil, unknown(err)
	}
	return a.actor(ctx, s.Principal, s, secret)
}

// SignOut ends a session.
func (a *Auth) SignOut(ctx context.Context, secret string) error {
	return a.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.EndSession(ctx, hash("session", secret)) })
}

// tokenPrefix begins every bearer token, so that tools that search for secrets find it.
const tokenPrefix = "nrn_"

// NewToken makes a bearer token of a principal and returns it with its text, which is
// shown once. networks are prefixes such as 10.0.0.0/8; none for all.
func (a *Auth) NewToken(ctx context.Context, principal, name string, days int, networks []string) (*store.Token, string, error) {
	switch {
	case name == "" || len(name) > 100:
		return nil, "", noren.Usagef("name", "expected a name of 1 to 100 bytes, got %d", len(name))
	case !names.Seen(name):
		return nil, "", noren.Usagef("name", "expected a name without controls and marks of direction")
	case days < 1 || days > MostDays:
		return nil, "", noren.Usagef("days", "expected 1 to %d days, got %d", MostDays, days)
	}
	for _, n := range networks {
		if _, err := limit.ParseNetwork(n); err != nil {
			return nil, "", noren.Usagef("networks", "expected networks such as 10.0.0.0/8, got one of another form")
		}
	}
	secret := store.NewSecret()
	t := &store.Token{
		ID: store.NewID("tk"), Principal: principal, Name: name, Networks: strings.Join(networks, " "),
		Hash: hash("token", secret),
	}
	err := a.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		have, err := tx.CountTokens(ctx, principal)
		switch {
		case err != nil:
			return err
		case have >= MostTokens:
			return &noren.Error{Kind: noren.Usage, Where: "token", What: "expected fewer tokens", Err: ErrTokens, Hint: "end one that is not used"}
		}
		return tx.AddToken(ctx, t, time.Duration(days)*24*time.Hour)
	})
	if err != nil {
		return nil, "", err
	}
	return t, tokenPrefix + strings.TrimPrefix(t.ID, "tk_") + "_" + secret, nil
}

// ParseToken splits the text of a token into its id and its secret.
func ParseToken(text string) (id, secret string, ok bool) {
	rest, ok := strings.CutPrefix(text, tokenPrefix)
	if !ok {
		return "", "", false
	}
	short, secret, ok := strings.Cut(rest, "_")
	id = "tk_" + short
	if !ok || !store.ValidID("tk", id) || !validSecret(secret) {
		return "", "", false
	}
	return id, secret, true
}

// ByToken finds the principal of a bearer token that is used from an address.
func (a *Auth) ByToken(ctx context.Context, text string, from netip.Addr) (*Actor, error) {
	id, secret, ok := ParseToken(text)
	if !ok {
		return nil, ErrUnknown
	}
	t, p, err := a.store.FindToken(ctx, id)
	if err != nil {
		return nil, unknown(err)
	}
	if p.Ended || subtle.ConstantTimeCompare(t.Hash, hash("token", secret)) != 1 || !within(t.Networks, from) {
		return nil, ErrUnknown
	}
	if now := a.store.Now(); t.UsedDay != now.Format(time.DateOnly) {
		if err := a.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.UseToken(ctx, t.ID, t.Principal) }); err != nil {
			return nil, err
		}
	}
	return &Actor{ID: p.ID, Name: p.Name, Grants: p.Grants}, nil
}

// within reports whether an address is in one of the networks; "" are all.
func within(networks string, from netip.Addr) bool {
	if networks == "" {
		return true
	}
	from = from.WithZone("").Unmap()
	for _, n := range strings.Fields(networks) {
		if p, err := limit.ParseNetwork(n); err == nil && p.Contains(from) {
			return true
		}
	}
	return false
}
