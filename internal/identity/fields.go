package identity

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"reflect"

	"github.com/noren-privacy/noren"
)

// Except names fields that are not written, as "package.Type.Field", each with the reason.
type Except map[string]string

// Appender is a type that writes itself, where its fields are not its value.
type Appender interface {
	// AppendCanonical appends bytes that fix the value.
	AppendCanonical(dst []byte) []byte
}

// OfFields is the identity of all fields of a value, whether or not this package knows
// them: SHA-256 of the kind and of bytes that fix the value. It is for values that stay in
// Go and hold what JSON leaves out, such as fields that are not exported; [Of] is for all
// others.
//
// A value is written by reflection: every field of every struct is, unless it is named in the
// list of exceptions with a reason. A field that is added later is therefore covered
// without a change, and one that cannot be written (a function, an interface) is an error
// of kind Internal that names it, until it is listed.
//
// Two values of one type have the same bytes exactly if they are equal in all that is
// written, where an empty slice equals a nil one. Every part is written with its length
// or its number of parts, so that no two different values share their bytes.
func OfFields(kind string, v any, except Except) (ID, error) {
	dst, err := appendValue(appendText(nil, kind), reflect.ValueOf(v), except, "")
	if err != nil {
		return ID{}, err
	}
	return sha256.Sum256(dst), nil
}

func appendText(dst []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(dst, uint64(len(s))), s...)
}

// Walk calls do for each field that [OfFields] writes or leaves out in values of the type t, with
// its name as [Except] has it, each once. It passes through pointers, slices and structs.
func Walk(t reflect.Type, except Except, do func(name string, f reflect.StructField)) {
	walk(t, except, do, map[reflect.Type]bool{})
}

func walk(t reflect.Type, except Except, do func(string, reflect.StructField), seen map[reflect.Type]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		if !writesItself(t) {
			walk(t.Elem(), except, do, seen)
		}
	case reflect.Struct:
		if writesItself(t) || seen[t] {
			return
		}
		seen[t] = true
		for i := range t.NumField() {
			f := t.Field(i)
			name := t.String() + "." + f.Name
			do(name, f)
			if _, left := except[name]; !left {
				walk(f.Type, except, do, seen)
			}
		}
	}
}

var appender = reflect.TypeFor[Appender]()

func writesItself(t reflect.Type) bool { return t.Implements(appender) }

func appendValue(dst []byte, v reflect.Value, except Except, name string) ([]byte, error) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return append(dst, 0), nil
		}
		dst = append(dst, 1)
	}
	if v.IsValid() && writesItself(v.Type()) && v.CanInterface() {
		own := v.Interface().(Appender).AppendCanonical(nil)
		return appendText(dst, string(own)), nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		return appendValue(dst, v.Elem(), except, name)
	case reflect.Bool:
		if v.Bool() {
			return append(dst, 1), nil
		}
		return append(dst, 0), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.LittleEndian.AppendUint64(dst, uint64(v.Int())), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.LittleEndian.AppendUint64(dst, v.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Float())), nil
	case reflect.String:
		return appendText(dst, v.String()), nil
	case reflect.Slice, reflect.Array:
		dst = binary.LittleEndian.AppendUint64(dst, uint64(v.Len()))
		var err error
		for i := range v.Len() {
			if dst, err = appendValue(dst, v.Index(i), except, name); err != nil {
				return nil, err
			}
		}
		return dst, nil
	case reflect.Struct:
		var err error
		t := v.Type()
		for i := range t.NumField() {
			f := t.Field(i)
			full := t.String() + "." + f.Name
			if _, left := except[full]; left {
				continue
			}
			dst = appendText(dst, f.Name)
			if dst, err = appendValue(dst, v.Field(i), except, full); err != nil {
				return nil, err
			}
		}
		return dst, nil
	}
	return nil, &noren.Error{What: "%s cannot be part of a canonical form: it is %s", Args: []any{name, kindOf(v)}}
}

func kindOf(v reflect.Value) string {
	if !v.IsValid() {
		return "nothing"
	}
	return v.Type().String()
}
