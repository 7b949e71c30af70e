package publish_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// drawn is a column drawn at random, as its texts, and the groups of its
// records.
type drawn struct {
	field  table.Field
	texts  []string
	group  []uint32
	groups int
}

var letters = []string{"a", "b", "c", "d", "e"}

func draw(t *rapid.T, types ...table.Type) drawn {
	d := drawn{field: table.Field{Name: "x", Type: rapid.SampledFrom(types).Draw(t, "type")}}
	f := &d.field
	switch {
	case f.Type == table.Ordered:
		f.Levels = []string{"c", "a", "e", "b", "d"}
	case f.Type == table.Category && rapid.Bool().Draw(t, "hierarchy"):
		h, err := table.NewHierarchy("h", [][]string{{"a", "ab", "*"}, {"b", "ab", "*"}, {"c", "cde", "*"}, {"d", "cde", "*"}, {"e", "cde", "*"}},
			nil)
		if err != nil {
			t.Fatal(err)
		}
		f.Hierarchy = h
	case f.Type.IsNumber() && rapid.Bool().Draw(t, "rounded"):
		f.Round = round(rapid.IntRange(-3, 3).Draw(t, "round"))
	}
	d.groups = rapid.IntRange(1, 5).Draw(t, "groups")
	for g := range d.groups {
		for range rapid.IntRange(1, 6).Draw(t, "size") {
			d.group = append(d.group, uint32(g))
			d.texts = append(d.texts, drawText(t, f.Type))
		}
	}
	return d
}

func drawText(t *rapid.T, typ table.Type) string {
	if rapid.IntRange(0, 4).Draw(t, "missing") == 0 {
		return rapid.SampledFrom([]string{"", "NA"}).Draw(t, "as")
	}
	switch typ {
	case table.Integer:
		return strconv.FormatInt(rapid.OneOf(rapid.Int64Range(-30, 30), rapid.Int64()).Draw(t, "v"), 10)
	case table.Decimal:
		return strconv.FormatFloat(rapid.OneOf(rapid.Float64Range(-3, 3), rapid.Float64Range(-1e307, 1e307)).Draw(t, "v"), 'g',
			rapid.SampledFrom([]int{2, 6, -1}).Draw(t, "digits"), 64)
	case table.Date:
		return table.ISODate.Format(rapid.Int64Range(-719000, 2932000).Draw(t, "v"))
	}
	return rapid.SampledFrom(letters).Draw(t, "v")
}

func (d *drawn) publish(t *rapid.T, mode publish.Mode) []string {
	all := make([]uint32, d.groups)
	for g := range all {
		all[g] = uint32(g)
	}
	return shown(publishOne(t, column(t, d.field, d.texts...), d.group, d.groups, mode), all...)
}

// present are the texts of a group's records that have a value.
func (d *drawn) present(group int) []string {
	var out []string
	for i, text := range d.texts {
		if d.group[i] == uint32(group) && text != "" && text != "NA" {
			out = append(out, text)
		}
	}
	return out
}

func drawMode(t *rapid.T) publish.Mode {
	return rapid.SampledFrom([]publish.Mode{publish.Aggregate, publish.Generalize, publish.Shares}).Draw(t, "mode")
}

// The order of the records says nothing, and neither does the number of a
// group.
func TestOrderSaysNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, table.Category, table.Ordered, table.Integer, table.Decimal, table.Date)
		mode := drawMode(t)
		before := d.publish(t, mode)
		order := rapid.Permutation(indices(len(d.texts))).Draw(t, "order")
		number := rapid.Permutation(indices(d.groups)).Draw(t, "numbers")
		other := drawn{field: d.field, groups: d.groups}
		for _, i := range order {
			other.texts = append(other.texts, d.texts[i])
			other.group = append(other.group, uint32(number[d.group[i]]))
		}
		after := other.publish(t, mode)
		for g, text := range before {
			if after[number[g]] != text {
				t.Fatalf("%s %s: group %d shows %s, and in another order %s", d.field.Type, mode, g, text, after[number[g]])
			}
		}
	})
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Filling by records shows the same for all of a group.
func TestRecordsOfAGroupShowTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, table.Category, table.Ordered, table.Integer, table.Decimal, table.Date)
		mode := drawMode(t)
		c := column(t, d.field, d.texts...)
		// As it goes out of a text file, and as of a typed one.
		typed := table.StoredColumn{Name: "x", Nullable: rapid.Bool().Draw(t, "nullable")}
		switch d.field.Type {
		case table.Integer, table.Date:
			typed.Kind, typed.Proposed = table.Int, &d.field.Type
		case table.Decimal:
			typed.Kind, typed.Proposed = table.Float, &d.field.Type
		}
		out, err := publish.Publish(context.Background(), []*table.Column{c, c}, []table.StoredColumn{{Name: "x"}, typed}, d.group, d.groups,
			publish.Options{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		for i := range out {
			by := map[uint32]string{}
			for at, text := range shown(&out[i], d.group...) {
				g := d.group[at]
				if was, known := by[g]; known && was != text {
					t.Fatalf("%s %s: group %d shows %s and %s", d.field.Type, mode, g, was, text)
				}
				by[g] = text
				missing := text == "" || text == "<null>"
				if missing != (len(d.present(int(g))) == 0) {
					t.Fatalf("group %d shows %q and has %d values", g, text, len(d.present(int(g))))
				}
			}
		}
	})
}

// A naive way to the published category: counts in maps.
func TestCategories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, table.Category, table.Ordered)
		whole := map[string]int{}
		for g := range d.groups {
			for _, text := range d.present(g) {
				whole[text]++
			}
		}
		for g, got := range d.publish(t, publish.Aggregate) {
			present := d.present(g)
			if len(present) == 0 {
				continue
			}
			if !slices.Contains(present, got) {
				t.Fatalf("group %d shows %q, which does not occur in %v", g, got, present)
			}
			if d.field.Type == table.Ordered {
				slices.SortFunc(present, func(a, b string) int {
					return slices.Index(d.field.Levels, a) - slices.Index(d.field.Levels, b)
				})
				if want := present[(len(present)-1)/2]; got != want {
					t.Fatalf("%v: got %s, want the lower median %s", present, got, want)
				}
				continue
			}
			counts := map[string]int{}
			for _, text := range present {
				counts[text]++
			}
			want := slices.MinFunc(letters, func(a, b string) int {
				if counts[a] != counts[b] {
					return counts[b] - counts[a]
				}
				if whole[a] != whole[b] {
					return whole[b] - whole[a]
				}
				return strings.Compare(a, b)
			})
			if got != want {
				t.Fatalf("%v: got %s, want %s", present, got, want)
			}
		}
	})
}

// A naive way to what categories are generalised to.
func TestCategoriesGeneralised(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, table.Category)
		for g, got := range d.publish(t, publish.Generalize) {
			present := d.present(g)
			if len(present) == 0 {
				continue
			}
			slices.Sort(present)
			present = slices.Compact(present)
			want := "{" + strings.Join(present, ", ") + "}"
			all := strings.Join(present, "")
			switch {
			case len(present) == 1:
				want = present[0]
			case d.field.Hierarchy != nil && all == "ab":
				want = "ab"
			case d.field.Hierarchy != nil && !strings.ContainsAny(all, "ab"):
				want = "cde"
			case d.field.Hierarchy != nil:
				want = "*"
			}
			if got != want {
				t.Fatalf("%v: got %s, want %s", present, got, want)
			}
		}
	})
}

func rat(t *rapid.T, f *table.Field, text string) *big.Rat {
	t.Helper()
	if f.Type == table.Date {
		v, err := f.Layout.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return new(big.Rat).SetInt64(v)
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return r
}

// A mean lies within its group up to its rounding.
func TestMeansLieWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, table.Integer, table.Decimal, table.Date)
		for g, got := range d.publish(t, publish.Aggregate) {
			present := d.present(g)
			if len(present) == 0 {
				continue
			}
			var lo, hi *big.Rat
			for _, text := range present {
				v := rat(t, &d.field, text)
				if lo == nil || v.Cmp(lo) < 0 {
					lo = v
				}
				if hi == nil || v.Cmp(hi) > 0 {
					hi = v
				}
			}
			// Half a unit of the last place, and what 64-bit floating point
			// may have taken off a decimal.
			slack := big.NewRat(1, 2)
			if _, fraction, ok := strings.Cut(got, "."); ok {
				slack.SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(fraction))), nil))
				slack.Mul(slack, big.NewRat(1, 2))
			} else if d.field.Round != nil && *d.field.Round < 0 {
				slack.SetFrac(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-*d.field.Round)), nil), big.NewInt(2))
			}
			if d.field.Type == table.Decimal {
				off := new(big.Rat).Abs(lo)
				if h := new(big.Rat).Abs(hi); h.Cmp(off) > 0 {
					off = h
				}
				slack.Add(slack, off.Mul(off, big.NewRat(1, 1<<53)))
				slack.Add(slack, new(big.Rat).SetFloat64(math.SmallestNonzeroFloat64))
			}
			v := rat(t, &d.field, got)
			if v.Cmp(new(big.Rat).Sub(lo, slack)) < 0 || v.Cmp(new(big.Rat).Add(hi, slack)) > 0 {
				t.Fatalf("%v, round %v: %s is outside", present, d.field.Round, got)
			}
		}
	})
}

// A range contains all its values, and reads back as such; unrounded its ends
// are values.
func TestRangesContainAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, table.Integer, table.Decimal, table.Date)
		for g, got := range d.publish(t, publish.Generalize) {
			present := d.present(g)
			if len(present) == 0 {
				continue
			}
			lo, hi, isRange, ok := publish.ParseRange(got, &d.field)
			if !ok || !isRange && lo != hi {
				t.Fatalf("%s does not read back", got)
			}
			var values []float64
			for _, text := range present {
				v, _, _, ok := publish.ParseRange(text, &d.field)
				if !ok {
					t.Fatalf("%s does not read", text)
				}
				values = append(values, v)
				if v < lo || v > hi {
					t.Fatalf("%s does not contain %s", got, text)
				}
			}
			if d.field.Round == nil && (lo != slices.Min(values) || hi != slices.Max(values)) {
				t.Fatalf("%s is wider than %v", got, present)
			}
			if d.field.Round != nil && d.field.Type != table.Integer {
				unit := big.NewRat(1, 1)
				for range max(*d.field.Round, 0) {
					unit.Mul(unit, big.NewRat(1, 10))
				}
				if d.field.Type == table.Decimal && rat(t, &d.field, strings.Trim(first(got), "[")).Denom().Cmp(unit.Denom()) > 0 {
					t.Fatalf("%s has more places than %d", got, *d.field.Round)
				}
			}
		}
	})
}

// first is the part of a range before the hyphen between its ends.
func first(text string) string {
	if !strings.HasPrefix(text, "[") {
		return text
	}
	return text[:2+strings.IndexByte(text[2:], '-')]
}

// Several columns at a time are published as each alone.
func TestColumnsAreIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mode := drawMode(t)
		d := draw(t, table.Category, table.Integer, table.Decimal, table.Ordered)
		var columns []*table.Column
		var storedAs []table.StoredColumn
		var want [][]string
		for i := range rapid.IntRange(1, 6).Draw(t, "columns") {
			other := draw(t, table.Category, table.Integer, table.Decimal, table.Ordered)
			d.field, d.field.Name, d.texts = other.field, fmt.Sprint(i), nil
			for range d.group {
				d.texts = append(d.texts, drawText(t, d.field.Type))
			}
			want = append(want, d.publish(t, mode))
			columns = append(columns, column(t, d.field, d.texts...))
			storedAs = append(storedAs, table.StoredColumn{Name: d.field.Name})
		}
		out, err := publish.Publish(context.Background(), columns, storedAs, d.group, d.groups, publish.Options{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		var got [][]string
		for i := range out {
			var all []uint32
			for g := range d.groups {
				all = append(all, uint32(g))
			}
			got = append(got, shown(&out[i], all...))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}
