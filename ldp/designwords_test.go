package ldp

import (
	"math"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// The expected errors of a design are those that collections have.
func TestWordAccuracyIsWhatDecodeHas(t *testing.T) {
	randtest.SkipShort(t)
	for _, s := range []wordSetting{
		{k: 32, h: 1, m: 64, f: 0.5, n: 20_000, candidates: 20, have: 0, unnamed: 1, strangers: 3000},
		{k: 16, h: 2, m: 64, f: 0.25, n: 20_000, candidates: 40, have: 0, unnamed: 1, strangers: 3000},
	} {
		r, err := NewRappor(Params{K: s.k, H: s.h, M: int64(s.m), P: 0, Q: 1, F: s.f})
		if err != nil {
			t.Fatal(err)
		}
		want, err := r.WordAccuracy(int64(s.n), s.candidates)
		if err != nil {
			t.Fatal(err)
		}
		s.have, s.zipf = 1, 1 // one candidate of no share, and rare words that are unnamed
		got := runWords(t, s, 5, 1, 0)[0]
		if math.Abs(got.topSE/want.StdErr-1) > 0.15 {
			t.Errorf("%v: a standard error of %.5f, expected %.5f", s, got.topSE, want.StdErr)
		}
		if !want.Joint || want.Detectable < 3*want.StdErr {
			t.Errorf("%v: %+v", s, want)
		}
	}
	// An unnamed word of a tenth, and no noise to speak of: its overlap is the error.
	s := wordSetting{k: 32, h: 2, m: 16, f: 0.02, n: 1_000_000, candidates: 10, have: 1, unnamed: 0.1, strangers: 1}
	r, err := NewRappor(Params{K: s.k, H: s.h, M: int64(s.m), P: 0, Q: 1, F: s.f})
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.WordAccuracy(int64(s.n), s.candidates)
	if err != nil {
		t.Fatal(err)
	}
	if got := runWords(t, s, 20, 2, 0)[0]; math.Abs(math.Hypot(want.Overlap, want.StdErr)/got.topSE-1) > 0.25 {
		t.Errorf("an error of %.5f, expected %.5f and %.5f by overlap", got.topSE, want.StdErr, want.Overlap)
	}
}
