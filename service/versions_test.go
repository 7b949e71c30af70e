package service_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/service"
)

// regrant makes text the next version of the data set "people".
func regrant(t *testing.T, s *service.Service, dir, text string, d *dataset.Definition) {
	t.Helper()
	path := filepath.Join(dir, "people.csv")
	write(t, path, text)
	l, err := ledger.Open(t.Context(), s.Ledger, ledger.Options{})
	must(t, err)
	defer func() { must(t, l.Close()) }()
	complete, err := d.Complete()
	must(t, err)
	reviewed, err := release.ReviewGrant(t.Context(), l, release.Candidate{Path: path, Definition: complete})
	must(t, err)
	limit, err := account.ParseCost("1000000", "0.01")
	must(t, err)
	_, err = release.ConfirmGrant(t.Context(), l, release.Grant{Name: "people", Cap: limit, Changed: true}, reviewed)
	must(t, err)
}

// The records that count for a person are those of the version that is asked: the same rows
// in another order are another version, of which other rows are that person's.
func TestAnotherOrderIsAnotherVersion(t *testing.T) {
	var single strings.Builder
	for i := range 500 {
		fmt.Fprintf(&single, "p%d,0\n", i)
	}
	many := strings.Repeat("one,1\n", 500)
	d := &dataset.Definition{Unit: "who", Columns: []dataset.Column{{Name: "who"}, {Name: "x"}}}
	s, dir := granted(t, "who,x\n"+many+single.String(), d)
	kept(t, s)
	r := &api.AskRequest{Dataset: "people", Questions: []api.Question{
		{Of: kinds.Count{Where: "x = '1'", MaxRows: 1}, Pay: &api.Amount{Epsilon: "100"}},
	}}
	for version := range 2 {
		a, err := s.Ask(t.Context(), r)
		must(t, err)
		// The noise is for one record: of epsilon 100 it is 0 but for e^-100.
		if v := *a.Answers[0].Rows[0].Value; v != 1 {
			t.Errorf("version %d: one person counts %g times", version+1, v)
		}
		if version == 0 {
			regrant(t, s, dir, "who,x\n"+single.String()+many, d)
		}
	}
}

// versionRows is a table of persons with more records than count.
type versionRows struct {
	who  []int
	a, b []int
}

func (r *versionRows) text() string {
	var out strings.Builder
	out.WriteString("who,a,b\n")
	for i := range r.who {
		fmt.Fprintf(&out, "p%d,%d,%d\n", r.who[i], r.a[i], r.b[i])
	}
	return out.String()
}

// Whatever a process keeps of a version serves no other version: it answers as one that
// keeps nothing, after the rows changed their order, columns were exchanged, and persons,
// values and types became others. The noise is so small that answers tell what was read.
func TestWhatIsKeptIsOfOneVersion(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	rows := &versionRows{}
	for range 120 {
		rows.who, rows.a, rows.b = append(rows.who, r.IntN(9)), append(rows.a, r.IntN(4)), append(rows.b, r.IntN(4))
	}
	definition := func(kind string) *dataset.Definition {
		return &dataset.Definition{Unit: "who", Columns: []dataset.Column{
			{Name: "who"},
			{Name: "a", Type: kind, Bounds: []string{"0", "4"}},
			{Name: "b", Type: "integer", Bounds: []string{"0", "4"}},
		}}
	}
	plain, dir := granted(t, rows.text(), definition("integer"))
	holding := *plain
	k := kept(t, &holding)
	pay := &api.Amount{Epsilon: "100"}
	var questions []api.Question
	for _, most := range []int64{1, 3} {
		for _, column := range []string{"a", "b"} {
			questions = append(questions,
				api.Question{Of: kinds.Sum{Column: column, MaxRows: most}, Pay: pay},
				api.Question{Of: kinds.Count{Where: column + " >= 2", MaxRows: most}, Pay: pay})
		}
		questions = append(questions, api.Question{Of: kinds.Count{MaxRows: most}, Pay: pay})
	}
	ask := &api.AskRequest{Dataset: "people", Questions: questions}
	steps := []struct {
		what string
		do   func()
	}{
		{"a value changed", func() { rows.a[0] = 4 - rows.a[0] }},
		{"rows in another order", func() {
			r.Shuffle(len(rows.who), func(i, j int) {
				rows.who[i], rows.who[j] = rows.who[j], rows.who[i]
				rows.a[i], rows.a[j] = rows.a[j], rows.a[i]
				rows.b[i], rows.b[j] = rows.b[j], rows.b[i]
			})
		}},
		{"two columns exchanged", func() { rows.a, rows.b = rows.b, rows.a }},
		{"persons exchanged", func() {
			r.Shuffle(len(rows.who), func(i, j int) { rows.who[i], rows.who[j] = rows.who[j], rows.who[i] })
		}},
		{"rows reversed", func() { slices.Reverse(rows.who); slices.Reverse(rows.a); slices.Reverse(rows.b) }},
		{"one column reversed", func() { slices.Reverse(rows.b) }},
		{"a column of another type", func() {}},
	}
	for i, step := range steps {
		step.do()
		kind := "integer"
		if i == len(steps)-1 {
			kind = "decimal"
		}
		regrant(t, plain, dir, rows.text(), definition(kind))
		for twice := range 2 {
			want, err := plain.Ask(t.Context(), ask)
			must(t, err)
			got, err := holding.Ask(t.Context(), ask)
			must(t, err)
			for j, q := range questions {
				a, b := float64(*want.Answers[j].Rows[0].Value), float64(*got.Answers[j].Rows[0].Value)
				// The scale of each noise is at most 3 x 4 / 100.
				if math.Abs(a-b) > 5 {
					t.Errorf("%s, time %d: %s: %g without and %g with what is kept", step.what, twice+1, asJSON(t, q), a, b)
				}
			}
		}
	}
	if k.Reads() == 0 {
		t.Error("nothing was kept")
	}
}

// A request is charged as it was priced: not for a version that came afterwards, also where
// its schema is the same, and not from a stored answer.
func TestARequestIsChargedAsItWasPriced(t *testing.T) {
	d := &dataset.Definition{Columns: []dataset.Column{{Name: "who"}, {Name: "x"}}}
	s, dir := granted(t, "who,x\na,1\nb,2\n", d)
	s.Note = nil
	r := &api.AskRequest{Dataset: "people", Questions: []api.Question{{Of: kinds.Count{}, Pay: &api.Amount{Epsilon: "1"}}}, RequestKey: "k"}
	for _, keep := range []bool{false, true} {
		if keep {
			kept(t, s)
		}
		price, err := s.AskPrice(t.Context(), r)
		must(t, err)
		r.Request = price.Request
		_, err = s.Ask(t.Context(), r)
		must(t, err)
		regrant(t, s, dir, map[bool]string{false: "who,x\na,1\nb,3\n", true: "who,x\na,1\nb,4\n"}[keep], d)
		for _, reuse := range []bool{false, true} {
			late := *r
			late.Reuse, late.RequestKey = reuse, ""
			if _, err := s.Ask(t.Context(), &late); noren.CodeOf(err) != release.CodeChanged || noren.KindOf(err) != noren.Refused {
				t.Errorf("kept %t, reuse %t: %v", keep, reuse, err)
			}
		}
		now, err := s.AskPrice(t.Context(), r)
		must(t, err)
		if now.Definition != price.Definition || now.Version != price.Version+1 || now.Request == price.Request {
			t.Errorf("version %d after %d, request %s after %s", now.Version, price.Version, now.Request, price.Request)
		}
		r.RequestKey = "another"
	}
}
