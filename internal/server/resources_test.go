package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/examples/clinic"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/records"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// steward is a principal with the role steward on everything.
type steward struct {
	*running
	secret string
}

func (r *running) steward(t *testing.T) *steward {
	t.Helper()
	r.principals, r.addresses = unlimited(), unlimited() // TestRates has the limits
	return &steward{r, r.token(t, "Anna", auth.Steward, auth.Everything)}
}

// do sends a request and waits where there are too many. It fails on another status.
func (s *steward) do(t *testing.T, status int, method, path string, body any, change func(*http.Request)) *answer {
	t.Helper()
	for {
		a := s.ask(t, method, "/api/v1"+path, s.secret, body, change)
		if a.status == http.StatusTooManyRequests && status != a.status {
			time.Sleep(200 * time.Millisecond)
			continue
		}
		if a.status != status {
			t.Fatalf("%s %s: got %d %s, want %d", method, path, a.status, a.body, status)
		}
		return a
	}
}

func match(tag string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("If-Match", tag) }
}

// part sends a part of an upload.
func (s *steward) part(t *testing.T, id string, first, size int64, data []byte, change func(*http.Request)) *answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "PUT", s.base+"/api/v1/uploads/"+id, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	h := request.Header
	h.Set("Authorization", "Bearer "+s.secret)
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, first+int64(len(data))-1, size))
	h.Set("Content-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":")
	if change != nil {
		change(request)
	}
	res, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return &answer{res.StatusCode, res.Header, string(text)}
}

// upload uploads a file in two parts and returns its id.
func (s *steward) upload(t *testing.T, name string, data []byte) string {
	t.Helper()
	var u uploadBody
	s.do(t, 201, "POST", "/uploads", map[string]any{"name": name, "size": len(data)}, nil).decode(t, &u)
	half := len(data) / 2
	for _, p := range [][2]int{{0, half}, {half, len(data)}} {
		if p[0] == p[1] {
			continue
		}
		if a := s.part(t, u.ID, int64(p[0]), int64(len(data)), data[p[0]:p[1]], nil); a.status != 200 {
			t.Fatalf("part: %d %s", a.status, a.body)
		}
	}
	return u.ID
}

// wait waits for a job to end.
func (s *steward) wait(t *testing.T, id string) *jobs.Job {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(60 * time.Millisecond) {
		var job jobs.Job
		s.do(t, 200, "GET", "/jobs/"+id, nil, nil).decode(t, &job)
		if job.State.Ended() {
			return &job
		}
	}
	t.Fatal("the job does not end")
	return nil
}

// finish waits for the job of an answer, which must be done.
func (s *steward) finish(t *testing.T, a *answer) *jobs.Job {
	t.Helper()
	var job jobs.Job
	a.decode(t, &job)
	done := s.wait(t, job.ID)
	if done.State != jobs.Done {
		t.Fatalf("job %s is %s: %s", done.Kind, done.State, done.Problem)
	}
	return done
}

// add adds a table and waits until it is read.
func (s *steward) add(t *testing.T, source tables.Source) *tables.Table {
	t.Helper()
	var added struct {
		Table tables.Table
		Job   jobs.Job
	}
	s.do(t, 202, "POST", "/tables", map[string]any{"source": source}, nil).decode(t, &added)
	s.wait(t, added.Job.ID)
	return s.table(t, added.Table.ID)
}

func (s *steward) table(t *testing.T, id string) *tables.Table {
	t.Helper()
	a := s.do(t, 200, "GET", "/tables/"+id, nil, nil)
	var table tables.Table
	a.decode(t, &table)
	table.Version = version(a.header.Get("ETag"))
	return &table
}

// stated is what the steward states where every proposal is right.
func stated(t *tables.Table) *tables.Stated {
	s := &tables.Stated{Unit: t.Unit, Missing: t.Missing, Columns: []tables.StatedColumn{}, Confirm: true}
	for i := range t.ColumnsDetail {
		c := &t.ColumnsDetail[i]
		s.Columns = append(s.Columns, tables.StatedColumn{
			Name: c.Name, Type: c.Type, Format: c.Format, Order: c.Order, Role: c.Role,
			Bounds: c.Bounds, Round: c.Round,
		})
	}
	return s
}

// confirm confirms a table.
func (s *steward) confirm(t *testing.T, table *tables.Table, change func(*tables.Stated)) *tables.Table {
	t.Helper()
	body := stated(table)
	if change != nil {
		change(body)
	}
	s.do(t, 200, "PUT", "/tables/"+table.ID+"/columns", body, match(etag(table.Version)))
	return s.table(t, table.ID)
}

func clinicFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(clinic.FS(), name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// clinicRoles are those of examples/clinic/noren.yaml.
var clinicRoles = map[string]string{
	"visit_id": "identifier", "person_id": "identifier", "name": "identifier", "age": "quasi-identifier", "sex": "quasi-identifier",
	"postcode":   "quasi-identifier",
	"visit_date": "quasi-identifier", "department": "quasi-identifier", "diagnosis": "sensitive", "severity": "sensitive",
}

// clinic adds and confirms the clinic.
func (s *steward) clinic(t *testing.T) *tables.Table {
	t.Helper()
	table := s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "visits.csv", clinicFile(t, "visits.csv"))})
	table = s.confirm(t, table, func(b *tables.Stated) {
		b.Unit = "person_id"
		for i := range b.Columns {
			c := &b.Columns[i]
			c.Role = clinicRoles[c.Name]
			if c.Role == "" {
				c.Role = "other"
			}
			if c.Name == "postcode" {
				c.Type, c.Format = "category", ""
			}
		}
	})
	for _, column := range []string{"postcode", "department"} {
		text := clinicFile(t, column+".csv")
		a := s.do(t, 200, "PUT", "/tables/"+table.ID+"/hierarchies/"+column, nil, func(r *http.Request) {
			r.Header.Set("Content-Type", "text/csv")
			r.Header.Set("If-Match", etag(table.Version))
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		})
		a.decode(t, table)
		table.Version = version(a.header.Get("ETag"))
	}
	return table
}

func (s *steward) recipe(t *testing.T, table string, change func(*records.Parameters)) *records.Recipe {
	t.Helper()
	var r records.Recipe
	a := s.do(t, 201, "POST", "/tables/"+table+"/recipes", map[string]any{}, nil)
	a.decode(t, &r)
	if change != nil {
		change(&r.Parameters)
		s.do(t, 200, "PUT", "/recipes/"+r.ID, map[string]any{"parameters": r.Parameters}, match(a.header.Get("ETag"))).decode(t, &r)
	}
	return &r
}

// preview makes a preview of a recipe.
func (s *steward) preview(t *testing.T, recipe string) *records.Preview {
	t.Helper()
	s.finish(t, s.do(t, 202, "POST", "/recipes/"+recipe+"/preview", nil, nil))
	var p records.Preview
	s.do(t, 200, "GET", "/recipes/"+recipe+"/preview", nil, nil).decode(t, &p)
	return &p
}

func withKey(key string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Idempotency-Key", key) }
}

// release releases a preview.
func (s *steward) release(t *testing.T, recipe string, p *records.Preview, studied ...string) *records.Release {
	t.Helper()
	body := map[string]any{"recipe": recipe, "preview_sha256": p.Leaving.SHA256, "previous_studied": append([]string{}, studied...)}
	done := s.finish(t, s.do(t, 202, "POST", "/releases", body, withKey("release of "+p.Leaving.SHA256)))
	var result struct{ Release string }
	if err := json.Unmarshal(done.Result, &result); err != nil {
		t.Fatal(err)
	}
	var out records.Release
	s.do(t, 200, "GET", "/releases/"+result.Release, nil, nil).decode(t, &out)
	return &out
}

// The way of a steward: from an upload to a certificate.
func TestReleaseOfTheClinic(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	r := start(t, nil)
	s := r.steward(t)
	table := s.clinic(t)
	if table.State != "confirmed" || table.Rows != 5000 || table.Persons == 0 || table.Health != "sound" {
		t.Fatalf("%+v", table.Line)
	}
	recipe := s.recipe(t, table.ID, nil)
	if len(recipe.Problems) > 0 || recipe.Parameters.K != 5 ||
		recipe.Command != "noren anonymize visits.csv -o visits-k5.csv --spec noren.yaml" {
		t.Errorf("%+v", recipe)
	}
	s.do(t, 404, "GET", "/recipes/"+recipe.ID+"/preview", nil, nil)
	p := s.preview(t, recipe.ID)
	if !p.Gate.Open || p.Stale || p.After.K < 5 || p.Leaving.Rows != 5000 || p.Today.Unit != "person" || p.Today.Unique == 0 ||
		p.After.HighestRisk > 0.2 || p.After.Loss <= 0 || p.After.QueryError == nil || *p.After.QueryError <= 0 {
		t.Errorf("%+v %+v %+v %+v", p.Gate, p.After, p.Leaving, p.Today)
	}
	if len(p.Pictures.Histograms) != 5 || p.Pictures.Scatter == nil || len(p.Pictures.Scatter.Before.Points) != 5000 || len(p.Columns) != 15 ||
		len(p.Leaving.Columns) != 12 {
		t.Errorf("%d histograms, %d columns, %d leaving", len(p.Pictures.Histograms), len(p.Columns), len(p.Leaving.Columns))
	}
	if len(p.Statement) < 3 || p.Statement[0].Code != "promise" || !strings.Contains(p.Statement[0].Text, "k = 5 persons (person_id)") ||
		len(p.NotCovered) == 0 {
		t.Errorf("%+v", p.Statement)
	}
	rel := s.release(t, recipe.ID, p)
	if rel.SHA256 != p.Leaving.SHA256 || rel.K != 5 || rel.By != "Anna" || rel.Rows != 5000 || rel.FileName != "visits-k5.csv" ||
		!strings.Contains(rel.SeedCommand, " --seed ") {
		t.Errorf("%+v", rel)
	}
	file := s.do(t, 200, "GET", "/releases/"+rel.ID+"/file", nil, nil)
	sum := sha256.Sum256([]byte(file.body))
	if fmt.Sprintf("%x", sum) != rel.SHA256 || file.header.Get("Repr-Digest") != "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":" ||
		file.header.Get("Content-Disposition") != "attachment; filename=visits-k5.csv" {
		t.Errorf("the file has the SHA-256 %x: %v", sum, file.header)
	}
	cert := s.do(t, 200, "GET", "/releases/"+rel.ID+"/certificate", nil, nil)
	var checked struct{ Valid, Trusted bool }
	s.do(t, 200, "POST", "/certificates/check", map[string]any{"certificate": json.RawMessage(cert.body), "sha256": rel.SHA256}, nil).
		decode(t, &checked)
	if !checked.Valid || !checked.Trusted {
		t.Errorf("%s", cert.body)
	}
	s.bundle(t, rel)
	const single = "One steward decided on this release; the server asks for no second approval (single-steward)."
	if page := s.do(t, 200, "GET", "/releases/"+rel.ID+"/dossier", nil, nil); !strings.Contains(page.body, "visits-k5.csv") ||
		strings.Contains(page.body, r.cfg.Dir) {
		t.Error("the dossier names a folder of the server, or no file")
	} else if !strings.Contains(page.body, single) {
		t.Error("the dossier does not say that a single steward decided")
	}
	t.Run("the certificate states what the preview stated", func(t *testing.T) {
		signed, err := certificate.Parse([]byte(cert.body))
		if err != nil {
			t.Fatal(err)
		}
		if got := signed.Certificate.Guarantee.String(); got != p.Statement[0].Text || signed.Certificate.Released.Name != rel.FileName {
			t.Errorf("%q, want %q", got, p.Statement[0].Text)
		}
		if notes := signed.Certificate.Notes; len(notes) != 1 || notes[0] != single {
			t.Errorf("the notes are %q", notes)
		}
	})
	t.Run("the audit log has it", func(t *testing.T) {
		log := s.do(t, 200, "GET", "/audit?object="+rel.ID, nil, nil).body
		for _, want := range []string{`"release"`, rel.SHA256, "single-steward", `"release.file"`} {
			if !strings.Contains(log, want) {
				t.Errorf("no %s in %s", want, log)
			}
		}
	})
	t.Run("a repeated request has the same answer", func(t *testing.T) {
		body := map[string]any{"recipe": recipe.ID, "preview_sha256": p.Leaving.SHA256, "previous_studied": []string{}}
		first := s.do(t, 202, "POST", "/releases", body, withKey("release of "+p.Leaving.SHA256))
		again := s.do(t, 202, "POST", "/releases", body, withKey("release of "+p.Leaving.SHA256))
		if first.body != again.body {
			t.Errorf("%s, then %s", first.body, again.body)
		}
		body["previous_studied"] = []string{rel.ID}
		if a := s.do(t, 409, "POST", "/releases", body, withKey("release of "+p.Leaving.SHA256)); a.code() != "conflict" {
			t.Error(a.body)
		}
		if a := s.do(t, 422, "POST", "/releases", body, withKey("another")); a.code() != "guarantee-not-met" ||
			!strings.Contains(a.body, "no-preview") {
			t.Errorf("a preview that has left: %s", a.body)
		}
		s.do(t, 422, "POST", "/releases", body, nil)
	})
	t.Run("an earlier release is studied", func(t *testing.T) {
		other := s.recipe(t, table.ID, func(p *records.Parameters) { p.K = 8 })
		p := s.preview(t, other.ID)
		if p.Gate.Open || len(p.Earlier) != 1 || p.Gate.Reasons[0].Code != "previous-unstudied" {
			t.Fatalf("%+v, %+v", p.Gate, p.Earlier)
		}
		var ja records.Preview
		s.do(t, 200, "GET", "/recipes/"+other.ID+"/preview", nil, speaking("ja")).decode(t, &ja)
		if p.Earlier[0].Common == nil || p.Earlier[0].Common.Text != "the same table" || ja.Earlier[0].Common.Text != "同じ表" {
			t.Errorf("why it may be of the same people: %+v, in Japanese %+v", p.Earlier[0].Common, ja.Earlier[0].Common)
		}
		body := map[string]any{"recipe": other.ID, "preview_sha256": p.Leaving.SHA256}
		if a := s.do(t, 422, "POST", "/releases", body, withKey("unstudied")); !strings.Contains(a.body, "previous-unstudied") {
			t.Error(a.body)
		}
		done := s.finish(t, s.do(t, 202, "POST", "/recipes/"+other.ID+"/compare", map[string]any{"with": rel.ID}, nil))
		var c records.Comparison
		if err := json.Unmarshal(done.Result, &c); err != nil || c.Least < 1 || c.Common != table.Persons || len(c.Candidates) != 2 ||
			len(c.Text) != 2 {
			t.Errorf("%s, %v", done.Result, err)
		}
		s.do(t, 200, "GET", "/recipes/"+other.ID+"/preview", nil, nil).decode(t, p)
		if !p.Gate.Open {
			t.Errorf("after the comparison: %+v", p.Gate)
		}
		second := s.release(t, other.ID, p)
		done = s.finish(t, s.do(t, 202, "POST", "/releases/"+second.ID+"/compare", map[string]any{"with": rel.ID}, nil))
		if !strings.Contains(string(done.Result), `"least":`) {
			t.Errorf("%s", done.Result)
		}
		s.do(t, 422, "POST", "/releases/"+second.ID+"/compare", map[string]any{"with": second.ID}, nil)
	})
	t.Run("an analyst sees what is public", func(t *testing.T) {
		a := &steward{r, r.token(t, "Ben", auth.Analyst, table.ID)}
		seen := a.table(t, table.ID)
		if seen.Rows != 0 || seen.Persons != 0 || len(seen.ColumnsDetail) != 15 || seen.ColumnsDetail[3].Distinct != nil ||
			seen.ColumnsDetail[3].Missing != nil || seen.ColumnsDetail[3].TypeReason != nil || seen.Source.Label != "" {
			t.Errorf("%+v", seen)
		}
		var shown records.Release
		a.do(t, 200, "GET", "/releases/"+rel.ID, nil, nil).decode(t, &shown)
		if shown.SeedCommand != "" || shown.SHA256 != rel.SHA256 {
			t.Errorf("%+v", shown)
		}
		a.do(t, 200, "GET", "/releases/"+rel.ID+"/file", nil, nil)
		a.do(t, 403, "GET", "/releases/"+rel.ID+"/dossier", nil, nil)
		a.do(t, 403, "GET", "/tables/"+table.ID+"/rows", nil, nil)
		a.do(t, 403, "GET", "/recipes/"+recipe.ID, nil, nil)
		none := &steward{r, r.token(t, "Cleo", auth.Analyst, "tb_aaaaaaaaaaaaaaaa")}
		for _, path := range []string{
			"/tables/" + table.ID, "/recipes/" + recipe.ID, "/releases/" + rel.ID, "/releases/" + rel.ID + "/file",
			"/tables/" + table.ID + "/rows",
		} {
			there, missing := none.do(t, 404, "GET", path, nil, nil),
				none.do(t, 404, "GET", strings.Replace(path, path[strings.Index(path, "_")+1:strings.Index(path, "_")+17], "bbbbbbbbbbbbbbbb", 1), nil,
					nil)
			if unnamed(there.body) != unnamed(missing.body) {
				t.Errorf("%s: %s, %s", path, there.body, missing.body)
			}
		}
	})
	t.Run("the release stays when the table goes", func(t *testing.T) {
		s.do(t, 428, "DELETE", "/tables/"+table.ID, nil, nil)
		s.do(t, 412, "DELETE", "/tables/"+table.ID, nil, match(`"1"`))
		s.do(t, 204, "DELETE", "/tables/"+table.ID, nil, match(etag(table.Version)))
		s.do(t, 404, "GET", "/tables/"+table.ID, nil, nil)
		s.do(t, 404, "GET", "/recipes/"+recipe.ID, nil, nil)
		s.do(t, 200, "GET", "/releases/"+rel.ID+"/file", nil, nil)
		if entries, err := os.ReadDir(r.path("tables")); err != nil || len(entries) > 0 {
			t.Errorf("%d folders of tables, %v", len(entries), err)
		}
	})
}

// The command line makes the same file of the recipe, the table and the seed, byte for
// byte.
func TestCommandMakesTheSameFile(t *testing.T) {
	randtest.SkipShort(t)
	r := start(t, nil)
	s := r.steward(t)
	table := s.clinic(t)
	recipe := s.recipe(t, table.ID, func(p *records.Parameters) { p.K, p.Publish, p.Ranges, p.L = 6, "generalize", "fixed", 2 })
	p := s.preview(t, recipe.ID)
	rel := s.release(t, recipe.ID, p)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "visits.csv"), clinicFile(t, "visits.csv"), 0o600); err != nil {
		t.Fatal(err)
	}
	yaml := s.do(t, 200, "GET", "/recipes/"+recipe.ID+"/file", nil, nil).body
	if own := s.do(t, 200, "GET", "/releases/"+rel.ID+"/recipe", nil, nil).body; own != yaml {
		t.Errorf("the recipe of the release is another:\n%s\n%s", own, yaml)
	}
	if err := os.WriteFile(filepath.Join(dir, "noren.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "hierarchies"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, column := range []string{"postcode", "department"} {
		text := s.do(t, 200, "GET", "/tables/"+table.ID+"/hierarchies/"+column, nil, nil).body
		name := ""
		for _, line := range strings.Split(yaml, "\n") {
			if at := strings.Index(line, "hierarchies/"+column); at >= 0 {
				name = line[at:]
			}
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	words := strings.Fields(rel.SeedCommand)
	c := exec.CommandContext(t.Context(), os.Args[0], append(words[1:], "--certificate", "cert.json")...)
	c.Dir = dir
	c.Env = append(os.Environ(), "NOREN_TEST_COMMAND=1", "NOREN_KEY="+filepath.Join(dir, "key.pem"))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", rel.SeedCommand, err, out)
	}
	made, err := os.ReadFile(filepath.Join(dir, rel.FileName))
	if err != nil {
		t.Fatal(err)
	}
	if file := s.do(t, 200, "GET", "/releases/"+rel.ID+"/file", nil, nil); file.body != string(made) {
		t.Error("the command makes another file")
	}
	own, err := certificate.Load(filepath.Join(dir, "cert.json"))
	if err != nil {
		t.Fatal(err)
	}
	served, err := certificate.Parse([]byte(s.do(t, 200, "GET", "/releases/"+rel.ID+"/certificate", nil, nil).body))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := own.Certificate, served.Certificate; a.Guarantee.String() != b.Guarantee.String() || a.Released != b.Released ||
		string(a.Mechanism.Parameters) != string(b.Mechanism.Parameters) {
		t.Errorf("certificates state %+v and %+v", a, b)
	}
}

// The curve of the clinic is complete, and its points come one by one.
func TestCurveOfTheClinic(t *testing.T) {
	t.Parallel()
	randtest.SkipShort(t)
	r := start(t, nil)
	s := r.steward(t)
	table := s.clinic(t)
	recipe := s.recipe(t, table.ID, nil)
	begun := time.Now()
	var job jobs.Job
	s.do(t, 202, "POST", "/recipes/"+recipe.ID+"/curve", map[string]any{}, nil).decode(t, &job)
	request, err := http.NewRequestWithContext(t.Context(), "GET", r.base+"/api/v1/jobs/"+job.ID+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.secret)
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the curve took %v", time.Since(begun))
	if points := strings.Count(string(text), "event: point"); points != 12 || strings.Count(string(text), "event: done") != 1 {
		t.Errorf("%d points: %s", points, text)
	}
	var c records.Curve
	s.do(t, 200, "GET", "/recipes/"+recipe.ID+"/curve", nil, nil).decode(t, &c)
	if c.State != "done" || len(c.Points) != 12 || c.Points[0].K != 2 || c.Points[0].Smallest < 2 || c.Points[0].Loss <= 0 ||
		c.Points[0].QueryError == nil || *c.Points[0].QueryError <= 0 || c.Points[11].Loss < c.Points[0].Loss || c.Stale {
		t.Errorf("%+v", c)
	}
}
