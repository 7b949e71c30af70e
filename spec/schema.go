package spec

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/noren-privacy/noren"
)

// JSONSchema is the JSON schema of noren.yaml, indented, with a final line
// feed. Editors use it to check and complete the file.
func JSONSchema() ([]byte, error) {
	s, err := jsonschema.For[Spec](nil)
	if err != nil {
		return nil, &noren.Error{What: "cannot derive the schema", Err: err}
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "noren.yaml"
	s.Description = "What a table is and how Noren is to release it."
	column := s.Properties["columns"].AdditionalProperties
	enum(column, "role", "identifier", "quasi-identifier", "quasi", "sensitive", "other", "drop")
	enum(column, "type", "integer", "decimal", "date", "ordered", "category")
	enum(s.Properties["input"], "encoding", "utf-8", "shift_jis", "utf-16le", "utf-16be", "euc-jp", "iso-2022-jp", "latin-1", "windows-1252")
	s.Properties["input"].Properties["header-row"].Minimum = jsonschema.Ptr(1.0)
	do := s.Properties["anonymize"]
	for _, p := range parameters {
		if p.Only {
			enum(do, p.Name, p.Words...)
		}
	}
	s.Properties["version"].Const = jsonschema.Ptr[any](Version)
	do.Properties["k"].Minimum = jsonschema.Ptr(1.0)
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, &noren.Error{What: "cannot write the schema", Err: err}
	}
	return append(out, '\n'), nil
}

func enum(of *jsonschema.Schema, property string, values ...string) {
	for _, v := range values {
		of.Properties[property].Enum = append(of.Properties[property].Enum, v)
	}
}
