package server

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/noren-privacy/noren/internal/server/problem"
)

// mostFaults is the most faults of one body that are looked for and shown. huma looks for all: a
// body of 1 MiB can hold 350,000, which take seconds and a reply of 34 MB.
const mostFaults = 100

// mostPointer is the most bytes of the place of a fault that are shown: a name in it is the
// sender's.
const mostPointer = 200

// Names of fields count as they are written. huma takes them in other letters too, checks one of
// those that it finds, and the decoder may use another one, which nothing has checked.
func init() { huma.ValidateStrictCasing = true }

// statedOnce refuses a body that states a field of one object more than once: the last one would
// be checked, and what the others hold would stay in it. A body that is no JSON is left to the decoder.
func statedOnce(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	type level struct {
		names map[string]bool // nil for a list
		value bool            // a name was read, and its value comes next
	}
	var open []level
	for {
		token, err := dec.Token()
		if err != nil {
			return nil
		}
		last := len(open) - 1
		if last >= 0 && open[last].names != nil {
			if name, ok := token.(string); ok && !open[last].value {
				if open[last].names[name] {
					return problem.New("invalid", "The request states a field more than once.").Hinted("state each field once")
				}
				open[last].names[name], open[last].value = true, true
				continue
			}
			open[last].value = false
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, level{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:last]
		}
	}
}

// bodySchema is the schema of the body of a route; nil for none.
func bodySchema(api huma.API, op *huma.Operation) *huma.Schema {
	path := api.OpenAPI().Paths[op.Path]
	if path == nil {
		return nil
	}
	for _, o := range []*huma.Operation{path.Post, path.Put, path.Patch, path.Delete} {
		if o == nil || o.Method != op.Method || o.RequestBody == nil {
			continue
		}
		if media := o.RequestBody.Content["application/json"]; media != nil {
			return media.Schema
		}
	}
	return nil
}

// faults counts the faults of a body against its schema, up to a few more than the most.
type faults struct {
	schemas huma.Registry
	path    *huma.PathBuffer
	found   huma.ValidateResult
	count   int
}

// fewFaults refuses a body with more than the most faults, in one sentence. Others are left to
// huma, and so is a body that is no JSON.
func fewFaults(schemas huma.Registry, schema *huma.Schema, text []byte) error {
	var body any
	if json.Unmarshal(text, &body) != nil {
		return nil
	}
	f := &faults{schemas: schemas, path: huma.NewPathBuffer(nil, 0)}
	f.value(schema, body)
	if f.count <= mostFaults {
		return nil
	}
	return problem.New("invalid", "The request has more than 100 faults.").Hinted("compare it with the description of the interface")
}

// value counts the faults of a value. The parts of objects and lists are counted one by one, so that it ends
// early.
func (f *faults) value(s *huma.Schema, v any) {
	for s != nil && s.Ref != "" {
		s = f.schemas.SchemaFromRef(s.Ref)
	}
	if s == nil || f.count > mostFaults {
		return
	}
	switch of := v.(type) {
	case []any:
		if s.Type == huma.TypeArray && s.Items != nil {
			for _, item := range of {
				if f.value(s.Items, item); f.count > mostFaults {
					return
				}
			}
			return
		}
	case map[string]any:
		if s.Type == huma.TypeObject {
			f.object(s, of)
			return
		}
	}
	f.found.Reset()
	f.path.Reset()
	huma.Validate(f.schemas, s, f.path, huma.ModeWriteToServer, v, &f.found)
	f.count += len(f.found.Errors)
}

func (f *faults) object(s *huma.Schema, of map[string]any) {
	for _, name := range s.Required {
		if _, ok := of[name]; !ok {
			f.count++
		}
	}
	for name, v := range of {
		if f.count > mostFaults {
			return
		}
		property, known := s.Properties[name]
		switch more := s.AdditionalProperties.(type) {
		case bool:
			if !known && !more {
				f.count++
			}
		case *huma.Schema:
			if !known {
				property = more
			}
		}
		if v != nil || slices.Contains(s.Required, name) {
			f.value(property, v)
		}
	}
}
