package ldp

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/entropy"
)

// testdata/tsclient.json: reports that the TypeScript client (client/ldp-ts)
// made. Re-make it there with `npm ci --ignore-scripts && npm run build && npm
// run vectors`. Its randomness is the stream of a seed, which Go can make too.
type tsVectors struct {
	GRR []struct {
		K       int
		Epsilon float64
		Seed    string
		Labels  []int
		Reports []string
	}
	Longitudinal []struct {
		K                       int
		Lifetime, Epsilon, Loss float64
		Secret                  string `json:"secret_hex"`
		Question, Seed          string
		Domain                  []string
		Finish                  bool // by the first version of the streams
		After                   []float64
		Labels                  []int
		Reports                 []string
	}
	Rappor, Basic []struct {
		Params  Params
		Secret  string `json:"secret_hex"`
		Cohort  uint32
		Seed    string
		Loss    struct{ Report, Lifetime *float64 }
		After   []float64
		Words   []string
		Labels  []int
		Reports []string
	}
	Secrets []struct {
		Secret   string  `json:"secret_hex"`
		Params   *Params // nil: by the first version of the streams
		Question string
		Domain   []string
		Derived  string `json:"derived_hex"`
	}
	Sample struct {
		Seed      string
		K, People int
		GRR       struct {
			Epsilon float64
			Reports string
		}
		Longitudinal struct {
			Epsilon, Lifetime float64
			Reports           string
		}
		Basic, Rappor struct {
			Params  Params
			Words   []string
			Reports string
		}
	}
}

func loadTSVectors(t *testing.T) *tsVectors {
	t.Helper()
	b, err := os.ReadFile("testdata/tsclient.json")
	if err != nil {
		t.Fatal(err)
	}
	v := new(tsVectors)
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
	return v
}

// streamReader is a prf as bytes.
type streamReader struct{ p *prf }

func (s streamReader) Read(b []byte) (int, error) {
	n := len(b) &^ 7
	for i := 0; i < n; i += 8 {
		w, err := s.p.Uint64()
		if err != nil {
			return i, err
		}
		binary.LittleEndian.PutUint64(b[i:], w)
	}
	return n, nil
}

// tsStream is the randomness that the TypeScript client was given for a seed.
func tsStream(seed string) *entropy.Source {
	return entropy.FromReader(streamReader{newPRF([]byte(seed), nil)})
}

// repeats are the numbers of reports of which the vectors have the loss.
var repeats = []int{1, 2, 3, 10, 365, 5000}

// sameLosses compares the losses of several reports.
func sameLosses(t *testing.T, name string, m Repeated, after []float64) {
	t.Helper()
	if len(after) != len(repeats) {
		t.Fatalf("%s: %d losses, want %d", name, len(after), len(repeats))
	}
	for i, n := range repeats {
		if want := m.After(n); math.Abs(after[i]-want) > 1e-11*(1+want) {
			t.Errorf("%s: %d reports cost %v, Go says %v", name, n, after[i], want)
		}
	}
}

// Both clients make the same reports, byte for byte, from the same randomness.
func TestTypeScriptClientMakesTheSameReports(t *testing.T) {
	v := loadTSVectors(t)
	if len(v.GRR) != 6 || len(v.Longitudinal) != 6 || len(v.Rappor) != 4 || len(v.Basic) != 3 || len(v.Secrets) != 10 {
		t.Fatal("vectors are missing")
	}
	for _, c := range v.GRR {
		m, err := NewGRR(c.K, c.Epsilon)
		if err != nil {
			t.Fatal(err)
		}
		src := tsStream(c.Seed)
		sameReports(t, c.Seed, c.Reports, len(c.Labels), func(i int) (string, error) {
			r, err := m.Randomise(src, c.Labels[i])
			return m.Format(r), err
		})
	}
	for _, c := range v.Longitudinal {
		m, err := NewLongitudinalGRR(c.K, c.Lifetime, c.Epsilon)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Loss().Report; math.Abs(got-c.Loss) > 1e-14*(1+got) {
			t.Errorf("%s: epsilon of a report %v, Go says %v", c.Seed, c.Loss, got)
		}
		sameLosses(t, c.Seed, m, c.After)
		d, err := m.Device(unhex(t, c.Secret), c.Question, c.Domain...)
		if c.Finish {
			d, err = m.Finishing(unhex(t, c.Secret), c.Question)
		}
		if err != nil {
			t.Fatal(err)
		}
		src := tsStream(c.Seed)
		sameReports(t, c.Seed, c.Reports, len(c.Labels), func(i int) (string, error) {
			r, err := d.Report(src, c.Labels[i])
			return m.Format(r), err
		})
	}
	for _, c := range slices.Concat(v.Rappor, v.Basic) {
		r, err := NewRappor(c.Params)
		if err != nil {
			t.Fatal(err)
		}
		l := r.Loss()
		for _, e := range []struct {
			got  *float64
			want float64
		}{{c.Loss.Report, l.Report}, {c.Loss.Lifetime, l.Lifetime}} {
			if e.got == nil || math.Abs(*e.got-e.want) > 1e-14*(1+e.want) {
				t.Errorf("%s: the losses differ; Go says %v", c.Seed, l)
			}
		}
		if c.After != nil {
			sameLosses(t, c.Seed, r, c.After)
		}
		d, err := r.Device(unhex(t, c.Secret), c.Cohort)
		if err != nil {
			t.Fatal(err)
		}
		src := tsStream(c.Seed)
		sameReports(t, c.Seed, c.Reports, len(c.Words)+len(c.Labels), func(i int) (string, error) {
			if c.Words != nil {
				rep, err := d.Encode(src, []byte(c.Words[i]))
				return r.Format(rep), err
			}
			rep, err := d.EncodeLabel(src, c.Labels[i])
			return r.Format(rep), err
		})
	}
	for _, c := range v.Secrets {
		got, err := FinishingSecret(unhex(t, c.Secret), c.Question)
		if c.Params != nil {
			var r *Rappor
			if r, err = NewRappor(*c.Params); err != nil {
				t.Fatal(err)
			}
			got, err = r.MetricSecret(unhex(t, c.Secret), c.Question, c.Domain...)
		}
		if err != nil || hex.EncodeToString(got) != c.Derived {
			t.Errorf("question %q: another secret, or %v", c.Question, err)
		}
	}
}

func sameReports(t *testing.T, what string, want []string, n int, next func(int) (string, error)) {
	t.Helper()
	if len(want) != n || n == 0 {
		t.Fatalf("%s: %d reports of %d values", what, len(want), n)
	}
	for i, w := range want {
		got, err := next(i)
		if err != nil {
			t.Fatalf("%s, report %d: %v", what, i, err)
		}
		if got != w {
			t.Errorf("%s, report %d: Go sends %q, TypeScript %q", what, i, got, w)
		}
	}
}

// What devices of the TypeScript client sent, each with a secret and a cohort
// drawn and kept by itself, is estimated: the shares 1/10 to 4/10 lie within the
// intervals, and the reverse of them does not.
func TestTypeScriptClientIsEstimated(t *testing.T) {
	v := loadTSVectors(t).Sample
	shares := []float64{0.1, 0.2, 0.3, 0.4}
	check := func(what string, f *Frequencies, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if f.N != int64(v.People) || f.Rejected.Total() != 0 {
			t.Errorf("%s: %d reports counted, %v", what, f.N, f.Rejected)
		}
		holds := func(s []float64) bool {
			for l, share := range s {
				if share < f.Low[l] || share > f.High[l] {
					return false
				}
			}
			return true
		}
		if !holds(shares) || holds([]float64{0.4, 0.3, 0.2, 0.1}) {
			t.Errorf("%s: intervals %v to %v", what, f.Low, f.High)
		}
	}

	grr, err := NewGRR(v.K, v.GRR.Epsilon)
	if err != nil {
		t.Fatal(err)
	}
	repeated, err := NewLongitudinalGRR(v.K, v.Longitudinal.Lifetime, v.Longitudinal.Epsilon)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		oracle  Oracle
		reports string
	}{{grr, v.GRR.Reports}, {repeated, v.Longitudinal.Reports}} {
		collector := NewCollector(c.oracle)
		for _, word := range strings.Fields(c.reports) {
			if err := collector.AddWord(word); err != nil {
				t.Fatal(err)
			}
		}
		f, err := collector.Frequencies(0.95)
		check(c.oracle.Name(), f, err)
	}

	f, err := tsCounts(t, v.Basic.Params, v.Basic.Reports).Frequencies(0.95)
	check("basic RAPPOR", f, err)

	counts := tsCounts(t, v.Rappor.Params, v.Rappor.Reports)
	m, err := counts.r.NewMap(append(slices.Clone(v.Rappor.Words), "never sent", "nor this"))
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := counts.Decode(context.Background(), m, DecodeOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(decoded.Words) != 6 {
		t.Errorf("%d of 6 candidates", len(decoded.Words))
	}
	for _, w := range decoded.Words {
		want := 0.0
		if l := slices.Index(v.Rappor.Words, w.Word); l >= 0 {
			want = shares[l]
		}
		if math.Abs(w.Value-want) > 4*w.StdErr || w.Significant != (want > 0) {
			t.Errorf("RAPPOR, word %q: %+v, want %v", w.Word, w, want)
		}
	}
	for i, n := range counts.N {
		// Cohorts are drawn alike: 5 standard deviations of a binomial.
		if mean := float64(v.People) / 4; math.Abs(float64(n)-mean) > 5*math.Sqrt(mean*0.75) {
			t.Errorf("cohort %d has %d reports", i, n)
		}
	}
}

func tsCounts(t *testing.T, p Params, reports string) *RapporCounts {
	t.Helper()
	r, err := NewRappor(p)
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.NewCollector()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Join(strings.Fields(reports), "\n")
	if err := c.AddLines(context.Background(), bytes.NewReader([]byte(lines))); err != nil {
		t.Fatal(err)
	}
	return c.Counts()
}
