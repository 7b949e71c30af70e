package identity_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/identity"
)

type inner struct {
	A, B string
	P    *int
}

type outer struct {
	Name   string
	List   []inner
	Bytes  []byte
	Number float64
	Left   func()
	own    *rows
	Flag   bool
}

type rows struct{ text string }

func (r *rows) AppendCanonical(dst []byte) []byte { return append(dst, r.text...) }

var except = identity.Except{"identity_test.outer.Left": "a function", "identity_test.outer.own": "not exported"}

// Different values have different sums, values that differ in a field that is left out
// have one.
func TestOfFields(t *testing.T) {
	one, two := 1, 2
	sum := func(label string, o outer) string {
		s, err := identity.OfFields(label, &o, except)
		if err != nil {
			t.Fatal(err)
		}
		return string(s[:])
	}
	seen := map[string]int{}
	for i, o := range []outer{
		{},
		{Name: "x"},
		{List: []inner{{}}},
		{List: []inner{{A: "x"}}},
		{List: []inner{{B: "x"}}},
		{List: []inner{{A: "xy"}}},
		{List: []inner{{A: "x", B: "y"}}},
		{List: []inner{{A: "x"}, {A: "y"}}},
		{List: []inner{{P: &one}}},
		{List: []inner{{P: &two}}},
		{Bytes: []byte{0}},
		{Bytes: []byte{0, 0}},
		{Number: 1},
		{Flag: true},
	} {
		s := sum("a", o)
		if was, known := seen[s]; known {
			t.Errorf("values %d and %d have one sum", was, i)
		}
		seen[s] = i
	}
	if sum("a", outer{}) == sum("b", outer{}) {
		t.Error("the label does not count")
	}
	same := 1
	if sum("a", outer{List: []inner{{P: &one}}}) != sum("a", outer{
		List: []inner{{P: &same}}, Left: func() {}, own: &rows{"x"},
		Bytes: []byte{},
	}) {
		t.Error("a field that is left out counts, or a pointer and not its value")
	}
}

// A value that writes itself is written by its own rule, and what cannot be written is an
// error that names the field.
func TestOfFieldsOfOther(t *testing.T) {
	type holds struct{ Own *rows }
	a, err := identity.OfFields("a", holds{&rows{"x"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := identity.OfFields("a", holds{&rows{"y"}}, nil); a == b {
		t.Error("the text does not count")
	}
	if b, _ := identity.OfFields("a", holds{}, nil); a == b {
		t.Error("nothing equals something")
	}
	for _, v := range []any{outer{}, struct{ M map[string]int }{}, struct{ I any }{}} {
		if _, err := identity.OfFields("a", v, nil); err == nil || !strings.Contains(err.Error(), "canonical form") {
			t.Errorf("%T: %v", v, err)
		}
	}
}

// Walk names each field once.
func TestWalk(t *testing.T) {
	var names []string
	identity.Walk(reflect.TypeFor[*outer](), except, func(name string, _ reflect.StructField) {
		names = append(names, strings.TrimPrefix(name, "identity_test."))
	})
	want := "outer.Name outer.List inner.A inner.B inner.P outer.Bytes outer.Number outer.Left outer.own outer.Flag"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got %s, expected %s", got, want)
	}
}
