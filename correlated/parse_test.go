package correlated

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/metertest"
)

func TestParseModelErrorsPointAtTheEntry(t *testing.T) {
	for _, c := range []struct{ text, where, what string }{
		{``, "m.json: byte 0", "ends too early"},
		{`{"type":"table"`, "m.json: byte 15", "ends too early"},
		{`{"type":"table"} 1`, "m.json", "after the end"},
		{`{"type":"table",}`, "m.json: byte 16", "not JSON"},
		{`[1]`, "m.json", "an object"},
		{`{"p":[1]}`, "m.json: type", "needs a type"},
		{`{"type":"bayes"}`, "m.json: type", "no such type"},
		{`{"type":"table","shape":[2],"p":[0.5,0.5],"q":1}`, "m.json: q", "no such field"},
		{`{"type":"table","type":"chain"}`, "m.json: type", "is given twice"},
		{`{"type":"table","shape":[2,2],"p":[0.5,0.5]}`, "m.json: p", "asks for 4"},
		{`{"type":"table","shape":[2,0],"p":[]}`, "m.json: shape[1]", "between 1 and 64"},
		{`{"type":"table","shape":[2,2.5],"p":[]}`, "m.json: shape[1]", "whole number"},
		{`{"type":"table","shape":[2],"p":[0.5,"a"]}`, "m.json: p[1]", "a number"},
		{`{"type":"table","shape":[2],"p":[0.5,0.6]}`, "m.json: p", "sum to 1.1"},
		{`{"type":"table","shape":[2],"p":[1.5,-0.5]}`, "m.json: p[0]", "between 0 and 1"},
		{`{"type":"table","shape":[2],"p":[1e999,0]}`, "m.json: p[0]", "too large"},
		{`{"type":"chain","init":[0.5,0.5],"P":[[0.9,0.1],[0.1,0.9]]}`, "m.json: P", "number of records is missing"},
		{`{"type":"chain","init":[0.5,0.5],"P":[[[0.9,0.1],[0.1,0.9]],[[0.9,0.1],[0.1,0.8]]]}`, "m.json: P[1][1]", "sum to 0.9"},
		{`{"type":"chain","init":[0.5,0.5],"P":[[[0.9,0.1],[0.1]]]}`, "m.json: P[0][1]", "1 entry"},
		{`{"type":"chain","init":[1],"P":[[[0.9,0.1],[0.1,0.9]]]}`, "m.json: P[0]", "2 rows"},
		{`{"type":"chain","init":[0.5,0.5],"P":[[0.9,0.1],[0.1,0.9]],"length":0}`, "m.json: length", "between 1 and"},
		{`{"type":"chain","init":[0.5,0.5],"P":[[0.9,0.1]],"length":3}`, "m.json: P", "square"},
		{`{"type":"tree","parent":[-1,0],"prior":[0.5,0.5],"cpt":[null,null]}`, "m.json: cpt[1]", "needs its table"},
		{`{"type":"tree","parent":[1,0],"prior":[0.5,0.5],"cpt":[[1,0],[0,1]]}`, "m.json: parent", "own ancestors"},
		{`{"type":"tree","parent":[-1,5],"prior":[0.5,0.5],"cpt":[[1,0],[0,1]]}`, "m.json: parent[1]", "another record"},
		{`{"type":"tree","parent":[-1,0],"prior":[0.5,0.5],"cpt":[null,[[1,0]]]}`, "m.json: cpt[1]", "the parent, record 0"},
		{`{"type":"class","members":[]}`, "m.json: members", "at least one"},
		{
			`{"type":"class","members":[{"type":"table","shape":[2],"p":[0.5,0.5]},{"type":"table","shape":[2],"p":[0.5,0.4]}]}`,
			"m.json: members[1].p", "sum to 0.9",
		},
		{
			`{"type":"class","members":[{"type":"table","shape":[2],"p":[0.5,0.5]},{"type":"table","shape":[1],"p":[1]}]}`, "m.json: members[1]",
			"1 state",
		},
		{`{"type":"box","centre":{"type":"table","shape":[1],"p":[1]},"low":[[0]],"high":[[1]]}`, "m.json: centre", "a chain or a tree"},
		{`{"type":"box","centre":{"type":"chain","init":[0.5,0.5],"P":[[0.9,0.1],[0.1,0.9]],"length":3},"low":[[0.95,0],[0,0.8]],"high":[[1,1],[1,1]]}`, "m.json: low[0][0][0]", "outside"},
		{`{"type":"table","shape":[2],"p":[0.5,0.5],"states":["on"]}`, "m.json: states", "2 states"},
		{`{"type":"table","shape":[2],"p":[0.5,0.5],"states":["on","on"]}`, "m.json: states[1]", "twice"},
		{`{"type":"table","shape":` + strings.Repeat("[", 50), "m.json: shape[0][0]", "nests more than 32 levels"},
	} {
		_, err := ParseModel(strings.NewReader(c.text), "m.json")
		var e *noren.Error
		if !errors.As(err, &e) || e.Kind != noren.Usage && e.Code != "too-large" || !strings.HasPrefix(e.Place(), c.where) ||
			!strings.Contains(err.Error(), c.what) {
			t.Errorf("%s\n gave %v\n want %s: ..%s..", c.text, err, c.where, c.what)
		}
	}
}

const onOff = `{"type":"chain","states":["off","on"],"source":"made up","init":[0.5,0.5],"P":[[0.9,0.1],[0.1,0.9]],"length":3}`

func TestParseQueryErrorsPointAtTheEntry(t *testing.T) {
	f, err := ParseModel(strings.NewReader(onOff), "m.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, where, what string }{
		{`{}`, "q.json", "exactly one of"},
		{`{"count":1,"histogram":true}`, "q.json", "exactly one of"},
		{`{"count":"idle"}`, "q.json: count", "no state of this name"},
		{`{"count":[0,2]}`, "q.json: count[1]", "no record has this state"},
		{`{"count":[0,0]}`, "q.json: count[1]", "twice"},
		{`{"count":1,"weights":[1,2]}`, "q.json: weights", "here are 2 weights"},
		{`{"histogram":true,"weights":[1,2]}`, "q.json: weights", "go with a count"},
		{`{"g":[0,1,2]}`, "q.json: g", "2 states"},
		{`{"g":[[0,1],[0,1]]}`, "q.json: g", "here are 2 rows"},
		{`{"g":[[0,1],[0,1],[0]]}`, "q.json: g[2]", "1 value"},
		{`{"g":[0.12345678901234567,1]}`, "q.json: query", "too many digits"},
		{`{"joint":[]}`, "q.json: query", "at least one part"},
		{`{"histogram":false}`, "q.json: histogram", "true"},
	} {
		_, err := ParseQuery(strings.NewReader(c.text), "q.json", f)
		var e *noren.Error
		if !errors.As(err, &e) || e.Kind != noren.Usage || !strings.HasPrefix(err.Error(), c.where) || !strings.Contains(err.Error(), c.what) {
			t.Errorf("%s\n gave %v\n want %s: ..%s..", c.text, err, c.where, c.what)
		}
	}
}

var modelTexts = []string{
	onOff,
	`{"type":"table","shape":[2,3],"p":[0.1,0.2,0.1,0.2,0.3,0.1]}`,
	`{"type":"chain","init":[0.5,0.5],"P":[[[0.9,0.1],[0.1,0.9]],[[0.2,0.3,0.5],[0.3,0.3,0.4]]]}`,
	`{"type":"chain","init":[0.25,0.75],"P":[]}`,
	`{"type":"tree","parent":[-1,0,0,-1],"prior":[0.9,0.1],"cpt":[null,[[0.9,0.1],[0.4,0.6]],[[0.9,0.1],[0.4,0.6]],[[0.5,0.5]]]}`,
	`{"type":"tree","parent":[1,-1],"prior":[0.9,0.1],"cpt":[[0.9,0.1],[0.4,0.6]]}`,
	`{"type":"class","members":[{"type":"table","shape":[2],"p":[0.5,0.5]},{"type":"table","shape":[2],"p":[0.25,0.75]}]}`,
	`{"type":"box","centre":{"type":"chain","init":[0.5,0.5],"P":[[0.9,0.1],[0.1,0.9]],"length":3},"low":[[0.8,0.05],[0,0.8]],"high":[[1,0.2],[0.25,1]]}`,
	`{"type":"box","centre":{"type":"tree","parent":[-1,0,0],"prior":[0.9,0.1],"cpt":[[0.9,0.1],[0.4,0.6]]},"low":[null,[[0.8,0.05],[0,0.5]],[[0.7,0.05],[0,0.5]]],"high":[null,[[1,0.2],[0.5,1]],[[1,0.2],[0.5,1]]]}`,
}

func TestModelsSurviveWriting(t *testing.T) {
	for _, text := range modelTexts {
		f, err := ParseModel(strings.NewReader(text), "m.json")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		sameAfterWriting(t, f)
	}
}

func sameAfterWriting(t *testing.T, f *ModelFile) {
	t.Helper()
	once, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	g, err := ParseModel(strings.NewReader(string(once)), "again.json")
	if err != nil {
		t.Fatalf("%s: %v", once, err)
	}
	twice, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	if len(once) != len(twice) && string(once) != string(twice) {
		// Scaling a row to sum to one may move a last digit once more.
		if g.Model.Kind() != f.Model.Kind() || sameRecords(f.Model, g.Model) != nil {
			t.Fatalf("%s\nbecame\n%s", once, twice)
		}
	}
}

func FuzzParseModel(f *testing.F) {
	for _, text := range modelTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		metertest.Hold(t, len(text))
		m, err := ParseModel(strings.NewReader(text), "m.json")
		if err != nil {
			if noren.KindOf(err) != noren.Usage && noren.CodeOf(err) != "too-large" {
				t.Fatalf("%v is of kind %v", err, noren.KindOf(err))
			}
			return
		}
		if m.Model.Records() > 1000 {
			return
		}
		sameAfterWriting(t, m)
		for i := range m.Model.Records() {
			if k := m.Model.States(i); k < 1 || k > maxStates {
				t.Fatalf("record %d has %d states", i, k)
			}
		}
	})
}

func FuzzParseQuery(f *testing.F) {
	for _, text := range []string{
		`{"g":[[0,1],[0,2.5],[1,1]]}`, `{"g":[0,0.1]}`, `{"count":"on"}`, `{"count":[0,1]}`, `{"count":1,"weights":[1,2,3]}`,
		`{"histogram":true}`, `{"joint":[{"count":"on"},{"g":[0,0.25]}]}`, `{"g":[1e300,-1e-300]}`,
	} {
		f.Add(text)
	}
	file, err := ParseModel(strings.NewReader(onOff), "m.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		metertest.Hold(t, len(text))
		q, err := ParseQuery(strings.NewReader(text), "q.json", file)
		if err != nil {
			if noren.KindOf(err) != noren.Usage && noren.CodeOf(err) != "too-large" {
				t.Fatalf("%v is of kind %v", err, noren.KindOf(err))
			}
			return
		}
		once, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseQuery(strings.NewReader(string(once)), "again.json", file)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		a, errA := ComputeLeakage(context.Background(), file.Model, q, 1, LeakageOptions{Method: Tanh})
		b, errB := ComputeLeakage(context.Background(), file.Model, again, 1, LeakageOptions{Method: Tanh})
		if (errA == nil) != (errB == nil) || errA == nil && a.Upper != b.Upper {
			t.Fatalf("%s leaks otherwise than %s", text, once)
		}
	})
}

func TestReadAdversaries(t *testing.T) {
	f, err := ParseModel(strings.NewReader(onOff), "m.json")
	if err != nil {
		t.Fatal(err)
	}
	text := `[{"record":1,"known":[{"record":0,"state":"on"},{"record":2,"state":"any"}]},{"record":"any"},{"record":-1,"known":[{"record":0,"state":-1}]}]`
	a, err := ReadAdversaries(strings.NewReader(text), "a.json", f)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.listed) != 3 || a.listed[0].Known[0].State != 1 || a.listed[0].Known[1].State != AnyState || a.listed[1].Target != AnyTarget {
		t.Errorf("%+v", a)
	}
	written, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadAdversaries(strings.NewReader(string(written)), "again.json", f)
	if err != nil || len(again.listed) != 3 || again.listed[0].Known[1] != a.listed[0].Known[1] {
		t.Errorf("%s became %+v, %v", written, again, err)
	}
	for _, c := range []struct{ text, where string }{
		{`{}`, "a.json"},
		{`[]`, "a.json: adversaries"},
		{`[{"known":[]}]`, "a.json: [0]"},
		{`[{"record":3}]`, "a.json: adversaries[0]"},
		{`[{"record":0,"known":[{"record":0,"state":1}]}]`, "a.json: adversaries[0].known[0]"},
		{`[{"record":0,"known":[{"record":1,"state":"idle"}]}]`, "a.json: [0].known[0].state"},
		{`[{"record":0,"known":[{"record":1}]}]`, "a.json: [0].known[0]"},
		{`[{"record":0,"known":[{"record":1,"state":0},{"record":1,"state":1}]}]`, "a.json: adversaries[0].known[1]"},
	} {
		_, err := ReadAdversaries(strings.NewReader(c.text), "a.json", f)
		if noren.KindOf(err) != noren.Usage || !strings.HasPrefix(err.Error(), c.where) {
			t.Errorf("%s gave %v, want %s", c.text, err, c.where)
		}
	}
	for _, s := range []string{"all", "empty", "full"} {
		if a, err := ParseAdversaries(s); err != nil || a.String() != s {
			t.Errorf("%s: %v, %v", s, a, err)
		}
	}
	if _, err := ParseAdversaries("some"); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
}

func FuzzReadAdversaries(f *testing.F) {
	f.Add(`[{"record":1,"known":[{"record":0,"state":"on"},{"record":2,"state":"any"}]},{"record":"any"}]`)
	file, err := ParseModel(strings.NewReader(onOff), "m.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		metertest.Hold(t, len(text))
		a, err := ReadAdversaries(strings.NewReader(text), "a.json", file)
		if err != nil {
			if noren.KindOf(err) != noren.Usage && noren.CodeOf(err) != "too-large" {
				t.Fatalf("%v is of kind %v", err, noren.KindOf(err))
			}
			return
		}
		if _, err := ComputeLeakage(context.Background(), file.Model, Count(1), 1, LeakageOptions{Adversaries: a}); err != nil {
			t.Fatal(err)
		}
	})
}
