package dataset

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/table"
)

const visitsText = `{"format":"noren.dataset/1","file":{"kind":"csv","delimiter":",","encoding":"utf-8"},"missing":["NA"],
 "columns":[{"name":"ward","type":"category","keys":["A","B"]},{"name":"age","type":"integer","bounds":["0","120"]},
  {"name":"day","type":"date","layout":"YYYY-MM-DD"},{"name":"diag","type":"ordered","levels":["none","cold","flu"]}],
 "neighbours":"add-remove","unit":"record","at_most":20000000}`

const visitsCanonical = `{"at_most":20000000,"columns":[{"bounds":["0","120"],"name":"age","type":"integer"},{"layout":"YYYY-MM-DD","name":"day","type":"date"},` +
	`{"levels":["none","cold","flu"],"name":"diag","type":"ordered"},{"keys":["A","B"],"name":"ward","type":"category"}],` +
	`"file":{"delimiter":",","encoding":"utf-8","kind":"csv"},"format":"noren.dataset/1","missing":["NA"],"neighbours":"add-remove","unit":"record"}`

func parse(t testing.TB, text string) *Definition {
	t.Helper()
	d, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestParse(t *testing.T) {
	d := parse(t, visitsText)
	got, err := d.Canonical()
	if err != nil || string(got) != visitsCanonical {
		t.Fatalf("%s, %v", got, err)
	}
	// The same definition with everything left out that has a default.
	short := parse(t, `{"format":"noren.dataset/1","missing":["NA","","NA"],"columns":[{"name":"diag","type":"ordered","levels":["none","cold","flu"]},
		{"name":"day","type":"date"},{"name":"age","type":"integer","bounds":["0","120"]},{"name":"ward","keys":["A","B"]}]}`)
	if diff := cmp.Diff(d, short); diff != "" {
		t.Error(diff)
	}
	hash, err := short.Hash()
	// printf 'noren.dataset/1\0%s' CANONICAL | sha256sum
	if want := "bb554c30eb1506319398257674548c46d5e7d4d8d4b64a93565e42c6598b6938"; err != nil || hex.EncodeToString(hash[:]) != want {
		t.Errorf("%x, %v", hash, err)
	}
	for _, change := range []func(d *Definition){
		func(d *Definition) { d.File.Delimiter = ";" },
		func(d *Definition) { d.File.Encoding = "shift_jis" },
		func(d *Definition) { d.File = File{Kind: "parquet"} },
		func(d *Definition) { d.Missing = nil },
		func(d *Definition) { d.Columns[0].Type = "decimal" },
		func(d *Definition) { d.Columns[0].Bounds = []string{"0", "121"} },
		func(d *Definition) { d.Columns[1].Layout = "YYYY-M-D" },
		func(d *Definition) { d.Columns[2].Levels = []string{"none", "flu", "cold"} },
		func(d *Definition) { d.Columns[3].Keys = nil },
		func(d *Definition) { d.Columns[3].Name = "wards" },
		func(d *Definition) { d.Unit = "ward" },
		func(d *Definition) { d.Unit, d.Neighbours = "ward", "replace-one" },
		func(d *Definition) { d.AtMost = 5 },
	} {
		other := parse(t, visitsText)
		change(other)
		h, err := other.Hash()
		if err != nil || h == hash {
			t.Errorf("%+v: %x, %v", other, h, err)
		}
	}
}

func TestDefinitionAnswers(t *testing.T) {
	d := parse(t, `{"format":"noren.dataset/1","columns":[{"name":"b"},{"name":"state"},{"name":"a","type":"date"}],"neighbours":"replace-one","records":3,
		"model":{"column":"state","states":["off","on"],"distribution":{"kind":"chain"}}}`)
	want := []table.Field{
		{Name: "a", Type: table.Date, Layout: "YYYY-MM-DD"},
		{Name: "b"},
		{Name: "state", Type: table.Ordered, Levels: []string{"off", "on"}},
	}
	if diff := cmp.Diff(want, d.Fields()); diff != "" {
		t.Error(diff)
	}
	if d.Relation() != account.ReplaceOne || d.AtMost != 3 || d.Model.Other != "off" || d.Column("c") != nil ||
		d.Column("b").Type != "category" {
		t.Errorf("%+v", d)
	}
	if _, err := d.Field("stat"); noren.CodeOf(err) != "column-missing" || noren.KindOf(err) != noren.Usage ||
		!strings.Contains(err.Error(), "did you mean state?") {
		t.Error(err)
	}
	if _, err := d.Field("nothing like it"); !strings.Contains(err.Error(), "the columns are a, b, state") {
		t.Error(err)
	}
	d.Unit = "b"
	r, err := json.Marshal(d.Reading([]string{"a", "x", "a"}))
	if want := `{"rule":"noren.reading/1","missing":[],"columns":[{"name":"a","type":"date","layout":"YYYY-MM-DD"},{"name":"b","type":"category"}]}`; err != nil || string(r) != want {
		t.Errorf("%s, %v", r, err)
	}
}

// Every fault is found, has the kind Usage, and faults of several parts come
// together.
func TestValidate(t *testing.T) {
	two := func() *Definition {
		return &Definition{Columns: []Column{{Name: "a", Type: "integer"}, {Name: "b"}}}
	}
	model := func() *Definition {
		return &Definition{
			Columns: []Column{{Name: "a"}, {Name: "b"}}, Neighbours: "replace-one", Records: 4,
			Model: &Model{Column: "a", States: []string{"x", "y"}, Distribution: json.RawMessage(`{}`)},
		}
	}
	for _, ok := range []*Definition{two(), model()} {
		if err := ok.Validate(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		code, want string
		base       func() *Definition
		spoil      func(d *Definition)
	}{
		{"", "format", two, func(d *Definition) { d.Format = "noren.dataset/2" }},
		{"", "file.kind", two, func(d *Definition) { d.File.Kind = "xlsx" }},
		{"", "file.delimiter", two, func(d *Definition) { d.File.Delimiter = "ab" }},
		{"", "file.delimiter", two, func(d *Definition) { d.File.Delimiter = "1" }},
		{"", "file.encoding", two, func(d *Definition) { d.File.Encoding = "utf-16" }},
		{"", "no delimiter", two, func(d *Definition) { d.File = File{Kind: "parquet", Delimiter: ","} }},
		{"", "missing: expected UTF-8", two, func(d *Definition) { d.Missing = []string{"\xff"} }},
		{"", "expected 1 to 65535 columns", two, func(d *Definition) { d.Columns = nil }},
		{"", "no name", two, func(d *Definition) { d.Columns[0].Name = "" }},
		{"", "column b: is defined twice", two, func(d *Definition) { d.Columns[0].Name = "b" }},
		{"", "unknown type", two, func(d *Definition) { d.Columns[0].Type = "number" }},
		{"", "layout", two, func(d *Definition) { d.Columns[0].Type, d.Columns[0].Layout = "date", "DD.MM." }},
		{"", "a layout is for dates", two, func(d *Definition) { d.Columns[0].Layout = "YYYY" }},
		{"", "needs its levels", two, func(d *Definition) { d.Columns[0].Type = "ordered" }},
		{"", "levels are for", two, func(d *Definition) { d.Columns[0].Levels = []string{"x"} }},
		{"", "levels: text 2 occurs twice", two, func(d *Definition) {
			d.Columns[1] = Column{Name: "b", Type: "ordered", Levels: []string{"x", "x"}}
		}},
		{
			"", "levels: text 1 means a missing", two,
			func(d *Definition) { d.Columns[1] = Column{Name: "b", Type: "ordered", Levels: []string{""}} },
		},
		{"", "levels: text 2 means a missing", two, func(d *Definition) {
			d.Missing, d.Columns[1] = []string{"NA"}, Column{Name: "b", Type: "ordered", Levels: []string{"x", "NA"}}
		}},
		{"", "expected two bounds", two, func(d *Definition) { d.Columns[0].Bounds = []string{"1"} }},
		{"", "bound 2: expected an integer", two, func(d *Definition) { d.Columns[0].Bounds = []string{"1", "2.5"} }},
		{"", "not below", two, func(d *Definition) { d.Columns[0].Bounds = []string{"2", "2"} }},
		{"", "not below", two, func(d *Definition) { d.Columns[0] = Column{Name: "a", Type: "decimal", Bounds: []string{"1.5", "-3"}} }},
		{"", "not below", two, func(d *Definition) {
			d.Columns[0] = Column{Name: "a", Type: "date", Layout: "DD.MM.YYYY", Bounds: []string{"01.02.2024", "02.01.2024"}}
		}},
		{"", "bound 1 is a text that means a missing", two, func(d *Definition) {
			d.Missing, d.Columns[0].Bounds = []string{"-1"},
				[]string{"-1", "5"}
		}},
		{"", "bounds are for", two, func(d *Definition) { d.Columns[1].Bounds = []string{"1", "2"} }},
		{"", "keys are for", two, func(d *Definition) { d.Columns[0].Keys = []string{"1"} }},
		{"", "keys: text 2 occurs twice", two, func(d *Definition) { d.Columns[1].Keys = []string{"1", "1"} }},
		{"", "key 1 is not one of its levels", two, func(d *Definition) {
			d.Columns[1] = Column{Name: "b", Type: "ordered", Levels: []string{"x"}, Keys: []string{"y"}}
		}},
		{"", "neighbours", two, func(d *Definition) { d.Neighbours = "both" }},
		{"column-missing", "column c", two, func(d *Definition) { d.Unit = "c" }},
		{"", "need the exact number", two, func(d *Definition) { d.Neighbours = "replace-one" }},
		{"", "need the exact number", two, func(d *Definition) { d.Neighbours, d.Records = "replace-one", -1 }},
		{"", "only for replace-one", two, func(d *Definition) { d.Records = 5 }},
		{"", "only for replace-one", two, func(d *Definition) { d.Neighbours, d.Unit, d.Records = "replace-one", "a", 5 }},
		{"", "expected 1 to 1073741824", two, func(d *Definition) { d.AtMost = 1<<30 + 1 }},
		{"", "expected 1 to 1073741824", two, func(d *Definition) { d.AtMost = -1 }},
		{"", "expected 1 to 1073741824", two, func(d *Definition) { d.Neighbours, d.Records = "replace-one", 1<<30+1 }},
		{"", "expected the exact number", two, func(d *Definition) { d.Neighbours, d.Records, d.AtMost = "replace-one", 5, 6 }},
		{"", "at most 1048576 bytes", two, func(d *Definition) { d.Columns[1].Keys = []string{strings.Repeat("k", 1<<20)} }},
		{"model", "needs replace-one", model, func(d *Definition) { d.Neighbours, d.Records = "", 0 }},
		{"model", "needs replace-one", model, func(d *Definition) { d.Unit, d.Records = "b", 0 }},
		{"column-missing", "column c", model, func(d *Definition) { d.Model.Column = "c" }},
		{"model", "levels are the states", model, func(d *Definition) { d.Columns[0].Type = "integer" }},
		{"model", "levels are the states", model, func(d *Definition) {
			d.Columns[0].Type, d.Columns[0].Levels = "ordered", []string{"y", "x"}
		}},
		{"model", "at least one state", model, func(d *Definition) { d.Model.States = nil }},
		{"", "model.states: text 2 occurs twice", model, func(d *Definition) { d.Model.States = []string{"x", "x"} }},
		{"", "model.states: text 1 means", model, func(d *Definition) { d.Missing = []string{"x"} }},
		{"model", "is not one of the states", model, func(d *Definition) { d.Model.Other = "z" }},
		{"model", "expected a JSON object", model, func(d *Definition) { d.Model.Distribution = nil }},
		{"model", "expected a JSON object", model, func(d *Definition) { d.Model.Distribution = json.RawMessage(`[1]`) }},
	} {
		d := c.base()
		c.spoil(d)
		err := d.Validate()
		if err == nil || noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
			continue
		}
		if c.code != "" && !hasCode(err, c.code) {
			t.Errorf("%v: want code %s", err, c.code)
		}
		if _, err := d.Canonical(); err == nil {
			t.Errorf("%s: has a canonical form", c.want)
		}
	}
	several := &Definition{File: File{Kind: "x"}, Columns: []Column{{Name: "a", Type: "y"}}, Unit: "z"}
	if err := several.Validate(); !strings.Contains(err.Error(), "file.kind") || !strings.Contains(err.Error(), "unknown type") ||
		!strings.Contains(err.Error(), "column z") {
		t.Error(err)
	}
}

// hasCode looks through joined errors.
func hasCode(err error, code string) bool {
	if noren.CodeOf(err) == code {
		return true
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, e := range joined.Unwrap() {
			if hasCode(e, code) {
				return true
			}
		}
	}
	return false
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"", "null", "[]", "{}", `{"format":"noren.dataset/1"}`,
		strings.Replace(visitsText, `"unit"`, `"Unit"`, 1),
		strings.Replace(visitsText, `"unit":"record"`, `"unit":"record","unit":"record"`, 1),
		strings.Replace(visitsText, `"unit":"record"`, `"unit":null`, 1),
		strings.Replace(visitsText, `"kind"`, `"Kind"`, 1),
		strings.Replace(visitsText, `"layout"`, `"order"`, 1),
		strings.Replace(visitsText, `["NA"]`, `[null]`, 1),
		strings.Replace(visitsText, `["NA"]`, `"NA"`, 1),
		strings.Replace(visitsText, `["0","120"]`, `[0,120]`, 1),
		strings.Replace(visitsText, `20000000`, `"20000000"`, 1),
		strings.Replace(visitsText, `20000000`, `2.5`, 1),
		strings.Replace(visitsText, `noren.dataset/1`, `noren.dataset/2`, 1),
		strings.Replace(visitsText, `"format":"noren.dataset/1",`, ``, 1),
		visitsText + "x",
	} {
		if _, err := Parse([]byte(text)); err == nil || noren.KindOf(err) != noren.Usage {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(visitsText))
	f.Add([]byte(visitsCanonical))
	f.Add([]byte(
		`{"format":"noren.dataset/1","columns":[{"name":"s"}],"neighbours":"replace-one","records":2,"model":{"column":"s","states":["a"],"distribution":{}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		d, err := Parse(text)
		if err != nil {
			if noren.KindOf(err) != noren.Usage {
				t.Fatalf("%v", err)
			}
			return
		}
		canonical, err := d.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(canonical)
		if err != nil {
			t.Fatal(err)
		}
		back, err := again.Canonical()
		if err != nil || !bytes.Equal(back, canonical) {
			t.Fatalf("%s\n%s\n%v", canonical, back, err)
		}
		if diff := cmp.Diff(d.Fields(), again.Fields()); diff != "" {
			t.Fatal(diff)
		}
	})
}
