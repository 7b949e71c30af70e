package hierarchy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/hierarchy"
)

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		kind  hierarchy.Kind
		value string
		want  string // empty: no row
	}{
		{hierarchy.Month, "2024-02-29", "2024-02|2024-Q1|2024|2020s|*"},
		{hierarchy.Week, "2024-12-30", "2025-W01|2025-W|*"},
		{hierarchy.Week, "2021-01-03", "2020-W53|2020-W|*"},
		{hierarchy.Fiscal, "2024-03-31", "2024-03|FY2023-Q4|FY2023|*"},
		{hierarchy.Fiscal, "2024-04-01", "2024-04|FY2024-Q1|FY2024|*"},
		{hierarchy.Fiscal, "2024-12-31", "2024-12|FY2024-Q3|FY2024|*"},
		{hierarchy.Month, "2024-02-30", ""},
		{hierarchy.Postal, "100-0001", "100-00**|100-****|10*-****|1**-****|*"},
		{hierarchy.Postal, "0640941", "064-09**|064-****|06*-****|0**-****|*"},
		{hierarchy.Postal, "100-001", ""},
		{hierarchy.Municipality, "13101", "131**|13***|Kanto|*"},
		{hierarchy.Municipality, "131016", "131**|13***|Kanto|*"}, // Chiyoda, as published
		{hierarchy.Municipality, "011002", "011**|01***|Hokkaido|*"},
		{hierarchy.Municipality, "271004", "271**|27***|Kinki|*"},
		{hierarchy.Municipality, "131017", ""},
		{hierarchy.Municipality, "48101", ""},
		{hierarchy.ICD10, "E11.9", "E11|E10-E14|chapter E00-E90|*"},
		{hierarchy.ICD10, "C50", "C50|C50|chapter C00-D48|*"},
		{hierarchy.ICD10, "D501", "D50|D50-D53|chapter D50-D89|*"},
		{hierarchy.ICD10, "U07.1", "U07|U00-U49|chapter U00-U85|*"},
		{hierarchy.ICD10, "A10", ""},
		{hierarchy.ICD10, "E11.", ""},
		{hierarchy.ICD10, "e11", ""},
	} {
		p, err := hierarchy.Propose([]string{c.value}, hierarchy.Options{Kind: c.kind})
		got := ""
		if err == nil {
			got = strings.Join(p.Rows[0][1:], "|")
		}
		if got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.kind, c.value, got, c.want)
		}
	}
}

// A group never has the name of a value that has others beside it.
func TestGroupsAreNotValues(t *testing.T) {
	for _, c := range []struct{ values, want []string }{
		{[]string{"E11", "E11.9"}, []string{"E11|E11*|E10-E14|chapter E00-E90|*", "E11.9|E11*|E10-E14|chapter E00-E90|*"}},
		{[]string{"C50", "C50.1"}, []string{"C50|C50*|C50*|chapter C00-D48|*", "C50.1|C50*|C50*|chapter C00-D48|*"}},
		{[]string{"E11", "E12"}, []string{"E11|E11|E10-E14|chapter E00-E90|*", "E12|E12|E10-E14|chapter E00-E90|*"}},
		{[]string{"E11.0", "E11.9"}, []string{"E11.0|E11|E10-E14|chapter E00-E90|*", "E11.9|E11|E10-E14|chapter E00-E90|*"}},
	} {
		p, err := hierarchy.Propose(c.values, hierarchy.Options{Kind: hierarchy.ICD10})
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range p.Rows {
			if got := strings.Join(row, "|"); got != c.want[i] {
				t.Errorf("got %s, want %s", got, c.want[i])
			}
		}
		if _, err := table.NewHierarchy("proposal", p.Rows, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		values, steps []string
		want          string // of the first value
	}{
		{[]string{"34", "0", "99"}, nil, "[30,35)|[30,40)|[0,50)|*"},
		{[]string{"-1", "3"}, nil, "[-5,0)|*"},
		{[]string{"0.31", "0.99", "0"}, nil, "[0.3,0.35)|[0.3,0.4)|[0,0.5)|*"},
		{[]string{"25657", "0", "90000"}, nil, "[25000,30000)|[20000,30000)|[0,50000)|*"},
		{[]string{"34", "99"}, []string{"5", "20"}, "[30,35)|[20,40)|*"},
		{[]string{"0.3"}, []string{"0.1"}, "[0.3,0.4)|*"}, // exact: 0.3/0.1 is 3
	} {
		p, err := hierarchy.Propose(c.values, hierarchy.Options{Kind: hierarchy.Number, Steps: c.steps})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.Rows[0][1:], "|"); got != c.want {
			t.Errorf("%v: got %s, want %s", c.values, got, c.want)
		}
	}
	for _, steps := range [][]string{{"0"}, {"5", "12"}, {"5", "5"}, {"x"}, {"-5"}} {
		if _, err := hierarchy.Propose([]string{"1"}, hierarchy.Options{Kind: hierarchy.Number, Steps: steps}); err == nil {
			t.Errorf("%v: steps were taken", steps)
		}
	}
}

func TestDetected(t *testing.T) {
	for want, values := range map[hierarchy.Kind][]string{
		hierarchy.Number: {"1", "-2.5"}, hierarchy.Month: {"2024-01-01"}, hierarchy.Postal: {"100-0001"},
		hierarchy.ICD10: {"E11.9", "C50"}, hierarchy.Auto: {"flu", "1"},
	} {
		p, err := hierarchy.Propose(values, hierarchy.Options{})
		if want == hierarchy.Auto {
			if err == nil {
				t.Errorf("%v: got %s", values, p.Kind)
			}
		} else if err != nil || p.Kind != want {
			t.Errorf("%v: got %v, %v, want %s", values, p, err, want)
		}
	}
}

// Every proposal is a hierarchy: one parent a name, one root, a row or a missing
// position for every value; and it does not depend on the order of the values.
func TestProposalsAreHierarchies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(hierarchy.Kinds).Draw(t, "kind")
		value := map[hierarchy.Kind]*rapid.Generator[string]{
			hierarchy.Number:       rapid.OneOf(rapid.StringMatching(`-?[0-9]{1,7}`), rapid.StringMatching(`-?[0-9]{1,3}\.[0-9]{1,4}`)),
			hierarchy.Postal:       rapid.StringMatching(`[0-9]{3}-?[0-9]{4}`),
			hierarchy.Municipality: rapid.StringMatching(`[0-4][0-9]{4}`),
			hierarchy.ICD10:        rapid.StringMatching(`[A-Z][0-9]{2}(\.[0-9])?`),
		}[kind]
		if value == nil {
			value = rapid.Custom(func(t *rapid.T) string {
				return table.ISODate.Format(rapid.Int64Range(-40000, 40000).Draw(t, "day"))
			})
		}
		values := rapid.SliceOfNDistinct(value, 1, 60, rapid.ID[string]).Draw(t, "values")
		p, err := hierarchy.Propose(values, hierarchy.Options{Kind: kind})
		if err != nil {
			t.Skip(err)
		}
		if len(p.Rows)+len(p.Missing) != len(values) || len(p.Levels) != len(p.Rows[0]) {
			t.Fatalf("%d rows and %d missing of %d", len(p.Rows), len(p.Missing), len(values))
		}
		if _, err := table.NewHierarchy("proposal", p.Rows, nil); err != nil {
			t.Fatalf("%v: %v", err, p.Rows)
		}
		slices.Reverse(values)
		again, err := hierarchy.Propose(values, hierarchy.Options{Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(again.Rows)
		if fmt.Sprint(again.Rows) != fmt.Sprint(p.Rows) {
			t.Fatal("the order of the values changes the hierarchy")
		}
	})
}

func FuzzPropose(f *testing.F) {
	f.Add("2024-02-29", "E11.9")
	f.Add("1e308", "-0.00001")
	f.Add("100-0001", "131016")
	f.Add("C50", "C50.1")
	f.Fuzz(func(t *testing.T, a, b string) {
		metertest.Hold(t, len(a)+len(b))
		if a == b || a == "" || b == "" {
			return
		}
		for _, kind := range append(slices.Clone(hierarchy.Kinds), hierarchy.Auto) {
			p, err := hierarchy.Propose([]string{a, b}, hierarchy.Options{Kind: kind})
			if err != nil {
				continue
			}
			if _, err := table.NewHierarchy("proposal", p.Rows, nil); err != nil {
				t.Errorf("%s: %v", kind, err)
			}
		}
	})
}

func TestRange(t *testing.T) {
	for _, c := range []struct {
		kind      hierarchy.Kind
		low, high string
		want      int // 0: refused
	}{
		{hierarchy.Number, "0", "120", 121},
		{hierarchy.Number, "-3", "3", 7},
		{hierarchy.Number, "3", "-3", 0},
		{hierarchy.Number, "0", "1000000", 0},
		{hierarchy.Number, "9223372036854775806", "9223372036854775807", 2},
		{hierarchy.Number, "-9223372036854775808", "9223372036854775807", 0},
		{hierarchy.Fiscal, "2024-01-01", "2024-12-31", 366},
		{hierarchy.Month, "2024-01-01", "x", 0},
		{hierarchy.ICD10, "A00", "B99", 0},
	} {
		values, err := hierarchy.Range(c.kind, "", c.low, c.high)
		if (err != nil) != (c.want == 0) || len(values) != c.want {
			t.Errorf("%s %s to %s: %d values, %v", c.kind, c.low, c.high, len(values), err)
		}
	}
}
