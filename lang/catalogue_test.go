package lang_test

import (
	"testing"

	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/lang/sources"
)

// Every text that users read has a translation, every translation is of such a text, and
// its verbs are those of the text.
func TestCatalogue(t *testing.T) {
	found, err := sources.Find("..")
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]string{}
	for _, text := range found {
		places[text.Key] = text.Place
	}
	if len(places) < 1000 {
		t.Fatalf("found only %d texts", len(places))
	}
	entries := map[string]bool{}
	for _, e := range lang.Catalogue() {
		if entries[string(e.Key)] {
			t.Errorf("%q is there twice", e.Key)
		}
		entries[string(e.Key)] = true
		if fault := e.Fault(); fault != "" {
			t.Errorf("%q %s", e.Key, fault)
		}
		if places[string(e.Key)] == "" {
			t.Errorf("%q is in no source: remove it", e.Key)
		}
	}
	missing := 0
	for key, place := range places {
		if !entries[key] && lang.Japanese.Term(key) == key {
			if missing++; missing <= 20 {
				t.Errorf("%s: %q has no translation", place, key)
			}
		}
	}
	if missing > 0 {
		t.Errorf("%d texts have no translation: go run ./lang/missing prints them", missing)
	}
}
