package query

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/table"
)

// Answers and parameters are what a certificate can hold: canonical JSON.
func TestAnswersAreCanonical(t *testing.T) {
	randtest.SkipShort(t)
	tab := makeTable(t, visits, visitRows(50, 4)...)
	for name, o := range common() {
		q := mustNew(t, o)
		r, err := q.answer(t.Context(), tab, randtest.Source(2))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []any{r, q.Parameters()} {
			if _, err := certificate.Canonical([]byte(asJSON(t, v))); err != nil {
				t.Errorf("%s: %v in %s", name, err, asJSON(t, v))
			}
		}
		g, err := q.Guarantee(account.ReplaceOne, o.Unit)
		if err != nil || g.Epsilon == 0 || len(g.Assumptions) < 3 {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
	}
}

// Numbers that readers of JSON would round are written as texts.
func TestNumber(t *testing.T) {
	for n, want := range map[Number]string{
		0.1: "0.1", -3: "-3", exactLimit: "9007199254740991", 1 << 53: `"9007199254740992"`,
		-1 << 80: `"-1208925819614629200000000"`,
	} {
		if got := asJSON(t, n); got != want {
			t.Errorf("%v is written %s, want %s", float64(n), got, want)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		n := Number(rapid.Float64Range(-1e300, 1e300).Draw(rt, "n"))
		var back Number
		if err := json.Unmarshal([]byte(asJSON(t, n)), &back); err != nil || back != n {
			rt.Fatalf("%v was read back as %v, %v", n, back, err)
		}
	})
	var n Number
	if err := json.Unmarshal([]byte(`"x"`), &n); err == nil {
		t.Error("a text that is no number was read")
	}
}

// A sum beyond 2^53 is written as well.
func TestHugeSum(t *testing.T) {
	fields := []table.Field{{Name: "x", Type: table.Decimal}}
	rows := make([][]string, 3000)
	for i := range rows {
		rows[i] = []string{"1e300"}
	}
	q := mustNew(t, Options{Kind: Sum, Column: "x", Bounds: &Bounds{0, 1 << 52}, Fields: fields, Cost: account.Cost{Epsilon: one}})
	r, err := q.answer(t.Context(), makeTable(t, fields, rows...), randtest.Source(2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := certificate.Canonical([]byte(asJSON(t, r))); err != nil {
		t.Error(err)
	}
}

// The largest answer that is allowed is no larger than a certificate can be about.
func TestLargestAnswerFits(t *testing.T) {
	fields := []table.Field{{Name: "x", Type: table.Decimal}, {Name: "d", Type: table.Date}, {Name: "word", Type: table.Category}}
	longest := 0
	for _, o := range []Options{
		{Kind: Histogram, Column: "x", Bins: make([]float64, 3000)},
		{Kind: Mean, Column: "d", Bounds: &Bounds{0, 1e6}, By: []string{"word"}, Keys: make([][]string, 2400)},
		{Kind: Quantile, Column: "x", Bounds: &Bounds{0, 1e-90}, By: []string{"word"}, Keys: make([][]string, 2400)},
		{Kind: Histogram, Column: "word", Values: []string{strings.Repeat("<", 3000), "b"}, By: []string{"x"}, Keys: make([][]string, 50)},
	} {
		for i := range o.Bins {
			o.Bins[i] = float64(i) + 1/3.0
		}
		for i := range o.Keys {
			o.Keys[i] = []string{strings.Repeat("9", 1+i%7) + "." + strings.Repeat("1", 1+i/7%90) + "1" + string(rune('0'+i%10)) +
				string(rune('0'+i/630))}
		}
		o.Fields, o.Cost = fields, account.Cost{Epsilon: 1}
		q, err := New(context.Background(), o)
		if err != nil {
			t.Errorf("%s: %.300v", o.Kind, err)
			continue
		}
		r, err := q.answer(t.Context(), makeTable(t, fields), randtest.Source(2))
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, len(asJSON(t, r)))
	}
	if longest > maxAnswer || longest < maxAnswer/4 {
		t.Errorf("the longest answer has %d bytes of %d", longest, maxAnswer)
	}
}

// The assumption about neighbours is that of the relation that was asked for, and of
// one record in words that are for one record.
func TestNeighboursInWords(t *testing.T) {
	for _, test := range []struct {
		n    account.Neighbours
		unit string
		want string
	}{
		{account.AddRemove, account.Record, "neighbours differ in one record, which one of them has and the other has not"},
		{account.ReplaceOne, account.Record, "neighbours differ in one record, which is another in the one than in the other"},
		{account.AddRemove, "person", "neighbours differ in all records of one person, which one of them has and the other has not"},
		{account.ReplaceOne, "person", "neighbours differ in the records of one person, which are others in the one than in the other"},
	} {
		o := Options{Kind: Count, Fields: visits, Cost: account.Cost{Epsilon: one}, Unit: test.unit}
		if test.unit != account.Record {
			o.MaxRows, o.Key = 3, make([]byte, 32)
		}
		g, err := mustNew(t, o).Guarantee(test.n, test.unit)
		if err != nil || g.Assumptions[0].String() != test.want {
			t.Errorf("%v, %v; want %q", g.Assumptions, err, test.want)
		}
	}
}
