package service_test

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/spec"
)

const orderSeed = "0123456789abcdef0123456789abcdef"

// orderRows is the number of records of the tables here.
const orderRows = 200

// ordering is a table and a specification whose releases show their order in the column
// key.
func ordering(t *testing.T) (dir string, sp func() *spec.Spec) {
	t.Helper()
	dir = t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	var b strings.Builder
	b.WriteString("person,key,age,day,city,level,cost,illness\n")
	for i := range orderRows {
		fmt.Fprintf(&b, "p%03d,k%03d,%d,2024-0%d-1%d,%s,%s,%.2f,%s\n", i/2, i, 20+rng.IntN(60), 1+rng.IntN(9), rng.IntN(9),
			pick("Nara", "Kobe", "Osaka"), pick("low", "middle", "high"), 1000*rng.Float64(), pick("cold", "flu", "asthma", "gout"))
	}
	write(t, filepath.Join(dir, "visits.csv"), b.String())
	write(t, filepath.Join(dir, "cities.csv"), "Nara,inland,*\nKobe,coast,*\nOsaka,coast,*\n")
	return dir, func() *spec.Spec {
		return &spec.Spec{
			Version: 1, Input: spec.Input{Missing: []string{}}, Anonymize: spec.Anonymize{K: 3, Refine: "fast", Publish: "generalize"},
			Columns: map[string]spec.Column{
				"person": {Role: "identifier"}, "key": {Role: "other"}, "cost": {Role: "other", Type: "decimal"},
				"age": {Role: "quasi-identifier", Type: "integer"}, "day": {Role: "quasi-identifier", Type: "date", Format: "YYYY-MM-DD"},
				"city": {Role: "quasi-identifier", Type: "category"}, "level": {
					Role: "quasi-identifier", Type: "ordered", Order: []string{"low", "middle", "high"},
				},
				"illness": {Role: "sensitive", Type: "category"},
			},
		}
	}
}

// orderOf are the keys of a release, in its order.
func orderOf(t *testing.T, paths ...string) []string {
	t.Helper()
	var out []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		must(t, err)
		comma := ','
		if bytes.Contains(text, []byte(";")) {
			comma = ';'
		}
		r := csv.NewReader(bytes.NewReader(text))
		r.Comma = comma
		all, err := r.ReadAll()
		must(t, err)
		at := slices.Index(all[0], "key")
		for _, row := range all[1:] {
			out = append(out, row[at])
		}
	}
	if len(out) != orderRows {
		t.Fatalf("%d records", len(out))
	}
	return out
}

func inOneRow(a, b []string) int {
	n := 0
	for i := range a {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}

// byChance is how many of 200 records of two independent orders are in one row, but for a
// probability of 10^-9.
const byChance = 12

// leaves calls do with the path of each field of a type that is no struct itself.
func leaves(t reflect.Type, name string, do func(name string)) {
	switch t.Kind() {
	case reflect.Map:
		leaves(t.Elem(), name, do)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() {
				leaves(f.Type, strings.TrimPrefix(name+"."+f.Name, "."), do)
			}
		}
	default:
		do(name)
	}
}

// Every field of a specification, changed alone, gives another order, or is listed as one
// that the release does not depend on. A field that is added later must be put here.
func TestOrderDependsOnTheSpecification(t *testing.T) {
	randtest.SkipShort(t)
	dir, sp := ordering(t)
	column := func(name string, change func(c *spec.Column)) func(*spec.Spec) {
		return func(s *spec.Spec) {
			c := s.Columns[name]
			change(&c)
			s.Columns[name] = c
		}
	}
	round, header := 1, true
	diverse := func(s *spec.Spec) { s.Anonymize.L, s.Anonymize.LModel, s.Anonymize.C = 2, "recursive", 4 }
	persons := func(s *spec.Spec) { s.Unit = "person" }
	linked := func(s *spec.Spec) { persons(s); s.Anonymize.UnitLinkage = "all" }
	method := func(name string) func(*spec.Spec) { return func(s *spec.Spec) { s.Anonymize.Method = name } }
	type field struct {
		base, change func(*spec.Spec)
		same         bool
	}
	none := func(*spec.Spec) {}
	fields := map[string]field{
		"Input.Encoding": {none, func(s *spec.Spec) { s.Input.Encoding = "latin-1" }, false},
		"Input.Missing":  {none, func(s *spec.Spec) { s.Input.Missing = []string{"never"} }, false},
		// What is detected anyway may be stated.
		"Input.Delimiter": {none, func(s *spec.Spec) { s.Input.Delimiter = "," }, true},
		"Input.Header":    {none, func(s *spec.Spec) { s.Input.Header = &header }, true},
		"Input.HeaderRow": {none, func(s *spec.Spec) { s.Input.HeaderRow = 1 }, true},

		"Columns.Role":      {none, column("illness", func(c *spec.Column) { c.Role = "identifier" }), false},
		"Columns.Type":      {none, column("cost", func(c *spec.Column) { c.Type = "category" }), false},
		"Columns.Format":    {none, column("cost", func(c *spec.Column) { c.Format = "1,234.5" }), false},
		"Columns.Order":     {none, column("level", func(c *spec.Column) { c.Order = []string{"low", "high", "middle"} }), false},
		"Columns.Hierarchy": {none, column("city", func(c *spec.Column) { c.Hierarchy = filepath.Join(dir, "cities.csv") }), false},
		"Columns.Round":     {none, column("age", func(c *spec.Column) { c.Round = &round }), false},
		// For queries.
		"Columns.Bounds": {none, column("cost", func(c *spec.Column) { c.Bounds = []string{"0", "9000"} }), true},
		"Columns.Keys":   {none, column("illness", func(c *spec.Column) { c.Keys = []string{"cold", "flu"} }), true},

		"Unit":                  {none, persons, false},
		"Anonymize.UnitLinkage": {persons, linked, false},
		"Anonymize.Pseudonym":   {linked, func(s *spec.Spec) { s.Anonymize.Pseudonym = true }, false},
		"Anonymize.K":           {none, func(s *spec.Spec) { s.Anonymize.K = 4 }, false},
		"Anonymize.L":           {diverse, func(s *spec.Spec) { s.Anonymize.L = 1 }, false},
		"Anonymize.LModel":      {func(s *spec.Spec) { s.Anonymize.L = 2 }, func(s *spec.Spec) { s.Anonymize.LModel = "entropy" }, false},
		"Anonymize.LMissing":    {diverse, func(s *spec.Spec) { s.Anonymize.LMissing = "value" }, false},
		"Anonymize.C":           {diverse, func(s *spec.Spec) { s.Anonymize.C = 5 }, false},
		"Anonymize.T":           {none, func(s *spec.Spec) { s.Anonymize.T = 0.9 }, false},
		"Anonymize.Method":      {none, method("mondrian"), false},
		"Anonymize.Gamma":       {method("vmdav"), func(s *spec.Spec) { s.Anonymize.Gamma = 0.3 }, false},
		"Anonymize.M":           {method("tomobiki"), func(s *spec.Spec) { s.Anonymize.M = 4 }, false},
		"Anonymize.Coarse":      {none, func(s *spec.Spec) { s.Anonymize.Coarse = "50" }, false},
		"Anonymize.Refine":      {none, func(s *spec.Spec) { s.Anonymize.Refine = "off" }, false},
		"Anonymize.Suppress":    {none, func(s *spec.Spec) { s.Anonymize.Suppress = "1%" }, false},
		"Anonymize.Scale":       {none, func(s *spec.Spec) { s.Anonymize.Scale = "minmax" }, false},
		"Anonymize.Publish":     {none, func(s *spec.Spec) { s.Anonymize.Publish = "aggregate" }, false},
		"Anonymize.Ranges":      {none, func(s *spec.Spec) { s.Anonymize.Ranges = "fixed" }, false},
		// The same values, written otherwise.
		"Anonymize.Formulas": {none, func(s *spec.Spec) { s.Anonymize.Formulas = "text" }, true},
		// For the steward's figures.
		"Anonymize.Gap": {none, func(s *spec.Spec) { s.Anonymize.Gap = "1ms" }, true},
	}
	listed := map[string]string{
		"Version":             "there is one",
		"Input.Sheet":         "the sum of a worksheet is of its rows",
		"Input.Hidden":        "the sum of a worksheet is of the rows and columns that are read",
		"Input.Totals":        "the sum of a worksheet is of the rows that are read",
		"Input.Query":         "the sum of a table of a database is of its rows",
		"Anonymize.KeepOrder": "there is no secret order then",
	}
	known := map[string]bool{}
	leaves(reflect.TypeFor[spec.Spec](), "", func(name string) {
		known[name] = true
		_, run := fields[name]
		if _, left := listed[name]; run == left {
			t.Errorf("%s: not known whether the order of a release depends on it", name)
		}
	})
	for name, f := range fields {
		if !known[name] {
			t.Errorf("a specification has no %s", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release := func(changes ...func(*spec.Spec)) []string {
				of := sp()
				for _, change := range changes {
					change(of)
				}
				s := bare(t)
				s.Note = func(api.Note) {}
				out := filepath.Join(t.TempDir(), "out.csv")
				_, err := s.Anonymize(t.Context(), &api.AnonymizeRequest{
					Table:  api.Table{Input: filepath.Join(dir, "visits.csv"), Spec: of},
					Output: out, Seed: orderSeed, OutputEncoding: "utf-8",
				})
				must(t, err)
				if of.Anonymize.Suppress != "" { // fewer records
					all, err := os.ReadFile(out)
					must(t, err)
					write(t, out, string(all)+strings.Repeat(strings.Repeat(",", strings.Count(string(all[:bytes.IndexByte(all, '\n')]), ","))+"\n",
						orderRows+1-bytes.Count(all, []byte("\n"))))
				}
				return orderOf(t, out)
			}
			n := inOneRow(release(f.base), release(f.base, f.change))
			if f.same && n != orderRows || !f.same && n > byChance {
				t.Errorf("%d of %d records are in the same row", n, orderRows)
			}
		})
	}
}

// No field of a request beside its specification and its seed changes the order.
func TestOrderDependsOnNothingElseOfARequest(t *testing.T) {
	randtest.SkipShort(t)
	dir, sp := ordering(t)
	copied := filepath.Join(t.TempDir(), "another name.csv")
	text, err := os.ReadFile(filepath.Join(dir, "visits.csv"))
	must(t, err)
	write(t, copied, string(text))
	file := filepath.Join(t.TempDir(), "noren.yaml")
	write(t, file, sp().Encode())
	earlier := filepath.Join(t.TempDir(), "earlier.csv")
	quiet := bare(t)
	quiet.Note = func(api.Note) {}
	_, err = quiet.Anonymize(t.Context(), &api.AnonymizeRequest{
		Table: api.Table{Input: copied, Spec: sp()}, Output: earlier,
		Certificate: earlier + ".json",
	})
	must(t, err)
	previous := func(r *api.AnonymizeRequest) {
		r.Report, r.Previous, r.PreviousSource = filepath.Join(t.TempDir(), "page.html"), earlier, copied
	}
	fields := map[string]func(r *api.AnonymizeRequest){
		"Table.Input":     func(r *api.AnonymizeRequest) { r.Input = copied },
		"Table.SpecFile":  func(r *api.AnonymizeRequest) { r.SpecFile, r.Spec = file, nil },
		"Output":          func(r *api.AnonymizeRequest) { r.Output = filepath.Join(t.TempDir(), "elsewhere.csv") },
		"SplitRows":       func(r *api.AnonymizeRequest) { r.SplitRows, r.Output = 70, filepath.Join(t.TempDir(), "parts") },
		"OutputDelimiter": func(r *api.AnonymizeRequest) { r.OutputDelimiter = ";" },
		"OutputEncoding":  func(r *api.AnonymizeRequest) { r.OutputEncoding = "latin-1" },
		"Report":          func(r *api.AnonymizeRequest) { r.Report = filepath.Join(t.TempDir(), "page.html") },
		"ReportJapanese": func(r *api.AnonymizeRequest) {
			r.Report, r.ReportJapanese = filepath.Join(t.TempDir(), "report.html"), filepath.Join(t.TempDir(), "report.ja.html")
		},
		"Command":        func(r *api.AnonymizeRequest) { r.Command = "noren" },
		"Previous":       previous,
		"PreviousSource": previous,
		"PreviousQuasi": func(r *api.AnonymizeRequest) {
			previous(r)
			r.PreviousQuasi = []string{"age", "day", "city", "level"}
		},
		"PreviousCertificate": func(r *api.AnonymizeRequest) {
			previous(r)
			r.PreviousCertificate = earlier + ".json"
		},
		"Certificate": func(r *api.AnonymizeRequest) { r.Certificate = filepath.Join(t.TempDir(), "cert.json") },
		"Notes":       func(r *api.AnonymizeRequest) { r.Notes = []string{"A note."} },
		"Force":       func(r *api.AnonymizeRequest) { r.Force = true },
		"Workers":     func(r *api.AnonymizeRequest) { r.Workers = 1 },
		"Memory":      func(r *api.AnonymizeRequest) { r.Memory = 64 << 20 },
		"Stdout":      nil,
		"Assess":      func(r *api.AnonymizeRequest) { r.Assess = true },
		"PlainNames":  func(r *api.AnonymizeRequest) { r.PlainNames = true },
		// Another form of the sum, for the copy of a database alone.
		"CopyOfDatabase": nil,
		// These give another order.
		"Table.Spec": nil, "Seed": nil, "InsecureSeed": nil,
	}
	release := func(change func(*api.AnonymizeRequest)) []string {
		s := bare(t)
		s.Note = func(api.Note) {}
		r := &api.AnonymizeRequest{
			Table:  api.Table{Input: filepath.Join(dir, "visits.csv"), Spec: sp()},
			Output: filepath.Join(t.TempDir(), "out.csv"), Seed: orderSeed,
		}
		change(r)
		_, err := s.Anonymize(t.Context(), r)
		must(t, err)
		paths := []string{r.Output}
		if r.SplitRows > 0 {
			paths, err = filepath.Glob(filepath.Join(r.Output, "*.csv"))
			must(t, err)
		}
		return orderOf(t, paths...)
	}
	known := map[string]bool{}
	leaves(reflect.TypeFor[api.AnonymizeRequest](), "", func(name string) { known[name] = true })
	for name := range known {
		if _, ok := fields[name]; !ok {
			t.Errorf("%s: not known whether the order of a release depends on it", name)
		}
	}
	base := release(func(*api.AnonymizeRequest) {})
	for name, change := range fields {
		if !known[name] {
			t.Errorf("a request has no %s", name)
		}
		if change == nil {
			continue
		}
		if n := inOneRow(base, release(change)); n != orderRows {
			t.Errorf("%s: %d of %d records are in the same row", name, n, orderRows)
		}
	}
	if n := inOneRow(base, release(func(r *api.AnonymizeRequest) { r.Seed = "f" + orderSeed[1:] })); n > byChance {
		t.Errorf("another seed: %d of %d records are in the same row", n, orderRows)
	}
	if n := inOneRow(base, release(func(r *api.AnonymizeRequest) { r.Seed, r.InsecureSeed = "1", true })); n > byChance {
		t.Errorf("a whole number as the seed: %d of %d records are in the same row", n, orderRows)
	}
	// From standard input.
	s := bare(t)
	s.Note = func(api.Note) {}
	s.Stdin = io.Reader(bytes.NewReader(text))
	out := filepath.Join(t.TempDir(), "out.csv")
	_, err = s.Anonymize(t.Context(), &api.AnonymizeRequest{Table: api.Table{Input: "-", Spec: sp()}, Output: out, Seed: orderSeed})
	must(t, err)
	if n := inOneRow(base, orderOf(t, out)); n != orderRows {
		t.Errorf("from standard input: %d of %d records are in the same row", n, orderRows)
	}
}

// A copy of a table of a database that a server keeps gives the release of the table
// itself, byte for byte: the sum of both is of the rows. Rows in another order, or another
// value, give another order.
func TestOrderOfADatabase(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "clinic.db")
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer func() { _ = db.Close() }()
	exec := func(query string, args ...any) {
		t.Helper()
		_, err := db.Exec(query, args...)
		must(t, err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{"visits", "reversed", "changed"} {
		exec("CREATE TABLE " + name + " (key TEXT, age INTEGER, cost REAL, note TEXT, seen BOOLEAN)")
	}
	for i := range orderRows {
		var cost, note any = rng.Float64() * 1000, fmt.Sprintf("note %d", i)
		if i%7 == 0 {
			cost, note = nil, nil
		}
		row := []any{fmt.Sprintf("k%03d", i), 20 + rng.IntN(60), cost, note, i % 2}
		exec("INSERT INTO visits VALUES (?, ?, ?, ?, ?)", row...)
		if i == orderRows-1 {
			row[3] = "another"
		}
		exec("INSERT INTO changed VALUES (?, ?, ?, ?, ?)", row...)
	}
	exec("INSERT INTO reversed SELECT * FROM visits ORDER BY key DESC")
	must(t, db.Close())
	release := func(input string, change func(*api.AnonymizeRequest)) []byte {
		t.Helper()
		s := bare(t)
		s.Note = func(api.Note) {}
		r := &api.AnonymizeRequest{
			Table: api.Table{Input: input, Spec: &spec.Spec{
				Version: 1, Input: spec.Input{Missing: []string{}}, Anonymize: spec.Anonymize{K: 3, Refine: "fast"},
				Columns: map[string]spec.Column{
					"age": {Role: "quasi-identifier", Type: "integer"}, "key": {Role: "other"}, "cost": {Role: "other"}, "note": {Role: "other"}, "seen": {
						Role: "other",
					},
				},
			}},
			Output: filepath.Join(t.TempDir(), "out.csv"), Seed: orderSeed,
		}
		change(r)
		_, err := s.Anonymize(t.Context(), r)
		must(t, err)
		text, err := os.ReadFile(r.Output)
		must(t, err)
		return text
	}
	none := func(*api.AnonymizeRequest) {}
	table := func(name string) string { return "sqlite:" + path + "?table=" + name }
	base := release(table("visits"), none)
	if !bytes.Equal(base, release(table("visits"), none)) {
		t.Error("a second release is another")
	}
	copied := filepath.Join(dir, "visits.parquet")
	_, err = bare(t).Copy(t.Context(), &api.CopyRequest{Input: table("visits"), Output: copied})
	must(t, err)
	if !bytes.Equal(base, release(copied, func(r *api.AnonymizeRequest) { r.CopyOfDatabase = true })) {
		t.Error("the copy gives another release than the table")
	}
	order := func(text []byte) []string {
		out := filepath.Join(t.TempDir(), "out.csv")
		write(t, out, string(text))
		return orderOf(t, out)
	}
	for _, name := range []string{"reversed", "changed"} {
		if n := inOneRow(order(base), order(release(table(name), none))); n > byChance {
			t.Errorf("%s: %d of %d records are in the same row", name, n, orderRows)
		}
	}
}
