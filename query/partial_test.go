package query

import (
	"bytes"
	"context"
	"math"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

func partialQuery(t testing.TB, o Options) *Query {
	t.Helper()
	o.Fields, o.Cost = []table.Field{{Name: "x", Type: table.Decimal}}, account.Cost{Epsilon: 1000 * account.EpsilonUnits}
	q, err := New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// Sums of parts make the answer of the whole. At epsilon 1000 the noise is at most 1 of a
// scale of 10^2 but with probability below 1e-6.
func TestPartial(t *testing.T) {
	j := 0
	q := partialQuery(t, Options{Kind: Variance, Column: "x", Bounds: &Bounds{-3, 7}, GridBits: &j})
	all, err := q.NoRecords()
	if err != nil {
		t.Fatal(err)
	}
	for _, values := range [][]float64{{1, 2, -9}, {}, {7, 7.4}} {
		p, err := q.Partial(context.Background(), numbers(t, values...))
		if err != nil {
			t.Fatal(err)
		}
		p, err = q.DecodePartial(p.AppendBinary(nil))
		if err != nil {
			t.Fatal(err)
		}
		if err := all.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	exact, err := q.Partial(context.Background(), numbers(t, 1, 2, -9, 7, 7.4))
	if err != nil || !bytes.Equal(exact.AppendBinary(nil), all.AppendBinary(nil)) {
		t.Fatalf("the sums of parts are not those of the whole: %v", err)
	}
	answer, err := q.AnswerPartial(all, noise.NewSource())
	if err != nil {
		t.Fatal(err)
	}
	whole, err := q.answer(context.Background(), numbers(t, 1, 2, -9, 7, 7.4), noise.NewSource())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := float64(*answer.(*Result).Value), float64(*whole.Value); math.Abs(got-want) > 1 || all.Records() != 5 {
		t.Errorf("%v from parts of %d records, %v from the whole", got, all.Records(), want)
	}
}

func TestPartialFaults(t *testing.T) {
	median := partialQuery(t, Options{Kind: Quantile, Column: "x", Bounds: &Bounds{0, 10}})
	count := partialQuery(t, Options{Kind: Count})
	mean := partialQuery(t, Options{Kind: Mean, Column: "x", Bounds: &Bounds{0, 10}})
	one, err := count.Partial(context.Background(), numbers(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"a quantile": median.InParts(), "sums of a quantile": lastError(median.Partial(context.Background(), numbers(t, 1))),
		"no sums of a quantile":      lastError(median.NoRecords()),
		"an answer of a quantile":    lastError(median.AnswerPartial(one, noise.NewSource())),
		"decoded sums of a quantile": lastError(median.DecodePartial(nil)),
	} {
		if noren.KindOf(err) != noren.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
	two, err := mean.NoRecords()
	if err != nil {
		t.Fatal(err)
	}
	if one.Add(two) == nil || lastError(mean.AnswerPartial(one, noise.NewSource())) == nil {
		t.Error("sums of another query are taken")
	}
	one.records = maxRecords
	if err := one.Add(one); err != nil {
		t.Fatal(err)
	}
	if err := lastError(count.AnswerPartial(one, noise.NewSource())); noren.KindOf(err) != noren.BadData {
		t.Errorf("2^32 records: %v", err)
	}
	text := two.AppendBinary(nil)
	for name, bad := range map[string][]byte{
		"nothing": nil, "another version": append([]byte("NQS2"), text[4:]...), "cut off": text[:len(text)-1],
		"of another query": one.AppendBinary(nil),
		"too many records": append(append(bytes.Clone(text[:4]), 255, 255, 255, 255, 255, 0, 0, 0), text[12:]...),
	} {
		if _, err := mean.DecodePartial(bad); noren.KindOf(err) != noren.BadData {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func lastError[T any](_ T, err error) error { return err }

func FuzzPartial(f *testing.F) {
	q := partialQuery(f, Options{Kind: Mean, Column: "x", Bounds: &Bounds{0, 10}})
	p, err := q.Partial(context.Background(), numbers(f, 1, 20, -4))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(p.AppendBinary(nil))
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		p, err := q.DecodePartial(text)
		if err == nil && !bytes.Equal(p.AppendBinary(nil), text) {
			t.Fatal("sums are written in another form")
		}
	})
}
