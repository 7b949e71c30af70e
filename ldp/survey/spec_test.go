package survey_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
)

func p(v float64) *float64 { return &v }

func labels(k int) survey.Attribute { return survey.Attribute{Size: k} }

var number = survey.Attribute{Range: []float64{0, 10}}

// specs are one of each mechanism.
func specs() map[string]survey.Spec {
	return map[string]survey.Spec{
		"grr":              {Mechanism: "grr", Epsilon: 1, Attribute: labels(5)},
		"oue":              {Mechanism: "oue", Epsilon: 1, Attribute: labels(5)},
		"sue":              {Mechanism: "sue", Epsilon: 1, Attribute: labels(5)},
		"olh":              {Mechanism: "olh", Epsilon: 1, Attribute: labels(5)},
		"subset":           {Mechanism: "subset", Epsilon: 1, Attribute: labels(12)},
		"longitudinal-grr": {Mechanism: "longitudinal-grr", Epsilon: 1, Lifetime: 3, Attribute: labels(5)},
		"longitudinal-oue": {Mechanism: "longitudinal-oue", Epsilon: 1, Attribute: labels(5)},
		"rappor":           {Mechanism: "rappor", K: 16, H: 2, M: 8, F: p(0.5), P: p(0.25), Q: p(0.75)},
		"rappor-one-time":  {Mechanism: "rappor-one-time", K: 16, H: 2, M: 8, F: p(0.5)},
		"basic-rappor":     {Mechanism: "basic-rappor", F: p(0.5), P: p(0.25), Q: p(0.75), Attribute: labels(5)},
		"basic-one-time":   {Mechanism: "basic-one-time", Epsilon: 2, Attribute: labels(5)},
		"duchi":            {Mechanism: "duchi", Epsilon: 1, Attribute: number},
		"piecewise":        {Mechanism: "piecewise", Epsilon: 1, Attribute: number},
		"hybrid":           {Mechanism: "hybrid", Epsilon: 1, Attribute: number},
		"square-wave":      {Mechanism: "square-wave", Epsilon: 1, Attribute: number},
		"several": {Epsilon: 5, Attributes: []survey.Attribute{
			{Column: "a", Size: 3}, {Column: "b", Range: []float64{0, 10}}, {Column: "c", Edges: []float64{0, 5, 10}},
		}},
	}
}

func TestEveryMechanismIsListed(t *testing.T) {
	all := specs()
	for _, name := range survey.Mechanisms() {
		if _, ok := all[name]; !ok {
			t.Errorf("no specification of %s is tested", name)
		}
	}
	for name, spec := range all {
		s, err := survey.New(spec)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Mechanism() != name {
			t.Errorf("%s runs as %s", name, s.Mechanism())
		}
	}
}

// The loss that is stated is the mechanism's own.
func TestLoss(t *testing.T) {
	basic, err := ldp.NewRappor(ldp.Basic(5, 0.5, 0.25, 0.75))
	if err != nil {
		t.Fatal(err)
	}
	inf := math.Inf(1)
	for name, want := range map[string]ldp.Loss{
		"grr":              {Report: 1, Record: 1, Lifetime: inf},
		"hybrid":           {Report: 1, Record: 1, Lifetime: inf},
		"longitudinal-grr": {Report: 1, Record: 1, Lifetime: 3},
		"longitudinal-oue": {Report: 1, Record: 1, Lifetime: 2},
		"several":          {Report: 2.5, Record: 5, Lifetime: inf},
		"basic-rappor":     basic.Loss(),
	} {
		s, err := survey.New(specs()[name])
		if err != nil {
			t.Fatal(err)
		}
		got := s.Loss()
		if math.Abs(got.Report-want.Report) > 1e-9 || math.Abs(got.Record-want.Record) > 1e-9 || math.Abs(got.Lifetime-want.Lifetime) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if g := s.Guarantee(); g.Epsilon != got.Record || g.Model != "local differential privacy" {
			t.Errorf("%s guarantees %+v", name, g)
		}
		if len(s.Unprotected()) < 2 {
			t.Errorf("%s does not say what is not protected", name)
		}
	}
}

// f follows from epsilon: the least multiple of 1/128 that costs no more.
func TestRapporForEpsilon(t *testing.T) {
	for _, epsilon := range []float64{0.05, 0.5, 1, 2, 4.3} {
		s, err := survey.New(survey.Spec{Mechanism: "rappor", K: 16, H: 2, M: 8, P: p(0.25), Q: p(0.75), Epsilon: epsilon})
		if err != nil {
			t.Fatal(epsilon, err)
		}
		f := s.Rappor().EffectiveF()
		if got := s.Loss().Report; got > epsilon {
			t.Errorf("epsilon %g: costs %g", epsilon, got)
		}
		less := s.Rappor().Params
		less.F = f - 1./128
		if r, err := ldp.NewRappor(less); err == nil && r.Loss().Report <= epsilon {
			t.Errorf("epsilon %g: f = %g would do, and is less than %g", epsilon, less.F, f)
		}
	}
}

// What a specification may not hold; all are errors of usage that say where.
func TestFaults(t *testing.T) {
	many := make([]float64, 4)
	for name, c := range map[string]struct {
		spec survey.Spec
		says string
	}{
		"no mechanism":      {survey.Spec{Epsilon: 1, Attribute: labels(5)}, "mechanism"},
		"unknown mechanism": {survey.Spec{Mechanism: "x", Epsilon: 1, Attribute: labels(5)}, "one of grr"},
		"no domain":         {survey.Spec{Mechanism: "grr", Epsilon: 1}, "domain"},
		"two domains": {
			survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: survey.Attribute{Size: 3, Labels: []string{"a", "b"}}},
			"domain",
		},
		"numbers for labels": {survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: number}, "domain"},
		"labels for numbers": {survey.Spec{Mechanism: "hybrid", Epsilon: 1, Attribute: labels(3)}, "domain"},
		"a domain of words": {survey.Spec{
			Mechanism: "rappor", K: 16, H: 2, M: 8, F: p(0.5), P: p(0.25), Q: p(0.75),
			Attribute: labels(3),
		}, "domain"},
		"one label": {survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: survey.Attribute{Labels: []string{"a"}}}, "labels"},
		"a label twice": {
			survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: survey.Attribute{Labels: []string{"a", "a"}}},
			"twice",
		},
		"another other": {survey.Spec{
			Mechanism: "grr", Epsilon: 1,
			Attribute: survey.Attribute{Labels: []string{"a", "b"}, Other: "c"},
		}, "other"},
		"other of bins": {survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: survey.Attribute{Size: 3, Other: "c"}}, "other"},
		"one bin":       {survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: survey.Attribute{Edges: []float64{0, 1}}}, "edges"},
		"equal edges":   {survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: survey.Attribute{Edges: many}}, ""},
		"edges without a price": {
			survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: survey.Attribute{Size: 2, EdgesEpsilon: 1}},
			"edges-epsilon",
		},
		"buckets of labels":       {survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: survey.Attribute{Size: 2, Buckets: 8}}, "buckets"},
		"epsilon 0":               {survey.Spec{Mechanism: "grr", Attribute: labels(3)}, "epsilon"},
		"epsilon NaN":             {survey.Spec{Mechanism: "grr", Epsilon: math.NaN(), Attribute: labels(3)}, "epsilon"},
		"lifetime of one report":  {survey.Spec{Mechanism: "grr", Epsilon: 1, Lifetime: 2, Attribute: labels(3)}, "lifetime"},
		"lifetime below a report": {survey.Spec{Mechanism: "longitudinal-grr", Epsilon: 1, Lifetime: 0.5, Attribute: labels(3)}, "epsilon"},
		"f of grr":                {survey.Spec{Mechanism: "grr", Epsilon: 1, F: p(0.5), Attribute: labels(3)}, "f:"},
		"no f":                    {survey.Spec{Mechanism: "basic-rappor", P: p(0.25), Q: p(0.75), Attribute: labels(3)}, "f:"},
		"no p":                    {survey.Spec{Mechanism: "basic-rappor", F: p(0.5), Attribute: labels(3)}, "p, q"},
		"p of one time":           {survey.Spec{Mechanism: "basic-one-time", F: p(0.5), P: p(0.25), Attribute: labels(3)}, "p, q"},
		"no cohorts":              {survey.Spec{Mechanism: "rappor", K: 16, F: p(0.5), P: p(0.25), Q: p(0.75)}, "k, h, m"},
		"33 labels":               {survey.Spec{Mechanism: "basic-one-time", F: p(0.5), Attribute: labels(33)}, "32"},
		"an epsilon of nothing": {
			survey.Spec{Mechanism: "basic-rappor", P: p(0.25), Q: p(0.75), Epsilon: 5, Attribute: labels(3)},
			"no f gives it",
		},
		"an epsilon next to none": {
			survey.Spec{Mechanism: "basic-rappor", P: p(0.25), Q: p(0.75), Epsilon: 1e-3, Attribute: labels(3)},
			"no f gives so small a value",
		},
		"a loss of nothing": {survey.Spec{Mechanism: "rappor-one-time", K: 16, H: 2, M: 8, F: p(1)}, "tell nothing"},
		"f and another epsilon": {
			survey.Spec{Mechanism: "basic-rappor", F: p(0.5), P: p(0.25), Q: p(0.75), Epsilon: 1, Attribute: labels(3)},
			"not what the parameters give",
		},
		"range backwards":           {survey.Spec{Mechanism: "hybrid", Epsilon: 1, Attribute: survey.Attribute{Range: []float64{1, 0}}}, "range"},
		"half a range":              {survey.Spec{Mechanism: "hybrid", Epsilon: 1, Attribute: survey.Attribute{Range: []float64{1}}}, "range"},
		"an attribute without name": {survey.Spec{Epsilon: 1, Attributes: []survey.Attribute{{Size: 3}}}, "attribute 1"},
		"an attribute twice": {
			survey.Spec{Epsilon: 1, Attributes: []survey.Attribute{{Column: "a", Size: 3}, {Column: "a", Size: 3}}},
			"attribute 2",
		},
		"a mechanism for several": {
			survey.Spec{Mechanism: "grr", Epsilon: 1, Attributes: []survey.Attribute{{Column: "a", Size: 3}}},
			"mechanism",
		},
		"more than all":             {survey.Spec{Epsilon: 1, Sample: 2, Attributes: []survey.Attribute{{Column: "a", Size: 3}}}, "attributes"},
		"a sample of one attribute": {survey.Spec{Mechanism: "grr", Epsilon: 1, Sample: 2, Attribute: labels(3)}, "sample"},
	} {
		_, err := survey.New(c.spec)
		var e *noren.Error
		if !errors.As(err, &e) || e.Kind != noren.Usage || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an error of usage that says %q", name, err, c.says)
		}
	}
}

func TestParse(t *testing.T) {
	want := &survey.Spec{
		Version: 1, Mechanism: "grr", Epsilon: 1,
		Attribute: survey.Attribute{Column: "x", Bins: &survey.Bins{Low: 0, High: 30, Count: 5}},
	}
	for name, text := range map[string]string{
		"yaml": "version: 1\nmechanism: grr\nepsilon: 1\ncolumn: x\nbins: {low: 0, high: 30, count: 5}\n",
		"json": `{"version": 1, "mechanism": "grr", "epsilon": 1, "column": "x", "bins": {"low": 0, "high": 30, "count": 5}}`,
	} {
		got, err := survey.Parse(name, []byte(text))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, text := range map[string]string{
		"empty":        "",
		"unknown key":  "version: 1\nepsilonn: 1\n",
		"no version":   "mechanism: grr\n",
		"another type": "version: 1\nepsilon: [1]\n",
		"two":          "version: 1\n---\nversion: 1\n",
		"not yaml":     "{",
	} {
		if _, err := survey.Parse(name, []byte(text)); noren.KindOf(err) != noren.Usage || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What Write writes, Parse reads: all specifications that can run.
func TestWriteIsRead(t *testing.T) {
	for name, spec := range specs() {
		spec.Version = survey.Version
		var b bytes.Buffer
		if err := spec.Write(&b); err != nil {
			t.Fatal(err)
		}
		got, err := survey.Parse(name, b.Bytes())
		if err != nil || !reflect.DeepEqual(*got, spec) {
			t.Errorf("%s: %+v became %+v, %v", name, spec, got, err)
		}
	}
}

// Whatever a file holds, Parse and New return, with an error of usage or a survey
// whose loss is stated.
func FuzzParse(f *testing.F) {
	for _, spec := range specs() {
		spec.Version = survey.Version
		var b bytes.Buffer
		if err := spec.Write(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		metertest.Hold(t, len(data))
		spec, err := survey.Parse("spec", data)
		if err != nil {
			if noren.KindOf(err) != noren.Usage {
				t.Errorf("%v is no error of usage", err)
			}
			return
		}
		if spec.Size > 1000 || spec.Buckets > 1000 || spec.Bins != nil && spec.Bins.Count > 1000 || len(spec.Attributes) > 3 {
			return // slow, not wrong
		}
		s, err := survey.New(*spec)
		if err != nil {
			return
		}
		if l := s.Loss(); !(l.Report > 0) || l.Record < l.Report || l.Lifetime < l.Record-1e-9 {
			t.Errorf("a loss of %v", l)
		}
	})
}
