package service_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// valid checks that v, as JSON, is of the form in docs/schemas.
func valid(t *testing.T, file string, v any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "schemas", file))
	must(t, err)
	var s jsonschema.Schema
	must(t, json.Unmarshal(text, &s))
	resolved, err := s.Resolve(nil)
	must(t, err)
	text, err = json.Marshal(v)
	must(t, err)
	var plain any
	must(t, json.Unmarshal(text, &plain))
	if err := resolved.Validate(plain); err != nil {
		t.Errorf("%s: %v\n%s", file, err, text)
	}
}
