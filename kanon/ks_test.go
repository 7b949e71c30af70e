package kanon_test

import (
	"slices"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
)

func TestParseKs(t *testing.T) {
	for text, want := range map[string][]int{
		"5":          {5},
		"10, 2,5,2":  {2, 5, 10},
		"3..3":       {3},
		"2 .. 5":     {2, 3, 4, 5},
		"8..20":      {8, 10, 12, 15, 18, 20},
		"1000..1001": {1000, 1001},
	} {
		if got, err := kanon.ParseKs(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	if got, err := kanon.ParseKs("2..50"); err != nil || len(got) < 12 || len(got) > 18 {
		t.Errorf("2..50 has %d steps: %v", len(got), err)
	}
	for _, text := range []string{"", "0", "a", "2,,3", "9..2", "..5", "5..", "0..4", "2..x", "-1"} {
		if _, err := kanon.ParseKs(text); noren.KindOf(err) != noren.Usage {
			t.Errorf("%q: %v", text, err)
		}
	}
}
