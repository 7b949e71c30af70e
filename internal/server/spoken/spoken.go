// Package spoken says the messages of a reply in the language of its reader.
//
// A reply holds each message with its code, its arguments and its text in English. What is stored
// stays so; a copy is said when it is sent, so that one stored reply can be read in every language.
package spoken

import (
	"encoding/json"
	"reflect"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
)

var message = reflect.TypeFor[api.Message]()

// In is a value with its messages in a language. The value itself stays as it is; what a message cannot be in is
// shared with it.
func In[T any](l lang.Lang, value T) T {
	if l == lang.English {
		return value
	}
	v := reflect.ValueOf(&value).Elem()
	if v.Kind() == reflect.Interface {
		if v.IsNil() {
			return value
		}
		v = v.Elem()
	}
	said, _ := (&speaker{l, newTypes()}).say(v).Interface().(T)
	return said
}

// JSON is a document of type T with its messages in a language; what is no such document is left as
// it is.
func JSON[T any](l lang.Lang, document json.RawMessage) json.RawMessage {
	var value T
	if l == lang.English || len(document) == 0 || json.Unmarshal(document, &value) != nil {
		return document
	}
	said, err := json.Marshal(In(l, value))
	if err != nil {
		return document
	}
	return said
}

// types remembers which types can hold messages, and which are being looked at: a type may hold itself.
type types struct{ known, open map[reflect.Type]bool }

func newTypes() types { return types{map[reflect.Type]bool{}, map[reflect.Type]bool{}} }

func (s types) has(t reflect.Type) bool {
	if t == message {
		return true
	}
	if found, ok := s.known[t]; ok || s.open[t] {
		return found
	}
	s.open[t] = true
	found := false
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		found = s.has(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && s.has(f.Type) {
				found = true
			}
		}
	}
	delete(s.open, t)
	if found || len(s.open) == 0 { // what an open type holds is not known to the end
		s.known[t] = found
	}
	return found
}

type speaker struct {
	lang.Lang
	types
}

// say is a value with its messages said.
func (s *speaker) say(v reflect.Value) reflect.Value {
	t := v.Type()
	if t == message {
		m, _ := v.Interface().(api.Message)
		return reflect.ValueOf(m.In(s.Lang))
	}
	if !s.has(t) {
		return v
	}
	switch t.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(t.Elem())
		out.Elem().Set(s.say(v.Elem()))
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(t, v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(s.say(v.Index(i)))
		}
		return out
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeMapWithSize(t, v.Len())
		for of := v.MapRange(); of.Next(); {
			out.SetMapIndex(of.Key(), s.say(of.Value()))
		}
		return out
	}
	out := reflect.New(t).Elem()
	out.Set(v)
	if t.Kind() == reflect.Array {
		for i := range v.Len() {
			out.Index(i).Set(s.say(v.Index(i)))
		}
		return out
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && s.has(f.Type) {
			out.Field(i).Set(s.say(v.Field(i)))
		}
	}
	return out
}
