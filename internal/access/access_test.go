package access

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// Every route of docs/openapi.json is a way, and every way of the server is a route.
func TestRoutesAreListed(t *testing.T) {
	text, err := os.ReadFile("../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &api); err != nil {
		t.Fatal(err)
	}
	var want []string
	for path, methods := range api.Paths {
		for method := range methods {
			want = append(want, strings.ToUpper(method)+" "+path)
		}
	}
	var have []string
	for _, w := range Routes() {
		have = append(have, w.Name)
	}
	slices.Sort(want)
	slices.Sort(have)
	for _, name := range want {
		if !slices.Contains(have, name) {
			t.Errorf("%s is not listed: say what it reads, what it writes, who gets it, and what holds", name)
		}
	}
	for _, name := range have {
		if !slices.Contains(want, name) {
			t.Errorf("%s is no route", name)
		}
	}
}

// Every way says all there is to say, once.
func TestWaysAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range Ways() {
		if seen[w.Name] {
			t.Errorf("%s is listed twice", w.Name)
		}
		seen[w.Name] = true
		if w.Name == "" || w.Reads == "" || w.Writes == "" || w.Gets == "" || len(w.Holds) == 0 {
			t.Errorf("%+v leaves something open", w)
		}
		if w.Has(NotCharged) && w.Name != "ldp randomize" {
			t.Errorf("%s: --not-charged is of ldp randomize alone", w.Name)
		}
		if w.Has(None) && len(w.Holds) > 1 {
			t.Errorf("%s reads no private table, and has %d holds", w.Name, len(w.Holds))
		}
	}
	if n := len(slices.Collect(maps.Keys(seen))); n < 140 {
		t.Errorf("only %d ways", n)
	}
}
