package kinds

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
)

// flatType is a question as JSON and YAML have it: a struct with the fields of all kinds. It is made of the structs of
// the kinds, once.
var flatType = sync.OnceValue(func() reflect.Type {
	common := reflect.VisibleFields(reflect.TypeFor[frame]())
	fields := slices.Clone(common[:1])
	for _, k := range all {
		at := 1 // behind the last field of the kind that others have too
		for _, f := range reflect.VisibleFields(reflect.TypeOf(k)) {
			known := slices.IndexFunc(fields, func(x reflect.StructField) bool { return x.Name == f.Name })
			if known < 0 {
				fields, known = slices.Insert(fields, at, f), at
			}
			at = max(at, known+1)
		}
	}
	fields = append(fields, common[1:]...)
	for i := range fields {
		fields[i].Offset, fields[i].Index = 0, nil
	}
	return reflect.StructOf(fields)
})

// frame is what the questions of all kinds have in JSON.
type frame struct {
	// Kind is the name of the kind. Required.
	Kind string `json:"kind"`
	// Pay is the privacy cost of the question. Either Pay or Margin is required.
	Pay *account.Amount `json:"pay,omitempty"`
	// Margin is how close the answer must be; the smallest cost that reaches it is charged.
	Margin *Margin `json:"margin,omitempty"`
}

// Flat is the struct of the JSON form of a question: kind, the fields of all kinds, pay and margin.
func Flat() reflect.Type { return flatType() }

// Owners are the types whose comments describe a field of [Flat]: those of the kinds that have it, by their names; under
// "" the type of what questions of all kinds have.
func Owners(field string) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for _, k := range all {
		if _, ok := reflect.TypeOf(k).FieldByName(field); ok {
			out[k.Facts().Name] = reflect.TypeOf(k)
		}
	}
	if len(out) == 0 {
		out[""] = reflect.TypeFor[frame]()
	}
	return out
}

// MarshalJSON writes the question in its JSON form.
func (q Question) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the encoder around it decides
	err := e.Encode(q.flat().Interface())
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// MarshalYAML is the question in the form that a YAML file has.
func (q Question) MarshalYAML() (any, error) { return q.flat().Interface(), nil }

// UnmarshalJSON reads the JSON form. Fields of no kind are refused; a field of another kind than the question's is
// what [Question.Check] refuses.
func (q *Question) UnmarshalJSON(text []byte) error {
	return q.read(func(into any) error {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		return d.Decode(into)
	})
}

// UnmarshalYAML is [Question.UnmarshalJSON] of an entry of a YAML file.
func (q *Question) UnmarshalYAML(decode func(any) error) error { return q.read(decode) }

func (q *Question) read(decode func(any) error) error {
	flat := reflect.New(flatType())
	if err := decode(flat.Interface()); err != nil {
		return err
	}
	*q = fromFlat(flat.Elem())
	return nil
}

// shape is a kind, with the places of its fields in [Flat].
type shape struct {
	name string
	of   reflect.Type
	at   []int // in Flat, by the fields of the struct
}

// shapes are those of all kinds. They are made once: a server reads and writes questions all the time.
var shapes = sync.OnceValue(func() []shape {
	out := make([]shape, len(all))
	for i, k := range all {
		of := reflect.TypeOf(k)
		out[i] = shape{name: k.Facts().Name, of: of}
		for f := range of.Fields() {
			in, _ := flatType().FieldByName(f.Name)
			out[i].at = append(out[i].at, in.Index[0])
		}
	}
	return out
})

// shapeOf is the shape of a kind of this package.
func shapeOf(k Kind) *shape {
	of, list := reflect.TypeOf(k), shapes()
	for i := range list {
		if list[i].of == of {
			return &list[i]
		}
	}
	return nil
}

// flat is the question in its JSON form.
func (q *Question) flat() reflect.Value {
	out := reflect.New(flatType()).Elem()
	last := out.NumField() - 1
	if s := shapeOf(q.Of); s != nil {
		of := reflect.ValueOf(q.Of)
		for i, at := range s.at {
			out.Field(at).Set(of.Field(i))
		}
		out.Field(0).SetString(s.name)
	}
	out.Field(last - 1).Set(reflect.ValueOf(q.Pay))
	out.Field(last).Set(reflect.ValueOf(q.Margin))
	return out
}

// fromFlat is the question of a JSON form.
func fromFlat(flat reflect.Value) Question {
	last := flat.NumField() - 1
	q := Question{Pay: flat.Field(last - 1).Interface().(*account.Amount), Margin: flat.Field(last).Interface().(*Margin)}
	name, list := flat.Field(0).String(), shapes()
	at := slices.IndexFunc(list, func(s shape) bool { return s.name == name })
	if at < 0 {
		q.fault = noKind()
		return q
	}
	for j := 1; j < last-1; j++ {
		if stated(flat.Field(j)) && !slices.Contains(list[at].at, j) {
			field, _, _ := strings.Cut(flat.Type().Field(j).Tag.Get("json"), ",")
			q.fault = noren.Usagef(field, "is not for a question of kind %s", name).Hinted("leave it out")
			return q
		}
	}
	of := reflect.New(list[at].of).Elem()
	for i, j := range list[at].at {
		if stated(flat.Field(j)) {
			of.Field(i).Set(flat.Field(j))
		}
	}
	q.Of = of.Interface().(Kind)
	return q
}

// stated reports whether a field has a value: a list that is empty has none.
func stated(v reflect.Value) bool {
	if v.Kind() == reflect.Slice {
		return v.Len() > 0
	}
	return !v.IsZero()
}
