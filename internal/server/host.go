package server

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/internal/server/audit"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/store"
)

// Host changes principals, roles, links and tokens of a server from the machine it runs
// on, whether or not it runs. Each act is in the audit log with the actor "host".
type Host struct {
	store *store.Store
	auth  *auth.Auth
	audit *audit.Log
	own   bool // that the store is closed with it
	dir   string
}

// OpenHost opens the folder of a server. Close it.
func OpenHost(ctx context.Context, dir string) (*Host, error) {
	if err := private(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "server.db")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, noren.Usagef(noren.File(dir), "expected the folder of a server, got one without its store").Hinted("start the server once")
	}
	st, err := store.Open(ctx, path, store.SystemClock())
	if err != nil {
		return nil, err
	}
	log, err := audit.Open(ctx, filepath.Join(dir, "audit.log"), st)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return &Host{st, auth.New(st), log, true, dir}, nil
}

// Host changes principals and roles of an open server.
func (s *Server) Host() *Host { return &Host{s.store, s.auth, s.audit, false, s.cfg.Dir} }

// Close closes the folder.
func (h *Host) Close() error {
	if h.own {
		return h.store.Close()
	}
	return nil
}

// note writes an act to the audit log, before the act: what cannot be noted is not done.
func (h *Host) note(ctx context.Context, action, object string, detail map[string]string) error {
	return h.audit.Append(ctx, audit.Entry{
		Actor: "host", Action: action, Route: "command", Object: object, Outcome: "ok",
		RequestID: store.NewID("rq"), Detail: detail,
	})
}

// SignInLink is a link of one use that signs a principal in.
type SignInLink struct {
	// URL is the address to open in a browser.
	URL string
	// Name is the name of the principal.
	Name string
	// Until is when the link expires.
	Until time.Time
}

// Base is the address of the server, as it last stored it.
func (h *Host) Base(ctx context.Context) (string, error) { return h.store.Base(ctx) }

// LoginLink makes a sign-in link of a principal.
func (h *Host) LoginLink(ctx context.Context, name string) (*SignInLink, error) {
	base, err := h.store.Base(ctx)
	if err == nil && base == "" {
		return nil, noren.Usagef("dir", "expected a server that was started once").Hinted("start the server; it stores its address")
	}
	if err != nil {
		return nil, err
	}
	p, err := h.principal(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := h.note(ctx, "link.make", p.ID, nil); err != nil {
		return nil, err
	}
	secret, until, err := h.auth.NewLink(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	return &SignInLink{base + "/#/sign-in/" + secret, p.Name, until}, nil
}

// principal finds a principal by name or id.
func (h *Host) principal(ctx context.Context, name string) (*store.Principal, error) {
	p, err := h.store.PrincipalByName(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		if p, err = h.store.PrincipalByID(ctx, name); err == nil && p.Ended {
			err = store.ErrNotFound
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, noren.Usagef("name", "expected the name of a principal, got one that no principal has")
	}
	return p, err
}

// Token makes a bearer token of a principal, and returns its text, which is shown once.
func (h *Host) Token(ctx context.Context, principal, name string, days int, networks []string) (secret string, ends time.Time, err error) {
	p, err := h.principal(ctx, principal)
	if err != nil {
		return "", time.Time{}, err
	}
	t, secret, err := h.auth.NewToken(ctx, p.ID, name, days, networks)
	if err != nil {
		return "", time.Time{}, err
	}
	if err := h.note(ctx, "token.make", p.ID, map[string]string{"token": t.ID}); err != nil {
		return "", time.Time{}, err
	}
	return secret, t.Ends, nil
}

// AddPrincipal makes a principal with a role on all objects, or on one; with no role
// where role is empty.
func (h *Host) AddPrincipal(ctx context.Context, name string, role auth.Role, object string) (*store.Principal, error) {
	if !validName(name) {
		return nil, noren.Usagef("name", "expected a name of 1 to 100 printable characters")
	}
	if role != "" {
		if err := h.validGrant(ctx, role, object); err != nil {
			return nil, err
		}
	}
	var id string
	err := h.store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		if id, err = tx.AddPrincipal(ctx, name); err != nil || role == "" {
			return err
		}
		return tx.Grant(ctx, id, object, string(role))
	})
	if err != nil {
		return nil, err
	}
	if err := h.note(ctx, "principal.add", id, map[string]string{"role": string(role), "object": object}); err != nil {
		return nil, err
	}
	return h.store.PrincipalByID(ctx, id)
}

// validName reports whether a name of a principal can be shown.
func validName(name string) bool {
	n := utf8.RuneCountInString(name)
	return names.Seen(name) && n <= 100 && strings.TrimSpace(name) == name
}

// validGrant checks a role and its object, which is all or a table that exists.
func (h *Host) validGrant(ctx context.Context, role auth.Role, object string) error {
	if err := wellFormed(ctx, role, object); err != nil || object == auth.Everything {
		return err
	}
	_, err := h.store.FindResource(ctx, store.KindTable, object)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	e := noren.Usagef("object", "no table has this id")
	tables, err := h.tables(ctx)
	switch {
	case err != nil:
		return err
	case len(tables) == 0:
		return e.Hinted("the server has no tables yet: add one on its page")
	}
	return e.Hinted("the tables are %s", strings.Join(tables, ", "))
}

// tables are the newest tables with their ids, for an error.
func (h *Host) tables(ctx context.Context) ([]string, error) {
	const most = 20
	found, err := h.store.Resources(ctx, store.KindTable, "", 0, most+1)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range found {
		if i == most {
			return append(out, "..."), nil
		}
		out = append(out, nameOf(&found[i]))
	}
	return out, nil
}

// ObjectName is an object of a role for people: all, or the name of a table beside its id.
func (h *Host) ObjectName(ctx context.Context, object string) string {
	found, err := h.store.FindResource(ctx, store.KindTable, object)
	if err != nil {
		return object // all, or a table that is deleted
	}
	return nameOf(found)
}

// nameOf is the id of a table, with its name.
func nameOf(table *store.Resource) string {
	var of struct{ Name string }
	if table.Decode(&of) == nil && names.Seen(of.Name) {
		return table.ID + " (" + of.Name + ")"
	}
	return table.ID
}

// wellFormed checks the form of a role and its object.
func wellFormed(_ context.Context, role auth.Role, object string) error {
	if role != auth.Steward && role != auth.Analyst && role != auth.Auditor {
		return noren.Usagef("role", "expected steward, analyst or auditor")
	}
	if object != auth.Everything && !store.ValidID("tb", object) {
		return noren.Usagef("object", "expected * or the id of a table, such as tb_abcdefgh23456777")
	}
	return nil
}

// EndPrincipal ends a principal with its sessions, links and tokens.
func (h *Host) EndPrincipal(ctx context.Context, name string) error {
	p, err := h.principal(ctx, name)
	if err != nil {
		return err
	}
	if err := h.note(ctx, "principal.end", p.ID, nil); err != nil {
		return err
	}
	return h.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.EndPrincipal(ctx, p.ID) })
}

// Grant gives a principal a role on an object, or takes it away.
func (h *Host) Grant(ctx context.Context, name string, role auth.Role, object string, away bool) error {
	check := h.validGrant
	if away {
		check = wellFormed // the role may be on a table that is deleted
	}
	if err := check(ctx, role, object); err != nil {
		return err
	}
	p, err := h.principal(ctx, name)
	if err != nil {
		return err
	}
	action := "grant.add"
	if away {
		action = "grant.end"
	}
	if err := h.note(ctx, action, p.ID, map[string]string{"role": string(role), "object": object}); err != nil {
		return err
	}
	return h.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if !away {
			return tx.Grant(ctx, p.ID, object, string(role))
		}
		had, err := tx.Revoke(ctx, p.ID, object, string(role))
		if err == nil && !had {
			return noren.Usagef("role", "expected a role that the principal has on the object")
		}
		return err
	})
}

// Principals lists the principals that may sign in.
func (h *Host) Principals(ctx context.Context) ([]store.Principal, error) {
	return h.store.Principals(ctx, "", 1<<20)
}

// SetupLink is a sign-in link of the first steward: that of a server which no principal
// has signed in to yet, and that of a demonstration. Otherwise it returns nil, as for a
// sealed server.
func (s *Server) SetupLink(ctx context.Context) (*SignInLink, error) {
	if s.Sealed() != "" {
		return nil, nil
	}
	used, err := s.store.SignedIn(ctx)
	if err != nil || used && !s.cfg.Demo {
		return nil, err
	}
	steward, err := s.firstSteward(ctx)
	if err != nil {
		return nil, err
	}
	return s.Host().LoginLink(ctx, steward.ID)
}

// firstSteward finds a steward of all objects, and makes one where there is none.
func (s *Server) firstSteward(ctx context.Context) (*store.Principal, error) {
	h := s.Host()
	all, err := h.Principals(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if (&auth.Actor{Grants: all[i].Grants}).Has(auth.Everything, auth.Steward) {
			return &all[i], nil
		}
	}
	name := "Steward"
	if s.cfg.Demo {
		name = DemoSteward
	}
	return h.AddPrincipal(ctx, name, auth.Steward, auth.Everything)
}
