package spec_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	tablefile "github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/infer"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "noren.yaml",
		"version: 1\ninput: {query: q.sql}\ncolumns:\n  age: {hierarchy: h/age.csv}\n  day: {hierarchy: /abs/day.csv}\n  sex: {role: quasi}\n")
	s, err := spec.Load(path)
	must(t, err)
	want := []string{path, filepath.Join(dir, "q.sql"), filepath.Join(dir, "h", "age.csv"), "/abs/day.csv"}
	if got := s.Files(); !slices.Equal(got, want) || s.Columns["sex"].Hierarchy != "" {
		t.Errorf("files %v, want %v", got, want)
	}
	for code, path := range map[string]string{
		spec.CodeUnreadable: filepath.Join(dir, "absent.yaml"),
		spec.CodeEmpty:      write(t, dir, "empty.yaml", ""),
		spec.CodeInvalid:    write(t, dir, "bad.yaml", "version: 1\ncolums: {}\n"),
		spec.SeedCode:       write(t, dir, "seed.yaml", "version: 1\nanonymize:\n  seed: 1\n"),
	} {
		if _, err := spec.Load(path); noren.CodeOf(err) != code || noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v, want code %s", err, code)
		}
	}
}

// Every property of an overlay replaces that below it, whatever fields are added.
func TestWithCarriesEveryField(t *testing.T) {
	full := func(v reflect.Value, letter string) {
		for i := range v.NumField() {
			f := v.Field(i)
			switch f.Interface().(type) {
			case string:
				f.SetString(letter + v.Type().Field(i).Name)
			case int:
				f.SetInt(int64(letter[0]))
			case float64:
				f.SetFloat(float64(letter[0]))
			case bool:
				f.SetBool(true)
			case *int:
				n := int(letter[0])
				f.Set(reflect.ValueOf(&n))
			case *bool:
				b := true
				f.Set(reflect.ValueOf(&b))
			case []string:
				f.Set(reflect.ValueOf([]string{letter}))
			default:
				t.Fatalf("%s: a type that this test does not know", v.Type().Field(i).Name)
			}
		}
	}
	base, over := &spec.Spec{Unit: "a"}, &spec.Spec{Unit: "b"}
	for letter, s := range map[string]*spec.Spec{"a": base, "b": over} {
		c := spec.Column{}
		full(reflect.ValueOf(&c).Elem(), letter)
		full(reflect.ValueOf(&s.Input).Elem(), letter)
		full(reflect.ValueOf(&s.Anonymize).Elem(), letter)
		s.Columns = map[string]spec.Column{"c": c, letter: {Role: letter}}
	}
	got := base.With(over)
	want := *over
	want.Version = spec.Version
	want.Input.Missing = []string{"a", "b"}
	want.Columns = map[string]spec.Column{"c": over.Columns["c"], "a": {Role: "a"}, "b": {Role: "b"}}
	if !reflect.DeepEqual(got, &want) {
		t.Errorf("got\n%+v\nwant\n%+v", *got, want)
	}
	if again := base.With(&spec.Spec{}); !reflect.DeepEqual(again.Columns, base.Columns) || !reflect.DeepEqual(again.Input, base.Input) ||
		again.Anonymize != base.Anonymize || again.Unit != "a" {
		t.Errorf("an empty overlay changes %+v to %+v", base, again)
	}
	if base.Columns["b"].Role != "" {
		t.Error("the specification below was changed")
	}
}

func TestOptions(t *testing.T) {
	s := &spec.Spec{Unit: "person", Anonymize: spec.Anonymize{
		K: 5, L: 2, LModel: "recursive", LMissing: "value", T: 0.2, UnitLinkage: "all",
		Gap: "2m", Coarse: "off",
	}}
	o, err := s.Options()
	must(t, err)
	if o.K != 5 || o.Unit != "person" || o.Linkage != kanon.LinkAll || o.Gap.Minutes() != 2 || o.Closeness.T != 0.2 ||
		*o.Diversity != (privacy.Diversity{Model: privacy.Recursive, L: 2, C: 3, CountMissing: true}) {
		t.Errorf("%+v", o)
	}
	_, err = (&spec.Spec{Anonymize: spec.Anonymize{
		Method: "kmeans", Coarse: "0", Refine: "never", Gap: "-1s", Scale: "huge", Publish: "all", UnitLinkage: "two", Pseudonym: true, C: 2,
	}}).Options()
	var faults spec.Faults
	if !errors.As(err, &faults) || noren.KindOf(err) != noren.Usage {
		t.Fatalf("got %v", err)
	}
	var where []string
	for _, f := range faults {
		where = append(where, f.Place()+f.Code)
	}
	if want := []string{
		"method", "coarse", "refine", "gap", "scale", "publish", "unit-linkage", "unit" + spec.CodeNeedsUnit,
		spec.CodeNeedsL,
	}; !slices.Equal(where, want) {
		t.Errorf("faults %v, want %v", where, want)
	}
}

// open opens a CSV file of that text.
func open(t *testing.T, text string) tablefile.Source {
	t.Helper()
	src, err := tablefile.Open(t.Context(), write(t, t.TempDir(), "t.csv", text), tablefile.Options{})
	must(t, err)
	t.Cleanup(func() { _ = src.Close() })
	return src
}

func TestResolveSource(t *testing.T) {
	src := open(t, "age,pay,ill,note\n31,\"1,234.5\",flu,x\nNA,\"2,345.5\",none,y\n33,\"1,000.0\",cold,z\n35,\"3,000.5\",flu,w\n")
	var notes []string
	how := spec.Reading{Sensitive: true, Notes: func(n spec.Note) { notes = append(notes, n.Code+" "+strings.Join(n.Columns, ",")) }}
	s := &spec.Spec{Columns: map[string]spec.Column{
		"age": {Role: "quasi"}, "pay": {Role: "quasi"},
		"ill": {Role: "sensitive", Type: "category"},
	}}
	r, err := s.ResolveSource(t.Context(), src, how)
	must(t, err)
	if age := r.Schema.Fields[0]; age.Type != table.Integer || !slices.Contains(r.Missing, "NA") || len(s.Input.Missing) != 0 {
		t.Errorf("age is %v, missing texts %v, of the specification %v", age.Type, r.Missing, s.Input.Missing)
	}
	if pay := r.Schema.Fields[1]; pay.Type != table.Decimal || pay.Number != "" || r.Formats["pay"] != "1,234.5" {
		t.Errorf("pay is %+v, formats %v", pay, r.Formats)
	}
	s.NoteKept(r.Schema, nil, how.Notes)
	want := []string{spec.NoteMissing + " ", spec.NoteNumberFormat + " pay", spec.NoteKept + " note"}
	if !slices.Equal(notes, want) {
		t.Errorf("notes %v, want %v", notes, want)
	}
	quasi, err := r.QuasiNames()
	must(t, err)
	if !slices.Equal(quasi, []string{"age", "pay"}) || len(r.Fields(table.Sensitive)) != 1 {
		t.Errorf("quasi-identifiers %v", quasi)
	}
	// As it is written, the format stays; a stated list of texts ends the search.
	s.Input.Missing = []string{}
	w, err := s.ResolveWritten(t.Context(), src, spec.Reading{})
	must(t, err)
	if w.Schema.Fields[1].Number != "1,234.5" || len(w.Missing) != 0 || w.Schema.Fields[0].Type != table.Category {
		t.Errorf("as written %+v, missing %v", w.Schema.Fields[:2], w.Missing)
	}
	if _, err := (&spec.Resolved{Schema: &table.Schema{}}).QuasiNames(); noren.CodeOf(err) != spec.CodeNoQuasi {
		t.Errorf("no quasi-identifier: %v", err)
	}
}

// A text that is missing among numbers and a value in a sensitive column is not decided
// by looking.
func TestResolveSourceAsksWhatIsMissing(t *testing.T) {
	text := "age,ill\n31,flu\nnone,none\n33,cold\n35,flu\n36,none\n"
	s := &spec.Spec{Columns: map[string]spec.Column{"age": {Role: "quasi"}, "ill": {Role: "sensitive", Type: "category"}}}
	if _, err := s.ResolveSource(t.Context(), open(t, text), spec.Reading{Sensitive: true}); noren.CodeOf(err) != spec.CodeMissingUnclear ||
		noren.KindOf(err) != noren.Usage {
		t.Errorf("got %v", err)
	}
	if _, err := s.ResolveSource(t.Context(), open(t, text), spec.Reading{}); err != nil {
		t.Errorf("where nothing is asked of the column: %v", err)
	}
}

func TestResolveRelease(t *testing.T) {
	s := &spec.Spec{Unit: "person", Columns: map[string]spec.Column{
		"name": {Role: "identifier"}, "age": {Role: "quasi", Type: "integer"}, "pay": {Role: "sensitive", Format: "1.234,5"},
		"ill": {Role: "sensitive"},
	}}
	r, err := s.ResolveRelease(t.Context(), open(t, "age,pay,ill\n\"[20,30)\",12.5,flu\n\"[30,40)\",13,NA\n"), spec.Reading{})
	must(t, err)
	if f := r.Schema.Fields; f[0].Type != table.Category || f[1].Type != table.Decimal || f[1].Number != "" || f[2].Type != table.Category ||
		f[2].Role != table.Sensitive {
		t.Errorf("%+v", f)
	}
	if !slices.Equal(r.Missing, []string{"NA"}) {
		t.Errorf("missing texts %v", r.Missing)
	}
	if _, err := s.ResolveRelease(t.Context(), open(t, "pay,ill\n1,flu\n"), spec.Reading{}); noren.KindOf(err) != noren.Usage {
		t.Errorf("a release without a quasi-identifier: %v", err)
	}
}

func TestPropose(t *testing.T) {
	src := open(t, "id;name;age;level\n1;Ann;31;low\n2;Bob;32;high\n3;Eve;NA;medium\n4;Joe;40;low\n")
	r, err := infer.Infer(t.Context(), src, infer.Options{Formats: true})
	must(t, err)
	header := true
	text := spec.Propose(r, spec.ProposeOptions{Use: "use it so", Input: spec.Input{
		Delimiter: ";", Header: &header, Sheet: "a: b",
		HeaderRow: 2, Query: "q.sql", Encoding: "utf-8",
	}})
	s, err := spec.Parse("proposal", []byte(text))
	must(t, err)
	in := s.Input
	if in.Delimiter != ";" || in.Encoding != "utf-8" || !*in.Header || in.Sheet != "a: b" || in.HeaderRow != 2 || in.Query != "q.sql" ||
		!slices.Equal(in.Missing, r.Missing) {
		t.Errorf("input %+v", in)
	}
	if len(s.Columns) != 4 || s.Anonymize.K != 5 || !strings.Contains(text, "# use it so\n") || strings.Contains(text, "Ann") {
		t.Errorf("proposal:\n%s", text)
	}
}
