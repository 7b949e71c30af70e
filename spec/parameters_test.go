package spec_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/spec"
)

// Every field of Anonymize is a parameter and every parameter a field, and a choice takes its
// words.
func TestParameters(t *testing.T) {
	var keys, names []string
	fields := reflect.TypeFor[spec.Anonymize]()
	for i := range fields.NumField() {
		key, _, _ := strings.Cut(fields.Field(i).Tag.Get("yaml"), ",")
		keys = append(keys, key)
	}
	for _, p := range spec.Parameters() {
		names = append(names, p.Name)
		if p.Help == "" || p.After == "" || p.Only && len(p.Words) == 0 {
			t.Errorf("%s lacks something: %+v", p.Name, p)
		}
		for _, word := range append(slices.Clone(p.Words), "a word that no parameter takes") {
			s := &spec.Spec{Unit: "person", Anonymize: spec.Anonymize{K: 5, L: 2}}
			field := p.Field(&s.Anonymize)
			if field.Kind() != reflect.String {
				continue
			}
			field.SetString(word)
			if _, err := s.Options(); (err == nil) != slices.Contains(p.Words, word) {
				t.Errorf("%s: %s gives %v", p.Name, word, err)
			}
		}
	}
	slices.Sort(keys)
	slices.Sort(names)
	if !slices.Equal(keys, names) {
		t.Errorf("fields %q and parameters %q", keys, names)
	}
}
