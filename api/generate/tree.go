package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/query"
)

// A node is a JSON value: what a Go type becomes.
type node struct {
	kind   string // object, array, map, string, number, integer, boolean, number or string, any
	fields []field
	elem   *node  // of an array or a map
	length int    // of an array of fixed length; 0 otherwise
	shared string // name of the shared type that it is, if it is one
	doc    string // of the type
}

// A field is a property of an object.
type field struct {
	name     string
	doc      string
	optional bool // may be absent
	null     bool // may be null
	node     *node
}

// A tree turns types into nodes.
type tree struct {
	comments *comments
	shared   map[reflect.Type]string
	within   []reflect.Type // types that are being turned
}

var (
	marshals     = reflect.TypeFor[json.Marshaler]()
	marshalsText = reflect.TypeFor[encoding.TextMarshaler]()
)

// written are the types that write themselves.
var written = map[reflect.Type]string{
	reflect.TypeFor[json.Number]():        "number",
	reflect.TypeFor[query.Number]():       "number or string",
	reflect.TypeFor[correlated.Decimal](): "number or string",
	reflect.TypeFor[json.RawMessage]():    "any",
	reflect.TypeFor[time.Time]():          "string",
}

// forms are the types that write themselves as another one.
var forms = map[reflect.Type]reflect.Type{
	reflect.TypeFor[ldp.Loss]():       reflect.TypeFor[ldp.LossJSON](),
	reflect.TypeFor[kinds.Question](): kinds.Flat(),
}

func (t *tree) node(of reflect.Type) (*node, error) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if form, known := forms[of]; known {
		of = form
	}
	if kind, known := written[of]; known {
		return &node{kind: kind}, nil
	}
	if of.Implements(marshals) || reflect.PointerTo(of).Implements(marshals) {
		return &node{kind: "any"}, nil
	}
	if of.Implements(marshalsText) || reflect.PointerTo(of).Implements(marshalsText) {
		return &node{kind: "string"}, nil
	}
	switch of.Kind() {
	case reflect.String:
		return &node{kind: "string"}, nil
	case reflect.Bool:
		return &node{kind: "boolean"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32,
		reflect.Uint64:
		return &node{kind: "integer"}, nil
	case reflect.Float32, reflect.Float64:
		return &node{kind: "number"}, nil
	case reflect.Interface:
		return &node{kind: "any"}, nil
	case reflect.Slice, reflect.Array:
		if of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Uint8 {
			return &node{kind: "string"}, nil // base64
		}
		elem, err := t.node(of.Elem())
		out := &node{kind: "array", elem: elem}
		if of.Kind() == reflect.Array {
			out.length = of.Len()
		}
		return out, err
	case reflect.Map:
		elem, err := t.node(of.Elem())
		return &node{kind: "map", elem: elem}, err
	case reflect.Struct:
		return t.object(of)
	}
	return nil, fmt.Errorf("%s has no form in JSON", of)
}

func (t *tree) object(of reflect.Type) (*node, error) {
	for _, outer := range t.within {
		if outer == of {
			return &node{kind: "any"}, nil // a type within itself
		}
	}
	t.within = append(t.within, of)
	defer func() { t.within = t.within[:len(t.within)-1] }()
	doc, err := t.comments.of(of, "")
	if err != nil {
		return nil, err
	}
	out := &node{kind: "object", shared: t.shared[of], doc: typeDescription(of.Name(), fieldNames(of), doc)}
	depth := map[string]int{}
	err = t.add(out, of, 0, false, depth)
	return out, err
}

// add adds the fields of a struct, in the order in which they are written. Of two fields
// of one name that of the outer struct is written.
func (t *tree) add(out *node, of reflect.Type, level int, optional bool, depth map[string]int) error {
	names := fieldNames(of)
	for i := range of.NumField() {
		f := of.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		options := strings.TrimPrefix(f.Tag.Get("json"), tag)
		if tag == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if f.Anonymous && tag == "" {
			inner, pointer := f.Type, false
			if inner.Kind() == reflect.Pointer {
				inner, pointer = inner.Elem(), true
			}
			if inner.Kind() == reflect.Struct {
				if err := t.add(out, inner, level+1, optional || pointer && level > 0, depth); err != nil {
					return err
				}
				continue
			}
		}
		if tag == "" {
			tag = f.Name
		}
		if at, twice := depth[tag]; twice && at <= level {
			continue
		} else if twice {
			for j := range out.fields {
				if out.fields[j].name == tag {
					out.fields = append(out.fields[:j], out.fields[j+1:]...)
					break
				}
			}
		}
		depth[tag] = level
		n, err := t.node(f.Type)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", of, f.Name, err)
		}
		doc, err := t.comments.of(of, f.Name)
		if err != nil {
			return err
		}
		doc = description(f.Name, names, doc)
		if of == kinds.Flat() {
			if doc, err = t.ofKinds(f.Name, names); err != nil {
				return err
			}
		}
		left := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		kind := f.Type.Kind()
		null := !left && (kind == reflect.Pointer || kind == reflect.Slice && !f.Type.Implements(marshalsText) || kind == reflect.Map ||
			kind == reflect.Interface)
		out.fields = append(out.fields, field{tag, doc, optional || left, null, n})
	}
	return nil
}

// ofKinds is the comment of a field of a question, with the kinds that have it. Where the kinds say other things
// of it, each is said.
func (t *tree) ofKinds(field string, names map[string]string) (string, error) {
	owners, said := kinds.Owners(field), map[string][]string{}
	var order []string
	for _, kind := range append([]string{""}, kinds.Names()...) {
		owner, has := owners[kind]
		if !has {
			continue
		}
		doc, err := t.comments.of(owner, field)
		if err != nil {
			return "", err
		}
		if said[doc] == nil {
			order = append(order, doc)
		}
		said[doc] = append(said[doc], kind)
	}
	var parts []string
	for _, doc := range order {
		text := description(field, names, doc)
		if field == "Kind" {
			text += " One of " + strings.Join(kinds.Names(), ", ") + "."
		}
		if of := said[doc]; of[0] != "" && (len(order) > 1 || len(of) < len(kinds.Names())) {
			text = "For " + strings.Join(of, ", ") + ": " + strings.ToLower(text[:1]) + text[1:]
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " "), nil
}

// uncommented are the paths of the fields that have no comment, in and below n.
func uncommented(prefix string, n *node) (paths []string) {
	for n.kind == "array" || n.kind == "map" {
		n = n.elem
	}
	for _, f := range n.fields {
		path := prefix + f.name
		if f.doc == "" {
			paths = append(paths, path)
		}
		if f.node.shared == "" {
			paths = append(paths, uncommented(path+".", f.node)...)
		}
	}
	return paths
}
