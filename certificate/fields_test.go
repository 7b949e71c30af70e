package certificate

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
)

var updateCheckers = flag.Bool("update-checkers", false, "write the fields and the pairs that all checkers read anew")

// formField is a field of a certificate as a reader of any language needs it. An
// optional field is absent where it is empty.
type formField struct {
	Type     string               `json:"type"`
	Required *bool                `json:"required,omitempty"` // absent for the items of a list
	Fields   map[string]formField `json:"fields,omitempty"`
	Of       *formField           `json:"of,omitempty"`
}

// fieldOf is a field of that Go type. quoted says that an integer is written as a text.
func fieldOf(t *testing.T, of reflect.Type, quoted bool) formField {
	switch {
	case of == reflect.TypeFor[json.RawMessage]():
		return formField{Type: "any object"}
	case of == reflect.TypeFor[noren.Text]():
		return formField{Type: "text"}
	case of.Kind() == reflect.Pointer:
		return fieldOf(t, of.Elem(), quoted)
	case of.Kind() == reflect.Struct:
		out := formField{Type: "object", Fields: map[string]formField{}}
		for i := range of.NumField() {
			f := of.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				t.Fatalf("%s.%s has no name in JSON", of, f.Name)
			}
			one := fieldOf(t, f.Type, strings.Contains(options, "string"))
			required := !strings.Contains(options, "omitempty")
			one.Required = &required
			out.Fields[name] = one
		}
		return out
	case of.Kind() == reflect.Slice:
		item := fieldOf(t, of.Elem(), false)
		return formField{Type: "list", Of: &item}
	case quoted:
		return formField{Type: "decimal"}
	}
	name, known := map[reflect.Kind]string{
		reflect.String: "text", reflect.Int: "integer", reflect.Int64: "integer", reflect.Float64: "number",
		reflect.Bool: "boolean",
	}[of.Kind()]
	if !known {
		t.Fatalf("%s has no name among the types of fields", of)
	}
	return formField{Type: name}
}

// testdata/fields.json is the list of fields that the Python client and the page compare
// their own tables with.
func TestFields(t *testing.T) {
	text, err := json.MarshalIndent(fieldOf(t, reflect.TypeFor[Certificate](), false).Fields, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "fields.json")
	if *updateCheckers {
		if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.TrimSpace(have), text) {
		t.Error("the fields of a certificate changed: run with -update-checkers, and let the Python client and the page follow")
	}
}
