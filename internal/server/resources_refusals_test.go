package server

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/records"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// people is a small table of n records, with a text in a column of its own.
func people(n int, note string) []byte {
	var b bytes.Buffer
	b.WriteString("person,age,height,city,note\n")
	for i := range n {
		fmt.Fprintf(&b, "p%03d,%d,%d,%s,%s\n", i, 20+i*7%60, 150+i*11%40, []string{"Nara", "Kobe", "Osaka"}[i%3], note)
	}
	return b.Bytes()
}

// peopleRoles states the roles of people.
func peopleRoles(b *tables.Stated) {
	b.Unit = ""
	for i := range b.Columns {
		c := &b.Columns[i]
		c.Role = map[string]string{
			"person": "identifier", "age": "quasi-identifier", "height": "quasi-identifier",
			"city": "quasi-identifier",
		}[c.Name]
		if c.Role == "" {
			c.Role = "other"
		}
	}
}

func (s *steward) people(t *testing.T, n int, note string) *tables.Table {
	t.Helper()
	return s.confirm(t, s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "people.csv", people(n, note))}), peopleRoles)
}

func TestUploadRoutes(t *testing.T) {
	t.Parallel()
	r := start(t, func(c *Config) { c.UploadLimit = 1000 })
	s := r.steward(t)
	s.do(t, 413, "POST", "/uploads", map[string]any{"name": "x.csv", "size": 1001}, nil)
	s.do(t, 422, "POST", "/uploads", map[string]any{"name": "../x.csv", "size": 10}, nil)
	s.do(t, 422, "POST", "/uploads", map[string]any{"name": "x.csv", "size": 0}, nil)
	var u uploadBody
	s.do(t, 201, "POST", "/uploads", map[string]any{"name": "x.csv", "size": 6}, nil).decode(t, &u)
	for _, c := range []struct {
		name   string
		first  int64
		data   string
		change func(*http.Request)
		status int
		code   string
	}{
		{"behind the end", 3, "def", nil, 416, "range"},
		{
			"another digest", 0, "abc", func(r *http.Request) { r.Header.Set("Content-Digest", "sha-256=:"+strings.Repeat("A", 43)+"=:") }, 422,
			"invalid",
		},
		{"no digest", 0, "abc", func(r *http.Request) { r.Header.Del("Content-Digest") }, 422, "invalid"},
		{"no range", 0, "abc", func(r *http.Request) { r.Header.Del("Content-Range") }, 422, "invalid"},
		{"longer than its range", 0, "abc", func(r *http.Request) { r.Header.Set("Content-Range", "bytes 0-1/6") }, 422, "invalid"},
		{"another type", 0, "abc", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415, "media-type"},
	} {
		if a := s.part(t, u.ID, c.first, 6, []byte(c.data), c.change); a.status != c.status || a.code() != c.code || c.status == 416 &&
			a.header.Get("Upload-Offset") != "0" {
			t.Errorf("%s: %d %s", c.name, a.status, a.body)
		}
	}
	// A connection that is cut leaves the upload at the part before.
	if a := s.part(t, u.ID, 0, 6, []byte("abc"), nil); a.status != 200 {
		t.Fatal(a.body)
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "PUT /api/v1/uploads/%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: "+
		"application/octet-stream\r\nContent-Length: 3\r\nContent-Range: bytes 3-5/6\r\nContent-Digest: sha-256=:%sA=:\r\n\r\nd",
		u.ID, conn.RemoteAddr(), s.secret, strings.Repeat("A", 42))
	_ = conn.Close()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) { // until the cut request has ended
		a := s.part(t, u.ID, 3, 6, []byte("def"), nil)
		if a.status == 200 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after a cut: %d %s", a.status, a.body)
		}
	}
	head := s.do(t, 200, "HEAD", "/uploads/"+u.ID, nil, nil)
	if head.header.Get("Upload-Offset") != "6" {
		t.Errorf("%v", head.header)
	}
	other := &steward{r, r.token(t, "Ben", auth.Steward, auth.Everything)}
	other.do(t, 404, "GET", "/uploads/"+u.ID, nil, nil)
	other.do(t, 404, "DELETE", "/uploads/"+u.ID, nil, nil)
	s.do(t, 204, "DELETE", "/uploads/"+u.ID, nil, nil)
	s.do(t, 404, "GET", "/uploads/"+u.ID, nil, nil)
}

// Files of granted folders alone are read: no link and no path leads out of them.
func TestGrantedFolders(t *testing.T) {
	t.Parallel()
	outside, root := t.TempDir(), patientFiles(t)
	write := func(path string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "secret.csv"), people(30, "SECRET"))
	write(filepath.Join(root, "people.csv"), people(30, "x"))
	write(filepath.Join(root, "notes.doc"), []byte("x"))
	if err := os.Mkdir(filepath.Join(root, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(root, "sub", "more.csv"), people(30, "x"))
	for name, to := range map[string]string{
		"out.csv": filepath.Join(outside, "secret.csv"), "outside": outside,
		"up.csv": "../" + filepath.Base(outside) + "/secret.csv", "inside.csv": "sub/more.csv",
	} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	s := start(t, func(c *Config) { c.Roots = map[string]string{"data": root} }).steward(t)
	var listed rootBody
	s.do(t, 200, "GET", "/sources/roots/data", nil, nil).decode(t, &listed)
	var names []string
	for _, e := range listed.Entries {
		names = append(names, e.Name)
	}
	if !slices.Equal(names, []string{"inside.csv", "people.csv", "sub"}) {
		t.Errorf("listed %v", names)
	}
	s.do(t, 200, "GET", "/sources/roots/data?path=sub", nil, nil)
	for _, path := range []string{"..", "../", "sub/../..", "/etc", "outside", "%5c..", "sub%00", "nothing", "people.csv"} {
		if a := s.do(t, 404, "GET", "/sources/roots/data?path="+path, nil, nil); a.code() != "not-found" {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	s.do(t, 404, "GET", "/sources/roots/etc", nil, nil)
	s.do(t, 404, "GET", "/sources/databases/none", nil, nil)
	for _, path := range []string{
		"out.csv", "up.csv", "outside/secret.csv", "../" + filepath.Base(outside) + "/secret.csv",
		filepath.Join(outside, "secret.csv"), "sub", ".", "", "people.csv/..",
	} {
		body := map[string]any{"source": map[string]any{"kind": "root", "root": "data", "path": path}}
		if a := s.do(t, 404, "POST", "/tables", body, nil); a.code() != "not-found" || strings.Contains(a.body, outside) {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	for _, path := range []string{"inside.csv", "sub/../sub/more.csv"} {
		if table := s.add(t, tables.Source{Kind: "root", Root: "data", Path: path}); table.State != "proposed" || table.Rows != 30 {
			t.Errorf("%s: %+v", path, table)
		}
	}
}

// A file that changes at its source must be confirmed again, and is copied again then.
func TestChangedSource(t *testing.T) {
	t.Parallel()
	root := patientFiles(t)
	path := filepath.Join(root, "people.csv")
	write := func(data []byte, at time.Time) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Now().Add(-time.Hour)
	write(people(40, "x"), at)
	s := start(t, func(c *Config) { c.Roots = map[string]string{"data": root} }).steward(t)
	table := s.confirm(t, s.add(t, tables.Source{Kind: "root", Root: "data", Path: "people.csv"}), peopleRoles)
	recipe := s.recipe(t, table.ID, nil)
	s.preview(t, recipe.ID)
	write(people(60, "x"), at.Add(time.Minute))
	table = s.table(t, table.ID)
	if table.State != "changed" || table.Health != "waiting" || table.Reason.Code != "table-changed" {
		t.Fatalf("%+v", table.Line)
	}
	s.do(t, 422, "POST", "/recipes/"+recipe.ID+"/preview", nil, nil)
	var p records.Preview
	s.do(t, 200, "GET", "/recipes/"+recipe.ID+"/preview", nil, nil).decode(t, &p)
	if p.Gate.Open || p.Gate.Reasons[0].Code != "table-changed" {
		t.Errorf("%+v", p.Gate)
	}
	table = s.confirm(t, table, nil)
	if table.State != "confirmed" || table.Rows != 60 {
		t.Errorf("%+v", table.Line)
	}
	if got := s.preview(t, recipe.ID); got.Leaving.Rows != 60 || !got.Gate.Open {
		t.Errorf("%+v %+v", got.Leaving, got.Gate)
	}
	write(bytes.Replace(people(60, "x"), []byte("height"), []byte("weight"), 1), at.Add(2*time.Minute))
	table = s.table(t, table.ID)
	if a := s.do(t, 422, "PUT", "/tables/"+table.ID+"/columns", stated(table), match(etag(table.Version))); a.code() != "unfit" {
		t.Errorf("other columns: %s", a.body)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	table = s.table(t, table.ID)
	if table.State != "changed" {
		t.Errorf("a file that is gone: %+v", table.Line)
	}
	entries, err := os.ReadDir(filepath.Join(s.path("tables"), table.ID))
	if err != nil || len(entries) != 1 {
		t.Errorf("%d copies, %v", len(entries), err)
	}
}

// Bounds that are no values of their column are refused at once, in the language of the request, with the
// column named; the table stays as it was.
func TestBoundsOfColumns(t *testing.T) {
	t.Parallel()
	s := start(t, nil).steward(t)
	table := s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "people.csv", people(30, "x"))})
	for name, c := range map[string]struct {
		column string
		bounds []string
		want   string
	}{
		"words":        {"age", []string{"young", "old"}, "column age: bound 1: "},
		"a fraction":   {"age", []string{"0", "99.5"}, "column age: bound 2: "},
		"turned round": {"height", []string{"200", "100"}, "column height: the lower bound is not below the upper"},
		"one":          {"age", []string{"0"}, "column age: expected two bounds, got 1"},
		"half":         {"age", []string{"0", ""}, "column age: bound 2 is a text that means a missing value"},
		"missing":      {"age", []string{"0", "999"}, "column age: bound 2 is a text that means a missing value"},
		"of texts":     {"city", []string{"a", "b"}, "column city: bounds are for an integer, decimal or date column, and this one is category"},
	} {
		body := stated(table)
		body.Confirm, body.Missing = name != "half", []string{"999"}
		for i := range body.Columns {
			if body.Columns[i].Name == c.column {
				body.Columns[i].Bounds = c.bounds
			}
		}
		a := s.do(t, 422, "PUT", "/tables/"+table.ID+"/columns", body, match(etag(table.Version)))
		if a.code() != "invalid" || !strings.Contains(string(a.body), c.want) || !strings.Contains(string(a.body), "/bounds") {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	if again := s.table(t, table.ID); again.Version != table.Version {
		t.Errorf("version %d, was %d", again.Version, table.Version)
	}
	s.confirm(t, table, func(b *tables.Stated) {
		peopleRoles(b)
		for i := range b.Columns {
			if b.Columns[i].Name == "age" {
				b.Columns[i].Bounds = []string{"-10", "110"}
			}
		}
	})
}

// Every value is checked before a table is confirmed; problems count misfits and never
// show one.
func TestConfirmation(t *testing.T) {
	t.Parallel()
	s := start(t, nil).steward(t)
	data := []byte("person,age,city\np1,31,Nara\np2,CANARY7,Kobe\np3,44,Osaka\np4,50,Nara\n")
	table := s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "x.csv", data)})
	if table.State != "proposed" || table.ColumnsDetail[1].Decided || table.Reason.Code != "table-unconfirmed" {
		t.Fatalf("%+v", table)
	}
	integers := func(b *tables.Stated) {
		b.Columns[1].Type, b.Columns[1].Role, b.Columns[0].Role, b.Unit = "integer", "quasi-identifier", "identifier", ""
	}
	put := func(status int, change func(*tables.Stated), tag func(*http.Request)) *answer {
		body := stated(table)
		integers(body)
		if change != nil {
			change(body)
		}
		return s.do(t, status, "PUT", "/tables/"+table.ID+"/columns", body, tag)
	}
	tag := match(etag(table.Version))
	put(428, nil, nil)
	put(412, nil, match(`"9"`))
	put(412, nil, match("9"))
	a := put(422, nil, tag)
	if a.code() != "unfit" || !strings.Contains(a.body, `"pointer":"/columns/1"`) ||
		!strings.Contains(a.body, "1 value is not of type integer, the first in records 2") || strings.Contains(a.body, "CANARY") {
		t.Error(a.body)
	}
	if a := put(422, func(b *tables.Stated) { b.Columns = b.Columns[:2] }, tag); a.code() != "column-undecided" ||
		!strings.Contains(a.body, "city") {
		t.Error(a.body)
	}
	for name, change := range map[string]func(*tables.Stated){
		"no such column":       func(b *tables.Stated) { b.Columns[0].Name = "else" },
		"twice":                func(b *tables.Stated) { b.Columns[0].Name = "age" },
		"one bound":            func(b *tables.Stated) { b.Columns[1].Bounds = []string{"1"} },
		"no levels":            func(b *tables.Stated) { b.Columns[1].Type = "ordered" },
		"no such unit":         func(b *tables.Stated) { b.Unit = "else" },
		"a unit that is kept":  func(b *tables.Stated) { b.Unit = "city" },
		"a type of its own":    func(b *tables.Stated) { b.Columns[1].Type = "colour" },
		"a format of no sense": func(b *tables.Stated) { b.Columns[1].Type, b.Columns[1].Format = "date", "QQ" },
	} {
		if a := put(422, change, tag); a.code() == "" {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	if now := s.table(t, table.ID); now.Version != table.Version || now.State != "proposed" {
		t.Errorf("a refusal changed the table: %+v", now.Line)
	}
	put(200, func(b *tables.Stated) { b.Missing = append(b.Missing, "CANARY7") }, tag)
	table = s.table(t, table.ID)
	if table.State != "confirmed" || table.Confirmed.By == "" || !table.ColumnsDetail[1].Decided || *table.ColumnsDetail[1].Missing != 1 {
		t.Errorf("%+v", table)
	}
	put(200, func(b *tables.Stated) { b.Confirm = false }, match(etag(table.Version)))
	table = s.table(t, table.ID)
	if table.State != "proposed" {
		t.Errorf("columns that were changed without confirming: %+v", table.Line)
	}
}

// What is wrong with a file is a problem of its table, without a value and without a path.
func TestUnreadableFiles(t *testing.T) {
	t.Parallel()
	s := start(t, nil).steward(t)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(people(30, "x"))
	_ = w.Close()
	for name, c := range map[string]struct {
		file string
		data []byte
		code string
	}{
		"ragged":             {"a.csv", []byte("a,b\n1,2\n3\nCANARY,4,5\n"), "unfit"},
		"no workbook":        {"a.xlsx", []byte("PK\x03\x04CANARY"), ""},
		"no parquet":         {"a.parquet", []byte("PAR1CANARY"), ""},
		"no gzip":            {"a.csv.gz", []byte("\x1f\x8bCANARY"), ""},
		"cut gzip":           {"b.csv.gz", packed.Bytes()[:packed.Len()/2], ""},
		"header alone":       {"c.csv", []byte("a,b\n"), ""},
		"first line is data": {"d.csv", []byte("1,2024-01-02,CANARY@example.org\n2,2024-01-03,b@example.org\n"), "first-line-is-data"},
	} {
		table := s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, c.file, c.data)})
		if table.State != "failed" || table.Health != "stopped" || c.code != "" &&
			!strings.Contains(string(table.Failure), `"code":"`+c.code+`"`) {
			t.Errorf("%s: %+v %s", name, table.Line, table.Failure)
		}
		for _, bad := range []string{"CANARY", s.cfg.Dir, "new-", `"code":"internal"`} {
			if strings.Contains(string(table.Failure), bad) {
				t.Errorf("%s: the problem holds %s: %s", name, bad, table.Failure)
			}
		}
		s.do(t, 409, "GET", "/tables/"+table.ID+"/rows", nil, nil)
		s.do(t, 204, "DELETE", "/tables/"+table.ID, nil, match(etag(table.Version)))
	}
	if table := s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "people.csv.gz", packed.Bytes())}); table.State != "proposed" ||
		table.Rows != 30 {
		t.Errorf("%+v %s", table.Line, table.Failure)
	}
	id := s.upload(t, "program.exe", []byte("MZ"))
	s.do(t, 422, "POST", "/tables", map[string]any{"source": map[string]any{"kind": "upload", "upload": id}}, nil)
	s.do(t, 404, "POST", "/tables", map[string]any{"source": map[string]any{"kind": "upload", "upload": "up_aaaaaaaaaaaaaaaa"}}, nil)
}

// Names with markup and with what commands and patterns are made of stay text.
func TestNamesStayText(t *testing.T) {
	t.Parallel()
	s := start(t, nil).steward(t)
	data := []byte("<script>alert(1)</script>,\"=cmd|' /C calc'!A0\",age\n" + strings.Repeat("a,=1+1,30\nb,=2+2,31\nc,=3+3,32\n", 5))
	table := s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "<img src=x onerror=a>*?sheet=1 $(id).csv", data)})
	if table.State != "proposed" || table.Name != "<img src=x onerror=a>*?sheet=1 $(id).csv" {
		t.Fatalf("%+v %s", table.Line, table.Failure)
	}
	a := s.do(t, 200, "GET", "/tables/"+table.ID, nil, nil)
	if !strings.Contains(a.header.Get("Content-Type"), "application/json") || a.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s %v", a.body, a.header)
	}
	table = s.confirm(t, table, func(b *tables.Stated) {
		b.Unit = ""
		b.Columns[0].Role, b.Columns[1].Role, b.Columns[2].Role = "other", "other", "quasi-identifier"
	})
	recipe := s.recipe(t, table.ID, nil)
	if !strings.HasPrefix(recipe.Command, "noren anonymize img_src_x_onerror_a___sheet_1___id.csv -o ") {
		t.Errorf("%s", recipe.Command)
	}
	p := s.preview(t, recipe.ID)
	rel := s.release(t, recipe.ID, p)
	file := s.do(t, 200, "GET", "/releases/"+rel.ID+"/file", nil, nil).body
	// Cells that were kept are as they were: docs/formats.md says what that means.
	if !strings.HasPrefix(file, "<script>alert(1)</script>,=cmd|' /C calc'!A0,age\n") || strings.Count(file, "=1+1") != 5 {
		t.Errorf("%s", file)
	}
	if page := s.do(t, 200, "GET", "/releases/"+rel.ID+"/dossier", nil, nil); strings.Contains(page.body, "<script>alert") ||
		!strings.HasPrefix(page.header.Get("Content-Disposition"), "attachment") {
		t.Error("the dossier holds a script, or is no attachment")
	}
}

// The gate is shut, with its reasons, while something is missing.
func TestGate(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *Config) { c.LeastK = 4 }).steward(t)
	table := s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "people.csv", people(60, "x"))})
	recipe := s.recipe(t, table.ID, nil)
	if recipe.Parameters.K != 4 || recipe.Problems[0].Code != "table-unconfirmed" {
		t.Errorf("%+v", recipe)
	}
	for _, path := range []string{"/preview", "/curve"} {
		if a := s.do(t, 422, "POST", "/recipes/"+recipe.ID+path, nil, nil); a.code() != "guarantee-not-met" ||
			!strings.Contains(a.body, "table-unconfirmed") {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	s.confirm(t, table, peopleRoles)
	put := func(status int, change func(*records.Parameters)) *records.Recipe {
		t.Helper()
		var r records.Recipe
		a := s.do(t, 200, "GET", "/recipes/"+recipe.ID, nil, nil)
		a.decode(t, &r)
		change(&r.Parameters)
		a = s.do(t, status, "PUT", "/recipes/"+recipe.ID, map[string]any{"parameters": r.Parameters}, match(a.header.Get("ETag")))
		if status == 200 {
			a.decode(t, &r)
		}
		return &r
	}
	codes := func(all []records.Message) (out []string) {
		for _, m := range all {
			out = append(out, m.Code)
		}
		return out
	}
	for _, c := range []struct {
		change func(*records.Parameters)
		want   string
	}{
		{func(p *records.Parameters) { p.K = 3 }, "least-k"},
		{func(p *records.Parameters) { p.K = 61 }, "k-large"},
		{func(p *records.Parameters) { p.K, p.L = 4, 2 }, "no-sensitive"},
		{func(p *records.Parameters) { p.L, p.Ranges = 0, "fixed" }, "ranges"},
		{func(p *records.Parameters) { p.Ranges, p.Pseudonym = "", true }, "pseudonym"},
		{func(p *records.Parameters) { p.Pseudonym, p.Suppress = false, "many" }, "parameter"},
	} {
		if r := put(200, c.change); !slices.Contains(codes(r.Problems), c.want) {
			t.Errorf("got %v, want %s", codes(r.Problems), c.want)
		}
		s.do(t, 422, "POST", "/recipes/"+recipe.ID+"/preview", nil, nil)
	}
	put(200, func(p *records.Parameters) { p.Suppress = "" })
	put(422, func(p *records.Parameters) { p.Columns = map[string]records.Role{"else": {Role: "other"}} })
	put(422, func(p *records.Parameters) { p.Refine = "20s" })
	put(422, func(p *records.Parameters) { p.K = 0 })
	p := s.preview(t, recipe.ID)
	if !p.Gate.Open {
		t.Fatalf("%+v", p.Gate)
	}
	get := func() *records.Preview {
		t.Helper()
		var p records.Preview
		s.do(t, 200, "GET", "/recipes/"+recipe.ID+"/preview", nil, nil).decode(t, &p)
		return &p
	}
	body := map[string]any{"recipe": recipe.ID, "preview_sha256": strings.Repeat("0", 64)}
	if a := s.do(t, 422, "POST", "/releases", body, withKey("other")); !strings.Contains(a.body, "preview-other") {
		t.Error(a.body)
	}
	put(200, func(p *records.Parameters) { p.K = 6 })
	if now := get(); !now.Stale || !slices.Equal(codes(now.Gate.Reasons), []string{"preview-stale"}) {
		t.Errorf("%+v", now.Gate)
	}
	body["preview_sha256"] = p.Leaving.SHA256
	if a := s.do(t, 422, "POST", "/releases", body, withKey("stale")); !strings.Contains(a.body, "preview-stale") {
		t.Error(a.body)
	}
	// What cannot be reached is said, and the gate stays shut.
	put(200, func(p *records.Parameters) { p.L, p.Columns = 50, map[string]records.Role{"note": {Role: "sensitive"}} })
	var job jobs.Job
	s.do(t, 202, "POST", "/recipes/"+recipe.ID+"/preview", nil, nil).decode(t, &job)
	if ended := s.wait(t, job.ID); ended.State != jobs.Failed || !strings.Contains(string(ended.Problem), "guarantee-not-met") {
		t.Errorf("%s %s", ended.State, ended.Problem)
	}
	if now := get(); now.Gate.Open || !slices.Equal(codes(now.Gate.Reasons), []string{"preview-failed"}) {
		t.Errorf("%+v", now.Gate)
	}
	// A file that is changed in the working folder is not released.
	put(200, func(p *records.Parameters) { p.L, p.Columns, p.K = 0, map[string]records.Role{}, 5 })
	p = s.preview(t, recipe.ID)
	if err := os.WriteFile(filepath.Join(s.path("work"), p.Job, p.Leaving.File), people(60, "x"), 0o600); err != nil {
		t.Fatal(err)
	}
	body["preview_sha256"] = p.Leaving.SHA256
	s.do(t, 202, "POST", "/releases", body, withKey("forged")).decode(t, &job)
	if ended := s.wait(t, job.ID); ended.State != jobs.Failed || !strings.Contains(string(ended.Problem), "guarantee-not-met") {
		t.Errorf("%s %s", ended.State, ended.Problem)
	}
	if entries, _ := os.ReadDir(s.path("releases")); len(entries) > 0 {
		t.Errorf("%d releases", len(entries))
	}
}

// No cell of a private table is in what others than stewards get, nor in any error, log or
// metric.
func TestNoCellLeaves(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	r := start(t, func(c *Config) { c.Log = textLog(&log) })
	s := r.steward(t)
	const canary = "CANARY4711"
	table := s.people(t, 40, canary)
	recipe := s.recipe(t, table.ID, func(p *records.Parameters) { p.Columns = map[string]records.Role{"note": {Role: "identifier"}} })
	p := s.preview(t, recipe.ID)
	rel := s.release(t, recipe.ID, p)
	s.preview(t, s.recipe(t, table.ID, nil).ID)
	if rows := s.do(t, 200, "GET", "/tables/"+table.ID+"/rows", nil, nil); strings.Count(rows.body, canary) != 20 {
		t.Errorf("a steward sees %d canaries", strings.Count(rows.body, canary))
	}
	ids := map[string]string{
		"tables": table.ID, "recipes": recipe.ID, "releases": rel.ID, "jobs": p.Job, "uploads": "up_aaaaaaaaaaaaaaaa",
		"tokens": "tk_aaaaaaaaaaaaaaaa",
	}
	may := map[string]bool{"GET /api/v1/tables/{id}/rows": true, "POST /api/v1/tables/{id}/hierarchies/{column}/proposal": true}
	callers := map[string]string{
		"anonymous": "", "analyst": r.token(t, "Ben", auth.Analyst, auth.Everything),
		"auditor": r.token(t, "Cleo", auth.Auditor, auth.Everything), "steward": s.secret,
	}
	seen := 0
	for who, token := range callers {
		for _, route := range r.routes {
			if strings.HasSuffix(route.path, "/events") || who == "steward" && (may[route.method+" "+route.path] || route.method == "DELETE") {
				continue
			}
			path := route.path
			for kind, id := range ids {
				path = strings.Replace(path, "/"+kind+"/{id}", "/"+kind+"/"+id, 1)
			}
			path = strings.NewReplacer("{column}", "note", "{name}", "data", "{id}", "x").Replace(path)
			var body any
			if route.method != "GET" {
				body = map[string]any{"k": "x", "name": 5}
			}
			for {
				a := r.ask(t, route.method, path, token, body, match(`"1"`))
				if a.status == http.StatusTooManyRequests && a.code() == "too-many" {
					time.Sleep(150 * time.Millisecond)
					continue
				}
				seen++
				if strings.Contains(a.body, canary) || strings.Contains(fmt.Sprint(a.header), canary) {
					t.Errorf("%s: %s %s shows a cell: %s", who, route.method, path, a.body)
				}
				if a.status >= 500 {
					t.Errorf("%s: %s %s: %d %s", who, route.method, path, a.status, a.body)
				}
				break
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d requests", seen)
	}
	rec := newRecorder()
	request, err := http.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.adminHandler().ServeHTTP(rec, request)
	audited, err := os.ReadFile(r.path("audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"log": log.String(), "metrics": rec.body.String(), "audit log": string(audited)} {
		if strings.Contains(text, canary) || strings.Contains(text, "p001") {
			t.Errorf("the %s holds a cell", name)
		}
	}
	if !strings.Contains(rec.body.String(), `noren_jobs{state="running"} 0`) {
		t.Errorf("%s", rec.body.String())
	}
}

func TestJobRoutes(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	s := r.steward(t)
	table := s.people(t, 40, "x")
	recipe := s.recipe(t, table.ID, nil)
	s.preview(t, recipe.ID)
	var listed page[jobs.Job]
	s.do(t, 200, "GET", "/jobs?limit=1", nil, nil).decode(t, &listed)
	if len(listed.Items) != 1 || listed.Items[0].Kind != "preview" || listed.Next == "" {
		t.Fatalf("%+v", listed)
	}
	var rest page[jobs.Job]
	s.do(t, 200, "GET", "/jobs?limit=5&after="+listed.Next, nil, nil).decode(t, &rest)
	if len(rest.Items) != 1 || rest.Items[0].Kind != "read" || rest.Next != "" {
		t.Errorf("%+v", rest)
	}
	s.do(t, 422, "GET", "/jobs?after=zzz", nil, nil)
	s.do(t, 404, "GET", "/jobs/jb_aaaaaaaaaaaaaaaa", nil, nil)
	s.do(t, 404, "GET", "/jobs/jb_aaaaaaaaaaaaaaaa/events", nil, nil)
	s.do(t, 404, "DELETE", "/jobs/jb_aaaaaaaaaaaaaaaa", nil, nil)
	s.do(t, 202, "DELETE", "/jobs/"+listed.Items[0].ID, nil, nil)
	for _, list := range []string{"/tables", "/tables/" + table.ID + "/recipes", "/releases"} {
		s.do(t, 200, "GET", list+"?limit=1", nil, nil)
		s.do(t, 422, "GET", list+"?limit=501", nil, nil)
		s.do(t, 422, "GET", list+"?after=MTpub3RoaW5n", nil, nil)
	}
}

func TestUploadProblems(t *testing.T) {
	if err := uploadProblem(os.ErrClosed); problem.From(err).Code != "internal" {
		t.Errorf("%v", err)
	}
}

// lockedBuffer is a buffer that several goroutines write to.
type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
