package server

import (
	"reflect"
	"strings"
	"testing"
)

// Every field that a body has in JSON is in its schema. Those of a struct that is embedded under a name of its package
// alone are not: clients refuse what they do not know.
func TestSchemasHaveAllFields(t *testing.T) {
	t.Parallel()
	schemas := start(t, nil).api.OpenAPI().Components.Schemas
	seen := 0
	for name, schema := range schemas.Map() {
		of := schemas.TypeFromRef("#/components/schemas/" + name)
		if of == nil || of.Kind() != reflect.Struct || len(schema.Properties) == 0 {
			continue
		}
		for _, f := range reflect.VisibleFields(of) {
			tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if tag == "" || tag == "-" || !f.IsExported() {
				continue
			}
			seen++
			if schema.Properties[tag] == nil {
				t.Errorf("%s: the schema lacks %s", name, tag)
			}
		}
	}
	if seen < 200 {
		t.Errorf("only %d fields were looked at", seen)
	}
}
