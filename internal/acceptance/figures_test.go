package acceptance

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
)

// percentile is the smallest of the durations that a share of them do not exceed.
func percentile(all []time.Duration, share float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// welch is the t statistic of the difference of two means, and the standard error of that
// difference.
func welch(a, b []float64) (t, standardError float64) {
	mean := func(x []float64) (m, v float64) {
		for _, y := range x {
			m += y / float64(len(x))
		}
		for _, y := range x {
			v += (y - m) * (y - m) / float64(len(x)-1)
		}
		return m, v
	}
	ma, va := mean(a)
	mb, vb := mean(b)
	standardError = math.Sqrt(va/float64(len(a)) + vb/float64(len(b)))
	return (ma - mb) / standardError, standardError
}

func TestWelch(t *testing.T) {
	// Means 2 and 4, variances 1 and 1, three values each: standard error sqrt(2/3).
	if got, se := welch([]float64{1, 2, 3}, []float64{3, 4, 5}); math.Abs(got+2/se) > 1e-12 || math.Abs(se-math.Sqrt(2.0/3)) > 1e-12 {
		t.Errorf("t = %v, standard error %v", got, se)
	}
	if got := percentile([]time.Duration{3, 1, 2, 4}, 0.5); got != 2 {
		t.Errorf("the median is %d", got)
	}
}

// tooFew is the chance of at most hits successes in n trials of chance p.
func tooFew(hits, n int, p float64) float64 {
	total := 0.0
	for k := 0; k <= hits; k++ {
		lg := func(x int) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
		total += math.Exp(lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	}
	return total
}

func TestTooFew(t *testing.T) {
	if got := tooFew(1, 3, 0.5); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("one of three coins or fewer: %v", got)
	}
	// A noise that is 1.3 times too wide has 90% within the margin of 95%.
	if p := tooFew(1800, 2000, 0.95); p > 1e-15 {
		t.Errorf("1,800 of 2,000 pass: %v", p)
	}
}

// processor is the processor time that the server has used.
func (s *served) processor() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// nano is a decimal in units of 1e-9.
func nano(t *testing.T, text string) int64 {
	t.Helper()
	if text == "" {
		return 0
	}
	whole, part, _ := strings.Cut(text, ".")
	if len(part) > 9 {
		t.Fatalf("%q has more than 9 places", text)
	}
	out, err := strconv.ParseInt(whole+part+strings.Repeat("0", 9-len(part)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNano(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "1": 1e9, "0.1": 1e8, "12.000000001": 12_000_000_001} {
		if got := nano(t, text); got != want {
			t.Errorf("%q is %d", text, got)
		}
	}
}

// decimal writes units of 1e-9.
func decimal(n int64) string { return fmt.Sprintf("%d.%09d", n/1e9, n%1e9) }

// size is that of a trial: small in the default run, large in a long trial.
func size(small, large int) int {
	if os.Getenv("NOREN_TRIALS") == "1" {
		return large
	}
	return small
}

// short skips a trial of the default run under -short.
func short(t *testing.T) {
	t.Helper()
	randtest.SkipShort(t)
}
