package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/noren-privacy/noren/internal/server/audit"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
)

// anyObject is the object of a route that a role on any object opens.
const anyObject = "?"

// access says who may use a route, and what is noted of its use.
type access struct {
	// public routes need no sign-in.
	public bool
	// roles are those of which one is needed on the object; none for every principal.
	roles []auth.Role
	// object is the path parameter with the object's id, anyObject, or "" for the server
	// itself, on which only grants on all objects hold.
	object string
	// changes says that the route is refused while the server is sealed: it changes
	// something, or must not be used without an entry in the audit log.
	changes bool
	// noted says that the route is refused while the audit log cannot be written.
	noted bool
	// action is the name of the act in the audit log; "" for acts that are not noted.
	action string
	// media is the media type of a request's body. Defaults to application/json.
	media string
	// most is the size of the largest body of a plain route, in bytes. Defaults to 1 MiB.
	most int64
	// check refuses a call that its role lets in. Optional.
	check func(ctx context.Context, c *call) error
}

// An owner finds the object on which grants are made that decide on an id: of a recipe,
// its table. It returns [store.ErrNotFound] for an id that does not exist.
type owner func(ctx context.Context, id string) (object string, err error)

// call is what is known of a request that was let in.
type call struct {
	actor     *auth.Actor // nil on public routes without a sign-in
	role      auth.Role   // by which it was let in; "" where none was needed
	requestID string
	route     string
	id        string            // of the object in the path; "" for none
	object    string            // on which grants are made
	detail    map[string]string // for the audit log
	noted     bool              // that the audit log has it
}

// note adds a public fact of the request to its entry in the audit log.
func (c *call) note(key, value string) {
	if c.detail == nil {
		c.detail = map[string]string{}
	}
	if len(value) > 200 {
		value = value[:200]
	}
	c.detail[key] = strings.ToValidUTF8(value, "")
}

type callKey struct{}

// callOf is the call of a request.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// admit decides whether a request may use a route. A refusal is a problem: the same for
// an object that does not exist and for one on which the principal has no role.
func (s *Server) admit(r *http.Request, route string, a *access) (*call, error) {
	c := &call{requestID: requestID(r.Context()), route: route, actor: identityOf(r.Context())}
	if a.object != "" && a.object != anyObject {
		c.id = r.PathValue(a.object)
	}
	err := s.decide(r.Context(), c, a)
	if err == nil {
		err = s.form(r, a)
	}
	if err != nil && a.action != "" && c.actor != nil {
		err = s.noteRefusal(r.Context(), c, a, err)
	}
	return c, err
}

func (s *Server) decide(ctx context.Context, c *call, a *access) error {
	if !a.public {
		if c.actor == nil {
			return problem.New("unauthenticated", "").Hinted("open a sign-in link, or send a token as Authorization: Bearer")
		}
		if err := s.roleFor(ctx, c, a); err != nil {
			return err
		}
		if a.check != nil {
			if err := a.check(ctx, c); err != nil {
				return err
			}
		}
	}
	if reason := s.Sealed(); a.changes && reason != "" {
		return problem.New("sealed", "%s", reason)
	}
	if a.noted && s.audit.Damage() != nil {
		return problem.New("sealed", "The audit log cannot be written.")
	}
	return nil
}

// roleFor finds the role by which a call is let in.
func (s *Server) roleFor(ctx context.Context, c *call, a *access) error {
	switch {
	case c.id != "":
		object, err := s.ownerOf(ctx, c.id)
		if err != nil {
			return err
		}
		c.object = object
	case a.object == anyObject || len(a.roles) == 0:
		c.object = auth.Everything
		for _, role := range auth.Roles() {
			if slices.Contains(a.roles, role) && slices.ContainsFunc(c.actor.Grants, func(g store.Grant) bool { return g.Role == string(role) }) {
				c.role = role
				return nil
			}
		}
		if len(a.roles) == 0 {
			return nil
		}
		return problem.New("forbidden", "")
	default:
		c.object = auth.Everything
	}
	for _, role := range a.roles {
		if c.actor.Has(c.object, role) {
			c.role = role
			return nil
		}
	}
	if c.id != "" && c.actor.Role(c.object) == "" {
		return problem.NotFound()
	}
	return problem.New("forbidden", "")
}

// mayStill reports whether the principal of a call that goes on, such as a stream of
// events, is still signed in and still has a role for it.
func (s *Server) mayStill(r *http.Request, c *call, a *access) bool {
	ctx := r.Context()
	from, _ := ctx.Value(addressKey{}).(netip.Addr)
	actor, err := s.actorOf(r, from, s.auth.Holds)
	if err != nil || actor == nil || actor.ID != c.actor.ID {
		return false
	}
	again := &call{id: c.id, actor: actor}
	return s.roleFor(ctx, again, a) == nil
}

// ownerOf finds the object on which grants decide on an id.
func (s *Server) ownerOf(ctx context.Context, id string) (string, error) {
	prefix, _, _ := strings.Cut(id, "_")
	find, ok := s.owners[prefix]
	if !ok || !store.ValidID(prefix, id) {
		return "", problem.NotFound()
	}
	object, err := find(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return "", problem.NotFound()
	}
	return object, err
}

// form checks the media type of a request with a body.
func (s *Server) form(r *http.Request, a *access) error {
	if r.ContentLength == 0 || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	want := a.media
	if want == "" {
		want = "application/json"
	}
	if got, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || got != want {
		return problem.New("media-type", "expected a body of type %s", want)
	}
	return nil
}

// entry is the entry of a call in the audit log.
func (c *call) entry(action, outcome string) audit.Entry {
	e := audit.Entry{
		Role: string(c.role), Action: action, Route: c.route, Object: c.id, Outcome: outcome, RequestID: c.requestID,
		Detail: c.detail,
	}
	if c.actor != nil {
		e.Actor = c.actor.ID
	}
	if p, _, ok := strings.Cut(c.id, "_"); !ok || !store.ValidID(p, c.id) {
		e.Object = "" // not an id: a stranger's text does not enter the log
	}
	return e
}

// record writes the outcome of a call to the audit log, once.
func (s *Server) record(ctx context.Context, c *call, a *access, err error) error {
	if a.action == "" || c.noted {
		return nil
	}
	c.noted = true
	outcome := "ok"
	if err != nil {
		outcome = problem.From(err).Code
	}
	if s.audit.Damage() != nil && !a.changes && !a.noted {
		return nil
	}
	entry := c.entry(a.action, outcome)
	if outcome == "budget-refused" && s.audit.Damage() == nil {
		s.audit.AppendSoon(entry) // nothing was changed or released: many at once wait for no disk
		return nil
	}
	if err := s.audit.Append(ctx, entry); err != nil {
		s.cfg.Log.Error("the audit log cannot be written", "error", err)
		if !a.changes && !a.noted {
			return nil // signing in and reading go on while the server is sealed
		}
		return problem.New("sealed", "The audit log cannot be written.")
	}
	return nil
}

// noteRefusal writes a refusal to the audit log, and returns it.
func (s *Server) noteRefusal(ctx context.Context, c *call, a *access, refusal error) error {
	if s.audit.Damage() != nil {
		return refusal
	}
	if err := s.record(ctx, c, a, refusal); err != nil {
		return err
	}
	return refusal
}

// register adds a JSON route: it lets requests in, runs do and notes the outcome.
func register[I, O any](s *Server, api huma.API, op huma.Operation, a access, do func(ctx context.Context, c *call, in *I) (*O, error)) {
	route := op.Method + " " + op.Path
	s.routes = append(s.routes, mounted{op.Method, op.Path, a})
	op.BodyReadTimeout = -1 // Slowness decides
	op.RejectUnknownQueryParameters = true
	if op.OperationID == "" {
		op.OperationID = operationID(op.Method, op.Path)
	}
	op.Security = security(&a)
	op.Middlewares = append(op.Middlewares, func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		c, err := s.admit(r, route, &a)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		err = whole(w, r, &op, func(text []byte) error {
			if err := statedOnce(text); err != nil {
				return err
			}
			return fewFaults(api.OpenAPI().Components.Schemas, bodySchema(api, &op), text)
		})
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		next(bodyContext{huma.WithValue(ctx, callKey{}, c)})
	})
	huma.Register(api, op, func(ctx context.Context, in *I) (*O, error) {
		c := callOf(ctx)
		out, err := do(ctx, c, in)
		if noted := s.record(ctx, c, &a, err); noted != nil {
			return nil, s.told(ctx, noted)
		}
		if err != nil {
			return nil, s.told(ctx, err)
		}
		return out, nil
	})
}

// whole reads the body of a request, so that what cannot be read has its own problem:
// huma calls that a failure of the server. check refuses it before huma reads it.
func whole(w http.ResponseWriter, r *http.Request, op *huma.Operation, check func(text []byte) error) error {
	if r.ContentLength == 0 || r.Body == nil || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	most := op.MaxBodyBytes
	if most == 0 {
		most = jsonLimit
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most-1)) // huma refuses a body of its limit
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	return check(text)
}

// told is the problem of an error in the language of the request, with the request's id. Failures of the server
// itself are logged.
func (s *Server) told(ctx context.Context, err error) error {
	p := *s.explained(err).In(languageOf(ctx))
	p.RequestID = requestID(ctx)
	if p.Status == http.StatusInternalServerError {
		s.cfg.Log.Error("a request failed", "request", p.RequestID, "error", err)
	}
	return &p
}

// refuse answers a request with the problem of an error.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	s.told(r.Context(), err).(*problem.Problem).Write(w)
}

// handle adds a plain route, such as an upload or a file, which op documents. Its
// function returns an error before it has written anything, or none. It calls
// [Server.record] itself before it writes what must not leave without an entry in the
// audit log; otherwise the outcome is noted after it.
func (s *Server) handle(api huma.API, mux *http.ServeMux, op huma.Operation, a access,
	do func(w http.ResponseWriter, r *http.Request, c *call) error,
) {
	route := op.Method + " " + op.Path
	s.routes = append(s.routes, mounted{op.Method, op.Path, a})
	if a.most == 0 {
		a.most = jsonLimit
	}
	if op.OperationID == "" {
		op.OperationID = operationID(op.Method, op.Path)
	}
	op.Security = security(&a)
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	op.Responses["default"] = s.problemResponse(api)
	api.OpenAPI().AddOperation(&op)
	mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
		c, err := s.admit(r, route, &a)
		if err == nil {
			r.Body = http.MaxBytesReader(w, r.Body, a.most)
			err = do(w, r.WithContext(context.WithValue(r.Context(), callKey{}, c)), c)
			if noted := s.record(r.Context(), c, &a, err); noted != nil && err == nil {
				// The answer has left; later changes are refused.
				return
			}
		}
		if err != nil {
			s.refuse(w, r, err)
		}
	})
}

// mounted is a route with its access, for tests of every route.
type mounted struct {
	method, path string
	access       access
}

// security documents the credentials of a route.
func security(a *access) []map[string][]string {
	if a.public {
		return []map[string][]string{}
	}
	return []map[string][]string{{"session": {}}, {"token": {}}}
}

// operationID names a route in the OpenAPI document: get-tables-id.
func operationID(method, path string) string {
	id := strings.ToLower(method)
	for part := range strings.SplitSeq(strings.TrimPrefix(path, apiPrefix), "/") {
		part = strings.Trim(part, "{}")
		if part != "" {
			id += "-" + part
		}
	}
	return id
}

// problemResponse documents the error bodies.
func (s *Server) problemResponse(api huma.API) *huma.Response {
	schema := api.OpenAPI().Components.Schemas.Schema(problemType, true, "Problem")
	return &huma.Response{Description: "Error", Content: map[string]*huma.MediaType{"application/problem+json": {Schema: schema}}}
}
