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

// flat is the question in its JSON form.
func (q *Question) flat() reflect.Value {
	out := reflect.New(flatType()).Elem()
	if q.Of != nil {
		of := reflect.ValueOf(q.Of)
		for i := range of.NumField() {
			out.FieldByName(of.Type().Field(i).Name).Set(of.Field(i))
		}
	}
	out.FieldByName("Kind").SetString(q.Name())
	out.FieldByName("Pay").Set(reflect.ValueOf(q.Pay))
	out.FieldByName("Margin").Set(reflect.ValueOf(q.Margin))
	return out
}

// fromFlat is the question of a JSON form.
func fromFlat(flat reflect.Value) Question {
	q := Question{
		Pay: flat.FieldByName("Pay").Interface().(*account.Amount), Margin: flat.FieldByName("Margin").Interface().(*Margin),
	}
	name := flat.FieldByName("Kind").String()
	at := slices.IndexFunc(all, func(k Kind) bool { return k.Facts().Name == name })
	if at < 0 {
		q.fault = noKind()
		return q
	}
	of := reflect.New(reflect.TypeOf(all[at])).Elem()
	t := flat.Type()
	for i := range t.NumField() {
		f, value := t.Field(i), flat.Field(i)
		if f.Name == "Kind" || f.Name == "Pay" || f.Name == "Margin" || !stated(value) {
			continue
		}
		own := of.FieldByName(f.Name)
		if !own.IsValid() {
			field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			q.fault = noren.Usagef(field, "is not for a question of kind %s", name).Hinted("leave it out")
			break
		}
		own.Set(value)
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
