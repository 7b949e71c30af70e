package server

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/questions"
	"github.com/noren-privacy/noren/internal/server/store"
)

type openingInput struct{ Body books.Opening }

type factsInput struct {
	ID   string `path:"id" maxLength:"64" doc:"The id of the table."`
	Body books.FactsRequest
}

type takeOverInput struct {
	ID   string `path:"id" maxLength:"64" doc:"The id of the book."`
	Body books.TakeOver
}

// capBody is a new cap.
type capBody struct {
	Epsilon string `json:"epsilon,omitempty" maxLength:"40" doc:"The new cap of epsilon, in decimal."`
	Delta   string `json:"delta,omitempty" maxLength:"40" doc:"The new cap of delta, in decimal."`
	Rho     string `json:"rho,omitempty" maxLength:"40" doc:"The new cap of a book in zCDP, in decimal."`
}

func (c *capBody) amount() api.Amount {
	return api.Amount{Epsilon: c.Epsilon, Delta: c.Delta, Rho: c.Rho}
}

type capInput struct {
	ID   string `path:"id" maxLength:"64" doc:"The id of the book."`
	Body capBody
}

type accountInput struct {
	ID        string `path:"id" maxLength:"64" doc:"The id of the book."`
	Principal string `path:"principal" maxLength:"64" doc:"The id of the principal."`
	Body      capBody
}

type closingInput struct {
	ID        string `path:"id" maxLength:"64" doc:"The id of the book."`
	Principal string `path:"principal" maxLength:"64" doc:"The id of the principal."`
}

type entriesInput struct {
	ID      string `path:"id" maxLength:"64" doc:"The id of the book."`
	State   string `query:"state" enum:"reserved,released,forfeited,refused" doc:"The state of requests; all entries where left out."`
	Account string `query:"account" maxLength:"64" doc:"The id of a principal; all where left out."`
	Listing
}

type bookListing struct {
	Listing
}

// registerBooks adds the budget books of tables.
func (s *Server) registerBooks(api huma.API, mux *http.ServeMux) {
	opening := op("POST", "/books", "Open the book of a table")
	opening.DefaultStatus = http.StatusAccepted
	register(s, api, opening, access{roles: stewards, object: anyObject, changes: true, action: "book.open"}, s.openBook)
	register(s, api, op("POST", "/tables/{id}/facts", "Propose public facts for the book of a table, without reading it"),
		access{roles: stewards, object: "id"},
		func(ctx context.Context, c *call, in *factsInput) (*output[*books.Facts], error) {
			out, err := s.books.Facts(ctx, in.ID, &in.Body, func(table string) bool { return c.actor.Has(table, auth.Steward, auth.Auditor) })
			return &output[*books.Facts]{out}, err
		})
	register(s, api, op("GET", "/books", "Books, the newest first"), access{roles: auth.Roles(), object: anyObject}, s.listBooks)
	register(s, api, op("GET", "/books/{id}", "A book"), access{roles: auth.Roles(), object: "id"},
		func(ctx context.Context, c *call, in *idInput) (*output[*books.Book], error) {
			return bookAnswer(s.books.Get(ctx, in.ID, c.viewer()))
		})
	version := op("POST", "/books/{id}/version", "Take over the columns of the book's table as a new version")
	version.DefaultStatus = http.StatusAccepted
	register(s, api, version, access{roles: stewards, object: "id", changes: true, action: "book.take-over"},
		func(ctx context.Context, c *call, in *takeOverInput) (*accepted, error) {
			return begun(s.books.StartVersion(ctx, in.ID, &in.Body, c.actor.ID))
		})
	register(s, api, op("POST", "/books/{id}/cap", "Raise the cap of a book"),
		access{roles: stewards, object: "id", changes: true, action: "book.cap"},
		func(ctx context.Context, c *call, in *capInput) (*output[*books.Book], error) {
			c.note("cap", in.Body.amount().String())
			return bookAnswer(s.books.Raise(ctx, in.ID, in.Body.amount(), c.viewer()))
		})
	register(s, api, op("PUT", "/books/{id}/accounts/{principal}", "Make the account of a principal, or raise its cap"),
		access{roles: stewards, object: "id", changes: true, action: "book.account"}, s.setAccount)
	register(s, api, op("DELETE", "/books/{id}/accounts/{principal}", "Close the account of a principal; what was spent stays spent"),
		access{roles: stewards, object: "id", changes: true, action: "book.account-close"},
		func(ctx context.Context, c *call, in *closingInput) (*output[*books.Book], error) {
			c.notePrincipal(in.Principal)
			return bookAnswer(s.books.CloseAccount(ctx, in.ID, in.Principal, c.viewer()))
		})
	register(s, api, op("POST", "/books/{id}/accounts/{principal}/allow",
		"Allow the paid questions of a principal again that ended because one took longer than its bound"),
		access{roles: stewards, object: "id", changes: true, action: "book.asking-allow"},
		func(ctx context.Context, c *call, in *closingInput) (*output[*books.Book], error) {
			c.notePrincipal(in.Principal)
			if err := s.questions.Allow(ctx, in.ID, in.Principal); err != nil {
				return nil, err
			}
			return bookAnswer(s.books.Get(ctx, in.ID, c.viewer()))
		})
	register(s, api, op("GET", "/books/{id}/entries", "The entries of a book, the newest first"), access{roles: auth.Roles(), object: "id"},
		s.listEntries)
	register(s, api, op("GET", "/books/{id}/spend", "The course of the expenditure of a book"), access{roles: auth.Roles(), object: "id"},
		func(ctx context.Context, c *call, in *idInput) (*output[*books.Spend], error) {
			out, err := s.books.Spend(ctx, in.ID, c.viewer())
			return &output[*books.Spend]{out}, err
		})
	register(s, api, op("GET", "/books/{id}/afford", "What the rest still covers"), access{roles: askers, object: "id"},
		func(ctx context.Context, c *call, in *idInput) (*output[page[questions.Affordable]], error) {
			book, err := s.books.Get(ctx, in.ID, c.viewer())
			if err != nil {
				return nil, err
			}
			items, err := s.questions.Afford(ctx, book, s.reader(c))
			return &output[page[questions.Affordable]]{page[questions.Affordable]{Items: items}}, err
		})
	check := op("POST", "/books/{id}/check", "Check the whole chain of the ledger")
	check.DefaultStatus = http.StatusAccepted
	register(s, api, check, access{roles: []auth.Role{auth.Steward, auth.Auditor}, object: "id", action: "book.check"},
		func(_ context.Context, c *call, in *idInput) (*accepted, error) {
			return begun(s.books.StartCheck(in.ID, c.actor.ID))
		})
	register(s, api, op("GET", "/books/{id}/check", "The latest check of the ledger"),
		access{roles: []auth.Role{auth.Steward, auth.Auditor}, object: "id"},
		func(_ context.Context, _ *call, in *idInput) (*output[*books.LedgerCheck], error) {
			out, err := s.books.LastCheck(in.ID)
			return &output[*books.LedgerCheck]{out}, err
		})
	s.registerBookExport(api, mux)
}

// viewer is the principal of a call as one who looks at a book.
func (c *call) viewer() books.Viewer {
	return books.Viewer{ID: c.actor.ID, All: c.actor.Has(c.object, auth.Steward, auth.Auditor), Steward: c.actor.Has(c.object, auth.Steward)}
}

// notePrincipal notes the id of a principal, and no other text.
func (c *call) notePrincipal(id string) {
	if store.ValidID("pr", id) {
		c.note("principal", id)
	}
}

func bookAnswer(b *books.Book, err error) (*output[*books.Book], error) {
	if err != nil {
		return nil, err
	}
	return &output[*books.Book]{b}, nil
}

func (s *Server) openBook(ctx context.Context, c *call, in *openingInput) (*accepted, error) {
	// The role on the table decides, as its id is in the body.
	if !store.ValidID("tb", in.Body.Table) {
		return nil, problem.NotFound()
	}
	table, err := s.ownerOf(ctx, in.Body.Table)
	if err != nil {
		return nil, err
	}
	if !c.actor.Has(table, auth.Steward) {
		return nil, problem.NotFound()
	}
	c.note("table", table)
	c.note("cap", api.Amount{Epsilon: in.Body.Epsilon, Delta: in.Body.Delta, Rho: in.Body.Rho}.String())
	return begun(s.books.Open(ctx, &in.Body, c.actor.ID))
}

func (s *Server) listBooks(ctx context.Context, c *call, in *bookListing) (*output[page[books.Book]], error) {
	before, err := in.number()
	if err != nil {
		return nil, err
	}
	items, next, unreadable, err := s.books.List(ctx, before, in.Limit, func(table string) (books.Viewer, bool) {
		one := call{actor: c.actor, object: table}
		return one.viewer(), c.actor.Has(table, auth.Roles()...)
	})
	if err != nil {
		return nil, err
	}
	return &output[page[books.Book]]{pageOf(items, next, unreadable)}, nil
}

func (s *Server) setAccount(ctx context.Context, c *call, in *accountInput) (*output[*books.Book], error) {
	c.notePrincipal(in.Principal)
	c.note("cap", in.Body.amount().String())
	return bookAnswer(s.books.SetAccount(ctx, in.ID, in.Principal, in.Body.amount(), c.viewer()))
}

func (s *Server) listEntries(ctx context.Context, c *call, in *entriesInput) (*output[page[books.BookEntry]], error) {
	after, err := in.position()
	if err != nil {
		return nil, err
	}
	items, next, err := s.books.Entries(ctx, in.ID, books.Select{State: in.State, Account: in.Account, Limit: in.Limit, After: after},
		c.viewer())
	if err != nil {
		return nil, err
	}
	out := page[books.BookEntry]{Items: items}
	if next != "" {
		out.Next = cursor(next)
	}
	return &output[page[books.BookEntry]]{out}, nil
}

// registerBookExport adds the export of the ledger.
func (s *Server) registerBookExport(a huma.API, mux *http.ServeMux) {
	o := op("GET", "/books/{id}/export", "The ledger with all its books and answers, for an auditor")
	o.Parameters = []*huma.Param{pathParameter("id", "The id of the book.")}
	o.Responses = map[string]*huma.Response{"200": {
		Description: "JSON lines, as an attachment: noren ledger check-export checks them.",
		Content:     map[string]*huma.MediaType{"application/jsonl": {}},
	}}
	// The file holds all books of the ledger: a role on one table is not enough.
	access := access{
		roles: []auth.Role{auth.Steward, auth.Auditor}, object: "id", action: "book.export",
		check: func(_ context.Context, c *call) error {
			if !c.actor.Has(auth.Everything, auth.Steward, auth.Auditor) {
				return problem.New("forbidden", "The export holds all books: it needs a role on all objects.")
			}
			return nil
		},
	}
	s.handle(a, mux, o, access, func(w http.ResponseWriter, r *http.Request, c *call) error {
		return s.sendLedger(w, r, c, &access)
	})
}

// sendLedger exports the ledger to a file of its own and sends it.
func (s *Server) sendLedger(w http.ResponseWriter, r *http.Request, c *call, a *access) error {
	dir, err := os.MkdirTemp(s.path("work"), "export-*")
	if err != nil {
		return problem.New("unavailable", "The export cannot be written.")
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "ledger.jsonl")
	if _, err := s.service().LedgerExport(r.Context(), &api.LedgerExportRequest{Output: path}); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return problem.New("unavailable", "The export cannot be read.")
	}
	defer func() { _ = f.Close() }()
	if err := s.record(r.Context(), c, a, nil); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/jsonl")
	w.Header().Set("Content-Disposition", `attachment; filename="ledger.jsonl"`)
	http.ServeContent(w, r, "", time.Time{}, f)
	return nil
}
