package service_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// Many requests at once read the file once for all columns that they share.
func TestKeptReadsOnce(t *testing.T) {
	s, _ := people(t)
	k := kept(t, s)
	s.Note = nil
	count := &api.AskRequest{Dataset: "people", Questions: []api.Question{
		{Of: kinds.Count{Where: "age >= 60"}, Pay: &api.Amount{Epsilon: "0.1"}},
	}}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := s.Ask(t.Context(), count); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if k.Reads() != 1 {
		t.Errorf("the file was read %d times", k.Reads())
	}
	// Other operations on the same ledger use it too.
	if _, err := s.Query(t.Context(), &api.QueryRequest{
		Ask: api.Ask{Dataset: "people", Epsilon: "1"}, Kind: "mean",
		Column: "age",
	}); err != nil {
		t.Error(err)
	}
	if k.Reads() != 1 {
		t.Errorf("the file was read %d times", k.Reads())
	}
}

// Columns beyond the memory are read again, and answers are the same.
func TestKeptWithinItsMemory(t *testing.T) {
	s, _ := people(t)
	k, err := service.Keep(t.Context(), s.Ledger, service.KeepOptions{TableMemory: 1})
	must(t, err)
	defer func() { must(t, k.Close()) }()
	s.Kept = k
	for n := range int64(3) {
		a, err := s.Ask(t.Context(), &api.AskRequest{
			Dataset:   "people",
			Questions: []api.Question{{Of: kinds.Count{Where: "sex = 'f'"}, Pay: &api.Amount{Epsilon: "100"}}},
		})
		must(t, err)
		if v := float64(*a.Answers[0].Rows[0].Value); v < 25 || v > 35 {
			t.Errorf("count %g", v)
		}
		if k.Reads() != n+1 {
			t.Errorf("%d reads after %d answers", k.Reads(), n+1)
		}
	}
	if _, err := service.Keep(t.Context(), s.Ledger, service.KeepOptions{TableMemory: -1}); noren.KindOf(err) != noren.Usage {
		t.Errorf("negative memory: %v", err)
	}
}

// A file that is another than the granted one is noticed when it is read; nothing is
// charged for it, and columns in memory stay those of the grant.
func TestKeptNoticesAnotherFile(t *testing.T) {
	s, dir := people(t)
	k := kept(t, s)
	path := filepath.Join(dir, "people.csv")
	write(t, path, "age,sex\n"+strings.Repeat("99,f\n", 60))
	r := threeQuestions()
	if _, err := s.Ask(t.Context(), r); noren.CodeOf(err) != release.CodeChanged {
		t.Errorf("another file: %v", err)
	}
	quote, err := s.AskPrice(t.Context(), r)
	must(t, err)
	if quote.Accounts[0].Left.Epsilon != "1000" {
		t.Errorf("it was charged: %+v", quote.Accounts)
	}
	write(t, path, "age,sex\n"+strings.Repeat("31,f\n62,m\n", 30))
	_, err = s.Ask(t.Context(), r)
	must(t, err)
	write(t, path, "age,sex\n"+strings.Repeat("99,f\n", 60))
	_, err = s.Ask(t.Context(), r)
	must(t, err)
	if k.Reads() != 1 {
		t.Errorf("%d reads", k.Reads())
	}
}

// A new version of the data set is asked from the next request on; a request that was
// priced for the old one is refused and not charged.
func TestKeptTakesUpANewVersion(t *testing.T) {
	s, dir := people(t)
	kept(t, s)
	r := &api.AskRequest{Dataset: "people", Questions: []api.Question{{Of: kinds.Count{}, Pay: &api.Amount{Epsilon: "100"}}}}
	old, err := s.AskPrice(t.Context(), r)
	must(t, err)
	_, err = s.Ask(t.Context(), r)
	must(t, err)
	path := filepath.Join(dir, "people.csv")
	write(t, path, "age,sex\n"+strings.Repeat("31,f\n", 200))
	l, err := ledger.Open(t.Context(), s.Ledger, ledger.Options{})
	must(t, err)
	d, err := (&dataset.Definition{Columns: []dataset.Column{{Name: "age", Type: "integer"}, {Name: "sex", Type: "category"}}}).Complete()
	must(t, err)
	reviewed, err := release.ReviewGrant(t.Context(), l, release.Candidate{Path: path, Definition: d})
	must(t, err)
	limit, err := account.ParseCost("1000", "0.01")
	must(t, err)
	_, err = release.ConfirmGrant(t.Context(), l, release.Grant{Name: "people", Cap: limit, Changed: true}, reviewed)
	must(t, err)
	must(t, l.Close())
	stale := *r
	stale.Definition = old.Definition
	if _, err := s.Ask(t.Context(), &stale); noren.CodeOf(err) != release.CodeChanged {
		t.Errorf("a request for the old schema: %v", err)
	}
	quote, err := s.AskPrice(t.Context(), r)
	must(t, err)
	if quote.Version != 2 || quote.Definition == old.Definition || quote.Accounts[0].Left.Epsilon != "900" {
		t.Errorf("version %d, left %+v", quote.Version, quote.Accounts)
	}
	a, err := s.Ask(t.Context(), r)
	must(t, err)
	if v := float64(*a.Answers[0].Rows[0].Value); v < 190 || v > 210 {
		t.Errorf("count %g, want about 200", v)
	}
	must(t, os.Remove(path))
}

// Of persons with many records the same ones count in every answer of one question, and
// they are picked once.
func TestKeptPersons(t *testing.T) {
	text := "who,v\n"
	for i := range 60 {
		text += []string{"a", "b", "c"}[i%3] + "," + []string{"1", "2", "3", "4", "5"}[i%5] + "\n"
	}
	s, _ := granted(t, text, &dataset.Definition{
		Unit:    "who",
		Columns: []dataset.Column{{Name: "who"}, {Name: "v", Type: "integer", Bounds: []string{"0", "10"}}},
	})
	r := &api.AskRequest{Dataset: "people", Questions: []api.Question{
		{Of: kinds.Sum{Column: "v", MaxRows: 2}, Pay: &api.Amount{Epsilon: "200"}},
	}}
	plain, err := s.Ask(t.Context(), r)
	must(t, err)
	kept(t, s)
	for range 3 {
		again, err := s.Ask(t.Context(), r)
		must(t, err)
		// Noise of scale 20/200: a difference of 3 has a probability below 1e-10.
		if a, b := *plain.Answers[0].Rows[0].Value, *again.Answers[0].Rows[0].Value; a-b >= 3 || b-a >= 3 {
			t.Errorf("sums %g and %g", a, b)
		}
	}
}
