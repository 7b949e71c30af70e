package ratio

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	core "noren/ratio"
)

// Prints the table of docs/density-ratio.md, section 15, by hand.
func TestCoverageTable(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("NOREN_COVERAGE"))
	if n == 0 {
		t.Skip("NOREN_COVERAGE=200 prints the table")
	}
	o := CoverageOptions{Repeats: n, Epsilons: []float64{0.1, 1, 3}, Seed: 1, AddRemove: os.Getenv("NOREN_ADDREMOVE") != ""}
	if s := os.Getenv("NOREN_EPS"); s != "" {
		o.Epsilons = nil
		for _, e := range strings.Split(s, ",") {
			v, _ := strconv.ParseFloat(e, 64)
			o.Epsilons = append(o.Epsilons, v)
		}
	}
	if s := os.Getenv("NOREN_SETTINGS"); s != "" {
		o.Settings = strings.Split(s, ";")
	}
	o.options = func(p *core.Options) {
		if b, _ := strconv.Atoi(os.Getenv("NOREN_B")); b > 0 {
			p.Centres = b
		}
		p.Features = core.Feature(os.Getenv("NOREN_FEATURES"))
		if s := os.Getenv("NOREN_POST"); s != "" {
			p.Post = core.Post(s)
		}
	}
	rows, err := RunCoverage(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		fmt.Printf("%-18s %-18s %4.1f  cov %.2f warn %.2f silent %.3f  half %7.4f bias %8.4f err %.4f unw %.4f %v\n", r.Setting, r.Question, r.Epsilon, r.Covered, r.Warned, r.Silent, r.Width, r.Bias, r.Error, r.Unweighted, r.reasons)
	}
}
