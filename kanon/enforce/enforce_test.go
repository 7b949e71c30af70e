package enforce_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/enforce"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// sensitive is a column as a table has it: words, an empty one where a value is
// missing. Numbers are ordered.
type sensitive struct {
	name    string
	numbers bool
	values  []string
}

func (c sensitive) attribute(tb rapid.TB) *privacy.Attribute {
	f := table.Field{Name: c.name, Type: table.Category}
	if c.numbers {
		f.Type = table.Integer
	}
	b, err := table.NewBuilder(f, []string{""})
	if err != nil {
		tb.Fatal(err)
	}
	for _, v := range c.values {
		if err := b.Append([]byte(v)); err != nil {
			tb.Fatal(err)
		}
	}
	return privacy.NewAttribute(b.Column())
}

// keeps is what the package is measured by: the definitions, worked out from
// the values alone.
func (c sensitive) keeps(class []int, req privacy.Requirement) bool {
	return len(class) >= req.K && c.diverse(class, req.Diversity) && (req.Closeness == nil || c.distance(class) <= req.Closeness.T+1e-9)
}

func (c sensitive) diverse(class []int, d *privacy.Diversity) bool {
	if d == nil {
		return true
	}
	count := map[string]float64{}
	for _, i := range class {
		count[c.values[i]]++
	}
	if !d.CountMissing {
		delete(count, "")
	}
	if len(count) == 0 {
		return false
	}
	var counts []float64
	var entropy, counted float64
	for _, m := range count {
		counted += m
	}
	for _, m := range count {
		counts = append(counts, m)
		p := m / counted
		entropy -= p * math.Log(p)
	}
	slices.Sort(counts)
	slices.Reverse(counts)
	switch d.Model {
	case privacy.Distinct:
		return len(counts) >= int(d.L)
	case privacy.Entropy:
		return math.Exp(entropy) >= d.L-1e-9
	default:
		var tail float64
		for at, m := range counts {
			if at >= int(d.L)-1 {
				tail += m
			}
		}
		return counts[0] < d.C*tail
	}
}

// distance is the earth mover's: of values a unit apart for words, of ranks for
// numbers, where missing ones count as package privacy says.
func (c sensitive) distance(class []int) float64 {
	var values []string
	all := make([]int, len(c.values))
	for i, v := range c.values {
		all[i] = i
		if v != "" || !c.numbers {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	values = slices.Compact(values)
	if c.numbers {
		slices.SortFunc(values, func(a, b string) int {
			x, _ := strconv.Atoi(a)
			y, _ := strconv.Atoi(b)
			return x - y
		})
	}
	share := func(of []int) (shares []float64, present float64) {
		shares = make([]float64, len(values))
		for _, i := range of {
			if at := slices.Index(values, c.values[i]); at >= 0 {
				shares[at]++
				present++
			}
		}
		for at := range shares {
			shares[at] /= max(1, present)
		}
		return shares, present / float64(len(of))
	}
	p, s := share(class)
	q, u := share(all)
	var d float64
	if !c.numbers {
		for at := range values {
			d += math.Abs(p[at]-q[at]) / 2
		}
		return d
	}
	if s == 0 || len(values) < 2 {
		return math.Abs(s - u)
	}
	var ahead float64
	for at := range values {
		ahead += p[at] - q[at]
		d += math.Abs(ahead) / float64(len(values)-1)
	}
	return math.Abs(s-u) + min(s, u)*d
}

func classes(p space.Partition) [][]int {
	all := make([][]int, p.Groups)
	for i, g := range p.Group {
		all[g] = append(all[g], i)
	}
	return all
}

// failing counts the classes that do not keep the requirement.
func failing(p space.Partition, req privacy.Requirement, columns []sensitive) int {
	n := 0
	for _, class := range classes(p) {
		if slices.ContainsFunc(columns, func(c sensitive) bool { return !c.keeps(class, req) }) {
			n++
		}
	}
	return n
}

func attributes(tb rapid.TB, columns []sensitive) []*privacy.Attribute {
	var all []*privacy.Attribute
	for _, c := range columns {
		all = append(all, c.attribute(tb))
	}
	return all
}

// drawTable draws records on a plane in groups of k or more that lie together,
// with sensitive values that more or less go with the place.
func drawTable(t *rapid.T, k int) (*space.Space, space.Partition, []sensitive) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	n := rapid.OneOf(rapid.IntRange(k, 20), rapid.IntRange(max(k, 40), 120)).Draw(t, "n")
	x, y := make([]float64, n), make([]float64, n)
	word := space.Categorical{Codes: make([]uint32, n), Cardinality: 3, Weight: 1}
	for i := range n {
		x[i], y[i] = rng.Float64(), float64(rng.IntN(4))/4
		word.Codes[i] = uint32(rng.IntN(3))
	}
	slices.Sort(x)
	s, err := space.New(n, [][]float64{x, y}, []space.Categorical{word})
	if err != nil {
		t.Fatal(err)
	}
	p := space.Partition{Group: make([]uint32, n)}
	for at := 0; at < n; p.Groups++ {
		size := k + rng.IntN(k+1)
		if n-at-size < k {
			size = n - at
		}
		for range size {
			p.Group[at] = uint32(p.Groups)
			at++
		}
	}
	columns := make([]sensitive, rapid.IntRange(1, 2).Draw(t, "sensitive columns"))
	for a := range columns {
		columns[a] = sensitive{name: fmt.Sprintf("s%d", a), numbers: rapid.Bool().Draw(t, "numbers"), values: make([]string, n)}
		values := rapid.IntRange(1, 6).Draw(t, "values")
		bound := rapid.IntRange(0, 4).Draw(t, "bound to the place")
		for i := range n {
			v := rng.IntN(values)
			if rng.IntN(4) < bound {
				v = min(values-1, int(x[i]*float64(values)))
			}
			columns[a].values[i] = fmt.Sprintf("secret%d", v)
			if columns[a].numbers {
				columns[a].values[i] = strconv.Itoa(90_000 + 7*v)
			}
			if values > 3 && rng.IntN(8) == 0 {
				columns[a].values[i] = ""
			}
		}
	}
	return s, p, columns
}

// drawRequirement draws bounds that no class is exactly on, where a sum of
// floating-point numbers could go either way.
func drawRequirement(t *rapid.T, k int) privacy.Requirement {
	req := privacy.Requirement{K: k}
	which := rapid.IntRange(1, 3).Draw(t, "diversity, closeness or both")
	if which&1 != 0 {
		d := &privacy.Diversity{Model: rapid.SampledFrom([]privacy.DiversityModel{privacy.Distinct, privacy.Entropy, privacy.Recursive}).
			Draw(t, "model")}
		d.L = float64(rapid.IntRange(1, 4).Draw(t, "l"))
		d.CountMissing = rapid.Bool().Draw(t, "missing values count")
		switch d.Model {
		case privacy.Entropy:
			d.L = rapid.SampledFrom([]float64{1.2, 1.5, 2, 2.3, 3.1}).Draw(t, "l")
		case privacy.Recursive:
			d.C = rapid.SampledFrom([]float64{0.5, 1, 2, 4}).Draw(t, "c")
		}
		req.Diversity = d
	}
	if which&2 != 0 {
		req.Closeness = &privacy.Closeness{T: rapid.SampledFrom([]float64{0.0512345, 0.1512345, 0.2512345, 0.4512345}).Draw(t, "t")}
	}
	return req
}

// Every class keeps what was asked for afterwards, by the definitions; where
// not even the whole table does, that is the error, and it tells nothing.
func TestEveryClassKeepsTheRequirement(t *testing.T) {
	met, notMet, idle, split := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 4).Draw(t, "k")
		s, p, columns := drawTable(t, k)
		for range 3 {
			req := drawRequirement(t, k)
			before := slices.Clone(p.Group)
			q, stats, err := enforce.Enforce(context.Background(), s, p, req, attributes(t, columns), enforce.Options{})
			if !slices.Equal(before, p.Group) {
				t.Fatal("the partition that came in was changed")
			}
			whole := space.Partition{Group: make([]uint32, s.Len()), Groups: 1}
			if failing(whole, req, columns) > 0 {
				notMet++
				refused(t, err, req, columns)
				if q.Group != nil {
					t.Fatal("a partition beside the error")
				}
				continue
			}
			if err != nil {
				t.Fatalf("%v: %v", req, err)
			}
			met++
			if err := q.Validate(k); err != nil {
				t.Fatalf("%v: %v", req, err)
			}
			if len(q.Group) != s.Len() || !slices.Equal(q.Group, q.Canonical().Group) {
				t.Fatalf("%v: groups %v", req, q.Group)
			}
			if n := failing(q, req, columns); n > 0 {
				t.Fatalf("%v: %d of %d classes do not keep it", req, n, q.Groups)
			}
			if want := failing(p, req, columns); stats.Failing != want {
				t.Fatalf("%v: %d failing at first, told %d", req, want, stats.Failing)
			}
			if want := max(0, p.Groups-q.Groups); stats.Merged != want {
				t.Fatalf("%v: from %d groups to %d, told %d", req, p.Groups, q.Groups, stats.Merged)
			}
			if stats.Failing == 0 {
				idle++
				if !slices.Equal(q.Group, p.Canonical().Group) {
					t.Fatalf("%v: held, and was changed", req)
				}
			}
			if len(strangers(p, q)) > 0 {
				split++
			}
		}
	})
	t.Logf("%d met, %d not, %d held at once, %d split", met, notMet, idle, split)
	if min(met, notMet, idle, split) == 0 {
		t.Error("a case that was not tried")
	}
}

// strangers are the groups of p whose records are in several groups of q.
func strangers(p, q space.Partition) []int {
	var found []int
	for g, class := range classes(p) {
		if slices.ContainsFunc(class, func(i int) bool { return q.Group[i] != q.Group[class[0]] }) {
			found = append(found, g)
		}
	}
	return found
}

// refused asks for an error of kind NotMet that names a column that does not
// keep the requirement and holds no value.
func refused(tb rapid.TB, err error, req privacy.Requirement, columns []sensitive) {
	var e *noren.Error
	if !errors.As(err, &e) || e.Kind != noren.NotMet {
		tb.Fatalf("%v: error %v, want one of a guarantee not met", req, err)
	}
	all := make([]int, len(columns[0].values))
	for i := range all {
		all[i] = i
	}
	named := false
	for _, c := range columns {
		if e.Place() == "column "+c.name && !c.keeps(all, req) {
			named = true
		}
		for _, v := range c.values {
			if v != "" && strings.Contains(err.Error(), v) {
				tb.Fatalf("%v: the error tells a value: %v", req, err)
			}
		}
	}
	if !named {
		tb.Fatalf("%v: the error does not say which column: %v", req, err)
	}
}

// A group that keeps the requirement and that nothing was merged with stays as
// it was: a failing one takes no more than it needs.
func TestOnlyWhatFailsIsMerged(t *testing.T) {
	s, err := space.New(10, [][]float64{{0, 1, 10, 11, 30, 31, 55, 56, 80, 81}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := space.Partition{Group: []uint32{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}, Groups: 5}
	two := privacy.Requirement{K: 2, Diversity: &privacy.Diversity{L: 2}}
	for _, c := range []struct {
		name    string
		values  string
		want    []uint32
		failing int
		merged  int
	}{
		{"all hold", "abababcdab", []uint32{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}, 0, 0},
		{"one fails: with the nearest", "ababaaabab", []uint32{0, 0, 1, 1, 1, 1, 2, 2, 3, 3}, 1, 1},
		{"two that fail help each other", "aabbababab", []uint32{0, 0, 0, 0, 1, 1, 2, 2, 3, 3}, 2, 1},
		{"the nearest does not help", "aaaaababab", []uint32{0, 0, 0, 0, 0, 0, 1, 1, 2, 2}, 2, 2},
		{"only one has another", "aaaaaaaaab", []uint32{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 4, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			column := sensitive{name: "s", values: strings.Split(c.values, "")}
			q, stats, err := enforce.Enforce(context.Background(), s, p, two, attributes(t, []sensitive{column}), enforce.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(q.Group, c.want) || stats.Failing != c.failing || stats.Merged != c.merged {
				t.Errorf("groups %v, %+v; want %v, %d failing, %d merged", q.Group, stats, c.want, c.failing, c.merged)
			}
		})
	}
}

// Which group a failing one is merged with, and how what was merged is cut
// again. Groups are written as the records' places on a line, and a value each.
func TestWhatIsMergedWithWhat(t *testing.T) {
	distinct := privacy.Requirement{K: 2, Diversity: &privacy.Diversity{L: 2}}
	recursive := privacy.Requirement{K: 2, Diversity: &privacy.Diversity{Model: privacy.Recursive, L: 2, C: 2}}
	type group struct {
		at     []float64
		values string
	}
	for _, c := range []struct {
		name  string
		req   privacy.Requirement
		p     []group
		want  []uint32
		stats enforce.Stats
	}{
		{
			"the least rise, not the least distance", distinct,
			[]group{{[]float64{0, 0}, "aa"}, {[]float64{-12, -12}, "ab"}, {[]float64{10, 10, 10, 10, 10, 10, 10, 10}, "abababab"}},
			[]uint32{0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1},
			enforce.Stats{Failing: 1, Merged: 1},
		},
		{
			"one that helps before a nearer one that does not", recursive,
			[]group{{[]float64{0, 1, 2, 3}, "aaaa"}, {[]float64{10, 11}, "ab"}, {[]float64{100, 101, 102, 103, 104, 105, 106}, "bbbbaaa"}},
			[]uint32{0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0},
			enforce.Stats{Failing: 1, Merged: 1},
		},
		{
			"two that lie across each other are cut the other way", distinct,
			[]group{{[]float64{0, 4}, "aa"}, {[]float64{1, 5}, "bb"}},
			[]uint32{0, 1, 0, 1},
			enforce.Stats{Failing: 2},
		},
		{
			"and into more than there were", distinct,
			[]group{{[]float64{0, 50, 80}, "aaa"}, {[]float64{1, 51, 81}, "bbb"}},
			[]uint32{0, 1, 2, 0, 1, 2},
			enforce.Stats{Failing: 2},
		},
		{
			"a large group that nothing was merged with stays", distinct,
			[]group{{[]float64{0, 1, 20, 21}, "abab"}, {[]float64{70, 71}, "aa"}, {[]float64{80, 81}, "bb"}},
			[]uint32{0, 0, 0, 0, 1, 1, 1, 1},
			enforce.Stats{Failing: 2, Merged: 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var x []float64
			p := space.Partition{Groups: len(c.p)}
			column := sensitive{name: "s"}
			for g, group := range c.p {
				x = append(x, group.at...)
				column.values = append(column.values, strings.Split(group.values, "")...)
				for range group.at {
					p.Group = append(p.Group, uint32(g))
				}
			}
			s, err := space.New(len(x), [][]float64{x}, nil)
			if err != nil {
				t.Fatal(err)
			}
			q, stats, err := enforce.Enforce(context.Background(), s, p, c.req, attributes(t, []sensitive{column}), enforce.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(q.Group, c.want) || stats != c.stats {
				t.Errorf("groups %v, %+v; want %v, %+v", q.Group, stats, c.want, c.stats)
			}
		})
	}
}

// Without a sensitive column there is nothing to keep.
func TestNoSensitiveColumn(t *testing.T) {
	s, err := space.New(4, [][]float64{{0, 1, 4, 5}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := space.Partition{Group: []uint32{0, 0, 1, 1}, Groups: 2}
	q, stats, err := enforce.Enforce(context.Background(), s, p, privacy.Requirement{K: 2}, nil, enforce.Options{})
	if err != nil || !slices.Equal(q.Group, p.Group) || stats != (enforce.Stats{}) {
		t.Errorf("groups %v, %+v, %v", q.Group, stats, err)
	}
}

// line is n records on a line in groups of k, with sensitive values of long
// runs, so that most groups fail.
func line(tb testing.TB, n, k int) (*space.Space, space.Partition, sensitive) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(2, 3))
	x, y := make([]float64, n), make([]float64, n)
	column := sensitive{name: "s", values: make([]string, n)}
	p := space.Partition{Group: make([]uint32, n), Groups: n / k}
	for i := range n {
		x[i], y[i] = rng.Float64(), rng.Float64()/10
	}
	slices.Sort(x)
	for i := range n {
		p.Group[i] = uint32(min(i/k, p.Groups-1))
		v := i / 7 % 6
		if rng.IntN(9) == 0 {
			v = rng.IntN(12)
		}
		column.values[i] = fmt.Sprint("v", v)
	}
	s, err := space.New(n, [][]float64{x, y}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return s, p, column
}

func TestWorkersChangeNothing(t *testing.T) {
	randtest.SkipShort(t)
	const k = 4
	s, p, column := line(t, 4000, k)
	for _, req := range []privacy.Requirement{
		{K: k, Diversity: &privacy.Diversity{L: 3}},
		{K: k, Diversity: &privacy.Diversity{Model: privacy.Entropy, L: 3}},
		{K: k, Closeness: &privacy.Closeness{T: 0.3}},
	} {
		var want space.Partition
		for _, workers := range []int{1, 2, 3, 8, 0} {
			q, stats, err := enforce.Enforce(context.Background(), s, p, req, attributes(t, []sensitive{column}), enforce.Options{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if workers == 1 {
				want = q
				if n := failing(q, req, []sensitive{column}); n > 0 || stats.Failing < 100 || q.Groups < 50 {
					t.Errorf("%v: %d classes do not keep it of %d, %+v", req, n, q.Groups, stats)
				}
			}
			if !slices.Equal(q.Group, want.Group) {
				t.Errorf("%v: %d workers give another partition than one", req, workers)
			}
		}
	}
}

// A context that has ended, or ends on the way, ends the work.
func TestContext(t *testing.T) {
	const k = 4
	s, p, column := line(t, 4000, k)
	req := privacy.Requirement{K: k, Diversity: &privacy.Diversity{L: 3}}
	ctx, cancel := context.WithCancel(context.Background())
	var told int
	q, _, err := enforce.Enforce(ctx, s, p, req, attributes(t, []sensitive{column}),
		enforce.Options{Progress: func(_ string, done, total int64) {
			if done < 0 || done > total {
				t.Errorf("%d of %d done", done, total)
			}
			told++
			cancel()
		}})
	if !errors.Is(err, context.Canceled) || noren.KindOf(err) != noren.Interrupted || q.Group != nil {
		t.Errorf("error %v", err)
	}
	if told != 1 {
		t.Errorf("told of progress %d times", told)
	}
}

// Six patients in two groups, one of which shares a diagnosis.
func Example() {
	ages := []float64{30, 31, 40, 41, 70, 71}
	s, err := space.FromMatrix([][]float64{ages}, space.MinMax)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := table.NewBuilder(table.Field{Name: "diagnosis", Type: table.Category}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range []string{"flu", "flu", "flu", "asthma", "flu", "asthma"} {
		if err := b.Append([]byte(d)); err != nil {
			fmt.Println(err)
			return
		}
	}
	diagnosis := privacy.NewAttribute(b.Column())
	p := space.Partition{Group: []uint32{0, 0, 1, 1, 2, 2}, Groups: 3}

	two := privacy.Requirement{K: 2, Diversity: &privacy.Diversity{L: 2}}
	q, stats, err := enforce.Enforce(context.Background(), s, p, two, []*privacy.Attribute{diagnosis}, enforce.Options{})
	fmt.Println(q.Group, stats, err)

	three := privacy.Requirement{K: 2, Diversity: &privacy.Diversity{L: 3}}
	_, _, err = enforce.Enforce(context.Background(), s, p, three, []*privacy.Attribute{diagnosis}, enforce.Options{})
	fmt.Println(err)
	// Output:
	// [0 0 0 0 1 1] {1 1} <nil>
	// column diagnosis: even the whole table as one group does not keep k = 2, distinct 3-diversity (ask for less (a smaller l), or do not name the column as sensitive)
}
