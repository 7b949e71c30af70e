package publish_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// A mean that is rounded to the grid is never below the least value of its column or above
// the largest: the column's type holds it, and the layout of its dates writes it. A class
// at one end holds values beside the grid; each column is drawn with 1 % of them.
func TestMeansStayInTheColumn(t *testing.T) {
	iso := table.Field{Type: table.Date}
	instant := table.Field{Type: table.Date, Layout: "YYYY-MM-DDThh:mm:ss"}
	day := func(text string) func(n int) string { return func(n int) string { return fmt.Sprintf(text, 1950+n) } }
	for _, c := range []struct {
		name  string
		field table.Field
		text  func(n int) string
		end   string
	}{
		{"8 bits", table.Field{Type: table.Integer}, decimal(0, 50, 0), "5127"},
		{"32 bits", table.Field{Type: table.Integer}, decimal(0, 1000, 0), "2147483647"},
		{"64 bits", table.Field{Type: table.Integer}, decimal(0, 1000, 0), "9223372036854775807"},
		{"least of 64 bits", table.Field{Type: table.Integer}, decimal(0, -1000, 0), "-9223372036854775808"},
		{"prices", table.Field{Type: table.Decimal}, decimal(2, 50, 0), "999.99"},
		{"whole prices", table.Field{Type: table.Decimal}, decimal(2, 100, 0), "999.99"},
		{"negative prices", table.Field{Type: table.Decimal}, decimal(2, -50, 0), "-999.99"},
		{"years", iso, day("%d-01-01"), "9999-12-31"},
		{"first of April", iso, day("%d-04-01"), "9999-11-30"},
		{"months before the first year", iso, day("%d-02-28"), "0001-01-01"},
		{"midnights", instant, day("%d-04-01T00:00:00"), "9999-12-31T23:59:59"},
		{"last days", instant, day("%d-12-31T00:00:00"), "0001-01-01T00:00:00"},
	} {
		for _, mode := range []publish.Mode{publish.Aggregate, publish.Matched, publish.Shares} {
			for _, classes := range []int{60, 200} {
				r := rand.New(rand.NewPCG(uint64(classes), 5))
				var texts []string
				var group []uint32
				for g := range classes {
					for range 5 {
						texts, group = append(texts, c.text(1+r.IntN(100))), append(group, uint32(g))
					}
				}
				for range max(1, len(texts)/100-1) {
					texts, group = append(texts, c.end), append(group, uint32(classes))
				}
				col := column(t, c.field, texts...)
				numbers := make([]float64, col.Len())
				for i := range numbers {
					numbers[i] = col.Number(i)
				}
				out := publishOne(t, col, group, classes+1, mode)
				if g := out.Grid; g == nil || g.Months == 0 && g.Unit == 1 && g.Places == 2 {
					t.Fatalf("%s: grid %+v", c.name, g)
				}
				for _, text := range shown(out, uint32(classes), 0, 1) {
					if mode == publish.Shares && text != c.end {
						continue // a range
					}
					v := column(t, c.field, text).Number(0)
					if v < slices.Min(numbers) || v > slices.Max(numbers) {
						t.Errorf("%s, %s, %d classes: %s is beyond the column", c.name, mode, classes, text)
					}
				}
			}
		}
	}
}

// Means of whole numbers are exact where 64 bits hold more than a floating-point number: the
// ends of a column were rounded to 53 bits, and a mean was moved to such an end. The truth is
// that of rational numbers, half to even.
func TestMeansBeyondFloatingPoint(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 1))
	for _, from := range []int64{1 << 53, 1<<53 + 1, -1<<53 - 1, 1<<56 + 7, 1<<60 - 3, -1<<62 + 1, math.MaxInt64 - 40, math.MinInt64} {
		for _, wide := range []int64{0, 1, 3, 40} {
			var texts []string
			var group []uint32
			want := make([]string, 4)
			for g := range want {
				sum, n := new(big.Int), int64(1+g)
				for range n {
					v := from + r.Int64N(wide+1)
					sum.Add(sum, big.NewInt(v))
					texts, group = append(texts, strconv.FormatInt(v, 10)), append(group, uint32(g))
				}
				want[g] = nearest(sum, n)
			}
			out := publishOne(t, column(t, table.Field{Type: table.Integer}, texts...), group, len(want), publish.Aggregate)
			if got := shown(out, 0, 1, 2, 3); !slices.Equal(got, want) {
				t.Errorf("from %d in steps up to %d: got %v, want %v", from, wide, got, want)
			}
		}
	}
}

// nearest is sum / n, half to even.
func nearest(sum *big.Int, n int64) string {
	q, rest := new(big.Int).DivMod(sum, big.NewInt(n), new(big.Int))
	if c := rest.Lsh(rest, 1).Cmp(big.NewInt(n)); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	return q.String()
}
