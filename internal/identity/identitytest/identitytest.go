// Package identitytest changes each field of a value alone, for tests of what depends on
// all of a request.
package identitytest

import (
	"reflect"
	"testing"

	"github.com/noren-privacy/noren/internal/identity"
)

// Each calls do with each field that lies in the value at v, with its name as
// [identity.Except] has it, while the field has another value than before: a number is
// raised, a text made longer, a switch turned, an element added to a list. It passes
// through structs, pointers and the first elements of lists, which the value must hold: a
// field that is in no list of exceptions and was not changed is an error of the test. So
// is an exception that names no field, or has no reason.
//
// Of the fields that except names, those are changed that can be; what lies in them is
// not. Fields that are not exported must be in the list.
func Each(t *testing.T, v any, except identity.Except, do func(name string)) {
	t.Helper()
	seen := map[string]bool{}
	each(reflect.ValueOf(v).Elem(), "", except, func(name string) {
		seen[name] = true
		do(name)
	})
	identity.Walk(reflect.TypeOf(v).Elem(), except, func(name string, f reflect.StructField) {
		if _, left := except[name]; !left && !seen[name] && f.Type.Kind() != reflect.Struct {
			t.Errorf("%s was not changed: the value of the test must hold one", name)
		}
	})
	met := map[string]bool{}
	identity.Walk(reflect.TypeOf(v).Elem(), except, func(name string, _ reflect.StructField) { met[name] = true })
	for name, reason := range except {
		switch {
		case reason == "":
			t.Errorf("%s is an exception without a reason", name)
		case !met[name]:
			t.Errorf("%s is an exception, and there is no such field", name)
		}
	}
}

func each(v reflect.Value, name string, except identity.Except, do func(string)) {
	changed := func(to any) {
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		v.Set(reflect.ValueOf(to).Convert(v.Type()))
		do(name)
		v.Set(was)
	}
	_, left := except[name]
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !left {
				each(v.Field(i), v.Type().String()+"."+f.Name, except, do)
			}
		}
	case reflect.Bool:
		changed(!v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		changed(v.Int() + 1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		changed(v.Uint() + 1)
	case reflect.Float32, reflect.Float64:
		changed(v.Float() + 0.125)
	case reflect.String:
		changed(v.String() + "x")
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		changed(reflect.Zero(v.Type()).Interface())
		if v.Elem().Kind() != reflect.Struct || !left {
			each(v.Elem(), name, except, do)
		}
	case reflect.Slice:
		longer := reflect.Append(v, reflect.Zero(v.Type().Elem()))
		changed(longer.Interface())
		if v.Len() > 0 && !left {
			each(v.Index(0), name, except, do)
		}
	}
}
