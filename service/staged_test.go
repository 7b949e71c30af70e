package service_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
)

// A release that is certified later has the certificate that it would have had at once.
func TestCertifyLater(t *testing.T) {
	table, dir := visits(t)
	s := bare(t)
	seed := strings.Repeat("0123456789abcdef", 2)
	at := func(name string) string { return filepath.Join(dir, name) }
	notes := []string{"One person decided.", "The table is that of May."}
	_, err := s.Anonymize(t.Context(), &api.AnonymizeRequest{
		Table: table, Output: at("now.csv"), Certificate: at("now.json"), Seed: seed,
		Notes: notes,
	})
	must(t, err)
	later, err := s.Anonymize(t.Context(), &api.AnonymizeRequest{
		Table: table, Output: at("later.csv"), Report: at("later.html"), Seed: seed,
		Assess: true, PlainNames: true, Notes: notes,
	})
	must(t, err)
	page, err := os.ReadFile(at("later.html"))
	must(t, err)
	if strings.Contains(string(page), dir) {
		t.Error("the page names the folder of the table")
	}
	for _, note := range notes {
		if !strings.Contains(string(page), note) {
			t.Errorf("the page does not say: %s", note)
		}
	}
	request := api.CertifyRequest{
		Table: table, Release: later, File: at("later.csv"), Name: "now.csv", Certificate: at("later.json"),
		Notes: notes,
	}
	made, err := s.Certify(t.Context(), &request)
	must(t, err)
	read := func(name string) certificate.Certificate {
		c, err := certificate.Load(at(name))
		must(t, err)
		c.Certificate.Time = ""
		return c.Certificate
	}
	if d := cmp.Diff(read("now.json"), read("later.json")); d != "" {
		t.Errorf("(-at once +later)\n%s", d)
	}
	if d := cmp.Diff(notes, read("later.json").Notes); d != "" {
		t.Errorf("notes (-want +got)\n%s", d)
	}
	codes := noted(s)
	if check, err := s.CertificateCheck(t.Context(),
		&api.CertificateCheckRequest{File: at("now.csv"), Certificate: at("later.json")}); err != nil || !check.Valid ||
		check.KeyID != made.KeyID {
		t.Errorf("%+v, %v", check, err)
	}
	if d := cmp.Diff([]string{"key-unknown"}, *codes); d != "" {
		t.Errorf("notes of the check (-want +got)\n%s", d)
	}
	// A file that was changed since, even to another that is k-anonymous, is not certified.
	request.Certificate = at("none.json")
	for name, change := range map[string]func([]byte) []byte{
		"a byte more": func(b []byte) []byte { return append(b, '\n') },
		"another release": func([]byte) []byte {
			return []byte("age,city,illness\n" + strings.Repeat("30,Nara,flu\n30,Nara,cold\n30,Nara,none\n", 20))
		},
		"not anonymous": func(b []byte) []byte { return append(b, "999,Nara,flu\n"...) },
	} {
		data, err := os.ReadFile(at("now.csv"))
		must(t, err)
		write(t, at("later.csv"), string(change(data)))
		if _, err := s.Certify(t.Context(), &request); noren.KindOf(err) != noren.NotMet {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(request.Certificate); err == nil {
			t.Errorf("%s: there is a certificate", name)
		}
	}
	// The verifier has the last word: a result that states more than the file has.
	write(t, at("later.csv"), "age,city,illness\n1,Nara,flu\n2,Nara,cold\n")
	what, err := certificate.HashFile(t.Context(), at("later.csv"))
	must(t, err)
	forged := *later
	forged.SHA256, forged.Rows, forged.Classes = what.SHA256, 2, 2
	request.Release = &forged
	if _, err := s.Certify(t.Context(), &request); noren.KindOf(err) != noren.NotMet {
		t.Errorf("a forged result: %v", err)
	}
	if _, err := s.Certify(t.Context(), &api.CertifyRequest{}); noren.KindOf(err) != noren.Usage {
		t.Errorf("an empty request: %v", err)
	}
}

func TestAnonymizeAssesses(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("age,height,illness\n")
	for i := range 120 {
		fmt.Fprintf(&b, "%d,%d,%s\n", 20+i*7%60, 150+i*11%40, []string{"flu", "cold"}[i%2])
	}
	write(t, filepath.Join(dir, "in.csv"), b.String())
	sp := &spec.Spec{Version: 1, Columns: map[string]spec.Column{
		"age":    {Role: "quasi-identifier", Type: "integer"},
		"height": {Role: "quasi-identifier", Type: "integer"}, "illness": {Role: "sensitive", Type: "category"},
	}, Anonymize: spec.Anonymize{K: 5}}
	sp.Input.Missing = []string{}
	r, err := bare(t).Anonymize(t.Context(), &api.AnonymizeRequest{
		Table:  api.Table{Input: filepath.Join(dir, "in.csv"), Spec: sp},
		Output: filepath.Join(dir, "out.csv"), Assess: true,
	})
	must(t, err)
	what, err := certificate.HashFile(t.Context(), filepath.Join(dir, "out.csv"))
	must(t, err)
	if r.SHA256 != what.SHA256 || len(r.ClassOf) != 120 {
		t.Errorf("SHA-256 %s of %s, %d classes", r.SHA256, what.SHA256, len(r.ClassOf))
	}
	if a := r.Assessment; a == nil || a.Original.Records != 120 || a.Release.SmallestClass < 5 || a.Queries == nil {
		t.Errorf("%+v", a)
	}
	if x := r.Scatter; x == nil || x.X != "age" || x.Y != "height" || len(x.Before.Points) != 120 || len(x.After.Points) != 120 ||
		x.Before.Points[1] != [2]float64{27, 161} {
		t.Errorf("%+v", x)
	}
	text, err := json.Marshal(r)
	must(t, err)
	if strings.Contains(string(text), "class_of") || strings.Contains(string(text), "points") {
		t.Error("the result shows the assessment")
	}
	_, err = bare(t).Anonymize(t.Context(), &api.AnonymizeRequest{
		Table: api.Table{Input: filepath.Join(dir, "in.csv"), Spec: sp}, Output: "-",
		Stdout: os.Stderr, Assess: true,
	})
	if noren.KindOf(err) != noren.Usage {
		t.Errorf("a stream: %v", err)
	}
}

// Above 5,000 records the picture has bins, whose counts add up.
func TestAnonymizeBinsPictures(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("age,height,illness\n")
	for i := range 6000 {
		fmt.Fprintf(&b, "%d,%d,x\n", 20+i*7%60, 150+i*11%40)
	}
	write(t, filepath.Join(dir, "in.csv"), b.String())
	sp := &spec.Spec{Version: 1, Columns: map[string]spec.Column{
		"age":    {Role: "quasi-identifier", Type: "integer"},
		"height": {Role: "quasi-identifier", Type: "integer"},
	}, Anonymize: spec.Anonymize{K: 5}}
	s := bare(t)
	noted(s)
	r, err := s.Anonymize(t.Context(), &api.AnonymizeRequest{
		Table:  api.Table{Input: filepath.Join(dir, "in.csv"), Spec: sp},
		Output: filepath.Join(dir, "out.csv"), Assess: true,
	})
	must(t, err)
	for name, side := range map[string]api.ScatterSide{"before": r.Scatter.Before, "after": r.Scatter.After} {
		total := int64(0)
		for _, row := range side.Counts {
			for _, n := range row {
				total += n
			}
		}
		if total != 6000 || len(side.Points) > 0 || len(side.XEdges) != 65 || side.XEdges[0] != 20 || side.YEdges[64] != 189 {
			t.Errorf("%s: %d records, %d points, edges %v to %v", name, total, len(side.Points), side.XEdges, side.YEdges)
		}
	}
}

func TestOverlapOfReleases(t *testing.T) {
	table, dir := visits(t)
	s := bare(t)
	noted(s)
	at := func(name string) string { return filepath.Join(dir, name) }
	first, err := s.Anonymize(t.Context(), &api.AnonymizeRequest{Table: table, Output: at("a.csv"), Assess: true})
	must(t, err)
	other := table
	other.Spec = &spec.Spec{Anonymize: spec.Anonymize{K: 7}}
	second, err := s.Anonymize(t.Context(), &api.AnonymizeRequest{Table: other, Output: at("b.csv"), Assess: true})
	must(t, err)
	request := api.OverlapRequest{
		Table: table, Release: at("a.csv"), Previous: at("b.csv"), PreviousSource: table.Input,
		Classes: first.ClassOf, PreviousClasses: second.ClassOf,
	}
	o, err := s.Overlap(t.Context(), &request)
	must(t, err)
	if o.Common != 30 || o.Unit != "person" || o.Min < 1 || o.Min > int64(first.AchievedK)*4 || o.K != 3 {
		t.Errorf("%+v", o)
	}
	// A release and itself leave the whole class.
	request.Previous, request.PreviousClasses = at("a.csv"), first.ClassOf
	same, err := s.Overlap(t.Context(), &request)
	must(t, err)
	if same.Below > 0 || same.Min < 3 {
		t.Errorf("a release and itself: %+v", same)
	}
	// Without the classes the columns that were kept do not tell the rows apart.
	request.Classes = nil
	if _, err := s.Overlap(t.Context(), &request); noren.KindOf(err) != noren.BadData {
		t.Errorf("without classes: %v", err)
	}
	request.Classes = first.ClassOf[1:]
	if _, err := s.Overlap(t.Context(), &request); noren.KindOf(err) != noren.BadData {
		t.Errorf("too few classes: %v", err)
	}
}

func TestFit(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), "p,age,cost,day,level,city\n1,31,\"1,200\",2024-01-02,low,Nara\n1,x,\"1,000\",2024-13-02,mid,Ko"+
		"be\n2,NA,12.50.1,,high,=cmd\n,33,7,2024-01-03,LOW,\n")
	sp := &spec.Spec{Version: 1, Unit: "p", Columns: map[string]spec.Column{
		"age": {Role: "quasi-identifier", Type: "integer"}, "cost": {Role: "quasi-identifier", Type: "decimal", Format: "1,234.5"},
		"day": {Role: "quasi-identifier", Type: "date"}, "level": {Role: "sensitive", Type: "ordered", Order: []string{"low", "high"}}, "city": {
			Role: "other",
		},
	}}
	sp.Input.Missing = []string{"NA"}
	request := api.FitRequest{Table: api.Table{Input: filepath.Join(dir, "in.csv"), Spec: sp}}
	got, err := bare(t).Fit(t.Context(), &request)
	must(t, err)
	want := &api.Fit{Rows: 4, Persons: 2, Form: api.TableForm{HeaderRow: 1, Delimiter: ",", Encoding: "utf-8"}, Columns: []api.FittedColumn{
		{Name: "p", Type: "category", Missing: 1},
		{Name: "age", Type: "integer", Misfits: 1, First: []int64{2}, Missing: 1},
		{Name: "cost", Type: "decimal", Misfits: 1, First: []int64{3}},
		{Name: "day", Type: "date", Misfits: 1, First: []int64{2}, Missing: 1},
		{Name: "level", Type: "ordered", Misfits: 2, First: []int64{2, 4}},
		{Name: "city", Type: "category", Missing: 1},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if values, columns := got.Misfits(); values != 5 || columns != 4 {
		t.Errorf("%d misfits in %d columns", values, columns)
	}
	sp.Columns["city"] = spec.Column{Role: "quasi-identifier"}
	if _, err := bare(t).Fit(t.Context(), &request); noren.CodeOf(err) != service.CodeTypesOpen {
		t.Errorf("an open type: %v", err)
	}
}

func TestRowsAndCopy(t *testing.T) {
	table, dir := visits(t)
	s := bare(t)
	rows, err := s.Rows(t.Context(), &api.RowsRequest{Table: table, Rows: 2})
	must(t, err)
	want := &api.Rows{
		Columns: []string{"person", "name", "age", "city", "illness"},
		Rows:    [][]string{{"p00", "Name 0", "20", "Nara", "cold"}, {"p00", "Name 1", "20", "Nara", "flu"}},
	}
	if d := cmp.Diff(want, rows); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if _, err := s.Rows(t.Context(), &api.RowsRequest{Table: table, Rows: 1001}); noren.KindOf(err) != noren.Usage {
		t.Errorf("too many rows: %v", err)
	}
	out := filepath.Join(dir, "copy.parquet")
	c, err := s.Copy(t.Context(), &api.CopyRequest{Input: table.Input, Output: out})
	must(t, err)
	if c.Rows != 60 || c.Columns != 5 {
		t.Errorf("%+v", c)
	}
	again, err := s.Rows(t.Context(), &api.RowsRequest{Table: api.Table{Input: out}, Rows: 2})
	must(t, err)
	if d := cmp.Diff(want, again); d != "" {
		t.Errorf("the copy (-want +got)\n%s", d)
	}
	if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy has the mode %v, %v", info.Mode(), err)
	}
	small := filepath.Join(dir, "small.csv")
	if _, err := s.Copy(t.Context(), &api.CopyRequest{
		Input: "pg:t", Connection: "host=/nowhere password=hidden",
		Output: small,
	}); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("no server: %v", err)
	}
	if _, err := s.Copy(t.Context(), &api.CopyRequest{Input: table.Input, Connection: "host=/nowhere", Output: small}); noren.KindOf(
		err) != noren.Usage {
		t.Errorf("a file by a connection: %v", err)
	}
	if _, err := s.DatabaseTables(t.Context(), &api.DatabaseTablesRequest{Connection: "host=/nowhere password=hidden"}); err == nil ||
		strings.Contains(err.Error(), "hidden") {
		t.Errorf("no server: %v", err)
	}
	if _, err := os.Stat(small); err == nil {
		t.Error("a file was left behind")
	}
}

func TestHierarchyCover(t *testing.T) {
	table, dir := visits(t)
	write(t, filepath.Join(dir, "some.csv"), "Nara,inland,*\nKobe,coast,*\n")
	got, err := bare(t).HierarchyCover(t.Context(),
		&api.HierarchyCoverRequest{Table: table, Column: "city", Hierarchy: filepath.Join(dir, "some.csv")})
	must(t, err)
	if d := cmp.Diff(&api.HierarchyCover{Levels: 3, Values: 3, Covered: 2, Uncovered: 1}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if _, err := bare(t).HierarchyCover(t.Context(), &api.HierarchyCoverRequest{Table: table}); noren.KindOf(err) != noren.Usage {
		t.Errorf("no column: %v", err)
	}
}
