package kinds

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
)

// jsonNames are the names of the fields of a struct in JSON.
func jsonNames(of reflect.Type) []string {
	var out []string
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}

// The facts of each kind list the fields of its struct, and no other.
func TestFactsListTheFields(t *testing.T) {
	for _, k := range all {
		f := k.Facts()
		var listed []string
		for _, field := range f.Fields {
			listed = append(listed, field.Name)
			if field.Text == "" || field.Form == "" {
				t.Errorf("%s: field %s lacks its text or its form", f.Name, field.Name)
			}
		}
		own := slices.DeleteFunc(jsonNames(reflect.TypeOf(k)), func(name string) bool { return name == "noise" })
		slices.Sort(listed)
		slices.Sort(own)
		if !slices.Equal(listed, own) {
			t.Errorf("%s: the facts list %v, the struct has %v", f.Name, listed, own)
		}
		if reflect.TypeOf(k).Name() != strings.ToUpper(f.Name[:1])+f.Name[1:] {
			t.Errorf("the kind %s is the struct %T", f.Name, k)
		}
		if _, has := reflect.TypeOf(k).FieldByName("Noise"); !has {
			t.Errorf("%s: no noise", f.Name)
		}
	}
}

// filled is a question of a kind in which each field has a value.
func filled(k Kind) Question {
	v := reflect.New(reflect.TypeOf(k)).Elem()
	bits := 3
	for i := range v.NumField() {
		switch f := v.Field(i); f.Interface().(type) {
		case string:
			f.SetString("x")
		case []string:
			f.Set(reflect.ValueOf([]string{"a", "b"}))
		case [][]string:
			f.Set(reflect.ValueOf([][]string{{"a"}, {"b"}}))
		case []float64:
			f.Set(reflect.ValueOf([]float64{0, 1.5}))
		case int, int64:
			f.SetInt(7)
		case float64:
			f.SetFloat(2.5)
		case *int:
			f.Set(reflect.ValueOf(&bits))
		case json.RawMessage:
			f.Set(reflect.ValueOf(json.RawMessage(`{"count":"on"}`)))
		default:
			panic(f.Type())
		}
	}
	return Question{Of: v.Interface().(Kind), Pay: &account.Amount{Epsilon: "0.1"}, Margin: &Margin{Within: 3}}
}

// A question keeps all its fields in JSON, in the order of its struct.
func TestJSON(t *testing.T) {
	for _, k := range all {
		q := filled(k)
		text, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		var again Question
		if err := json.Unmarshal(text, &again); err != nil || again.Check() != nil || !reflect.DeepEqual(q, again) {
			t.Errorf("%s was read as %+v, %v, %v", text, again, err, again.Check())
		}
		at := -1
		for _, name := range slices.Concat([]string{"kind"}, jsonNames(reflect.TypeOf(k)), []string{"pay", "margin"}) {
			place := strings.Index(string(text), `"`+name+`":`)
			if place <= at {
				t.Errorf("%s: %s is not in its place", text, name)
			}
			at = place
		}
		if sum := q.Of.Said(); sum.Code == "" || sum.Text == "" {
			t.Errorf("%s: %+v", k.Facts().Name, sum)
		}
		if flat, ok := q.Query(); ok {
			if back, known := flat.Question(); !known || !reflect.DeepEqual(back.Of, q.Of) {
				t.Errorf("%s as a query is %+v", k.Facts().Name, back.Of)
			}
		}
	}
}

// A field of another kind is refused at its name, a field of no kind by the reader, and so is a question without a kind.
func TestForeignFields(t *testing.T) {
	for _, k := range all {
		own := jsonNames(reflect.TypeOf(k))
		for _, other := range all {
			var fields map[string]json.RawMessage
			text, err := json.Marshal(filled(other))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &fields); err != nil {
				t.Fatal(err)
			}
			for name, value := range fields {
				if name == "kind" || name == "pay" || name == "margin" {
					continue
				}
				var q Question
				text := `{"kind":"` + k.Facts().Name + `","` + name + `":` + string(value) + `}`
				if err := json.Unmarshal([]byte(text), &q); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				err := q.Check()
				if slices.Contains(own, name) != (err == nil) {
					t.Errorf("%s: %v", text, err)
				}
				if e, ok := err.(*noren.Error); err != nil && (!ok || e.Kind != noren.Usage || e.Place() != name) {
					t.Errorf("%s: %v", text, err)
				}
			}
		}
	}
	var q Question
	if err := json.Unmarshal([]byte(`{"kind":"count","colour":1}`), &q); err == nil {
		t.Error("a field of no kind is read")
	}
	for _, text := range []string{`{"kind":"average"}`, `{}`} {
		var q Question
		if err := json.Unmarshal([]byte(text), &q); err != nil || noren.KindOf(q.Check()) != noren.Usage {
			t.Errorf("%s: %v, %v", text, err, q.Check())
		}
	}
	if noren.KindOf(new(Question).Check()) != noren.Usage {
		t.Error("a question of nothing is asked")
	}
}

// A change of a question leaves the one that it was made of.
func TestChanges(t *testing.T) {
	q := Question{Of: Mean{Column: "age", By: []string{"sex"}}}
	other := q.WithNoise("gaussian").WithMaxRows(3).WithBounds("0", "9").WithoutGroups().WithPublic("x.csv")
	if !reflect.DeepEqual(q.Of, Mean{Column: "age", By: []string{"sex"}}) {
		t.Errorf("changed: %+v", q.Of)
	}
	if !reflect.DeepEqual(other.Of, Mean{Column: "age", Noise: "gaussian", MaxRows: 3, Bounds: []string{"0", "9"}}) {
		t.Errorf("%+v", other.Of)
	}
}
