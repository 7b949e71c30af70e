package publish_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// The documents and the code state one certainty penalty: (hi - lo)/(HI - LO) of numbers and
// s/d of sets, 0 for a single value, by a count of every record.
func TestPenaltyIsAsDocumented(t *testing.T) {
	for _, name := range []string{"k-anonymity.md", "ja/k-anonymity.md"} {
		text, err := os.ReadFile("../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{"(hi - lo)/(HI - LO)", "s/d"} {
			if !strings.Contains(string(text), form) {
				t.Errorf("docs/%s does not state the NCP by %s", name, form)
			}
		}
	}
	draw := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		const n, groups = 60, 12
		group := make([]uint32, n)
		words, numbers := make([]string, n), make([]string, n)
		for i := range n {
			group[i] = uint32(i % groups)
			words[i] = letters[draw.IntN(len(letters))]
			numbers[i] = string('0' + byte(draw.IntN(10)))
		}
		ordered := append([]string{}, letters...)
		for _, c := range []struct {
			field table.Field
			texts []string
			width func(of []string) float64
		}{
			{table.Field{Type: table.Category}, words, func(of []string) float64 {
				if s := len(distinct(of)); s > 1 {
					return float64(s) / float64(len(distinct(words)))
				}
				return 0
			}},
			{table.Field{Type: table.Ordered, Levels: ordered}, words, func(of []string) float64 {
				lo, hi := span(of)
				if lo == hi {
					return 0
				}
				return (hi - lo + 1) / float64(len(letters))
			}},
			{table.Field{Type: table.Integer}, numbers, func(of []string) float64 {
				lo, hi := span(of)
				least, most := span(numbers)
				return (hi - lo) / (most - least)
			}},
		} {
			col := column(t, c.field, c.texts...)
			out, err := publish.Publish(context.Background(), []*table.Column{col}, stored(col), group, groups,
				publish.Options{Mode: publish.Generalize})
			if err != nil {
				t.Fatal(err)
			}
			want := 0.0
			for i := range n {
				var of []string
				for j := range n {
					if group[j] == group[i] {
						of = append(of, c.texts[j])
					}
				}
				want += c.width(of) / n
			}
			if got := publish.NCP(out, n); math.Abs(got-want) > 1e-12 {
				t.Errorf("%v: NCP %v, counted %v", c.field.Type, got, want)
			}
		}
	}
}

func distinct(texts []string) map[string]bool {
	seen := map[string]bool{}
	for _, s := range texts {
		seen[s] = true
	}
	return seen
}

// span is the least and the largest first byte of texts.
func span(texts []string) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, s := range texts {
		lo, hi = min(lo, float64(s[0])), max(hi, float64(s[0]))
	}
	return lo, hi
}
