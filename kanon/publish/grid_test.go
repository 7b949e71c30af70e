package publish_test

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// lattice is a column whose values lie on a grid: text writes value n of it.
type lattice struct {
	name  string
	field table.Field
	text  func(n int) string
	odd   string // a value that lies beside the grid, in one record
	span  int
}

func decimal(places int, unit, rest int64) func(n int) string {
	return func(n int) string {
		v := big.NewRat(int64(n)*unit+rest, 1)
		v.Quo(v, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)))
		return v.FloatString(places)
	}
}

func day(of func(n int) time.Time, layout string) func(n int) string {
	return func(n int) string { return of(n).Format(layout) }
}

var lattices = []lattice{
	{"costs in tens", table.Field{Type: table.Integer}, decimal(0, 10, 0), "", 900},
	{"incomes in thousands, one exact", table.Field{Type: table.Integer}, decimal(0, 1000, 0), "28123", 90},
	{"quarters, one with six places", table.Field{Type: table.Decimal}, decimal(2, 25, 0), "3.141593", 200},
	{"quarters, one of floating point", table.Field{Type: table.Decimal}, decimal(2, 25, 0), "0.30000000000000004", 200},
	{"losses in 2500", table.Field{Type: table.Integer}, decimal(0, -2500, 0), "", 300},
	{"twos", table.Field{Type: table.Integer}, decimal(0, 2, 0), "7", 300},
	{"prices that end in 99", table.Field{Type: table.Decimal}, decimal(2, 100, 99), "", 60},
	{"middles of classes", table.Field{Type: table.Decimal}, decimal(1, 50, 25), "", 30},
	{"minutes in fifteens", table.Field{Type: table.Integer}, decimal(0, 15, 0), "", 60},
	{"whole numbers written with two places", table.Field{Type: table.Decimal}, decimal(2, 100, 0), "12.34", 80},
	{"thousands of floating point", table.Field{Type: table.Decimal}, func(n int) string { return strconv.Itoa(n) + "e3" }, "", 80},
	{
		"firsts of months",
		table.Field{Type: table.Date},
		day(func(n int) time.Time { return time.Date(1950, time.Month(1+n), 1, 0, 0, 0, 0, time.UTC) }, time.DateOnly), "1961-05-17", 600,
	},
	{
		"last days of months",
		table.Field{Type: table.Date},
		day(func(n int) time.Time { return time.Date(1950, time.Month(2+n), 0, 0, 0, 0, 0, time.UTC) }, time.DateOnly), "", 600,
	},
	{"first of April", table.Field{Type: table.Date}, day(func(n int) time.Time { return time.Date(1950+n, 4, 1, 0, 0, 0, 0, time.UTC) },
		time.DateOnly), "1961-05-17", 60},
	{
		"quarters of years",
		table.Field{Type: table.Date},
		day(func(n int) time.Time { return time.Date(1950, time.Month(1+3*n), 15, 0, 0, 0, 0, time.UTC) }, time.DateOnly), "", 200,
	},
	{"Mondays", table.Field{Type: table.Date}, day(func(n int) time.Time { return time.Date(2024, 1, 1+7*n, 0, 0, 0, 0, time.UTC) },
		time.DateOnly), "", 200},
	{
		"quarter hours",
		table.Field{Type: table.Date, Layout: "YYYY-MM-DDThh:mm:ss"},
		day(func(n int) time.Time { return time.Date(2024, 1, 1, 0, 15*n, 0, 0, time.UTC) }, "2006-01-02T15:04:05"), "2024-01-05T08:07:09", 900,
	},
	{
		"noon of each day",
		table.Field{Type: table.Date, Layout: "YYYY-MM-DDThh:mm:ss"},
		day(func(n int) time.Time { return time.Date(2024, 1, 1+n, 12, 0, 0, 0, time.UTC) }, "2006-01-02T15:04:05"), "", 90,
	},
	{
		"midnights of firsts",
		table.Field{Type: table.Date, Layout: "YYYY-MM-DDThh:mm:ss"},
		day(func(n int) time.Time { return time.Date(1950, time.Month(1+n), 1, 0, 0, 0, 0, time.UTC) }, "2006-01-02T15:04:05"),
		"1999-12-31T23:59:59", 300,
	},
}

// latticeTable draws a table of classes of 2 to 8 records.
type latticeTable struct {
	of    lattice
	n     []int // by record; of the odd one -1
	texts []string
	group []uint32
	first []int // by class, and the end
}

func newLatticeTable(of lattice, seed uint64, classes int) *latticeTable {
	r := rand.New(rand.NewPCG(seed, uint64(len(of.name))))
	l := &latticeTable{of: of}
	for g := range classes {
		l.first = append(l.first, len(l.texts))
		for range 2 + r.IntN(7) {
			n := 1 + r.IntN(of.span)
			l.n, l.texts, l.group = append(l.n, n), append(l.texts, of.text(n)), append(l.group, uint32(g))
		}
	}
	l.first = append(l.first, len(l.texts))
	if of.odd != "" {
		at := r.IntN(len(l.texts))
		l.n[at], l.texts[at] = -1, of.odd
	}
	return l
}

func (l *latticeTable) publish(t fataler, mode publish.Mode) *publish.Column {
	return publishOne(t, column(t, l.of.field, l.texts...), l.group, len(l.first)-1, mode)
}

// Somebody who knows the published table, the grid, and all values of a class but one: as
// many values of the last are left as the grid says, by trying all of them. The classes of
// each table are tried one by one, with the means of all ways to publish that have any.
func TestMeansLeaveSumsOpen(t *testing.T) {
	const classes = 20
	for at, of := range lattices {
		for _, mode := range []publish.Mode{publish.Aggregate, publish.Matched} {
			t.Run(fmt.Sprintf("%s, %s", of.name, mode), func(t *testing.T) {
				l := newLatticeTable(of, uint64(at), classes)
				out := l.publish(t, mode)
				whole := column(t, of.field, l.texts...)
				plan, err := publish.NewPlan([]*table.Column{whole}, stored(whole), publish.Options{Mode: mode})
				if err != nil {
					t.Fatal(err)
				}
				plan.Look([]*table.Column{whole})
				class := func(from, to int) string { // as the plan of the table publishes it
					c := column(t, of.field, l.texts[from:to]...)
					columns, err := plan.Groups(context.Background(), []*table.Column{c}, make([]uint32, to-from), 1)
					if err != nil {
						t.Fatal(err)
					}
					return shown(&columns[0], 0)[0]
				}
				for g := range len(l.first) - 1 {
					m, last := l.first[g+1]-l.first[g], l.first[g+1]-1
					if l.n[last] < 0 {
						last--
					}
					want := shown(out, uint32(g))[0]
					if got := class(l.first[g], l.first[g+1]); got != want {
						t.Fatalf("class %d shows %s, and by itself %s", g, want, got)
					}
					left, was := 0, l.texts[last]
					for n := l.n[last] - 2*m; n <= l.n[last]+2*m; n++ {
						l.texts[last] = of.text(n)
						if class(l.first[g], l.first[g+1]) == want {
							left++
						}
					}
					l.texts[last] = was
					// The sums of an even number are m-1 or m+1.
					if left < m-1+m%2 {
						t.Fatalf("class of %d with mean %s: %d values of the last are left", m, want, left)
					}
					if sums := out.Grid.Sums(m, nil); int64(left) < sums || sums < int64(m-1) {
						t.Fatalf("class of %d with mean %s: %d values of the last are left, %d stated", m, want, left, sums)
					}
				}
			})
		}
	}
}

// The means beside ranges leave five sums of the class at least, by adding up.
func TestMeansBesideRangesLeaveSumsOpen(t *testing.T) {
	for _, of := range lattices {
		if of.field.Type == table.Date {
			continue
		}
		r := rand.New(rand.NewPCG(7, 7))
		l := &latticeTable{of: of}
		for g := range uint32(30) {
			l.first = append(l.first, len(l.texts))
			for range []int{5, 6, 9, 49, 50, 51, 60, 99}[r.IntN(8)] {
				l.texts, l.group = append(l.texts, of.text(1+r.IntN(of.span))), append(l.group, g)
			}
		}
		l.first = append(l.first, len(l.texts))
		found := 0
		for g, text := range shown(l.publish(t, publish.Shares), groupsOf(30)...) {
			_, text, ok := strings.Cut(text, " mean ")
			if !ok {
				continue
			}
			found++
			m := l.first[g+1] - l.first[g]
			shownMean, sum := ratOf(t, text), new(big.Rat)
			for _, x := range l.texts[l.first[g]:l.first[g+1]] {
				sum.Add(sum, ratOf(t, x))
			}
			unit := new(big.Rat).Sub(ratOf(t, of.text(2)), ratOf(t, of.text(1)))
			unit.Abs(unit)
			step := new(big.Rat).Set(unit) // of the mean
			if m >= 50 {
				step.Quo(step, big.NewRat(10, 1))
			}
			if at := new(big.Rat).Quo(new(big.Rat).Sub(shownMean, ratOf(t, of.text(0))), step); !at.IsInt() {
				t.Fatalf("%s: mean %s of %d is not in steps of %s", of.name, text, m, step.FloatString(4))
			}
			half := new(big.Rat).Quo(step, big.NewRat(2, 1))
			left := 0
			for n := -2 * int64(m); n <= 2*int64(m); n++ {
				other := new(big.Rat).Add(sum, new(big.Rat).Mul(unit, big.NewRat(n, 1)))
				other.Quo(other, big.NewRat(int64(m), 1))
				if other.Sub(other, shownMean).Abs(other).Cmp(half) < 0 {
					left++
				}
			}
			if left < 5 {
				t.Errorf("%s: mean %s of %d leaves %d sums", of.name, text, m, left)
			}
		}
		if found < 5 {
			t.Errorf("%s: %d means", of.name, found)
		}
	}
}

func groupsOf(n uint32) []uint32 {
	all := make([]uint32, n)
	for g := range all {
		all[g] = uint32(g)
	}
	return all
}

func ratOf(t fataler, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return r
}

// coarsest is the unit of a column by trying all of the list, with rational numbers.
func coarsest(t fataler, texts []string) *big.Rat {
	t.Helper()
	var values []*big.Rat
	for _, text := range texts {
		if text == "" || text == "NA" {
			continue
		}
		if v := ratOf(t, text); v.Sign() != 0 {
			values = append(values, v)
		}
	}
	beside := len(values) / 100
	if len(values) >= 20 && beside == 0 {
		beside = 1
	}
	for e := 18; e >= -15; e-- {
		for _, of := range []*big.Rat{big.NewRat(5, 1), big.NewRat(5, 2), big.NewRat(2, 1), big.NewRat(1, 1)} {
			unit := new(big.Rat).Set(of)
			for range max(e, -e) {
				if e > 0 {
					unit.Mul(unit, big.NewRat(10, 1))
				} else {
					unit.Quo(unit, big.NewRat(10, 1))
				}
			}
			off := 0
			for _, v := range values {
				if !new(big.Rat).Quo(v, unit).IsInt() {
					off++
				}
			}
			if off <= beside {
				return unit
			}
		}
	}
	return nil
}

// The unit is the coarsest of the list that 99 % of the values are multiples of: counted
// for columns of all kinds, in one piece and in several.
func TestGridIsTheCoarsest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]int64{1, 2, 3, 5, 10, 20, 25, 50, 200, 250, 2500, 1000000}).Draw(t, "unit")
		places := rapid.IntRange(0, 5).Draw(t, "places")
		n := rapid.IntRange(1, 400).Draw(t, "n")
		off := rapid.IntRange(0, 8).Draw(t, "beside")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		f := table.Field{Name: "x", Type: table.Decimal}
		texts := []string{decimal(places, 1, 0)(0)}
		for i := range n {
			v := unit * int64(r.IntN(2000)-1000)
			if i < off {
				v = int64(r.IntN(2000) - 1000)
			}
			texts = append(texts, decimal(places, v, 0)(1))
		}
		want := coarsest(t, texts)
		values := 0
		for _, text := range texts {
			if ratOf(t, text).Sign() != 0 {
				values++
			}
		}
		whole := column(t, f, texts...)
		plan, err := publish.NewPlan([]*table.Column{whole}, stored(whole), publish.Options{})
		if err != nil {
			t.Fatal(err)
		}
		plan.Look([]*table.Column{whole})
		got := plan.Grid(0)
		if values == 0 {
			return
		}
		if got == nil || got.Size().Cmp(want) < 0 || values < 20 && got.Size().Cmp(want) != 0 {
			t.Fatalf("unit %+v, want %s of %v", got, want.FloatString(6), texts)
		}
		if got.Size().Cmp(want) > 0 { // all values differ by it
			for _, text := range texts {
				at := new(big.Rat).Sub(ratOf(t, text), ratOf(t, texts[0]))
				if !at.Quo(at, got.Size()).IsInt() {
					t.Fatalf("unit %s, and %s is beside it", got.Size().FloatString(6), text)
				}
			}
		}
		cut := rapid.IntRange(1, len(texts)).Draw(t, "cut")
		merged, err := publish.NewPlan([]*table.Column{whole}, stored(whole), publish.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, rows := range [][2]int{{cut, len(texts)}, {0, cut}} {
			var records []uint32
			for i := rows[0]; i < rows[1]; i++ {
				records = append(records, uint32(i))
			}
			part, err := publish.NewPlan([]*table.Column{whole}, stored(whole), publish.Options{})
			if err != nil {
				t.Fatal(err)
			}
			part.Look([]*table.Column{whole.Select(records)})
			merged.Take(part.Seen())
		}
		if again := merged.Grid(0); again == nil || again.Size().Cmp(got.Size()) != 0 || again.Rest != got.Rest {
			t.Fatalf("in parts %+v, whole %+v", again, got)
		}
	})
}

// The number of sums that is stated is never more than there are, for all roundings.
func TestSums(t *testing.T) {
	for m := 1; m <= 9; m++ {
		for _, grid := range []int64{1, 2, 3, 10, 25} {
			for _, unit := range []int64{1, 2, 5, 10, 20, 100} {
				for _, rest := range []int64{0, 1, 7} {
					g := publish.Grid{Unit: grid, Rest: rest % grid}
					stated := g.Sums(m, big.NewRat(unit, 1))
					of := map[int64]int64{}
					for n := int64(-1000); n <= 1000; n++ {
						q, err := strconv.ParseInt(roundRat(big.NewRat(n*grid+int64(m)*g.Rest, int64(m)*unit), 0), 10, 64)
						if err != nil {
							t.Fatal(err)
						}
						of[q]++
					}
					for q, sums := range of {
						if max(q, -q)*unit < 100 && int64(m)*200 < 1000*grid && sums < stated {
							t.Fatalf("%d values in steps of %d from %d, means of %d: %d sums for %d, stated %d", m, grid, g.Rest, unit, sums, q*unit, stated)
						}
					}
				}
			}
		}
	}
}

// Half of the values in thousands and half exact: the grid is that of all, and what is
// coarser is said.
func TestGridOfMixedValues(t *testing.T) {
	var texts []string
	for i := range 300 {
		v := 1000 * (i%37 + 1)
		if i%5 == 0 {
			v = 1003 + 7*i
		}
		texts = append(texts, strconv.Itoa(v))
	}
	c := column(t, table.Field{Type: table.Integer}, texts...)
	plan, err := publish.NewPlan([]*table.Column{c}, stored(c), publish.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan.Look([]*table.Column{c})
	g := plan.Grid(0)
	if g.Unit != 1 || g.Coarse == nil || g.Coarse.Unit != 1000 || g.Share < .8 || g.Share > .82 {
		t.Errorf("grid %+v", g)
	}
	// Ages: no unit but 1 has half of them.
	texts = texts[:0]
	for i := range 300 {
		texts = append(texts, strconv.Itoa(18+i%70))
	}
	c = column(t, table.Field{Type: table.Integer}, texts...)
	out, err := publish.Publish(context.Background(), []*table.Column{c}, stored(c), make([]uint32, 300), 1, publish.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if g := out[0].Grid; g.Unit != 1 || g.Coarse != nil {
		t.Errorf("grid %+v", g)
	}
}

// Means of dates of the calendar that are rounded to days: no fewer dates are left to the
// last of m than stated, by trying all of them.
func TestDatesThatAreLeft(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, months := range []int64{1, 3, 6, 12} {
		for _, last := range []bool{false, true} {
			for _, unit := range []int64{1, 10, 100, 1000} {
				g, f := publish.Grid{Unit: 1, Months: months}, table.Field{Type: table.Date}
				on := func(n int) int64 {
					d := time.Date(1900, time.Month(1+n*int(months)), 1, 0, 0, 0, 0, time.UTC)
					if last {
						d = d.AddDate(0, 0, -1)
					}
					return d.Unix() / 86400
				}
				for m := 2; m <= 9; m++ {
					stated, others := g.Dates(m, big.NewRat(unit, 1), &f), int64(0)
					for range m - 1 {
						others += on(r.IntN(1200 / int(months)))
					}
					rounded := func(n int) string { return roundRat(big.NewRat(others+on(n), int64(m)*unit), 0) }
					is := r.IntN(1200 / int(months))
					left := int64(0)
					for n := -12000 / int(months); n < 13200/int(months); n++ {
						if rounded(n) == rounded(is) {
							left++
						}
					}
					if left < stated {
						t.Errorf("%d months, unit of %d days, %d values: %d dates are left, stated %d", months, unit, m, left, stated)
					}
				}
			}
		}
	}
}
