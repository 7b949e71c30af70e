// Package spoken says the messages of a reply in the language of its reader.
//
// A reply holds each message with its code, its arguments and its text in English. What is stored
// stays so; a copy is said when it is sent, so that one stored reply can be read in every language.
package spoken

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
)

var message, text = reflect.TypeFor[api.Message](), reflect.TypeFor[noren.Text]()

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
	said, _ := (&speaker{Lang: l, types: newTypes()}).say(v).Interface().(T)
	return said
}

// JSON is a document of type T with its messages in a language; what is no such document is left as
// it is. texts are its [Texts]; nil for one that has none, or that an earlier version stored.
func JSON[T any](l lang.Lang, document, texts json.RawMessage) json.RawMessage {
	var value T
	if l == lang.English || len(document) == 0 || json.Unmarshal(document, &value) != nil {
		return document
	}
	s := &speaker{Lang: l, types: newTypes()}
	if json.Unmarshal(texts, &s.kept) != nil {
		s.kept = nil
	}
	spoken, _ := s.say(reflect.ValueOf(&value).Elem()).Interface().(T)
	said, err := json.Marshal(spoken)
	if err != nil {
		return document
	}
	return said
}

// types remembers which types can hold messages, and which are being looked at: a type may hold itself.
type types struct{ known, open map[reflect.Type]bool }

func newTypes() types { return types{map[reflect.Type]bool{}, map[reflect.Type]bool{}} }

func (s types) has(t reflect.Type) bool {
	if t == message || t == text {
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
	kept []map[string]noren.Whole // of the messages in their order
	at   int                      // of the next message
	find bool                     // the texts are found, and nothing is said
}

// Texts are the arguments of messages that are texts themselves, to be stored beside the JSON of a value, which has them
// in English; nil where there are none.
func Texts(value any) json.RawMessage {
	v := reflect.ValueOf(value)
	s := &speaker{types: newTypes(), find: true}
	if !v.IsValid() || !s.has(v.Type()) {
		return nil
	}
	s.say(v)
	if !slices.ContainsFunc(s.kept, func(m map[string]noren.Whole) bool { return m != nil }) {
		return nil
	}
	texts, err := json.Marshal(s.kept)
	if err != nil {
		return nil
	}
	return texts
}

// message is a message said. One that was stored gets its texts back first.
func (s *speaker) message(m api.Message) api.Message {
	if s.find {
		var kept map[string]noren.Whole
		for name, arg := range m.Args {
			if t, ok := arg.(noren.Text); ok {
				if kept == nil {
					kept = map[string]noren.Whole{}
				}
				kept[name] = noren.Whole(t)
			}
		}
		s.kept = append(s.kept, kept)
		return m
	}
	if s.at++; s.at <= len(s.kept) && len(s.kept[s.at-1]) > 0 {
		english := m.Args
		m.Args = maps.Clone(m.Args)
		for name, t := range s.kept[s.at-1] {
			if english[name] == noren.Text(t).String() {
				m.Args[name] = noren.Text(t)
			}
		}
		m = m.In(s.Lang)
		m.Args = english
		return m
	}
	return m.In(s.Lang)
}

// say is a value with its messages said.
func (s *speaker) say(v reflect.Value) reflect.Value {
	t := v.Type()
	if t == message {
		m, _ := v.Interface().(api.Message)
		return reflect.ValueOf(s.message(m))
	}
	if t == text {
		said, _ := v.Interface().(noren.Text)
		if said.IsZero() || s.find {
			return v
		}
		return reflect.ValueOf(noren.Textf("%s", s.Shown(said)))
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
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, key := range keys { // in one order, for the texts that are kept
			out.SetMapIndex(key, s.say(v.MapIndex(key)))
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
