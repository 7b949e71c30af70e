package acceptance

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// A schema is the part of one of OpenAPI that hostile bodies are made from.
type schema struct {
	Ref        string `json:"$ref"`
	Type       any    `json:"type"`
	Properties map[string]*schema
	Items      *schema
}

// A description is the part of docs/openapi.json that names every body.
type description struct {
	Paths map[string]map[string]struct {
		RequestBody *struct {
			Content map[string]struct{ Schema *schema }
		}
	}
	Components struct{ Schemas map[string]*schema }
}

// resolved follows a reference.
func (d *description) resolved(s *schema) *schema {
	for s != nil && s.Ref != "" {
		s = d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	return s
}

// fields are bodies with a place for the value of a field, by the names of the fields: of each list, with "[]",
// and of one other field where an object has no list. body is the body with a place for the object.
func (d *description) fields(s *schema, body string, depth int) map[string]string {
	out := map[string]string{}
	s = d.resolved(s)
	if s == nil || depth == 0 {
		return out
	}
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		is := d.resolved(s.Properties[field])
		inside := fmt.Sprintf("{%q:%%s}", field)
		switch {
		case is.Items != nil:
			out[field+"[]"] = fmt.Sprintf(body, inside)
			maps.Copy(out, d.fields(is.Items, fmt.Sprintf(body, fmt.Sprintf("{%q:[%%s]}", field)), depth-1))
		case is.Properties != nil:
			maps.Copy(out, d.fields(is, fmt.Sprintf(body, inside), depth-1))
		case len(out) == 0:
			out[field] = fmt.Sprintf(body, inside)
		}
	}
	return out
}

// most is the length of the bodies, a quarter of the longest: these show a fault as well, in a
// quarter of the time.
const most = 1 << 18

// fill is a text so often that a body has about that length.
func fill(before, text, after string) string {
	return before + strings.Repeat(text, (most-len(before)-len(after))/len(text)) + after
}

// wholes are bodies that are hostile as a whole.
func wholes() map[string]string {
	keys := strings.Builder{}
	keys.WriteString(`{"k":0`)
	for i := 0; keys.Len() < most-20; i++ {
		fmt.Fprintf(&keys, `,"k%d":0`, i)
	}
	depth := most / 2
	return map[string]string{
		"open arrays":   fill("", "[", ""),
		"open objects":  fill("", `{"a":`, ""),
		"closed arrays": strings.Repeat("[", depth) + strings.Repeat("]", depth),
		"keys":          keys.String() + "}",
		"one key twice": fill(`{"a":0`, `,"a":0`, "}"),
		"a long key":    fill(`{"`, "a", `":0}`),
	}
}

// values are hostile values of a field, or of one that holds a list.
func values(list bool) map[string]string {
	if list {
		return map[string]string{
			"empty objects": fill("[{}", ",{}", "]"),
			"numbers":       fill("[1", ",1", "]"),
			"empty texts":   fill(`[""`, `,""`, "]"),
		}
	}
	depth := most / 4
	return map[string]string{
		"a long text":    fill(`"`, "a", `"`),
		"escapes":        fill(`"`, `\u0000`, `"`),
		"a long number":  fill("1", "0", ""),
		"a large number": "1e999999999",
		"nested arrays":  strings.Repeat("[", depth) + strings.Repeat("]", depth),
		"nested objects": strings.Repeat(`{"a":`, depth/3) + "1" + strings.Repeat("}", depth/3),
	}
}

// Every route that takes JSON refuses a body that was made to hurt, in a short reply, and the
// server lives on within its memory.
func TestHostileBodies(t *testing.T) {
	text, err := os.ReadFile("../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var d description
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	s := serve(t, "--memory", fmt.Sprintf("%dMB", int(bombMemory/1e6)))
	u := s.steward(t)
	added := u.add(t, "honest.csv", visits(1500, 1), nil)
	path := strings.NewReplacer("/api/v1", "", "/tables/{id}", "/tables/"+added.id, "/books/{id}", "/books/"+added.book, "{id}",
		"xx_abcdefgh23456777", "{column}", "ward", "{principal}", "pr_abcdefgh23456777")
	before := s.resident(t, "VmRSS")
	routes := 0
	for route, methods := range d.Paths {
		for method, o := range methods {
			if o.RequestBody == nil {
				continue
			}
			content, ok := o.RequestBody.Content["application/json"]
			if !ok {
				continue
			}
			routes++
			bodies := wholes()
			for field, body := range d.fields(content.Schema, "%s", 3) {
				for name, value := range values(strings.HasSuffix(field, "[]")) {
					bodies[name+" as "+field] = fmt.Sprintf(body, value)
				}
			}
			for name, body := range bodies {
				r := u.raw(t.Context(), strings.ToUpper(method), path.Replace(route), []byte(body), "Content-Type", "application/json", "If-Match",
					`"1"`)
				if r.err != nil || r.status >= 500 || len(r.body) > 64<<10 {
					t.Errorf("%s %s, %s: %d bytes in %v: %.300s", method, route, name, len(r.body), r.took, r)
				}
			}
		}
	}
	if routes < 15 {
		t.Errorf("docs/openapi.json names %d routes that take JSON", routes)
	}
	if held := s.resident(t, "VmHWM") - before; held > bombCeiling {
		t.Errorf("the server took %d MB beside the %d MB of before", held/1e6, before/1e6)
	} else {
		t.Logf("%d routes, %d MB beside %d MB", routes, held/1e6, before/1e6)
	}
}
