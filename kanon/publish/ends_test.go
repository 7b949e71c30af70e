package publish_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
