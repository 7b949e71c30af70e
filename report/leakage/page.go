// Package leakage draws pages and pictures of the leakage about dependent records, and of
// the harm of noise.
//
// Everything is computed from public models and public costs, and from no private
// record. The theorems are in docs/correlated-privacy.md.
package leakage

import (
	"context"
	"errors"
	"math"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/report"
)

// Page makes a page for a steward about one model and one query: the scale
// for epsilon beside those of other methods, who learns most, what they see, and
// how leakage falls with the scale and depends on what is known. It is computed
// from the public model alone.
func Page(ctx context.Context, f *correlated.ModelFile, q *correlated.Query, epsilon float64, o correlated.LeakageOptions) (*report.Page,
	error,
) {
	if f == nil || f.Model == nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: "model", What: "the model is missing"}
	}
	c, err := correlated.Calibrate(ctx, f.Model, q, epsilon, o)
	if err != nil {
		return nil, err
	}
	if c.Scale == 0 {
		return nil, &noren.Error{Kind: noren.Usage, Where: "query", What: "no record changes the answer: there is nothing to explain"}
	}
	b, err := correlated.Compare(ctx, f.Model, q, epsilon, o)
	if err != nil {
		return nil, err
	}
	p := &report.Page{
		Title: noren.Textf("Noise for records that depend on each other"),
		Lead: noren.Textf("A %s of %s {record|records}; the query is: %s. Everything here is computed from the model, which is public, and "+
			"from no private record.", f.Model.Kind(), report.Integer(f.Model.Records()), q),
		Footer: noren.Textf("Theorems and proofs: docs/correlated-privacy.md."),
	}
	p.Sections = append(p.Sections, scales(f, c, b))
	for _, make := range []func() (*report.Section, error){
		func() (*report.Section, error) { return worst(ctx, f, q, c) },
		func() (*report.Section, error) { return overScale(ctx, f, q, c, o) },
		func() (*report.Section, error) { return overKnown(ctx, f, q, c) },
	} {
		s, err := make()
		if err != nil {
			return nil, err
		}
		if s != nil {
			p.Sections = append(p.Sections, *s)
		}
	}
	return p, nil
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

func scales(f *correlated.ModelFile, c *correlated.Calibration, b *correlated.Baselines) report.Section {
	how := noren.Textf("exactly")
	switch {
	case c.Leakage.Exact:
	case c.Leakage.Lower > 0:
		how = noren.Textf("at most; someone learns about %s", noren.LossFigure(c.Leakage.Lower, 4))
	default:
		how = noren.Textf("at most, by the %s rule", c.Leakage.Method)
	}
	source := report.Verbatim(f.Source)
	if f.Source == "" {
		source = noren.Textf("not stated")
	}
	s := report.Section{Title: noren.Textf("The noise"), Blocks: []report.Block{
		{Figures: []report.Figure{
			{
				Value: report.Verbatim(short(c.Scale)), Name: noren.Textf("noise scale b"),
				Explain: noren.Textf("Laplace noise of this scale; 95 answers in 100 are moved by less than three times as much."),
				Tone:    report.Neutral,
			},
			{
				Value: report.Verbatim(noren.LossFigure(c.Leakage.Upper, 4)), Name: noren.Textf("leakage (CBP)"),
				Explain: noren.Textf("How far an answer can move the log odds between two states of one record: %s.", how), Tone: report.Neutral,
			},
			{
				Value: report.Verbatim(short(c.Scale / b.Plain)), Name: noren.Textf("times the noise for independent records"),
				Explain: noren.Textf("The cost of the dependence."), Tone: report.Neutral,
			},
		}},
		{Text: noren.Textf(
			"Source of the model: %s. The guarantee holds if the records follow the model, and the model was not estimated from them.", source)},
	}}
	t := &report.Table{Header: []noren.Text{noren.Textf("method"), noren.Textf("scale b")}, Numeric: []bool{false, true}}
	bars := &report.Bars{
		Title: noren.Textf("Scales of different methods"), Axis: noren.Textf("scale b"), Horizontal: true,
		Series: []report.Series{{Name: noren.Textf("scale")}},
	}
	for _, r := range []struct {
		name  noren.Format
		scale float64
	}{
		{"independent records", b.Plain},
		{"calibrated", c.Scale},
		{"tanh rule", b.Tanh},
		{"Wasserstein", b.Wasserstein},
		{"Markov quilt (no record known)", b.Quilt},
		{"Markov quilt, approximate", b.QuiltApprox},
		{"range of the query", b.Range},
		{"group of all records", b.Group},
	} {
		if r.scale == 0 || math.IsInf(r.scale, 0) {
			continue
		}
		t.Add(noren.Textf(r.name), short(r.scale))
		bars.Labels = append(bars.Labels, noren.Textf(r.name))
		bars.Series[0].Values = append(bars.Series[0].Values, r.scale)
	}
	s.Blocks = append(s.Blocks, report.Block{Picture: &report.Picture{Chart: bars, Table: t}})
	return s
}

// maxView is how many records a model may have for pictures that look at one
// adversary after the other.
const maxView = 200

// worst shows what the witness sees.
func worst(ctx context.Context, f *correlated.ModelFile, q *correlated.Query, c *correlated.Calibration) (*report.Section, error) {
	w := c.Leakage.Witness
	if w == nil {
		return nil, nil
	}
	s := &report.Section{
		Title:  noren.Textf("Who learns most"),
		Blocks: []report.Block{{Text: noren.Textf("The adversary who learns most: %s.", w)}},
	}
	if k := f.Model.Kind(); f.Model.Records() > maxView || k == "class" || k == "box" {
		return s, nil
	}
	if w.OthersKnown {
		s.Blocks = append(s.Blocks,
			report.Block{
				Text: noren.Textf("The picture is drawn for one who knows the named records and no other; records beyond them only add variance."),
			})
	}
	block, err := View(ctx, f.Model, q, c.Scale, correlated.Adversary{Target: w.Target, Known: w.Known}, f.States,
		noren.Textf("Answers, by the state of record %d", w.Target))
	if isUsage(err) {
		return s, nil // several coordinates have no such picture
	}
	if err != nil {
		return nil, err
	}
	s.Blocks = append(s.Blocks, block)
	return s, nil
}

func isUsage(err error) bool {
	var e *noren.Error
	return errors.As(err, &e) && e.Kind == noren.Usage
}

func overScale(ctx context.Context, f *correlated.ModelFile, q *correlated.Query, c *correlated.Calibration,
	o correlated.LeakageOptions,
) (*report.Section, error) {
	points := 24
	if f.Model.Records() > maxView {
		points = 8
	}
	block, err := Curve(ctx, f.Model, q, o, c.Scale/8, c.Scale*8, points)
	if err != nil {
		return nil, err
	}
	return &report.Section{Title: noren.Textf("Leakage over the noise"), Blocks: []report.Block{
		{Text: noren.Textf(
			"More noise never leaks more. Those who know all other records are the adversaries of ordinary differential privacy.")}, block,
	}}, nil
}

// overKnown shows how the leakage about a record in the middle of a chain
// depends on how near the known records are.
func overKnown(ctx context.Context, f *correlated.ModelFile, q *correlated.Query, c *correlated.Calibration) (*report.Section, error) {
	n := f.Model.Records()
	if f.Model.Kind() != "chain" || n < 5 || n > maxView {
		return nil, nil
	}
	middle := n / 2
	curve := report.Curve{Name: noren.Textf("about record %d", middle)}
	t := &report.Table{Header: []noren.Text{noren.Textf("distance"), noren.Textf("leakage")}, Numeric: []bool{true, true}}
	for d := 1; d <= min(middle, n-1-middle) && d <= 40; d++ {
		known := []correlated.Known{{Record: middle - d, State: correlated.AnyState}, {Record: middle + d, State: correlated.AnyState}}
		l, err := correlated.ComputeLeakage(ctx, f.Model, q, c.Scale,
			correlated.LeakageOptions{Adversaries: correlated.ListedAdversaries(correlated.Adversary{Target: middle, Known: known})})
		if err != nil {
			return nil, err
		}
		curve.X, curve.Y = append(curve.X, float64(d)), append(curve.Y, l.Upper)
		t.Add(report.Verbatim(strconv.Itoa(d)), noren.LossFigure(l.Upper, 4))
	}
	chart := &report.Lines{
		Title:  noren.Textf("Leakage over the distance of the known records"),
		Across: noren.Textf("distance of the nearest known record on either side"), Axis: noren.Textf("leakage"), Curves: []report.Curve{curve},
		FromZero: true,
	}
	return &report.Section{Title: noren.Textf("Leakage over what is known"), Blocks: []report.Block{
		{Text: noren.Textf("One record on either side is known, in the states that let most be learned, and no other. An adversary who knows " +
			"the neighbours learns as much as from independent records; one who knows no near record learns through those between.")},
		{Picture: &report.Picture{Chart: chart, Table: t}},
	}}, nil
}
