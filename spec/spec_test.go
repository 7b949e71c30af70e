package spec_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
)

const clinic = `version: 1
input:
  missing: ["", "?"]
columns:
  name: {role: identifier}
  age: {role: quasi-identifier, type: integer}
  seen: {role: quasi, format: DD.MM.YYYY}
  severity:
    role: sensitive
    order: [mild, moderate, severe]
  postcode: {role: quasi}
anonymize:
  k: 5
  refine: 20s
`

var file = []table.StoredColumn{{Name: "name"}, {Name: "age"}, {Name: "seen"}, {Name: "severity"}, {Name: "postcode"}, {Name: "note"}}

func TestResolve(t *testing.T) {
	s, err := spec.Parse("noren.yaml", []byte(clinic))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := s.Resolve(file, func(columns []int) ([]table.Field, error) {
		if len(columns) != 1 || columns[0] != 4 {
			t.Errorf("asked to infer %v, want postcode alone", columns)
		}
		return []table.Field{{Type: table.Category}}, nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range schema.Fields {
		got = append(got, f.Name+" "+f.Role.String()+" "+f.Type.String())
	}
	want := []string{
		"name identifier category", "age quasi-identifier integer", "seen quasi-identifier date",
		"severity sensitive ordered", "postcode quasi-identifier category", "note other category",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if s.Anonymize.K != 5 || s.Anonymize.Refine != "20s" || len(s.Input.Missing) != 2 {
		t.Errorf("parameters: %+v %+v", s.Anonymize, s.Input)
	}
}

func TestParseFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "empty"},
		{"unknown key", "version: 1\ncolums: {}\n", "colums"},
		{"unknown key of a column", "version: 1\ncolumns:\n  age: {rol: quasi}\n", "rol"},
		{"column twice", "version: 1\ncolumns:\n  age: {role: quasi}\n  age: {role: other}\n", "age"},
		{"version", "version: 2\n", "version 2 is not known"},
		{"no version", "columns: {}\n", "version 0 is not known"},
		{"no mapping", "- 1\n", "not a valid"},
		{"two documents", "version: 1\n---\nversion: 1\n", "more than one document"},
		{"wrong type", "version: 1\nanonymize: {k: five}\n", "not a valid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := spec.Parse("noren.yaml", []byte(c.text))
			if noren.KindOf(err) != noren.Usage {
				t.Fatalf("got %v, want a usage error", err)
			}
			if !strings.Contains(err.Error(), "noren.yaml") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q does not name the file and %q", err, c.want)
			}
		})
	}
}

func TestResolveFaultsAllAtOnce(t *testing.T) {
	s, err := spec.Parse("noren.yaml", []byte(`version: 1
columns:
  aeg: {role: quasi}
  name: {role: identifyer}
  age: {type: integer, order: [a, b]}
  seen: {format: "YY"}
  severity: {type: ordered}
`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Resolve(file, nil, nil)
	if noren.KindOf(err) != noren.Usage {
		t.Fatalf("got %v, want a usage error", err)
	}
	for _, want := range []string{
		"5 faults", "noren.yaml:3:", "did you mean age?", "columns.name.role", "unknown role",
		"levels go with type ordered", "columns.seen.format", "needs its levels",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in:\n%v", want, err)
		}
	}
}

var update = flag.Bool("update", false, "rewrite docs/noren.schema.json")

func TestSchemaIsInDocs(t *testing.T) {
	const path = "../docs/noren.schema.json"
	want, err := spec.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is out of date: go test ./spec -update", path)
	}
}

// A specification is read from any file: whatever is in it, it
// is an error or a specification.
func FuzzParse(f *testing.F) {
	f.Add([]byte(clinic))
	f.Add([]byte("version: 1\ncolumns: {a.b: {role: quasi, round: 2}}\n"))
	f.Add([]byte("version: 1\ncolumns: &x {a: *x}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		metertest.Hold(t, len(data))
		s, err := spec.Parse("noren.yaml", data)
		if err != nil {
			if noren.KindOf(err) != noren.Usage && noren.CodeOf(err) != "too-large" {
				t.Fatalf("not a usage error: %v", err)
			}
			return
		}
		schema, err := s.Resolve(file, func(columns []int) ([]table.Field, error) {
			return make([]table.Field, len(columns)), nil
		}, func(string) (*table.Hierarchy, error) {
			return table.NewHierarchy("h", [][]string{{"a", "*"}}, nil)
		})
		if err == nil && len(schema.Fields) != len(file) {
			t.Fatalf("%d fields for %d columns", len(schema.Fields), len(file))
		}
	})
}
