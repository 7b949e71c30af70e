package server

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/lang"
)

var problemType = reflect.TypeFor[problem.Problem]()

// mount makes the handler of all routes.
func (s *Server) mount() {
	mux := http.NewServeMux()
	s.api = humago.New(mux, s.openAPI())
	s.ownMetrics()
	for _, add := range []func(huma.API, *http.ServeMux){
		s.registerSession, s.registerTokens, s.registerPrincipals, s.registerKeys, s.registerAudit,
		s.registerUploads, s.registerSources, s.registerTables, s.registerRecipes, s.registerReleases, s.registerJobs,
		s.registerBooks, s.registerQuestions,
	} {
		add(s.api, mux)
	}
	s.registerPages(mux)
	s.handler = s.guard(mux)
}

// schemaName is the name of a type's schema. The form of a question is made of its kinds, and has no name in Go.
func schemaName(t reflect.Type, hint string) string {
	if t == kinds.Flat() {
		return reflect.TypeFor[kinds.Question]().Name()
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// openAPI is the configuration of the interface: JSON alone, problems as errors, and no
// pages of huma's own.
func (s *Server) openAPI() huma.Config {
	schemas := huma.NewMapRegistry("#/components/schemas/", schemaName)
	schemas.RegisterTypeAlias(reflect.TypeFor[huma.ErrorModel](), problemType)
	schemas.RegisterTypeAlias(reflect.TypeFor[kinds.Question](), kinds.Flat())
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Noren", Version: "1",
				Description: "The interface of noren serve: tables, releases, budget books, paid questions, certificates and the audit log of one " +
					"server. " +
					"Texts for readers (text of a message; title, detail and hint of a problem) are in the language that the header Accept-Language of " +
					"the request " +
					"prefers, en or ja; in English without it. The header Content-Language of the reply says which. Codes, arguments, fields and " +
					"certificates " +
					"are the same in every language, and the events of a job are in English.",
			},
			Components: &huma.Components{
				Schemas: schemas,
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"session": {
						Type: "apiKey", In: "cookie", Name: "__Host-noren",
						Description: "The session of a browser; its cookie is named noren on plain HTTP.",
					},
					"token": {Type: "http", Scheme: "bearer", Description: "A bearer token, nrn_..."},
				},
			},
		},
		Formats:       map[string]huma.Format{"application/json": huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{s.problems, s.speak},
	}
}

// problems turns the errors that huma makes itself, which quote the values of a request,
// into problems, which do not.
func (s *Server) problems(ctx huma.Context, _ string, v any) (any, error) {
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	code := "invalid"
	switch m.Status {
	case http.StatusRequestEntityTooLarge:
		code = "too-large"
	case http.StatusRequestTimeout:
		code = "slow"
	case http.StatusUnsupportedMediaType, http.StatusNotAcceptable:
		code = "media-type"
	case http.StatusInternalServerError:
		code = "internal"
	}
	p := problem.New(code, "")
	p.RequestID = requestID(ctx.Context())
	for _, e := range m.Errors {
		if code != "invalid" || e == nil || len(p.Errors) == mostFaults {
			continue
		}
		p.Errors = append(p.Errors, problem.At(pointer(e.Location), expectation(e.Message)))
	}
	p.Status = m.Status // what huma sends
	p = p.In(languageOf(ctx.Context()))
	for name, values := range p.GetHeaders() {
		ctx.SetHeader(name, values[0])
	}
	return p, nil
}

// pointer is huma's location of a fault (body.columns[2].name) as a JSON pointer, or the
// name of a parameter.
func pointer(location string) string {
	rest, body := strings.CutPrefix(location, "body")
	if !body {
		_, name, _ := strings.Cut(location, ".")
		return name
	}
	if len(rest) > mostPointer {
		rest = strings.ToValidUTF8(rest[:mostPointer], "")
	}
	return strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(rest)
}

// expectation is huma's text about a fault where it is one of those that are known, which quote nothing of the request.
func expectation(text string) noren.Text {
	if lang.IsKnown(text) {
		return noren.Textf("%s", noren.Foreign(text))
	}
	return noren.Textf("expected the form that the interface describes")
}

// page is a list of items, and where the next begins.
type page[T any] struct {
	Items []T    `json:"items" nullable:"false" doc:"The items of this page."`
	Next  string `json:"next,omitempty" doc:"The value of after for the next page; absent on the last page."`
	// Unreadable marks the members that cannot be read: they do not keep the others from the list.
	Unreadable []string `json:"unreadable,omitempty" nullable:"false" doc:"The ids of members of this page that cannot be read, and are not among its items."`
}

// Listing are the parameters of every list.
type Listing struct {
	Limit int    `query:"limit" default:"50" minimum:"1" maximum:"500" doc:"How many items to return at most."`
	After string `query:"after" maxLength:"200" doc:"The value of next of the page before."`
}

// cursor writes where a list goes on, as an opaque text.
func cursor(position string) string {
	return base64.RawURLEncoding.EncodeToString([]byte("1:" + position))
}

// position reads a cursor; "" for the first page.
func (l *Listing) position() (string, error) {
	if l.After == "" {
		return "", nil
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(l.After)
	at, ok := strings.CutPrefix(string(text), "1:")
	if err != nil || !ok || at == "" || cursor(at) != l.After { // the decoder skips line ends
		p := problem.New("invalid", "")
		p.Errors = []problem.Fault{problem.At("after", noren.Textf("expected the value of next of an earlier page"))}
		return "", p
	}
	return at, nil
}

// paged cuts items, which were asked for with one more than the limit, to a page.
func paged[T any](items []T, limit int, at func(*T) string) page[T] {
	out := page[T]{Items: slices.Clip(items)}
	if len(items) > limit {
		out.Items = items[:limit]
		out.Next = cursor(at(&items[limit-1]))
	}
	if out.Items == nil {
		out.Items = []T{}
	}
	return out
}

// output is an answer with a JSON body.
type output[T any] struct{ Body T }

// OpenAPI is the document of the interface, indented.
func (s *Server) OpenAPI() ([]byte, error) {
	text, err := json.MarshalIndent(s.api.OpenAPI(), "", "  ")
	return append(text, '\n'), err
}

// empty is a request without parameters, or an answer without a body.
type empty struct{}

// op documents a JSON route.
func op(method, path, summary string) huma.Operation {
	return huma.Operation{Method: method, Path: apiPrefix + path, Summary: summary}
}
