package ratio_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
)

func columnOf(t testing.TB, f table.Field, texts []string) *table.Column {
	t.Helper()
	b, err := table.NewBuilder(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range texts {
		if err := b.Append([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	return b.Column()
}

// people is n records: age (missing now and then), hours, and a word.
func people(n int, seed uint64, old float64) (rows [][]string) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range n {
		age := fmt.Sprint(int(min(90, max(17, 40+old+10*rng.NormFloat64()))))
		if rng.IntN(100) == 0 {
			age = ""
		}
		word := "clerk"
		if rng.Float64() < 0.3+old/50 {
			word = "nurse"
		}
		rows = append(rows, []string{age, fmt.Sprintf("%.1f", 38+5*rng.NormFloat64()), word})
	}
	return rows
}

// A walk from two tables to weights, an answer and a paid check: each of the two releases
// is charged once, and what is made of them is free.
func TestThroughTheWayOut(t *testing.T) {
	ctx := context.Background()
	const n = 4000
	var text strings.Builder
	text.WriteString("age,hours,work\n")
	sum := 0.0
	private := people(n, 1, 5)
	for _, r := range private {
		text.WriteString(strings.Join(r, ",") + "\n")
		var h float64
		if _, err := fmt.Sscan(r[1], &h); err != nil {
			t.Fatal(err)
		}
		sum += h
	}
	dir := t.TempDir()
	path, book := filepath.Join(dir, "private.csv"), filepath.Join(dir, "ledger.db")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	public := &table.Table{Rows: 600}
	var columns [3][]string
	for _, r := range people(public.Rows, 2, 0) {
		for j, s := range r {
			columns[j] = append(columns[j], s)
		}
	}
	for j, f := range []table.Field{{Name: "age", Type: table.Integer}, {Name: "hours", Type: table.Decimal}, {Name: "work"}} {
		public.Columns = append(public.Columns, columnOf(t, f, columns[j]))
	}

	axes, err := ratio.PublicAxes(public, "age", "hours", "work")
	if err != nil {
		t.Fatal(err)
	}
	frame, err := ratio.NewFrame(axes)
	if err != nil {
		t.Fatal(err)
	}
	points, err := frame.Points(public)
	if err != nil {
		t.Fatal(err)
	}
	if frame.Dim() != 4 {
		t.Errorf("%d coordinates", frame.Dim())
	}
	m, err := ratio.New(ctx, ratio.Options{
		Frame: frame, Public: points, Cost: account.Cost{Epsilon: 4 * account.EpsilonUnits},
		CountShare: 0.1,
	})
	if err != nil {
		t.Fatal(err)
	}

	if err := ledger.Create(ctx, book); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(ctx, book, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d, err := (&dataset.Definition{Columns: []dataset.Column{
		{Name: "age", Type: "integer"},
		{Name: "hours", Type: "decimal"},
		{Name: "work"},
	}}).Complete()
	if err != nil {
		t.Fatal(err)
	}
	reviewed, err := release.ReviewGrant(ctx, l, release.Candidate{Path: path, Definition: d})
	if err == nil {
		_, err = release.ConfirmGrant(ctx, l, release.Grant{Name: "people", Cap: account.Cost{Epsilon: 6 * account.EpsilonUnits}}, reviewed)
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := release.Find(ctx, l, "people")
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	run := func(m release.Mechanism) (*release.Answer, error) {
		return release.Run(ctx, release.Request{
			Mechanism: m, Dataset: data, Budget: release.Budget{Principal: "mori"},
			Signer: key, Tool: certificate.Tool{Name: "test", Version: "1"},
		})
	}
	left := func(a *release.Answer, want int64) {
		t.Helper()
		if len(a.Remaining) != 1 || a.Remaining[0].Left.Epsilon != want {
			t.Errorf("left: %+v, want %d", a.Remaining, want)
		}
	}
	a, err := run(m)
	if err != nil {
		t.Fatal(err)
	}
	left(a, 2*account.EpsilonUnits)
	released, err := m.Decode(a.Payload)
	if err != nil {
		t.Fatal(err)
	}
	w, err := m.Weights(ctx, released)
	if err != nil {
		t.Fatal(err)
	}
	if w.Meta.RecordsFrom != ratio.Paid || math.Abs(w.Meta.Records-n) > 100 {
		t.Errorf("%g records, %s", w.Meta.Records, w.Meta.RecordsFrom)
	}
	encoded, err := w.Meta.Encode()
	if err != nil {
		t.Fatal(err)
	}
	meta, err := ratio.DecodeMeta(encoded)
	if err != nil {
		t.Fatal(err)
	}
	again, err := meta.Frame()
	if err != nil {
		t.Fatal(err)
	}
	if points, err = again.Points(public); err != nil {
		t.Fatal(err)
	}
	if w, err = ratio.Open(ctx, meta, points); err != nil {
		t.Fatal(err)
	}
	hours := make([]float64, public.Rows)
	for i := range hours {
		hours[i] = public.Columns[1].Number(i)
	}
	answer, err := w.Mean(hours)
	if err != nil {
		t.Fatal(err)
	}
	// The noise is secret: ten standard errors and a bias of one hour.
	if d := math.Abs(answer.Value - sum/n); d > 10*answer.SE+1 {
		t.Errorf("mean hours %+v, want %g", answer, sum/n)
	}

	check, err := ratio.NewCheck(ratio.CheckOptions{
		Weights: w, Frame: again, Public: points,
		Cost: account.Cost{Epsilon: account.EpsilonUnits},
	})
	if err != nil {
		t.Fatal(err)
	}
	if a, err = run(check); err != nil {
		t.Fatal(err)
	}
	left(a, account.EpsilonUnits)
	sums, err := check.Decode(a.Payload)
	if err != nil {
		t.Fatal(err)
	}
	result, err := check.Compare(sums)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Tests) != 20 || result.Tests[0].Function.String() != "age" ||
		math.Abs(result.Tests[0].Private-result.Tests[0].Weighted) > 0.2 {
		t.Errorf("%+v", result)
	}
	if _, err := run(m); noren.KindOf(err) != noren.Refused {
		t.Errorf("a fit that the budget does not cover: %v", err)
	}
}
