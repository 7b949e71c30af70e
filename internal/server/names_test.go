package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// unseenNames have characters that are not seen as they are.
var unseenNames = []string{
	"a\u202evsc", "a\u2066b", "a\u200eb", "a\u200bb", "a\ufeffb", "a\u3164b", "a\u115fb", "a\u034fb", "a\ufe0fb",
	"a\u00adb", "a\u2800b", "a\U000e0061b", "a\nb",
}

// taken are the places of the interface that take a name which a person types, by route and
// place in its body. Each is tried by TestUnseenNames.
var taken = []string{
	"POST /tables name", "PATCH /tables/{id} name", "POST /uploads name", "POST /tokens name",
	"POST /books name", // of a pattern that has letters, digits and dashes alone
}

// exempt are members called name that name what exists: columns of the table at hand.
var exempt = []string{
	"POST /tables/{id}/confirmation", "PUT /tables/{id}/columns", "POST /books columns",
	"POST /books/{id}/version columns",
}

// Each place that takes a name refuses one with characters that are not seen as they are, and
// each such place of the interface is known here.
func TestUnseenNames(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *Config) { c.RequestsPerSecond = -1 }).steward(t)
	table := s.people(t, 10, "x")
	up := s.upload(t, "a.csv", people(3, "x"))
	cookie := s.signInAs(t, "Anna")
	for _, name := range unseenNames {
		for what, a := range map[string]*answer{
			"table": s.ask(t, "POST", "/api/v1/tables", s.secret, map[string]any{
				"source": tables.Source{Kind: "upload", Upload: up},
				"name":   name,
			}, nil),
			"table by another": s.ask(t, "PATCH", "/api/v1/tables/"+table.ID, s.secret, map[string]any{"name": name}, match(etag(table.Version))),
			"upload":           s.ask(t, "POST", "/api/v1/uploads", s.secret, map[string]any{"name": name + ".csv", "size": 3}, nil),
			"token":            s.ask(t, "POST", "/api/v1/tokens", "", map[string]any{"name": name, "days": 1}, with(cookie)),
			"book": s.ask(t, "POST", "/api/v1/books", s.secret, map[string]any{
				"table": table.ID, "name": name, "epsilon": "1",
				"at_most": 100,
			}, nil),
		} {
			if a.status != http.StatusUnprocessableEntity && a.status != http.StatusBadRequest {
				t.Errorf("%s %q: %d %s", what, name, a.status, a.body)
			}
		}
		if _, err := s.Host().AddPrincipal(t.Context(), name, auth.Analyst, auth.Everything); noren.KindOf(err) != noren.Usage {
			t.Errorf("principal %q: %v", name, err)
		}
		if _, _, err := s.Host().Token(t.Context(), "Anna", name, 1, nil); noren.KindOf(err) != noren.Usage {
			t.Errorf("token of the host %q: %v", name, err)
		}
		for what, set := range map[string]func(*Config){
			"name":         func(c *Config) { c.Name = name },
			"root":         func(c *Config) { c.Roots = map[string]string{name: t.TempDir()} },
			"database":     func(c *Config) { c.Databases = map[string]string{name: "dsn"} },
			"public table": func(c *Config) { c.Public = map[string]string{name: "a.csv"} },
		} {
			c := config(t)
			c.defaults()
			set(&c)
			if err := c.validate(); noren.KindOf(err) != noren.Usage {
				t.Errorf("%s %q of the configuration: %v", what, name, err)
			}
		}
	}
	// A name of a script that needs joiners is taken everywhere.
	if _, err := s.Host().AddPrincipal(t.Context(), "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", auth.Analyst,
		auth.Everything); err != nil {
		t.Error(err)
	}
	for path, item := range s.api.OpenAPI().Paths {
		for method, o := range map[string]*huma.Operation{"POST": item.Post, "PUT": item.Put, "PATCH": item.Patch, "DELETE": item.Delete} {
			if o == nil || o.RequestBody == nil {
				continue
			}
			for _, media := range o.RequestBody.Content {
				for _, at := range s.namesIn(media.Schema, nil) {
					place := method + " " + strings.TrimPrefix(path, apiPrefix) + " " + at
					if !slices.Contains(taken, place) && !slices.ContainsFunc(exempt, func(x string) bool { return strings.HasPrefix(place, x) }) {
						t.Errorf("%s takes a name that this test does not try", place)
					}
				}
			}
		}
	}
}

// namesIn finds the members called name, title or label of a schema.
func (r *running) namesIn(schema *huma.Schema, above []string) (found []string) {
	for schema != nil && schema.Ref != "" {
		schema = r.api.OpenAPI().Components.Schemas.SchemaFromRef(schema.Ref)
	}
	if schema == nil || len(above) > 8 {
		return nil
	}
	found = r.namesIn(schema.Items, above)
	for name, member := range schema.Properties {
		at := append(slices.Clone(above), name)
		if slices.Contains([]string{"name", "title", "label"}, name) && member.Type == huma.TypeString {
			found = append(found, strings.Join(at, "/"))
		}
		found = append(found, r.namesIn(member, at)...)
	}
	return found
}
