package server

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/questions"
	"github.com/noren-privacy/noren/internal/server/store"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares a text with a file, or writes it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; if that is meant: go test ./internal/server -update\n%s", path, diff)
	}
}

// The document of the interface is the committed one.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	text, err := r.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "../../docs/openapi.json", string(text))
	if a := r.ask(t, "GET", "/openapi.json", "", nil, nil); a.body != string(text) {
		t.Error("the server answers with another document")
	}
	for _, m := range r.routes {
		item := r.api.OpenAPI().Paths[m.path]
		if item == nil {
			t.Errorf("%s %s is not in the document", m.method, m.path)
		}
	}
}

const (
	ours    = "aaaaaaaaaaaaaaaa" // the id of an object that a principal has a role on
	theirs  = "bbbbbbbbbbbbbbbb" // of one that exists, without a role
	missing = "cccccccccccccccc" // of one that does not exist
)

// withObjects makes all ids of objects end in ours or theirs, and belong to tb_ours or
// tb_theirs.
func withObjects(r *running) {
	r.mayRead = func(context.Context, string, *questions.Reader) error { return nil }
	for _, prefix := range []string{"tb", "up", "rc", "rl", "jb", "bk", "an"} {
		r.owners[prefix] = func(_ context.Context, id string) (string, error) {
			switch {
			case strings.HasSuffix(id, ours):
				return "tb_" + ours, nil
			case strings.HasSuffix(id, theirs):
				return "tb_" + theirs, nil
			}
			return "", store.ErrNotFound
		}
	}
}

// prefixes of ids, by the collection that a path begins with.
var collections = map[string]string{
	"tables": "tb", "uploads": "up", "recipes": "rc", "releases": "rl", "jobs": "jb", "tokens": "tk",
	"books": "bk", "answers": "an",
}

// path is the path of a route for an object whose id ends in a text.
func (m *mounted) pathFor(t *testing.T, end string) string {
	t.Helper()
	parts := strings.Split(m.path, "/")
	for i, part := range parts {
		if !strings.HasPrefix(part, "{") {
			continue
		}
		if prefix, ok := collections[parts[i-1]]; ok {
			parts[i] = prefix + "_" + end
		} else {
			parts[i] = "name"
		}
	}
	return strings.Join(parts, "/")
}

// admitted is how a route lets a principal in: "yes", or the code of the refusal. The
// handler of the route does not run.
func (r *running) admitted(t *testing.T, m *mounted, actor *auth.Actor, end string) string {
	t.Helper()
	q, err := http.NewRequestWithContext(context.WithValue(t.Context(), identityKey{}, actor), m.method, r.base+m.pathFor(t, end), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range strings.Split(m.path, "/") {
		if strings.HasPrefix(part, "{") {
			q.SetPathValue(strings.Trim(part, "{}"), strings.Split(q.URL.Path, "/")[i])
		}
	}
	plain := m.access
	plain.action = "" // a refusal is not noted
	if _, err := r.admit(q, m.method+" "+m.path, &plain); err != nil {
		text, _, _ := strings.Cut(err.Error(), ":")
		return text
	}
	return "yes"
}

// Every route for every role: testdata/roles.txt is the table. The columns are roles on
// all objects, then roles on the object of the address alone; "stranger" has each role on
// another object.
func TestEveryRouteForEveryRole(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	withObjects(r)
	granted := func(object string, roles ...auth.Role) *auth.Actor {
		a := &auth.Actor{ID: "pr_" + ours, Name: "x"}
		for _, role := range roles {
			a.Grants = append(a.Grants, store.Grant{Object: object, Role: string(role)})
		}
		return a
	}
	columns := []struct {
		name  string
		actor *auth.Actor
	}{
		{"none", nil},
		{"steward *", granted("*", auth.Steward)},
		{"analyst *", granted("*", auth.Analyst)},
		{"auditor *", granted("*", auth.Auditor)},
		{"steward", granted("tb_"+ours, auth.Steward)},
		{"analyst", granted("tb_"+ours, auth.Analyst)},
		{"auditor", granted("tb_"+ours, auth.Auditor)},
		{"stranger", granted("tb_dddddddddddddddd", auth.Roles()...)},
		{"no role", granted("*")},
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%-52s", "")
	for _, c := range columns {
		fmt.Fprintf(&out, " %-15s", c.name)
	}
	fmt.Fprintln(&out)
	slices.SortFunc(r.routes, func(a, b mounted) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	for _, m := range r.routes {
		fmt.Fprintf(&out, "%-52s", m.method+" "+strings.TrimPrefix(m.path, apiPrefix))
		for _, c := range columns {
			fmt.Fprintf(&out, " %-15s", r.admitted(t, &m, c.actor, ours))
		}
		fmt.Fprintln(&out)
	}
	golden(t, "testdata/roles.txt", out.String())
}

// namesObject reports whether a path has the id of an object, rather than the name of a
// configured source.
func namesObject(path string) bool {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if _, ok := collections[parts[max(i, 1)-1]]; ok && strings.HasPrefix(part, "{") {
			return true
		}
	}
	return false
}

// A token of each role on one table gets, on every route with an id, the same answer for
// the id of another table's object as for one that does not exist, byte by byte.
func TestForeignIDsLookMissing(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	withObjects(r)
	tokens := map[auth.Role]string{}
	for _, role := range auth.Roles() {
		tokens[role] = r.token(t, string(role), role, "tb_"+ours)
	}
	r.principals = unlimited()
	r.addresses = unlimited()
	checked := 0
	for _, m := range r.routes {
		if !namesObject(m.path) || m.access.public {
			continue
		}
		for _, role := range auth.Roles() {
			media := m.access.media
			if media == "" {
				media = "application/json"
			}
			send := func(end string) *answer {
				return r.ask(t, m.method, m.pathFor(t, end), tokens[role], nil, func(q *http.Request) {
					q.Header.Set("Content-Type", media)
					q.Header.Set("Accept-Language", []string{"en", "ja"}[checked%2])
				})
			}
			foreign, absent := send(theirs), send(missing)
			if foreign.status != 404 || foreign.code() != "not-found" {
				t.Errorf("%s %s as %s: %d %s", m.method, m.path, role, foreign.status, foreign.body)
			}
			for _, a := range []*answer{foreign, absent} {
				a.header.Del("Date")
				a.header.Set("X-Request-Id", "")
			}
			if m.method != "HEAD" && unnamed(foreign.body) != unnamed(absent.body) || !cmp.Equal(foreign.header, absent.header) {
				t.Errorf("%s %s as %s: another's id gives %s %v and a missing one %s %v", m.method, m.path, role, foreign.body, foreign.header,
					absent.body, absent.header)
			}
			if testing.Short() {
				continue
			}
			for _, bad := range []string{"x", strings.Repeat("a", 17), "AAAAAAAAAAAAAAAA", "..", "%2e%2e%2fserver.db", "aaaaaaaa%00aaaaaaa"} {
				if a := send(bad); a.status != 404 && a.status != 301 && a.status != 307 {
					t.Errorf("%s %s with an id that is none: %d %s", m.method, m.pathFor(t, bad), a.status, a.body)
				}
			}
		}
		checked++
	}
	if checked < 20 {
		t.Errorf("checked %d", checked)
	}
}

// A sealed server signs in and reads, and refuses changes.
func TestSealed(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	r := start(t, func(to *Config) { *to = cfg })
	token := r.token(t, "Ito", auth.Steward, auth.Everything)
	table := (&steward{r, token}).people(t, 10, "x").ID
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(cfg.Dir, "audit.log")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), "steward", "analyst", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	r = start(t, func(to *Config) { *to = cfg })
	var s sessionBody
	a := r.ask(t, "GET", "/api/v1/session", token, nil, nil)
	if a.decode(t, &s); a.status != 200 || !s.Server.Sealed || s.Server.SealedReason == "" {
		t.Errorf("%d %s", a.status, a.body)
	}
	var check auditCheckBody
	a = r.ask(t, "GET", "/api/v1/audit/check", token, nil, nil)
	if a.decode(t, &check); a.status != 200 || check.Sound || check.Reason == "" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.ask(t, "GET", "/api/v1/audit/export", token, nil, nil); a.status != 503 || a.code() != "sealed" {
		t.Errorf("an export of a damaged log: %d %s", a.status, a.body)
	}
	if a := r.ask(t, "POST", "/api/v1/tokens", token, map[string]any{"name": "x", "days": 1}, nil); a.status != 503 || a.code() != "sealed" {
		t.Errorf("a change: %d %s", a.status, a.body)
	}
	if a := r.ask(t, "GET", "/api/v1/tables/"+table+"/rows", token, nil, nil); a.status != 503 || a.code() != "sealed" {
		t.Errorf("raw rows without an entry in the log: %d %s", a.status, a.body)
	}
	if a := r.ask(t, "GET", "/api/v1/tables/"+table, token, nil, nil); a.status != 200 {
		t.Errorf("a table is read: %d %s", a.status, a.body)
	}
	if faults := r.faults(); len(faults) != 1 || !strings.HasPrefix(faults[0], "sealed: ") {
		t.Errorf("health says %q", faults)
	}
	if _, err := r.Host().LoginLink(t.Context(), "Ito"); err == nil {
		t.Error("a link was made without an entry in the log")
	}
}

// Lists go on where the page before ended, and a cursor of another form is refused.
func TestLists(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	token := r.token(t, "Ito", auth.Auditor, auth.Everything)
	for i := range 11 {
		if _, err := r.Host().AddPrincipal(t.Context(), fmt.Sprint("P", i), auth.Analyst, auth.Everything); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]int{"/api/v1/principals": 12, "/api/v1/audit": 13, "/api/v1/tokens": 1} {
		seen, after := 0, ""
		for {
			var p page[map[string]any]
			a := r.ask(t, "GET", path+"?limit=5&after="+after, token, nil, nil)
			if a.decode(t, &p); a.status != 200 || len(p.Items) > 5 {
				t.Fatalf("%s: %d %s", path, a.status, a.body)
			}
			seen += len(p.Items)
			if p.Next == "" {
				break
			}
			after = p.Next
		}
		if seen != want {
			t.Errorf("%s: %d items, want %d", path, seen, want)
		}
		for _, query := range []string{"limit=0", "limit=501", "limit=x", "after=x", "after=%00", "after=MTo", "other=1"} {
			if a := r.ask(t, "GET", path+"?"+query, token, nil, nil); a.status != 422 || a.code() != "invalid" {
				t.Errorf("%s?%s: %d %s", path, query, a.status, a.body)
			}
		}
	}
	if a := r.ask(t, "GET", "/api/v1/audit?after="+cursor("-1"), token, nil, nil); a.status != 422 {
		t.Errorf("%d", a.status)
	}
}

// The audit log is filtered, exported with its own entry, and read by auditors.
func TestAuditRoutes(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	token := r.token(t, "Ito", auth.Auditor, auth.Everything)
	analyst := r.token(t, "Mori", auth.Analyst, auth.Everything)
	if a := r.ask(t, "GET", "/api/v1/audit/export", analyst, nil, nil); a.status != 403 {
		t.Errorf("an analyst: %d", a.status)
	}
	a := r.ask(t, "GET", "/api/v1/audit/export", token, nil, nil)
	lines := strings.Split(strings.TrimSpace(a.body), "\n")
	// Six entries, the names of two principals and two tokens, and the statement.
	if a.status != 200 || len(lines) != 11 || !strings.Contains(lines[4], `"outcome":"forbidden"`) ||
		!strings.Contains(lines[5], "audit.export") {
		t.Errorf("%d %s", a.status, a.body)
	}
	var p page[map[string]any]
	r.ask(t, "GET", "/api/v1/audit?action=principal.add&from=2000-01-01T00:00:00Z&to="+time.Now().AddDate(1, 0, 0).UTC().Format(time.RFC3339),
		token, nil, nil).decode(t, &p)
	if len(p.Items) != 2 {
		t.Errorf("%v", p.Items)
	}
	if a := r.ask(t, "GET", "/api/v1/audit/export?from=yesterday", token, nil, nil); a.status != 422 {
		t.Errorf("%d", a.status)
	}
	var c auditCheckBody
	if r.ask(t, "GET", "/api/v1/audit/check", token, nil, nil).decode(t, &c); !c.Sound || c.Entries < 6 || len(c.Head) != 64 {
		t.Errorf("%+v", c)
	}
}
