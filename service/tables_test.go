package service_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
)

// visits is a folder with a table of 60 records of 30 persons and its specification.
func visits(t *testing.T) (table api.Table, dir string) {
	t.Helper()
	dir = t.TempDir()
	var b strings.Builder
	b.WriteString("person,name,age,city,illness\n")
	cities, illnesses := []string{"Nara", "Kobe", "Osaka"}, []string{"cold", "flu", "asthma", "none"}
	for i := range 60 {
		fmt.Fprintf(&b, "p%02d,Name %d,%d,%s,%s\n", i/2, i, 20+i/2*7%50, cities[i/2%3], illnesses[i%4])
	}
	write(t, filepath.Join(dir, "visits.csv"), b.String())
	write(t, filepath.Join(dir, "noren.yaml"), `version: 1
unit: person
input: {missing: []}
columns:
  name: {role: identifier}
  age: {role: quasi-identifier, type: integer}
  city: {role: quasi-identifier, hierarchy: cities.csv}
  illness: {role: sensitive, type: category}
anonymize: {k: 3, l: 2}
`)
	write(t, filepath.Join(dir, "cities.csv"), "Nara,inland,*\nKobe,coast,*\nOsaka,coast,*\n")
	return api.Table{Input: filepath.Join(dir, "visits.csv"), SpecFile: filepath.Join(dir, "noren.yaml")}, dir
}

// noted collects the codes of the notes of a service.
func noted(s *service.Service) *[]string {
	var codes []string
	s.Note = func(n api.Note) { codes = append(codes, n.Code) }
	return &codes
}

func TestAnonymizeWritesReleasePageAndCertificate(t *testing.T) {
	table, dir := visits(t)
	s := bare(t)
	out, page, cert := filepath.Join(dir, "out.csv"), filepath.Join(dir, "page.html"), filepath.Join(dir, "cert.json")
	request := api.AnonymizeRequest{Table: table, Output: out, Report: page, Certificate: cert}
	r, err := s.Anonymize(t.Context(), &request)
	must(t, err)
	if r.K != 3 || r.AchievedK < 3 || r.Rows != 60 || r.Unit != "person" || r.Input != table.Input {
		t.Errorf("%+v", r.Result)
	}
	valid(t, "noren.anonymize-1.json", r)
	encoded, err := json.Marshal(r)
	must(t, err)
	own, err := json.Marshal(&r.Result)
	must(t, err)
	if !bytes.Equal(encoded, own) {
		t.Error("the result does not have the JSON form of kanon.Result")
	}
	released, err := os.ReadFile(out)
	must(t, err)
	if bytes.Contains(released, []byte("Name")) || bytes.Contains(released, []byte("p01")) {
		t.Error("an identifier is in the release")
	}
	info, err := os.Stat(page)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the private page has mode %v", info.Mode())
	}
	signed, err := os.ReadFile(cert)
	must(t, err)
	c, err := certificate.Parse(signed)
	must(t, err)
	if c.Certificate.Guarantee.K != 3 || c.Certificate.Released.Name != "out.csv" {
		t.Errorf("%+v", c.Certificate)
	}
	// Nothing is replaced, and nothing is left when the release cannot be made.
	if _, err := s.Anonymize(t.Context(), &request); noren.CodeOf(err) != atomicfile.CodeExists {
		t.Errorf("the release was replaced: %v", err)
	}
	request.Output, request.Report, request.Certificate = filepath.Join(dir, "o2.csv"), filepath.Join(dir, "p2.html"),
		filepath.Join(dir, "c2.json")
	request.Spec = &spec.Spec{Anonymize: spec.Anonymize{L: 40}}
	if _, err := s.Anonymize(t.Context(), &request); noren.KindOf(err) != noren.NotMet {
		t.Errorf("40 different illnesses: %v", err)
	}
	for _, path := range []string{request.Output, request.Report, request.Certificate} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s was left behind", path)
		}
	}
}

func TestAnonymizeToAWriter(t *testing.T) {
	table, _ := visits(t)
	table.Spec = &spec.Spec{Anonymize: spec.Anonymize{KeepOrder: true}}
	var out bytes.Buffer
	_, err := bare(t).Anonymize(t.Context(), &api.AnonymizeRequest{Table: table, Output: "-", Stdout: &out, OutputDelimiter: ";"})
	must(t, err)
	if lines := strings.Split(out.String(), "\n"); len(lines) != 62 || lines[0] != "age;city;illness" {
		t.Errorf("%d lines, the first is %q", len(lines), lines[0])
	}
}

// Every refusal of a request names its field, and comes before anything is written.
func TestAnonymizeRefusals(t *testing.T) {
	table, dir := visits(t)
	out := filepath.Join(dir, "out.csv")
	other := filepath.Join(dir, "other")
	for name, c := range map[string]struct {
		change func(q *api.AnonymizeRequest)
		where  string
		code   string
	}{
		"no output":          {func(q *api.AnonymizeRequest) { q.Output = "" }, "output", ""},
		"no standard output": {func(q *api.AnonymizeRequest) { q.Output = "-" }, "output", ""},
		"no input":           {func(q *api.AnonymizeRequest) { q.Input = "" }, "input", ""},
		"no standard input":  {func(q *api.AnonymizeRequest) { q.Input = "-" }, "input", ""},
		"little memory":      {func(q *api.AnonymizeRequest) { q.Memory = 1 << 20 }, "memory", ""},
		"workers":            {func(q *api.AnonymizeRequest) { q.Workers = -1 }, "workers", ""},
		"short seed":         {func(q *api.AnonymizeRequest) { q.Seed = "abc" }, "seed", service.CodeSeedShort},
		"seed of letters":    {func(q *api.AnonymizeRequest) { q.Seed = strings.Repeat("x", 32) }, "seed", ""},
		"insecure without":   {func(q *api.AnonymizeRequest) { q.InsecureSeed = true }, "seed-insecure", service.CodeNeedsSeed},
		"delimiter":          {func(q *api.AnonymizeRequest) { q.OutputDelimiter = "ab" }, "output-delimiter", ""},
		"encoding":           {func(q *api.AnonymizeRequest) { q.OutputEncoding = "ebcdic" }, "output-encoding", ""},
		"page of a stream":   {func(q *api.AnonymizeRequest) { q.Output, q.Stdout, q.Report = "-", &bytes.Buffer{}, other }, "report", ""},
		"output is input":    {func(q *api.AnonymizeRequest) { q.Output, q.Force = q.Input, true }, table.Input, "output-is-input"},
		"output is hierarchy": {
			func(q *api.AnonymizeRequest) { q.Output, q.Force = filepath.Join(dir, "cities.csv"), true },
			filepath.Join(dir, "cities.csv"), "output-is-input",
		},
		"twice": {func(q *api.AnonymizeRequest) { q.Report = q.Output }, out, "output-twice"},
	} {
		t.Run(name, func(t *testing.T) {
			q := api.AnonymizeRequest{Table: table, Output: out}
			c.change(&q)
			_, err := bare(t).Anonymize(t.Context(), &q)
			var e *noren.Error
			if !errors.As(err, &e) || e.Kind != noren.Usage || e.Place() != c.where || c.code != "" && noren.CodeOf(err) != c.code {
				t.Errorf("got %v (%q, code %q)", err, e.Place(), noren.CodeOf(err))
			}
			for _, path := range []string{out, other} {
				if _, err := os.Stat(path); err == nil {
					t.Errorf("%s was written", path)
				}
			}
		})
	}
}

func TestAnonymizeNotesAndUndecidedColumns(t *testing.T) {
	table, dir := visits(t)
	table.SpecFile = ""
	table.Spec = &spec.Spec{Columns: map[string]spec.Column{"age": {Role: "quasi"}, "city": {Role: "quasi"}}, Anonymize: spec.Anonymize{K: 2}}
	s := bare(t)
	codes := noted(s)
	_, err := s.Anonymize(t.Context(), &api.AnonymizeRequest{Table: table, Output: filepath.Join(dir, "a.csv")})
	var refused *gate.Refused
	if !errors.As(err, &refused) || !slices.ContainsFunc(refused.Columns, func(c gate.Refusal) bool { return c.Column == "name" }) {
		t.Fatalf("names were not refused: %v", err)
	}
	if slices.Contains(*codes, spec.NoteKept) {
		t.Errorf("a release that is refused keeps nothing: %v", *codes)
	}
	table.Spec.Columns["name"], table.Spec.Columns["person"] = spec.Column{Role: "identifier"}, spec.Column{Role: "identifier"}
	table.Spec.Anonymize.K = 4
	*codes = nil
	r, err := s.Anonymize(t.Context(), &api.AnonymizeRequest{Table: table, Output: filepath.Join(dir, "b.csv")})
	must(t, err)
	if repeats := slices.Contains(*codes, service.NoteRepeated); repeats != (r.Repeated != nil) || !repeats {
		t.Errorf("the identifier that repeats: %v, %+v", *codes, r.Repeated)
	}
}

func TestVerify(t *testing.T) {
	table, dir := visits(t)
	out := filepath.Join(dir, "out.csv")
	s := bare(t)
	_, err := s.Anonymize(t.Context(), &api.AnonymizeRequest{Table: table, Output: out})
	must(t, err)
	codes := noted(s)
	released := api.Table{Input: out, SpecFile: table.SpecFile}
	r, err := s.Verify(t.Context(), &api.VerifyRequest{Table: released})
	must(t, err)
	valid(t, "noren.verify-1.json", r)
	if !r.Met || !r.Uncounted || r.AchievedK < 3 || !slices.Contains(*codes, service.CodeNoUnit) {
		t.Errorf("%+v, notes %v", r, *codes)
	}
	if _, err := s.Verify(t.Context(), &api.VerifyRequest{Table: released, UnitRequired: true}); noren.CodeOf(err) != service.CodeNoUnit {
		t.Errorf("a release without its unit: %v", err)
	}
	r, err = s.Verify(t.Context(), &api.VerifyRequest{Table: table})
	must(t, err)
	if r.Met || noren.KindOf(r.Err()) != noren.NotMet {
		t.Error("the source is said to be 3-anonymous")
	}
	for code, sp := range map[string]*spec.Spec{
		service.CodeNoK:         {Columns: map[string]spec.Column{"age": {Role: "quasi"}}},
		service.CodeNoSensitive: {Columns: map[string]spec.Column{"age": {Role: "quasi"}}, Anonymize: spec.Anonymize{K: 2, L: 2}},
		spec.CodeNoQuasi:        {Anonymize: spec.Anonymize{K: 2}},
		spec.CodeNeedsL:         {Anonymize: spec.Anonymize{K: 2, C: 2}},
	} {
		if _, err := s.Verify(t.Context(), &api.VerifyRequest{Table: api.Table{Input: out, Spec: sp}}); noren.CodeOf(err) != code ||
			noren.KindOf(err) != noren.Usage {
			t.Errorf("got %v, want code %s", err, code)
		}
	}
}

func TestAssess(t *testing.T) {
	table, dir := visits(t)
	out, page := filepath.Join(dir, "out.csv"), filepath.Join(dir, "page.html")
	s := bare(t)
	table.Spec = &spec.Spec{Anonymize: spec.Anonymize{KeepOrder: true}}
	made, err := s.Anonymize(t.Context(), &api.AnonymizeRequest{Table: table, Output: out})
	must(t, err)
	r, err := s.Assess(t.Context(), &api.AssessRequest{
		Table: table, Against: out, KeptOrder: true, Population: table.Input,
		SamplingFraction: 0.5, Report: page,
	})
	must(t, err)
	valid(t, "noren.assess-1.json", r)
	// The loss is one figure, whether the release is made or read.
	if l := r.ClassLoss; l == nil || l.Scale != made.Scale || made.Groups != made.Classes || math.Abs(l.Loss-made.Loss) > 1e-12 {
		t.Errorf("a loss of %v was stated for %d groups, and %d classes have %+v", made.Loss, made.Groups, made.Classes, r.ClassLoss)
	}
	switch {
	case r.Original.Records != 60 || r.Release == nil || r.Release.SmallestClass < 3 || r.Utility == nil || !r.Utility.Corresponding:
		t.Errorf("%+v", r)
	case r.OriginalPersons == nil || r.ReleasePersons == nil || r.ReleasePersons.Smallest < 3:
		t.Errorf("persons %+v, %+v", r.OriginalPersons, r.ReleasePersons)
	case r.OriginalJournalist == nil || r.OriginalUniqueness == nil || r.K != 3 || r.AverageClassRatio == nil:
		t.Errorf("%+v", r)
	}
	if text, err := os.ReadFile(page); err != nil || !bytes.Contains(text, []byte("<svg")) {
		t.Errorf("page: %v", err)
	}
	codes := noted(s)
	r, err = s.Assess(t.Context(), &api.AssessRequest{Table: table, Against: out})
	must(t, err)
	if r.ReleasePersons != nil || !slices.Contains(*codes, service.NotePersonsUnknown) {
		t.Errorf("persons of a shuffled release: %+v, notes %v", r.ReleasePersons, *codes)
	}
	for where, q := range map[string]api.AssessRequest{
		"kept-order":        {Table: table, KeptOrder: true},
		"sampling-fraction": {Table: table, SamplingFraction: 2},
		page:                {Table: table, Report: page},
	} {
		var e *noren.Error
		if _, err := s.Assess(t.Context(), &q); !errors.As(err, &e) || e.Kind != noren.Usage || e.Place() != where {
			t.Errorf("%s: %v", where, err)
		}
	}
}

func TestCurve(t *testing.T) {
	table, dir := visits(t)
	s := bare(t)
	var points []kanon.CurvePoint
	r, err := s.Curve(t.Context(), &api.CurveRequest{
		Table: table, K: []int{5, 2}, Methods: []string{"mdav", "mondrian"}, Report: filepath.Join(dir, "curve.html"),
		Point: func(p kanon.CurvePoint) { points = append(points, p) },
	})
	must(t, err)
	valid(t, "noren.curve-1.json", r)
	if r.Rows != 60 || len(r.Points) != 4 || !slices.Equal(points, r.Points) || r.Points[0].K != 2 || r.Refine != "fast" ||
		r.Scale != "zscore" || !slices.Equal(r.Quasi, []string{"age", "city"}) {
		t.Errorf("%+v", r)
	}
	for where, q := range map[string]api.CurveRequest{
		"k":       {Table: table},
		"methods": {Table: table, K: []int{2}, Methods: []string{"best"}},
		"refine":  {Table: table, K: []int{2}, Refine: "never"},
		"scale":   {Table: table, K: []int{2}, Scale: "huge"},
		"unit-linkage": {Table: api.Table{Input: table.Input, Spec: &spec.Spec{
			Columns:   map[string]spec.Column{"age": {Role: "quasi"}},
			Anonymize: spec.Anonymize{UnitLinkage: "all"},
		}}, K: []int{2}},
	} {
		var e *noren.Error
		if _, err := s.Curve(t.Context(), &q); !errors.As(err, &e) || e.Kind != noren.Usage || e.Place() != where {
			t.Errorf("%s: %v", where, err)
		}
	}
}

func TestInspectAndPropose(t *testing.T) {
	table, _ := visits(t)
	table.SpecFile = ""
	s := bare(t)
	r, err := s.Inspect(t.Context(), &api.InspectRequest{Table: table})
	must(t, err)
	valid(t, "noren.inspect-1.json", r)
	if r.Rows != 60 || len(r.Columns) != 5 || r.Columns[2].Name != "age" || r.Columns[2].Type != "integer" || r.Columns[2].Smallest != "20" {
		t.Errorf("%+v", r)
	}
	p, err := s.Propose(t.Context(), &api.ProposeRequest{Table: table, Use: "read me"})
	must(t, err)
	proposal, err := spec.Parse("proposal", []byte(p.Specification))
	must(t, err)
	if proposal.Columns["age"].Type != "integer" || proposal.Columns["name"].Role != "identifier" ||
		!strings.Contains(p.Specification, "# read me\n") {
		t.Errorf("proposal:\n%s", p.Specification)
	}
	if strings.Contains(p.Specification, "Nara") || strings.Contains(p.Specification, "Name 1") {
		t.Error("a value is in the proposal")
	}
}

// The standard input of a service is read where a request names it.
func TestInspectStdin(t *testing.T) {
	s := bare(t)
	s.Stdin = strings.NewReader("age,city\n31,Nara\n32,Kobe\n")
	r, err := s.Inspect(t.Context(), &api.InspectRequest{Table: api.Table{Input: "-"}})
	must(t, err)
	if r.Rows != 2 || r.Input != "-" {
		t.Errorf("%+v", r)
	}
}

func TestHierarchy(t *testing.T) {
	table, dir := visits(t)
	s := bare(t)
	p, err := s.HierarchyPropose(t.Context(), &api.HierarchyProposeRequest{
		Table: table, Column: "age", Kind: "number",
		Steps: []string{"10", "50"},
	})
	must(t, err)
	if p.Kind != "number" || len(p.Levels) != 4 || len(p.Rows) == 0 || p.Rows[0][len(p.Rows[0])-1] != "*" {
		t.Errorf("%+v", p)
	}
	public, err := s.HierarchyPropose(t.Context(), &api.HierarchyProposeRequest{Kind: "number", Low: "0", High: "9"})
	must(t, err)
	if len(public.Rows) != 10 {
		t.Errorf("%+v", public)
	}
	check := api.HierarchyCheckRequest{Table: table, Hierarchy: filepath.Join(dir, "cities.csv"), Column: "city"}
	covered, err := s.HierarchyCheck(t.Context(), &check)
	must(t, err)
	if *covered != (api.HierarchyCheck{Values: 3, Lines: 3, Levels: 3}) {
		t.Errorf("%+v", covered)
	}
	write(t, check.Hierarchy, "Kobe,coast,*\nOsaka,coast,*\n")
	_, err = s.HierarchyCheck(t.Context(), &check)
	if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), "1 value in 20 records has") ||
		strings.Contains(err.Error(), "Nara") {
		t.Errorf("a value without a line: %v", err)
	}
	for where, q := range map[string]api.HierarchyProposeRequest{
		"":       {},
		"column": {Table: table},
		"kind":   {Table: table, Column: "age", Kind: "zip"},
		"layout": {Table: table, Column: "age", Layout: "YY"},
		"range":  {Kind: "number", Low: "9", High: "0"},
	} {
		var e *noren.Error
		if _, err := s.HierarchyPropose(t.Context(), &q); !errors.As(err, &e) || e.Kind != noren.Usage || e.Place() != where {
			t.Errorf("%q: %v", where, err)
		}
	}
}
