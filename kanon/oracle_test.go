package kanon_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/table"
)

// judged is Mondrian with a requirement (LeFevre et al. 2006; section 6 of Li et al.
// 2007): the widest column that can be cut at its median, both sides keeping what
// is asked, is cut there. A category's values are taken in byte order.
type judged struct {
	x      [][]float64 // by column, scaled to [0,1]; of categories the rank
	whole  []float64   // width of all
	holds  func([]int) bool
	groups [][]int
}

func (m *judged) width(c int, ids []int) float64 {
	if m.whole[c] == 0 {
		return 0
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, i := range ids {
		lo, hi = min(lo, m.x[c][i]), max(hi, m.x[c][i])
	}
	return (hi - lo) / m.whole[c]
}

func (m *judged) divide(ids []int) {
	order := make([]int, len(m.x))
	for c := range order {
		order[c] = c
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.width(b, ids), m.width(a, ids)) })
	for _, c := range order {
		var values []float64
		for _, i := range ids {
			values = append(values, m.x[c][i])
		}
		slices.Sort(values)
		median := values[len(values)/2]
		if median == values[0] {
			// The next value, where the median is the lowest.
			at, _ := slices.BinarySearch(values, math.Nextafter(median, 2))
			if at == len(values) {
				continue
			}
			median = values[at]
		}
		var left, right []int
		for _, i := range ids {
			if m.x[c][i] < median {
				left = append(left, i)
			} else {
				right = append(right, i)
			}
		}
		if m.holds(left) && m.holds(right) {
			m.divide(left)
			m.divide(right)
			return
		}
	}
	m.groups = append(m.groups, ids)
}

// shown is the certainty penalty of Xu et al.: as ncp, but a set of two values or more
// is as wide as its number of values over that of the column.
func shown(groups [][]int, rows [][]string, quasi []int, number []bool) float64 {
	sum, records := ncp(groups, rows, quasi, number), 0
	for _, g := range groups {
		records += len(g)
	}
	for _, c := range quasi {
		if number[c] {
			continue
		}
		whole := measureWidth(rows, nil, c, false) // one less than the number of values
		for _, g := range groups {
			if w := measureWidth(rows, g, c, false); w > 0 {
				sum += float64(len(g)) * ((w+1)/(whole+1) - w/whole) / float64(records*len(quasi))
			}
		}
	}
	return sum
}

// ncp is the mean width of groups: numbers by their span, categories by the number
// of values.
func ncp(groups [][]int, rows [][]string, quasi []int, number []bool) float64 {
	var sum float64
	var records int
	for _, c := range quasi {
		whole := measureWidth(rows, nil, c, number[c])
		for _, g := range groups {
			if whole > 0 {
				sum += float64(len(g)) * measureWidth(rows, g, c, number[c]) / whole
			}
		}
	}
	for _, g := range groups {
		records += len(g)
	}
	return sum / float64(records*len(quasi))
}

func measureWidth(rows [][]string, g []int, c int, number bool) float64 {
	if g == nil {
		for i := range rows {
			g = append(g, i)
		}
	}
	lo, hi, values := math.Inf(1), math.Inf(-1), map[string]bool{}
	for _, i := range g {
		values[rows[i][c]] = true
		if number {
			var v float64
			_, _ = fmt.Sscan(rows[i][c], &v)
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if number {
		return hi - lo
	}
	return float64(len(values) - 1)
}

// On records of Adult classes are narrower than those of a Mondrian that keeps the
// same, smaller than before in sum of squares, and none has more than ten times k
// records at t = .2. The figures of before are those of groups that were made by k
// alone and merged until they held (docs/benchmarks.md).
func TestAdultWithRequirements(t *testing.T) {
	adultWithRequirements(t, 4000, "t", publish.Generalize)
}

// TestLongAdultWithRequirements is TestAdultWithRequirements of half of Adult, also for
// l = 2 and for means.
func TestLongAdultWithRequirements(t *testing.T) {
	randtest.Long(t)
	adultWithRequirements(t, 15_081, "t", publish.Generalize, publish.Aggregate)
	adultWithRequirements(t, 15_081, "l", publish.Generalize, publish.Aggregate)
}

func adultWithRequirements(t *testing.T, n int, name string, modes ...publish.Mode) {
	t.Helper()
	data := os.Getenv("NOREN_DATA")
	if data == "" || testing.Short() {
		t.Skip("NOREN_DATA is not set, or the test is to be short")
	}
	header, rows := readCSV(t, read(t, filepath.Join(data, "adult.csv")))
	rand.New(rand.NewPCG(16, 5)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	rows = rows[:n]
	const k, sensitive = 5, 8
	fields := make([]table.Field, len(header))
	number := make([]bool, len(header))
	var quasi []int
	for c, name := range header {
		fields[c] = table.Field{Name: name, Role: table.Quasi}
		quasi = append(quasi, c)
	}
	fields[0].Type, number[0] = table.Integer, true
	fields[sensitive].Role, quasi = table.Sensitive, quasi[:sensitive]
	rich := 0
	for _, row := range rows {
		if row[sensitive] == ">50K" {
			rich++
		}
	}
	share := float64(rich) / float64(len(rows))
	count := func(ids []int) (n int) {
		for _, i := range ids {
			if rows[i][sensitive] == ">50K" {
				n++
			}
		}
		return n
	}
	cases := map[string]struct {
		o      kanon.Options
		holds  func(ids []int) bool
		before float64 // SSE/SST by merging, min-max
		most   int
	}{
		"t": {kanon.Options{Closeness: &privacy.Closeness{T: 0.2}}, func(ids []int) bool {
			return len(ids) >= k && math.Abs(float64(count(ids))/float64(len(ids))-share) <= 0.2
		}, 0.51, 10 * k},
		"l": {kanon.Options{Diversity: &privacy.Diversity{L: 2}}, func(ids []int) bool {
			return len(ids) >= k && count(ids) > 0 && count(ids) < len(ids)
		}, 0.20, 10 * k},
	}
	c := cases[name]
	m := &judged{holds: c.holds}
	for _, q := range quasi {
		x := make([]float64, len(rows))
		var values []string
		for _, row := range rows {
			values = append(values, row[q])
		}
		slices.Sort(values)
		values = slices.Compact(values)
		for i, row := range rows {
			at, _ := slices.BinarySearch(values, row[q])
			x[i] = float64(at)
			if number[q] {
				_, _ = fmt.Sscan(row[q], &x[i])
			}
		}
		m.x = append(m.x, x)
		m.whole = append(m.whole, slices.Max(x)-slices.Min(x))
	}
	all := make([]int, len(rows))
	for i := range all {
		all[i] = i
	}
	m.divide(all)
	mondrian := ncp(m.groups, rows, quasi, number)
	for _, mode := range modes {
		dir := t.TempDir()
		path := filepath.Join(dir, "in.csv")
		writeCSV(t, path, fields, rows)
		o := c.o
		o.K, o.Publish, o.Refine, o.KeepOrder = k, mode, refine.Auto, true
		j := kanon.Job{
			Source: open(t, path), Schema: table.Schema{Fields: fields}, Output: kanon.Output{Path: filepath.Join(dir, "out.csv")},
			Options: o,
		}
		r := anonymize(t, j)
		outHeader, out := readCSV(t, read(t, j.Output.Path))
		classOf := map[string][]int{}
		for i, row := range out {
			key := fmt.Sprintf("%q", row[:sensitive])
			classOf[key] = append(classOf[key], i)
		}
		var groups [][]int
		largest := 0
		for _, ids := range classOf {
			if !c.holds(ids) {
				t.Errorf("%s: a class of %d records does not hold", name, len(ids))
			}
			groups, largest = append(groups, ids), max(largest, len(ids))
		}
		ours := ncp(groups, rows, quasi, number)
		t.Logf("%s, %s: NCP %.4f, Mondrian %.4f; loss %.4f; largest class %d, of Mondrian %d", name, mode, ours, mondrian, r.Loss, largest,
			len(slices.MaxFunc(m.groups, func(a, b []int) int { return len(a) - len(b) })))
		if len(outHeader) != len(header) || ours >= mondrian || mode == publish.Aggregate && r.Loss >= c.before || r.GroupSize.Max > c.most ||
			(r.Large > 0) != (r.GroupSize.Max > 10*k) {
			t.Errorf("%s, %s: NCP %.4f against %.4f, loss %.4f, largest class %d", name, mode, ours, mondrian, r.Loss, largest)
		}
		if is := shown(groups, rows, quasi, number); mode == publish.Generalize && math.Abs(r.NCP-is) > 0.001 {
			t.Errorf("%s: an NCP of %v is said, and the classes have %v", name, r.NCP, is)
		}
	}
}
