package survey_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/ldp/survey"
)

// Each field of a specification, changed alone, makes another specification, and another
// stream of permanent answers where the mechanism has any; or it is listed with the reason
// why it does not.
func TestEachFieldOfASpecificationIsInItsIdentity(t *testing.T) {
	grr := survey.Spec{
		Mechanism: "longitudinal-grr", Question: "q", Epsilon: 1, Lifetime: 3,
		Attribute: survey.Attribute{Labels: []string{"a", "b", "c"}, Other: "c"},
	}
	words := survey.Spec{Mechanism: "rappor", Question: "q", K: 16, H: 2, M: 8, F: p(0.5), P: p(0.25), Q: p(0.75)}
	bins := survey.Spec{
		Mechanism: "longitudinal-oue", Question: "q", Epsilon: 1,
		Attribute: survey.Attribute{Bins: &survey.Bins{Low: 0, High: 10, Count: 4}},
	}
	edges := survey.Spec{
		Mechanism: "longitudinal-oue", Question: "q", Epsilon: 1,
		Attribute: survey.Attribute{Edges: []float64{0, 1, 2}, EdgesEpsilon: 1},
	}
	wave := survey.Spec{Mechanism: "square-wave", Question: "q", Epsilon: 1, Attribute: survey.Attribute{Range: []float64{0, 1}}}
	several := survey.Spec{Question: "q", Epsilon: 5, Attributes: []survey.Attribute{{Column: "a", Size: 3}, {Column: "b", Size: 3}}}
	size := survey.Spec{Mechanism: "longitudinal-grr", Question: "q", Epsilon: 1, Attribute: labels(5)}
	for name, c := range map[string]struct {
		base   survey.Spec
		change func(s *survey.Spec)
		same   bool // the stream is the same, and the reason is said
	}{
		"Question":     {grr, func(s *survey.Spec) { s.Question = "p" }, false},
		"Mechanism":    {grr, func(s *survey.Spec) { s.Mechanism = "longitudinal-oue" }, false},
		"Epsilon":      {grr, func(s *survey.Spec) { s.Epsilon = 2 }, true}, // of the second step
		"Lifetime":     {grr, func(s *survey.Spec) { s.Lifetime = 4 }, false},
		"K":            {words, func(s *survey.Spec) { s.K = 32 }, false},
		"H":            {words, func(s *survey.Spec) { s.H = 1 }, false},
		"M":            {words, func(s *survey.Spec) { s.M = 16 }, false},
		"F":            {words, func(s *survey.Spec) { s.F = p(0.25) }, false},
		"P":            {words, func(s *survey.Spec) { s.P = p(0.125) }, true}, // of the second step
		"Q":            {words, func(s *survey.Spec) { s.Q = p(0.875) }, true}, // of the second step
		"Labels":       {grr, func(s *survey.Spec) { s.Labels = []string{"b", "a", "c"} }, false},
		"Other":        {grr, func(s *survey.Spec) { s.Other = "a" }, false},
		"Size":         {size, func(s *survey.Spec) { s.Size = 6 }, false},
		"Edges":        {edges, func(s *survey.Spec) { s.Edges = []float64{0, 1, 3} }, false},
		"EdgesEpsilon": {edges, func(s *survey.Spec) { s.EdgesEpsilon = 2 }, false},
		"Bins.Low":     {bins, func(s *survey.Spec) { s.Bins = &survey.Bins{Low: 1, High: 10, Count: 4} }, false},
		"Bins.High":    {bins, func(s *survey.Spec) { s.Bins = &survey.Bins{Low: 0, High: 11, Count: 4} }, false},
		"Bins.Count":   {bins, func(s *survey.Spec) { s.Bins = &survey.Bins{Low: 0, High: 10, Count: 5} }, false},
		"Range":        {wave, func(s *survey.Spec) { s.Range = []float64{0, 2} }, false},
		"Buckets":      {wave, func(s *survey.Spec) { s.Buckets = 64 }, false},
		"Attributes":   {several, func(s *survey.Spec) { s.Attributes = s.Attributes[:1] }, false},
		"Column":       {several, func(s *survey.Spec) { s.Attributes[1].Column = "c" }, false},
		"Sample":       {several, func(s *survey.Spec) { s.Sample = 1 }, false},
	} {
		base := newSurvey(t, c.base)
		changed := c.base
		changed.Attributes = slices.Clone(c.base.Attributes)
		c.change(&changed)
		other := newSurvey(t, changed)
		if base.SHA256() == other.SHA256() {
			t.Errorf("%s: two specifications have one SHA-256", name)
		}
		if base.Remembers() && (base.Stream() == other.Stream()) != c.same {
			t.Errorf("%s: the streams are the same: %v", name, !c.same)
		}
		if !base.Remembers() && base.Stream() != "" {
			t.Errorf("%s: a stream without memory", name)
		}
	}
	covered := []string{
		"Question", "Mechanism", "Epsilon", "Lifetime", "K", "H", "M", "F", "P", "Q", "Attributes", "Sample",
		"Column", "Labels", "Other", "Size", "Edges", "EdgesEpsilon", "Bins", "Range", "Buckets", "Low", "High", "Count",
		"Version",   // there is one
		"Attribute", // its fields are there
	}
	for _, of := range []reflect.Type{reflect.TypeFor[survey.Spec](), reflect.TypeFor[survey.Attribute](), reflect.TypeFor[survey.Bins]()} {
		for i := range of.NumField() {
			if name := of.Field(i).Name; !slices.Contains(covered, name) {
				t.Errorf("%s.%s: no test changes it", of.Name(), name)
			}
		}
	}
	// The column names the question where none is given, and is no part of it otherwise.
	column := grr
	column.Column, column.Question = "q", ""
	both := grr
	both.Column = "elsewhere"
	for _, s := range []survey.Spec{column, both} {
		if other := newSurvey(t, s); other.SHA256() != newSurvey(t, grr).SHA256() || other.Stream() != newSurvey(t, grr).Stream() {
			t.Errorf("%+v: another identity than the same question's", s)
		}
	}
}

// Every file of reports is refused in the place of each other one: by another mechanism,
// epsilon, lifetime, domain or question. Among them are epsilon 4 under
// epsilon 1, GRR under subset selection, and OUE under its longitudinal form.
func TestFilesOfReportsAreOfOneSpecification(t *testing.T) {
	all := specs()
	all["grr of 12"] = survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: labels(12)}
	all["grr, epsilon 4"] = survey.Spec{Mechanism: "grr", Epsilon: 4, Attribute: labels(5)}
	all["grr of bins"] = survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: survey.Attribute{Bins: &survey.Bins{Low: 0, High: 5, Count: 5}}}
	all["oue, column"] = survey.Spec{Mechanism: "oue", Epsilon: 1, Attribute: survey.Attribute{Size: 5, Column: "c"}}
	for name, s := range maps.Clone(all) {
		if s.Question == "" && s.Column == "" {
			s.Question = "q"
			all[name] = s
			s.Question = "another"
			all[name+" of another question"] = s
		}
	}
	src := randtest.Source(4)
	files := map[string]string{}
	for name, spec := range all {
		s := newSurvey(t, spec)
		files[name] = s.Header() + "\n"
		for range 3 {
			values := []string{"0"}
			if s.Kind() == survey.Several {
				values = []string{"0", "1", "2"}
			}
			line, err := s.Randomise(src, values)
			if err != nil {
				t.Fatal(name, err)
			}
			files[name] += line + "\n"
		}
	}
	read := func(spec survey.Spec, text string) (*survey.Collector, error) {
		c, err := newSurvey(t, spec).NewCollector()
		if err != nil {
			t.Fatal(err)
		}
		return c, c.AddLines(t.Context(), strings.NewReader(text), "file")
	}
	for name, spec := range all {
		for of, text := range files {
			c, err := read(spec, text)
			if of == name {
				if err != nil || c.N() != 3 || c.Rejected().Total() != 0 || len(c.Without()) != 0 {
					t.Errorf("%s: %v, %d reports", name, err, c.N())
				}
			} else if noren.KindOf(err) != noren.BadData || noren.CodeOf(err) != "other-specification" {
				t.Errorf("%s under %s: %v", of, name, err)
			}
		}
		// What follows in a joined file is checked, too.
		if _, err := read(spec, files[name]+files["square-wave"]); (err == nil) != (name == "square-wave") {
			t.Errorf("%s with another joined to it: %v", name, err)
		}
		// A file of today is read, and nothing ties it.
		_, reports, _ := strings.Cut(files[name], "\n")
		if c, err := read(spec, reports); err != nil || c.N() != 3 || !slices.Equal(c.Without(), []string{"file"}) {
			t.Errorf("%s: without a specification: %v, %v", name, err, c.Without())
		}
		if c, err := read(spec, reports+files[name]); err != nil || c.N() != 6 || len(c.Without()) != 1 {
			t.Errorf("%s: reports before the line: %v, %v", name, err, c.Without())
		}
		// A specification without a question takes that of the file, and keeps it.
		spec.Question, spec.Column = "", ""
		if c, err := read(spec, files[name]); err != nil || c.Question() == "" {
			t.Errorf("%s: without a question: %q, %v", name, c.Question(), err)
		}
		if other, ok := files[name+" of another question"]; ok {
			if _, err := read(spec, files[name]+other); err == nil {
				t.Errorf("%s: two questions in one estimate", name)
			}
		}
	}
	// A file that is given twice is found with and without the line, and with other line ends.
	one, err := newSurvey(t, all["grr"]).NewCollector()
	if err != nil {
		t.Fatal(err)
	}
	many := strings.Repeat("0\n1\n", 10)
	for i, text := range []string{newSurvey(t, all["grr"]).Header() + "\n" + many, many, strings.ReplaceAll(many, "\n", "\r\n")} {
		if err := one.AddLines(t.Context(), strings.NewReader(text), "file"); (err == nil) != (i == 0) {
			t.Errorf("given again in form %d: %v", i, err)
		}
	}
	header := newSurvey(t, all["grr"]).Header()
	for _, damaged := range []string{
		header[:len(header)-1], strings.Replace(header, "reports 1", "reports 2", 1),
		strings.Replace(header, "sha256:", "sha256:0", 1), "# noren ldp reports ",
	} {
		if _, err := read(all["grr"], damaged+"\n1\n"); noren.KindOf(err) != noren.BadData {
			t.Errorf("%q: %v", damaged, err)
		}
	}
	// A client whose id begins like the line is a client.
	if c, err := read(all["grr"], "# noren ldp reports 1\t1\n"); err != nil || c.N() != 1 {
		t.Errorf("a client's id: %v", err)
	}
}

// Files of counts and of binary reports name their specification too.
func TestCountsAndBinaryReportsNameTheirSpecification(t *testing.T) {
	spec := specs()["rappor"]
	spec.Question = "q"
	s := newSurvey(t, spec)
	c, err := s.Rappor().NewCollector()
	if err != nil || c.AddWord("1,0011010011011101") != nil {
		t.Fatal(err)
	}
	spec.F = p(0.25)
	other := newSurvey(t, spec)
	spec = specs()["rappor"]
	nameless := newSurvey(t, spec)
	var tied, plain bytes.Buffer
	if s.WriteCounts(&tied, c.Counts(), "", true) != nil || s.WriteCounts(&plain, c.Counts(), "", false) != nil ||
		!strings.HasPrefix(tied.String(), s.Header()+"\r\n") || strings.Contains(plain.String(), "#") {
		t.Fatal(tied.String(), plain.String())
	}
	read := func(s *survey.Survey, text string) *survey.Counts {
		got, err := s.ReadCounts(strings.NewReader(text), "counts")
		if err != nil || got.Reports() != 1 {
			t.Fatal(err)
		}
		return got
	}
	if got := read(s, tied.String()); !got.Tied || got.Question != "q" {
		t.Errorf("%+v", got)
	}
	if got := read(nameless, tied.String()); !got.Tied || got.Question != "q" {
		t.Errorf("%+v", got)
	}
	if got := read(other, plain.String()); got.Tied {
		t.Error("counts of the reference are tied to a specification")
	}
	if _, err := other.ReadCounts(strings.NewReader(tied.String()), "counts"); noren.CodeOf(err) != "other-specification" {
		t.Errorf("counts of another specification: %v", err)
	}
	reports := filepath.Join(t.TempDir(), "reports.bin")
	if _, tied, err := s.CheckBeside(reports); tied || err != nil {
		t.Error("tied to no file", err)
	}
	if err := os.WriteFile(survey.BesideName(reports), []byte(s.Header()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if q, tied, err := s.CheckBeside(reports); !tied || err != nil || q != "q" {
		t.Error(q, tied, err)
	}
	if _, _, err := other.CheckBeside(reports); noren.CodeOf(err) != "other-specification" {
		t.Error(err)
	}
}

// The TypeScript client writes the same lines.
func TestTypeScriptClientNamesTheSameSpecifications(t *testing.T) {
	text, err := os.ReadFile("../testdata/tsclient.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Files struct {
			Headers []struct {
				Spec   survey.Spec
				Header string
			}
			Whole string
		}
	}
	if err := json.Unmarshal(text, &v); err != nil || len(v.Files.Headers) != 9 {
		t.Fatal(err, len(v.Files.Headers))
	}
	for _, h := range v.Files.Headers {
		if got := newSurvey(t, h.Spec).Header(); got != h.Header {
			t.Errorf("%+v:\nGo         %s\nTypeScript %s", h.Spec, got, h.Header)
		}
		c, err := newSurvey(t, h.Spec).NewCollector()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddLines(t.Context(), strings.NewReader(h.Header+"\n"), "file"); err != nil {
			t.Error(err)
		}
	}
	c, err := newSurvey(t, v.Files.Headers[0].Spec).NewCollector()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddLines(t.Context(), strings.NewReader(v.Files.Whole), "file"); err != nil || c.N() != 2 || c.Clients() != 1 ||
		len(c.Without()) != 0 {
		t.Error(err, fmt.Sprint(c.N(), c.Clients(), c.Without()))
	}
}
