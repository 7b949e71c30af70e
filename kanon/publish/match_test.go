package publish_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// people are n records in groups of size records near each other: an age, a job
// that goes with it, and a town, some of them missing.
func people(t fataler, n, size int, seed uint64) (cols []*table.Column, group []uint32, groups int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	ages := make([]int, n)
	for i := range ages {
		ages[i] = 18 + rng.IntN(50)
	}
	slices.Sort(ages)
	var age, job, town, day []string
	for i, a := range ages {
		age = append(age, strconv.Itoa(a))
		job = append(job, []string{"apprentice", "clerk", "nurse", "pensioner", "NA"}[min(4, rng.IntN(2)+(a-18)/16)])
		town = append(town, []string{"A", "B", "C"}[rng.IntN(3)*rng.IntN(2)])
		day = append(day, table.ISODate.Format(int64(19000+a*3+rng.IntN(30))))
		group = append(group, uint32(i/size))
	}
	groups = (n + size - 1) / size
	return []*table.Column{
		column(t, table.Field{Name: "age", Type: table.Integer}, age...), column(t, table.Field{Name: "job", Type: table.Category}, job...),
		column(t, table.Field{Name: "town", Type: table.Category}, town...), column(t, table.Field{Name: "day", Type: table.Date}, day...),
	}, group, groups
}

func textColumns(cols []*table.Column) []table.StoredColumn {
	var out []table.StoredColumn
	for _, c := range cols {
		out = append(out, table.StoredColumn{Name: c.Field.Name})
	}
	return out
}

func published(t fataler, cols []*table.Column, group []uint32, groups int, o publish.Options) [][]string {
	t.Helper()
	out, err := publish.Publish(context.Background(), cols, textColumns(cols), group, groups, o)
	if err != nil {
		t.Fatalf("%v", err)
	}
	all := make([]uint32, groups)
	for g := range all {
		all[g] = uint32(g)
	}
	var by [][]string
	for j := range out {
		by = append(by, shown(&out[j], all...))
	}
	return by
}

func textOf(c *table.Column, i int) string {
	if c.Field.Type == table.Category {
		return c.Dict[c.Codes[i]]
	}
	if c.Field.Type == table.Date {
		return table.ISODate.Format(c.Ints[i])
	}
	return strconv.FormatInt(c.Ints[i], 10)
}

// Every value comes from its group, column by column: a category occurs in it, a
// number lies within its range; it is missing where all of the group's are.
func TestMatchedValuesAreOfTheirGroup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 700).Draw(t, "records")
		cols, group, groups := people(t, n, rapid.IntRange(1, 7).Draw(t, "size"), rapid.Uint64().Draw(t, "seed"))
		by := published(t, cols, group, groups, publish.Options{Mode: publish.Matched, Seed: rapid.Uint64().Draw(t, "order")})
		for j, c := range cols {
			for g := range groups {
				lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
				own := map[string]bool{}
				for i, of := range group {
					if int(of) == g && !c.IsMissing(i) {
						own[textOf(c, i)] = true
						if c.Ints != nil {
							lo, hi = min(lo, c.Ints[i]), max(hi, c.Ints[i])
						}
					}
				}
				got := by[j][g]
				switch {
				case len(own) == 0:
					if got != "" {
						t.Fatalf("group %d has no %s and shows %q", g, c.Field.Name, got)
					}
				case c.Field.Type == table.Category:
					if !own[got] {
						t.Fatalf("group %d shows %s %q and has %v", g, c.Field.Name, got, own)
					}
				default:
					s, ok := publish.ParseSpan(got, &c.Field)
					if !ok || s.Lo < float64(lo) || s.Lo > float64(hi) {
						t.Fatalf("group %d shows %s %q, outside %d to %d", g, c.Field.Name, got, lo, hi)
					}
				}
			}
		}
	})
}

// counts are the records by a job and a decade of age; weights says which record
// shows what.
func cross(jobs, ages []string) map[string]float64 {
	out := map[string]float64{}
	for i := range jobs {
		age, _ := strconv.Atoi(ages[i])
		out[jobs[i]+"/"+strconv.Itoa(age/10)]++
		out[jobs[i]]++
	}
	return out
}

// Counts over one and two columns are nearer to the original's than those of means
// and modes.
func TestMatchedCountsAreNear(t *testing.T) {
	cols, group, groups := people(t, 6000, 10, 3)
	var jobs, ages []string
	for i := range group {
		job := ""
		if !cols[1].IsMissing(i) {
			job = textOf(cols[1], i)
		}
		jobs, ages = append(jobs, job), append(ages, textOf(cols[0], i))
	}
	want := cross(jobs, ages)
	miss := func(mode publish.Mode) float64 {
		by := published(t, cols, group, groups, publish.Options{Mode: mode})
		var jobs, ages []string
		for _, g := range group {
			jobs, ages = append(jobs, by[1][g]), append(ages, by[0][g])
		}
		got, sum := cross(jobs, ages), 0.0
		for key, n := range want {
			sum += math.Abs(got[key]-n) / n
		}
		return sum / float64(len(want))
	}
	matched, aggregated := miss(publish.Matched), miss(publish.Aggregate)
	if !(matched < aggregated/2) {
		t.Errorf("counts are off by %.3f, and by %.3f with modes: want half at most", matched, aggregated)
	}
}

// With fewer than a hundred groups numbers are plain means.
func TestMatchedMeansOfFewGroups(t *testing.T) {
	cols, group, groups := people(t, 700, 10, 5)
	matched := published(t, cols, group, groups, publish.Options{Mode: publish.Matched})
	means := published(t, cols, group, groups, publish.Options{Mode: publish.Aggregate})
	if !slices.Equal(matched[0], means[0]) || !slices.Equal(matched[3], means[3]) {
		t.Error("70 groups show other numbers than their means")
	}
	cols, group, groups = people(t, 2000, 10, 5)
	matched = published(t, cols, group, groups, publish.Options{Mode: publish.Matched})
	means = published(t, cols, group, groups, publish.Options{Mode: publish.Aggregate})
	if slices.Equal(matched[3], means[3]) {
		t.Error("200 groups show their means")
	}
}

// What groups show does not depend on the order of the records nor on their
// numbers, where no two groups have the same values.
func TestMatchedIgnoresTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cols, group, groups := people(t, rapid.IntRange(50, 1200).Draw(t, "records"), 8, rapid.Uint64().Draw(t, "seed"))
		before := published(t, cols, group, groups, publish.Options{Mode: publish.Matched})
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 2))
		number, order := rng.Perm(groups), make([]uint32, len(group))
		for i, at := range rng.Perm(len(group)) {
			order[i] = uint32(at)
		}
		var other []*table.Column
		for _, c := range cols {
			other = append(other, c.Select(order))
		}
		renumbered := make([]uint32, len(group))
		content := map[string]int{}
		for i, at := range order {
			renumbered[i] = uint32(number[group[at]])
		}
		for g := range groups {
			key := []string{}
			for i, of := range group {
				if int(of) == g {
					key = append(key, recordText(cols, i))
				}
			}
			slices.Sort(key)
			content[textsJoined(key)]++
		}
		for _, n := range content {
			if n > 1 {
				t.Skip("two groups have the same values")
			}
		}
		after := published(t, other, renumbered, groups, publish.Options{Mode: publish.Matched})
		for j := range cols {
			for g := range groups {
				if before[j][g] != after[j][number[g]] {
					t.Fatalf("column %s, group %d: %q, and in another order %q", cols[j].Field.Name, g, before[j][g], after[j][number[g]])
				}
			}
		}
	})
}

func recordText(cols []*table.Column, i int) string {
	out := ""
	for _, c := range cols {
		if c.IsMissing(i) {
			out += "|"
			continue
		}
		out += textOf(c, i) + "|"
	}
	return out
}

func textsJoined(all []string) string {
	out := ""
	for _, s := range all {
		out += s + "\n"
	}
	return out
}

// Pieces of the groups give what the whole gives.
func TestMatchedByPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cols, group, groups := people(t, rapid.IntRange(10, 1500).Draw(t, "records"), 6, rapid.Uint64().Draw(t, "seed"))
		o := publish.Options{Mode: publish.Matched, Seed: 9}
		want := published(t, cols, group, groups, o)
		plan, err := publish.NewPlan(cols, textColumns(cols), o)
		if err != nil {
			t.Fatal(err)
		}
		run := rapid.IntRange(1, 500).Draw(t, "run")
		piece := func(from, to int) []*table.Column {
			ids := make([]uint32, 0, to-from)
			for i := from; i < to; i++ {
				ids = append(ids, uint32(i))
			}
			var out []*table.Column
			for _, c := range cols {
				out = append(out, c.Select(ids))
			}
			return out
		}
		look := func() {
			for from := 0; from < len(group); from += run {
				plan.Look(piece(from, min(len(group), from+run)))
			}
		}
		look()
		if plan.Twice() {
			plan.Again()
			look()
		}
		var out []publish.Column
		for from := 0; from < len(group); {
			to := from + 1
			upTo := group[from] + uint32(rapid.IntRange(0, 40).Draw(t, "groups"))
			for to < len(group) && group[to] <= upTo {
				to++
			}
			inner := make([]uint32, 0, to-from)
			for _, g := range group[from:to] {
				inner = append(inner, g-group[from])
			}
			more, err := plan.Groups(context.Background(), piece(from, to), inner, int(group[to-1]-group[from])+1)
			if err != nil {
				t.Fatal(err)
			}
			out = publish.Append(out, more)
			from = to
		}
		if err := plan.Finish(context.Background(), out, group); err != nil {
			t.Fatal(err)
		}
		all := make([]uint32, groups)
		for g := range all {
			all[g] = uint32(g)
		}
		for j := range out {
			if got := shown(&out[j], all...); !slices.Equal(got, want[j]) {
				t.Fatalf("column %s: %q, want %q", cols[j].Field.Name, got, want[j])
			}
		}
	})
}

// A category of many values goes with the others too.
func TestMatchedManyValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const n = 6000
	var a, b []string
	group := make([]uint32, n)
	for i := range group {
		v := rng.IntN(1500)
		a, b = append(a, "v"+strconv.Itoa(v)), append(b, strconv.Itoa(v/100))
		group[i] = uint32(i / 5)
	}
	cols := []*table.Column{
		column(t, table.Field{Name: "a", Type: table.Category}, a...),
		column(t, table.Field{Name: "b", Type: table.Category}, b...),
	}
	by := published(t, cols, group, n/5, publish.Options{Mode: publish.Matched})
	want, got := map[string]float64{}, map[string]float64{}
	for i, g := range group {
		want[b[i]]++
		got[by[1][g]]++
	}
	for v, m := range want {
		if math.Abs(got[v]-m) > .1*m {
			t.Errorf("value %s: %g records, want %g", v, got[v], m)
		}
	}
}
