package ldp

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"noren/internal/entropy"
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
		Metric, Seed            string
		Labels                  []int
		Reports                 []string
	}
	Rappor, Basic []struct {
		Params  Params
		Secret  string `json:"secret_hex"`
		Cohort  uint32
		Seed    string
		Loss    struct{ Report, Lifetime *float64 }
		Words   []string
		Labels  []int
		Reports []string
	}
	Secrets []struct {
		Secret  string `json:"secret_hex"`
		Metric  string
		Derived string `json:"derived_hex"`
	}
	Crowd struct {
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

// Both clients make the same reports, byte for byte, from the same randomness.
func TestTypeScriptClientMakesTheSameReports(t *testing.T) {
	v := loadTSVectors(t)
	if len(v.GRR) != 6 || len(v.Longitudinal) != 4 || len(v.Rappor) != 4 || len(v.Basic) != 3 || len(v.Secrets) != 3 {
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
		d, err := m.Device(unhex(t, c.Secret), c.Metric)
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
		got, err := MetricSecret(unhex(t, c.Secret), c.Metric)
		if err != nil || hex.EncodeToString(got) != c.Derived {
			t.Errorf("metric %q: another secret, or %v", c.Metric, err)
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
	v := loadTSVectors(t).Crowd
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

// The same for 20,000 reports just made with real randomness by
// client/ldp-ts/test/live.mjs, and by a browser: client/ldp-ts/ci.sh names their
// folder. Shares are 1/15 to 5/15, and the probability of a wrong alarm 10^-6.
func TestTypeScriptClientLive(t *testing.T) {
	folder := os.Getenv("NOREN_TS_REPORTS")
	if folder == "" {
		t.Skip("NOREN_TS_REPORTS names no folder of reports; client/ldp-ts/ci.sh makes one")
	}
	const k, people = 5, 20000
	check := func(file string, f *Frequencies, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if f.N != people || f.Rejected.Total() != 0 {
			t.Errorf("%s: %d reports counted, %v", file, f.N, f.Rejected)
		}
		for l := range k {
			share := float64(l+1) / 15
			if share < f.Low[l] || share > f.High[l] || f.High[l]-f.Low[l] > 0.2 {
				t.Errorf("%s: label %d, share %.3f, interval %.3f to %.3f", file, l, share, f.Low[l], f.High[l])
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "*grr.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no GRR reports: %v", err)
	}
	grr, err := NewGRR(k, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		c := NewCollector(grr)
		for _, word := range strings.Fields(readText(t, file)) {
			if err := c.AddWord(word); err != nil {
				t.Fatal(err)
			}
		}
		f, err := c.Frequencies(1 - 1e-6)
		check(file, f, err)
	}
	file := filepath.Join(folder, "basic.txt")
	f, err := tsCounts(t, Basic(k, 0.25, 0.25, 0.75), readText(t, file)).Frequencies(1 - 1e-6)
	check(file, f, err)

	counts := tsCounts(t, Params{K: 32, H: 2, M: 16, P: 0.25, Q: 0.75, F: 0.25}, readText(t, filepath.Join(folder, "rappor.txt")))
	m, err := counts.r.NewMap([]string{"v0", "v1", "v2", "v3", "v4", "never sent"})
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := counts.Decode(context.Background(), m, DecodeOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	shares := map[string]float64{"v0": 1. / 15, "v1": 2. / 15, "v2": 3. / 15, "v3": 4. / 15, "v4": 5. / 15, "never sent": 0}
	if len(decoded.Words) != len(shares) || counts.Reports() != people {
		t.Errorf("%d candidates, %d reports", len(decoded.Words), counts.Reports())
	}
	for _, w := range decoded.Words {
		if math.Abs(w.Value-shares[w.Word]) > 6*w.StdErr {
			t.Errorf("RAPPOR, word %q: %+v, want %v", w.Word, w, shares[w.Word])
		}
	}
}

func readText(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
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
