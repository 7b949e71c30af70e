package kanon

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/identity/identitytest"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/infer"
	"github.com/noren-privacy/noren/table/shuffle"
)

// full is a job in which no field is empty.
func full(t *testing.T) *Job {
	h, err := table.NewHierarchy("wards.csv", [][]string{{"a", "*"}, {"b", "*"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	round, seed := 2, uint64(7)
	j := &Job{
		Schema:  table.Schema{Fields: []table.Field{{Name: "age", Role: table.Quasi, Levels: []string{"x"}, Hierarchy: h, Round: &round}}},
		Missing: []string{"NA"}, Kept: []string{"key"}, Looked: &infer.Report{},
		Output: Output{Path: "out.csv", Dialect: &csvio.Dialect{}},
		Options: Options{
			K: 5, Unit: "person", Diversity: &privacy.Diversity{L: 2}, Closeness: &privacy.Closeness{T: 0.5},
			Refine: refine.Effort{Duration: time.Second}, SecretSeed: []byte("0123456789abcdef"), Seed: &seed,
		},
	}
	return j
}

// Every field of a job changes the sum that the order depends on, or is listed with a
// reason. A field that is added later fails here where neither holds.
func TestOrderDependsOnEveryField(t *testing.T) {
	j := full(t)
	sum := func() [sha256.Size]byte {
		s, err := j.requestSum()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	base := sum()
	identitytest.Each(t, j, unordered, func(name string) {
		if _, left := unordered[name]; left == (sum() != base) {
			t.Errorf("%s: listed as without effect: %t, has an effect: %t", name, left, sum() != base)
		}
	})
	if sum() != base {
		t.Fatal("the test has changed the job")
	}
}

// The rows of a hierarchy count, and the name of its file does not.
func TestOrderDependsOnHierarchies(t *testing.T) {
	of := func(name string, rows ...[]string) [sha256.Size]byte {
		j := full(t)
		h, err := table.NewHierarchy(name, rows, nil)
		if err != nil {
			t.Fatal(err)
		}
		j.Schema.Fields[0].Hierarchy = h
		s, err := j.requestSum()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a := of("a.csv", []string{"x", "g", "*"}, []string{"y", "g", "*"})
	if a != of("b.csv", []string{"x", "g", "*"}, []string{"y", "g", "*"}) {
		t.Error("the name of the file counts")
	}
	for i, other := range [][32]byte{
		of("a.csv", []string{"x", "g", "*"}, []string{"y", "h", "*"}),
		of("a.csv", []string{"x", "g", "*"}),
		of("a.csv", []string{"y", "g", "*"}, []string{"x", "g", "*"}),
		of("a.csv", []string{"x", "*"}, []string{"y", "*"}),
	} {
		if other == a {
			t.Errorf("hierarchy %d has the sum of another", i)
		}
	}
}

// streams are the ways in which two releases can differ under one seed.
var streams = map[string]func(of *Ordered){
	"source":        func(of *Ordered) { of.Source[31] ^= 1 },
	"request":       func(of *Ordered) { of.Request[0] ^= 1 },
	"made":          func(of *Ordered) { of.Made[7] ^= 128 },
	"part":          func(of *Ordered) { of.Part = []int{1} },
	"another part":  func(of *Ordered) { of.Part = []int{0, 1} },
	"swapped parts": func(of *Ordered) { of.Source, of.Request = of.Request, of.Source },
}

// draws is the number of seeds of a joint test.
const draws = 20_000

// drawn are the numbers of the orders of four records, one of each seed.
func drawn(t *testing.T, secret bool, first uint64, of *Ordered) []int {
	t.Helper()
	out := make([]int, draws)
	for i := range out {
		seed := first + uint64(i)
		o := Options{Seed: &seed}
		if secret {
			o = Options{SecretSeed: binary.LittleEndian.AppendUint64([]byte("8 bytes:"), seed)}
		}
		order, err := shuffle.Keyed(4, o.OrderKey(of))
		if err != nil {
			t.Fatal(err)
		}
		left := []uint32{0, 1, 2, 3}
		for j, v := range order {
			at := slices.Index(left, v)
			out[i] = out[i]*(4-j) + at
			left = slices.Delete(left, at, at+1)
		}
	}
	return out
}

// joint is the chi-squared statistic of independence of two lists of orders: 575 degrees
// of freedom.
func joint(a, b []int) float64 {
	var counts [24][24]float64
	for i := range a {
		counts[a[i]][b[i]]++
	}
	sum := 0.0
	for _, row := range counts {
		for _, c := range row {
			sum += (c - draws/576.0) * (c - draws/576.0) / (draws / 576.0)
		}
	}
	return sum
}

// The orders of two releases of one seed that differ in one thing are independent. Of
// independent orders the statistic is below 760 but for a probability of 10^-6; the order
// of a seed alone, as it once was, comes to 460,000.
func TestOrdersOfOneSeedAreIndependent(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	const most = 760
	base := Ordered{Source: [32]byte{1}, Request: [32]byte{2}, Made: [32]byte{3}, Part: []int{0}}
	first := drawn(t, true, 0, &base)
	for name, change := range streams {
		other := base
		change(&other)
		if chi := joint(first, drawn(t, true, 0, &other)); chi > most {
			t.Errorf("another %s: chi-squared %.0f", name, chi)
		}
	}
	if chi := joint(first, drawn(t, true, 1<<32, &base)); chi > most {
		t.Errorf("another seed: chi-squared %.0f", chi)
	}
	insecure := drawn(t, false, 0, &base)
	if chi := joint(first, insecure); chi > most {
		t.Errorf("another kind of seed: chi-squared %.0f", chi)
	}
	other := base
	streams["request"](&other)
	if chi := joint(insecure, drawn(t, false, 0, &other)); chi > most {
		t.Errorf("another request, a whole number as the seed: chi-squared %.0f", chi)
	}
	if chi := joint(first, first); chi < 100*most {
		t.Errorf("the test does not find equal orders: chi-squared %.0f", chi)
	}
}

// The sum of what was made tells the group of each record, the values of each group and
// the records that are left out.
func TestMadeSum(t *testing.T) {
	columns := func(typ table.Type, texts ...string) []publish.Column {
		b, err := table.NewBuilder(table.Field{Name: "q", Role: table.Quasi, Type: typ}, nil)
		if err != nil {
			t.Fatal(err)
		}
		groups := make([]uint32, len(texts))
		for i, text := range texts {
			groups[i] = uint32(i)
			if err := b.Append([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		out, err := publish.Publish(t.Context(), []*table.Column{b.Column()}, []table.StoredColumn{{Name: "q"}}, groups, len(groups),
			publish.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	seen := map[[32]byte]int{}
	for i, sum := range [][32]byte{
		MadeSum([]uint32{0, 1, 0}, 2, nil, columns(table.Integer, "1", "2")),
		MadeSum([]uint32{0, 1, 1}, 2, nil, columns(table.Integer, "1", "2")),
		MadeSum([]uint32{0, 1, 0}, 2, nil, columns(table.Integer, "1", "3")),
		MadeSum([]uint32{0, 1, 0}, 2, nil, columns(table.Integer, "1", "")),
		MadeSum([]uint32{0, 1, 0}, 2, nil, columns(table.Category, "12", "")),
		MadeSum([]uint32{0, 1, 0}, 2, []bool{false, false, false, true}, columns(table.Integer, "1", "2")),
		MadeSum([]uint32{0, 1, 0}, 2, []bool{false, false, true, false}, columns(table.Integer, "1", "2")),
		MadeSum([]uint32{0, 1, 0}, 2, nil, append(columns(table.Integer, "1", "2"), columns(table.Integer, "1", "2")...)),
		MadeSum(make([]uint32, 3*sumRows), 1, nil, columns(table.Integer, "1")),
		MadeSum(append(make([]uint32, 3*sumRows-1), 1), 1, nil, columns(table.Integer, "1")),
		MadeSum(make([]uint32, 3*sumRows), 1, make([]bool, 3*sumRows), columns(table.Integer, "1")),
	} {
		if was, known := seen[sum]; known {
			t.Errorf("what was made in %d and %d has one sum", was, i)
		}
		seen[sum] = i
	}
}
