package main

import (
	"encoding/json"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/noren-privacy/noren/api"
)

// schema is the JSON schema of a document, indented.
func schema(d api.Document, n *node) ([]byte, error) {
	s := schemaOf(n)
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = d.Name()
	if p := s.Properties["schema"]; p != nil {
		p.Const = jsonschema.Ptr[any](d.Schema)
	}
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}

func schemaOf(n *node) *jsonschema.Schema {
	switch n.kind {
	case "object":
		s := &jsonschema.Schema{
			Type: "object", Description: unquoted(n.doc), Properties: map[string]*jsonschema.Schema{},
			AdditionalProperties: nothing(),
		}
		for _, f := range n.fields {
			p := schemaOf(f.node)
			if f.doc != "" {
				p.Description = unquoted(f.doc)
			}
			if f.null && p.Type != "" {
				p.Types, p.Type = []string{p.Type, "null"}, ""
			}
			s.Properties[f.name] = p
			s.PropertyOrder = append(s.PropertyOrder, f.name)
			if !f.optional {
				s.Required = append(s.Required, f.name)
			}
		}
		return s
	case "array":
		s := &jsonschema.Schema{Type: "array", Items: schemaOf(n.elem)}
		if n.length > 0 {
			s.MinItems, s.MaxItems = jsonschema.Ptr(n.length), jsonschema.Ptr(n.length)
		}
		return s
	case "map":
		return &jsonschema.Schema{Type: "object", AdditionalProperties: schemaOf(n.elem)}
	case "number or string":
		return &jsonschema.Schema{Types: []string{"number", "string"}}
	case "any":
		return &jsonschema.Schema{}
	}
	return &jsonschema.Schema{Type: n.kind}
}

// unquoted is a description as plain text.
func unquoted(doc string) string { return strings.ReplaceAll(doc, "`", "") }

// nothing is the schema that no value has.
func nothing() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

// fileName is the name of the schema's file.
func fileName(d api.Document) string {
	name := strings.ReplaceAll(d.Schema, "/", "-")
	switch {
	case d.Price:
		name += "-dry-run"
	case d.Variant != "":
		name += "-" + d.Variant
	}
	if d.Operation != "" {
		name += "-" + d.Operation
	}
	return name + ".json"
}
