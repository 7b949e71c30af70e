package main

import (
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/api"
)

func TestDescription(t *testing.T) {
	names := map[string]string{
		"Met": "met", "Excluded": "excluded_outsiders", "Tight": "tight", "SE": "standard_error", "Value": "value",
		"S": "S", "Rows": "rows", "GridBits": "grid_bits", "Zayatz": "zayatz", "Privacy": "privacy",
	}
	for _, c := range []struct{ field, text, want string }{
		{"Met", "Met is true if all holds", "True if all holds."},
		{"Met", "Met says that all holds.", "`met` says that all holds."},
		{"Excluded", "Excluded tells how many.", "`excluded_outsiders` tells how many."},
		{"Excluded", "Excluded of the table.", "Excluded of the table."},
		{"Low", "Low is the lower end of the interval of Tight.", "The lower end of the interval of `tight`."},
		{"Text", "Text is Value as it is written.", "`value` as it is written."},
		{"Rank", "Rank is, for a mean, the rank of Value.", "For a mean, the rank of `value`."},
		{"Schema", "Schema is noren.x/1.", "noren.x/1."},
		{"N", "N is n times a variance.", "n times a variance."},
		{"Privacy", "Privacy is the noise in SE. Privacy costs.", "The noise in `standard_error`. Privacy costs."},
		{"Value", "Value is nil where S is 0.", "Null where S is 0."},
		{"Rows", "Rows is a number; Rows + 1, (Rows) and x/Rows.", "A number; `rows` + 1, (`rows`) and x/`rows`."},
		{"GridBits", "Multiples of 2^-GridBits.", "Multiples of 2^-`grid_bits`."},
		{"Zayatz", "Zayatz is by Zayatz's model and Other.Value.", "By Zayatz's model and Other.Value."},
	} {
		if got := description(c.field, names, c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	if got := typeDescription("Held[T]", names, "Held tells of Value."); got != "Tells of `value`." {
		t.Errorf("%q", got)
	}
}

func TestLinks(t *testing.T) {
	if got := plain("[Job.K] to Edges[i] and\n[*Job], [0,1]"); got != "Job.K to Edges[i] and *Job, [0,1]" {
		t.Errorf("%q", got)
	}
}

// camel is a name of several words that is no word of English: a Go identifier.
var camel = regexp.MustCompile(`\b([A-Z]\w*\.[A-Z]\w*|[A-Z]+[a-z0-9]+[A-Z]\w*)`)

// notIdentifiers are names of other kinds.
var notIdentifiers = []string{"NumPy"}

// goNames are the Go names that readers of the JSON would find in a description.
func goNames(own string, names map[string]string, text string) (found []string) {
	for _, m := range mentions(text, names) {
		found = append(found, text[m[0]:m[1]])
	}
	for _, name := range camel.FindAllString(text, -1) {
		if !slices.Contains(notIdentifiers, name) {
			found = append(found, name)
		}
	}
	// A sentence that begins with the name of a field, as "Value is the answer.", means
	// the field.
	first := true
	for _, s := range strings.SplitAfter(text, ". ") {
		name, rest, _ := strings.Cut(s, " ")
		verb, _, _ := strings.Cut(rest, " ")
		json, known := names[name]
		if known && json != name && (!first || name == own) && (verb == "is" || verb == "are" || slices.Contains(verbs, verb)) {
			found = append(found, name)
		}
		first = false
	}
	return found
}

// Descriptions of fields name no Go field: readers of the JSON do not know its name.
func TestDescriptionsNameNoGoFields(t *testing.T) {
	tr := &tree{comments: &comments{root: filepath.Join("..", ".."), known: map[string]map[string]string{}}}
	seen, seenShown := map[reflect.Type]bool{}, map[reflect.Type]bool{}
	checked := 0
	// The description of a type is shown for documents and for elements of lists; that of
	// its field is shown elsewhere.
	var walk func(of reflect.Type, shown bool)
	walk = func(of reflect.Type, shown bool) {
		for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map}, of.Kind()) {
			shown = shown || of.Kind() != reflect.Pointer
			of = of.Elem()
		}
		if form, known := forms[of]; known {
			of = form
		}
		n, err := tr.node(of)
		if err != nil || n.kind != "object" {
			return
		}
		names := fieldNames(of)
		if shown && !seenShown[of] {
			seenShown[of] = true
			for _, name := range goNames(of.Name(), names, n.doc) {
				t.Errorf("%s: the description names %s, which is no name in the JSON: %q", of, name, n.doc)
			}
		}
		if seen[of] {
			return
		}
		seen[of] = true
		for _, f := range reflect.VisibleFields(of) {
			json, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if json == "-" || !f.IsExported() || len(f.Index) > 1 {
				continue
			}
			if f.Anonymous && json == "" {
				walk(f.Type, false)
				continue
			}
			comment, err := tr.comments.of(of, f.Name)
			if err != nil {
				t.Fatal(err)
			}
			text := description(f.Name, names, comment)
			for _, name := range goNames(f.Name, names, text) {
				t.Errorf("%s.%s: the description names %s, which is no name in the JSON: %q", of, f.Name, name, text)
			}
			checked++
			walk(f.Type, false)
		}
	}
	for _, d := range api.Documents() {
		walk(d.Type, true)
	}
	for _, of := range api.Shared() {
		walk(of, false)
	}
	if checked < 500 {
		t.Errorf("only %d descriptions were checked", checked)
	}
}

func TestGoNames(t *testing.T) {
	names := map[string]string{"Tight": "tight", "LowerBound": "lower_bound", "K": "k"}
	for text, want := range map[string][]string{
		"The interval of Tight.":        {"Tight"},
		"LowerBound less the loss.":     {"LowerBound"},
		"Tight says it all.":            {"Tight"},
		"A bound. Tight is smaller.":    {"Tight"},
		"As Other.Value of K says.":     {"K", "Other.Value"},
		"Tight ranges, as in NumPy, k.": nil,
		"The interval of `tight`.":      nil,
	} {
		if got := goNames("Tight", names, text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
