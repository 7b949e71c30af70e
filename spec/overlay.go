package spec

import (
	"maps"
	"reflect"
)

// With returns s with what over states laid over it. A property that over states, of
// a column or of anything else, replaces that of s; texts for missing values are added
// to those of s. The result keeps the name and the positions of s for errors.
func (s *Spec) With(over *Spec) *Spec {
	out := *s
	out.Version = Version
	out.Columns = maps.Clone(s.Columns)
	if out.Columns == nil {
		out.Columns = map[string]Column{}
	}
	for name, c := range over.Columns {
		out.Columns[name] = laid(out.Columns[name], c)
	}
	if over.Unit != "" {
		out.Unit = over.Unit
	}
	out.Input = laid(s.Input, over.Input)
	if s.Input.Missing != nil && over.Input.Missing != nil {
		out.Input.Missing = append(append([]string{}, s.Input.Missing...), over.Input.Missing...)
	}
	out.Anonymize = laid(s.Anonymize, over.Anonymize)
	return &out
}

// laid is base with every field of over that is not zero.
func laid[T any](base, over T) T {
	to, from := reflect.ValueOf(&base).Elem(), reflect.ValueOf(over)
	for i := range from.NumField() {
		if !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	return base
}
