package service_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
)

// ratioTables writes a private and a public table whose ages differ, and income = 100 age.
func ratioTables(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write := func(name string, rows, first int) {
		var b strings.Builder
		b.WriteString("age,sex,income\n")
		for i := range rows {
			age := first + i*7%40
			fmt.Fprintf(&b, "%d,%s,%d\n", age, []string{"female", "male"}[i/3%2], 100*age)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("private.csv", 600, 40)
	write("public.csv", 400, 30)
	return dir
}

func ratioService(notes *[]api.Note) *service.Service {
	return &service.Service{
		Signer: func() (ed25519.PrivateKey, error) { return ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), nil },
		Tool:   certificate.Tool{Name: "test", Version: "1"},
		Note:   func(n api.Note) { *notes = append(*notes, n) },
	}
}

func ratioAsk(dir string) api.Ask {
	return api.Ask{
		Dataset: filepath.Join(dir, "private.csv"), Epsilon: "100", Unaccounted: true,
		Spec: &spec.Spec{Columns: map[string]spec.Column{"age": {Type: "integer"}, "sex": {Type: "category"}, "income": {Type: "integer"}}},
	}
}

// A fit, answers from it and a paid check, without a front end.
func TestRatio(t *testing.T) {
	ctx := context.Background()
	dir := ratioTables(t)
	var notes []api.Note
	s := ratioService(&notes)
	space := api.RatioSpace{Public: filepath.Join(dir, "public.csv"), Columns: []string{"age", "sex"}}

	quote, err := s.RatioFitPrice(ctx, &api.RatioFitRequest{Ask: ratioAsk(dir), RatioSpace: space})
	if err != nil {
		t.Fatal(err)
	}
	if quote.Epsilon != "100" || !quote.DryRun || quote.CountEpsilon != 10 || quote.OutsideEpsilon != 10 || len(*quote.Accuracy) != 1 ||
		!((*quote.Accuracy)[0].NoiseSD > 0) {
		t.Errorf("quote %+v, accuracy %+v", quote, *quote.Accuracy)
	}

	valid(t, "noren.ratio-1-dry-run.json", quote)
	marginals, err := s.RatioFitPrice(ctx, &api.RatioFitRequest{Ask: ratioAsk(dir), RatioSpace: space, Features: "marginals"})
	if err != nil || marginals.Accuracy != nil {
		t.Errorf("quote of marginals %+v, %v", marginals, err)
	}
	valid(t, "noren.ratio-1-dry-run.json", marginals)

	var page bytes.Buffer
	out := filepath.Join(dir, "w.csv")
	fit, err := s.RatioFit(ctx, &api.RatioFitRequest{Ask: ratioAsk(dir), RatioSpace: space, Output: out, Page: &page})
	if err != nil {
		t.Fatal(err)
	}
	if fit.Schema != api.RatioFitSchema || fit.B == 0 || fit.PublicRecords != 400 || fit.RecordsFrom != "paid" || !(fit.ESS > 10) ||
		fit.Certificate == nil {
		t.Errorf("fit %+v", fit)
	}
	valid(t, "noren.ratio-1.json", fit)
	if !strings.Contains(page.String(), "Effective sample size") {
		t.Error("the page does not state the effective sample size")
	}
	if len(notes) != 1 || notes[0].Code != "unaccounted" || notes[0].Level != api.Warning {
		t.Errorf("notes %+v", notes)
	}
	text, err := os.ReadFile(out)
	if err != nil || !strings.HasPrefix(string(text), "age,sex,income,weight\n") {
		t.Errorf("weighted table %.40q, %v", text, err)
	}
	if _, err := s.RatioFit(ctx, &api.RatioFitRequest{Ask: ratioAsk(dir), RatioSpace: space, Output: out}); noren.CodeOf(
		err) != "file-exists" {
		t.Errorf("a file was replaced: %v", err)
	}

	weights := api.RatioWeights{Weights: out}
	mean, err := s.RatioAnswer(ctx, &api.RatioAnswerRequest{RatioWeights: weights, Question: "mean", Column: "income"})
	if err != nil {
		t.Fatal(err)
	}
	if v := *mean.Answer.Value; math.Abs(v-5950) > 4**mean.Answer.SE+100 {
		t.Errorf("mean of income %g, standard error %g, expected about 5950", v, *mean.Answer.SE)
	}
	count, err := s.RatioAnswer(ctx, &api.RatioAnswerRequest{RatioWeights: weights, Question: "count", Where: "sex = 'male'"})
	if err != nil {
		t.Fatal(err)
	}
	if v := *count.Share.Value; math.Abs(v-0.5) > 0.1 {
		t.Errorf("share of men %g", v)
	}
	rank := 0.5
	if _, err := s.RatioAnswer(ctx, &api.RatioAnswerRequest{
		RatioWeights: weights, Question: "quantile", Column: "age",
		Rank: &rank,
	}); err != nil {
		t.Error(err)
	}
	histogram, err := s.RatioAnswer(ctx, &api.RatioAnswerRequest{
		RatioWeights: weights, Question: "histogram", Column: "age",
		Bins: []string{"0", "50", "100"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(histogram.Bins) != 2 || histogram.Bins[0].Bin != "[0, 50)" || !(*histogram.Bins[0].Share < *histogram.Bins[1].Share) {
		t.Errorf("histogram %+v", histogram.Bins)
	}
	regression, err := s.RatioAnswer(ctx, &api.RatioAnswerRequest{
		RatioWeights: weights, Question: "regression", Target: "income",
		Features: []string{"age", "sex"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(regression.Coefficients) != 3 || regression.Coefficients[2].Term != "sex = male" ||
		math.Abs(*regression.Coefficients[1].Value-100) > 1 {
		t.Errorf("regression %+v", regression.Coefficients)
	}

	for _, answer := range []*api.RatioAnswer{mean, count, histogram, regression} {
		valid(t, "noren.ratio.answer-1.json", answer)
	}

	check, err := s.RatioCheckPrice(ctx, &api.RatioCheckRequest{Ask: ratioAsk(dir), RatioWeights: weights})
	if err != nil || check.Epsilon != "100" {
		t.Fatalf("quote of a check %+v, %v", check, err)
	}
	valid(t, "noren.ratio.check-1-dry-run.json", check)
	checked, err := s.RatioCheck(ctx, &api.RatioCheckRequest{Ask: ratioAsk(dir), RatioWeights: weights})
	if err != nil {
		t.Fatal(err)
	}
	valid(t, "noren.ratio.check-1.json", checked)
	// The noise of a fit may be such that its own check does not pass: such weights need not help.
	if len(checked.Tests) == 0 || !checked.Nearer && checked.FitCheck.Passed || checked.Tests[0].Z == nil {
		t.Errorf("check %+v", checked)
	}
}

// A repeated request gives the same weights free of charge; other weights of the same release
// are not those of the certificate.
func TestRatioRepeated(t *testing.T) {
	ctx := t.Context()
	text := "age,sex\n"
	for i := range 600 {
		text += fmt.Sprintf("%d,%s\n", 40+i*7%40, []string{"f", "m"}[i/3%2])
	}
	s, dir := granted(t, text, &dataset.Definition{Columns: []dataset.Column{
		{Name: "age", Type: "integer", Bounds: []string{"0", "110"}}, {Name: "sex", Type: "category"},
	}})
	var codes []string
	s.Note = func(n api.Note) { codes = append(codes, n.Code) }
	public := filepath.Join(dir, "public.csv")
	write(t, public, "age,sex\n"+strings.Repeat("35,f\n45,m\n55,f\n65,m\n75,f\n", 40))
	fit := func(output string, change func(*api.RatioFitRequest)) (*api.RatioFit, error) {
		q := &api.RatioFitRequest{
			Ask:        api.Ask{Dataset: "people", Epsilon: "10", RequestKey: "k"},
			RatioSpace: api.RatioSpace{Public: public, Columns: []string{"age", "sex"}}, Output: filepath.Join(dir, output),
		}
		change(q)
		return s.RatioFit(ctx, q)
	}
	first, err := fit("a.csv", func(*api.RatioFitRequest) {})
	must(t, err)
	if first.Repeated || first.Charge == nil || len(codes) != 0 {
		t.Errorf("first fit: repeated %t, charge %v, notes %v", first.Repeated, first.Charge, codes)
	}
	again, err := fit("b.csv", func(q *api.RatioFitRequest) { q.Certified = true })
	must(t, err)
	if !again.Repeated || !slices.Equal(codes, []string{"repeated"}) || again.ESS != first.ESS {
		t.Errorf("again: repeated %t, notes %v, ESS %g and %g", again.Repeated, codes, again.ESS, first.ESS)
	}
	if _, err := fit("c.csv", func(q *api.RatioFitRequest) { q.Certified, q.Lambda = true, 5 }); noren.CodeOf(err) != "other-weights" {
		t.Errorf("other weights under the certificate: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "c.csv")); err == nil {
		t.Error("weights that are not certified were written")
	}
	codes = nil
	_, err = fit("c.csv", func(q *api.RatioFitRequest) { q.Lambda = 5 })
	must(t, err)
	if !slices.Equal(codes, []string{"repeated", "other-weights"}) {
		t.Errorf("notes %v", codes)
	}
	// Neither the private file nor the ledger is an output, even with force.
	for _, name := range []string{"people.csv", "budgets.db"} {
		before, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		if _, err := fit(name, func(q *api.RatioFitRequest) { q.Force, q.RequestKey = true, "" }); err == nil {
			t.Errorf("%s was replaced", name)
		}
		if after, err := os.ReadFile(filepath.Join(dir, name)); err != nil || name == "people.csv" && !bytes.Equal(before, after) {
			t.Errorf("%s has changed: %v", name, err)
		}
	}
	// A private file is not public.
	if _, err := fit("d.csv", func(q *api.RatioFitRequest) { q.Public = filepath.Join(dir, "people.csv") }); noren.KindOf(
		err) != noren.Refused {
		t.Errorf("a private file as the public table: %v", err)
	}
}

// A plan reads the public table only.
func TestRatioPlan(t *testing.T) {
	dir := ratioTables(t)
	if err := os.Remove(filepath.Join(dir, "private.csv")); err != nil {
		t.Fatal(err)
	}
	var notes []api.Note
	q := api.RatioPlanRequest{
		RatioSpace: api.RatioSpace{Public: filepath.Join(dir, "public.csv"), Columns: []string{"age", "sex"}}, Epsilon: "1", Records: 600,
	}
	plan, err := ratioService(&notes).RatioPlan(context.Background(), &q)
	if err != nil {
		t.Fatal(err)
	}
	valid(t, "noren.ratio.plan-1.json", plan)
	if len(plan.Answers) != 2 || plan.Answers[0].Question.String() != "mean of age" || len(plan.Answers[0].By) != 3 || plan.Take == "" ||
		plan.Questions < 2 {
		t.Errorf("plan %+v", plan)
	}
}

// Faults of requests name the field and are found before anything is charged or written.
func TestRatioFaults(t *testing.T) {
	ctx := context.Background()
	dir := ratioTables(t)
	var notes []api.Note
	s := ratioService(&notes)
	public := filepath.Join(dir, "public.csv")
	out := filepath.Join(dir, "none.csv")
	space := func(change func(*api.RatioSpace)) api.RatioSpace {
		q := api.RatioSpace{Public: public, Columns: []string{"age", "sex"}}
		change(&q)
		return q
	}
	share := 0.2
	for _, c := range []struct {
		where string
		q     api.RatioFitRequest
	}{
		{"columns", api.RatioFitRequest{Ask: ratioAsk(dir), RatioSpace: space(func(q *api.RatioSpace) { q.Columns = nil }), Output: out}},
		{"columns", api.RatioFitRequest{
			Ask: ratioAsk(dir), RatioSpace: space(func(q *api.RatioSpace) { q.Columns = []string{"height"} }),
			Output: out,
		}},
		{"output", api.RatioFitRequest{Ask: ratioAsk(dir), RatioSpace: space(func(*api.RatioSpace) {})}},
		{"bounds", api.RatioFitRequest{
			Ask:        ratioAsk(dir),
			RatioSpace: space(func(q *api.RatioSpace) { q.Bounds = map[string][]string{"income": {"0", "1"}} }), Output: out,
		}},
		{"bounds", api.RatioFitRequest{
			Ask:        ratioAsk(dir),
			RatioSpace: space(func(q *api.RatioSpace) { q.Bounds = map[string][]string{"sex": {"0", "1"}} }), Output: out,
		}},
		{"bounds", api.RatioFitRequest{
			Ask:        ratioAsk(dir),
			RatioSpace: space(func(q *api.RatioSpace) { q.Bounds = map[string][]string{"age": {"0"}} }), Output: out,
		}},
		{"categories", api.RatioFitRequest{
			Ask:        ratioAsk(dir),
			RatioSpace: space(func(q *api.RatioSpace) { q.Categories = map[string][]string{"age": {"a"}} }), Output: out,
		}},
		{"count-share", api.RatioFitRequest{
			Ask: ratioAsk(dir), RatioSpace: space(func(*api.RatioSpace) {}), CountShare: &share,
			OutsideShare: &share, Output: out,
		}},
		{"public-encoding", api.RatioFitRequest{
			Ask: ratioAsk(dir), RatioSpace: space(func(q *api.RatioSpace) { q.PublicEncoding = "latin-1" }),
			Output: out,
		}},
	} {
		_, err := s.RatioFit(ctx, &c.q)
		if e, ok := err.(*noren.Error); !ok || e.Place() != c.where || noren.KindOf(err) != noren.Usage {
			t.Errorf("expected a usage error about %s, got %v", c.where, err)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused fit wrote its output")
	}
	for _, q := range []api.RatioAnswerRequest{
		{Question: "mode"}, {Question: "mean"}, {Question: "count", Column: "age"}, {Question: "regression", Target: "age"},
	} {
		q.Weights = out
		if _, err := s.RatioAnswer(ctx, &q); noren.KindOf(err) != noren.Usage {
			t.Errorf("question %+v: %v", q, err)
		}
	}
	if _, err := s.RatioAnswer(ctx, &api.RatioAnswerRequest{RatioWeights: api.RatioWeights{Weights: public}, Question: "count"}); noren.CodeOf(
		err) != "no-meta" {
		t.Errorf("a table without meta data: %v", err)
	}
	for _, q := range []api.RatioPlanRequest{
		{Epsilon: "1", Records: 10},
		{RatioSpace: space(func(*api.RatioSpace) {}), Epsilon: "1"},
		{RatioSpace: space(func(*api.RatioSpace) {}), Records: 10},
		{RatioSpace: space(func(*api.RatioSpace) {}), Epsilon: "1", Records: 10, Neighbours: "near"},
	} {
		if _, err := s.RatioPlan(ctx, &q); noren.KindOf(err) != noren.Usage {
			t.Errorf("plan %+v: %v", q, err)
		}
	}
}
