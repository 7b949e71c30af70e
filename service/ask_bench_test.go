package service_test

import (
	"crypto/ed25519"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/service"
)

// benchService has 100,000 records in memory.
func benchService(b *testing.B) *service.Service {
	b.Helper()
	fatal := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	dir := b.TempDir()
	var t strings.Builder
	t.WriteString("age,ward,who\n")
	for i := range 100_000 {
		fmt.Fprintf(&t, "%d,%c,p%d\n", i*7%97, 'A'+i%11, i/3)
	}
	path, book := filepath.Join(dir, "t.csv"), filepath.Join(dir, "noren.db")
	fatal(os.WriteFile(path, []byte(t.String()), 0o600))
	fatal(ledger.Create(b.Context(), book))
	l, err := ledger.Open(b.Context(), book, ledger.Options{})
	fatal(err)
	for _, unit := range []string{"record", "who"} {
		d, err := (&dataset.Definition{Unit: unit, AtMost: 200_000, Columns: []dataset.Column{
			{Name: "age", Type: "integer", Bounds: []string{"0", "110"}},
			{Name: "ward", Keys: strings.Split("A,B,C,D,E,F,G,H,I,J,K", ",")},
			{Name: "who"},
		}}).Complete()
		fatal(err)
		file := path
		if unit == "who" { // a file belongs to one data set
			file = filepath.Join(dir, "u.csv")
			fatal(os.WriteFile(file, []byte(t.String()+"1,A,p0\n"), 0o600))
		}
		reviewed, err := release.ReviewGrant(b.Context(), l, release.Candidate{Path: file, Definition: d})
		fatal(err)
		_, err = release.ConfirmGrant(b.Context(), l, release.Grant{Name: unit + "s", Cap: account.Cost{Epsilon: 1e18}, OtherPeople: true},
			reviewed)
		fatal(err)
	}
	fatal(l.Close())
	k, err := service.Keep(b.Context(), book, service.KeepOptions{})
	fatal(err)
	b.Cleanup(func() { fatal(k.Close()) })
	_, key, err := ed25519.GenerateKey(nil)
	fatal(err)
	s := &service.Service{
		Kept: k, Signer: func() (ed25519.PrivateKey, error) { return key, nil },
		Tool: certificate.Tool{Name: "bench", Version: "1"}, Analyst: "mori",
	}
	fatal(k.Load(b.Context(), "records"))
	fatal(k.Load(b.Context(), "whos"))
	return s
}

func benchQuestions(kind, dataset string) *api.AskRequest {
	q := api.Question{Margin: &api.Margin{Within: 30, About: 9000}}
	switch kind {
	case "count":
		q.Of = kinds.Count{Where: "age >= 65", By: []string{"ward"}}
	case "mean":
		q.Of, q.Margin.Within = kinds.Mean{Column: "age", By: []string{"ward"}}, 1.5
	case "quantile":
		q.Of = kinds.Quantile{Column: "age"}
	}
	if dataset == "whos" {
		q = q.WithMaxRows(2)
	}
	return &api.AskRequest{Dataset: dataset, Questions: []api.Question{q}}
}

// A quote of one question; no file is read.
func BenchmarkAskPrice(b *testing.B) {
	s := benchService(b)
	for _, kind := range []string{"count", "mean", "quantile"} {
		b.Run(kind, func(b *testing.B) {
			r := benchQuestions(kind, "records")
			reads := s.Kept.Reads()
			for b.Loop() {
				if _, err := s.AskPrice(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
			if s.Kept.Reads() != reads {
				b.Fatal("a quote read a file")
			}
		})
	}
}

// A paid answer about 100,000 records in memory, the ledger included.
func BenchmarkAsk(b *testing.B) {
	s := benchService(b)
	for _, dataset := range []string{"records", "whos"} {
		for _, kind := range []string{"count", "mean", "quantile"} {
			b.Run(dataset+"/"+kind, func(b *testing.B) {
				quote, err := s.AskPrice(b.Context(), benchQuestions(kind, dataset))
				if err != nil {
					b.Fatal(err)
				}
				r := &api.AskRequest{Dataset: dataset, Questions: []api.Question{quote.Questions[0].Question}}
				for b.Loop() {
					if _, err := s.Ask(b.Context(), r); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
