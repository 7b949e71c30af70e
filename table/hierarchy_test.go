package table

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
)

var diseases = [][]string{
	{"flu", "infection", "*"},
	{"measles", "infection", "*"},
	{"asthma", "lung", "*"},
	{"bronchitis", "lung", "*"},
}

func TestHierarchy(t *testing.T) {
	h, err := NewHierarchy("diseases.csv", diseases, nil)
	if err != nil {
		t.Fatal(err)
	}
	if h.Name() != "diseases.csv" || h.Levels() != 3 || h.Leaves() != 4 || h.Size(0) != 4 || h.Size(1) != 2 || h.Size(2) != 1 {
		t.Errorf("%s has %d levels and %d leaves", h.Name(), h.Levels(), h.Leaves())
	}
	leaves := func(words ...string) []uint32 {
		var at []uint32
		for _, w := range words {
			leaf, ok := h.Leaf(w)
			if !ok {
				t.Fatalf("no leaf %s", w)
			}
			at = append(at, leaf)
		}
		return at
	}
	for _, c := range []struct {
		words []string
		level int
		name  string
	}{
		{[]string{"flu"}, 0, "flu"},
		{[]string{"flu", "flu"}, 0, "flu"},
		{[]string{"flu", "measles"}, 1, "infection"},
		{[]string{"asthma", "bronchitis"}, 1, "lung"},
		{[]string{"flu", "asthma"}, 2, "*"},
	} {
		level, node := h.Common(leaves(c.words...))
		if level != c.level || h.NameAt(level, node) != c.name {
			t.Errorf("%v: got %s on level %d, want %s on %d", c.words, h.NameAt(level, node), level, c.name, c.level)
		}
	}
	if _, ok := h.Leaf("infection"); ok {
		t.Error("a group is no leaf")
	}
}

func TestHierarchyRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		rows  [][]string
		lines []int64
		want  string
	}{
		{"empty", nil, nil, "h: the hierarchy is empty"},
		{"one level", [][]string{{"a"}}, nil, "h: line 1, column 1: a hierarchy line needs"},
		{"another number of levels", [][]string{{"a", "x", "*"}, {"b", "*"}}, nil, "h: line 2, column 2: expected 3 levels"},
		{"no name", [][]string{{"a", "*"}, {"", "*"}}, []int64{4, 9}, "h: line 9, column 1: a level has no name"},
		{"a leaf twice", [][]string{{"a", "*"}, {"b", "*"}, {"a", "*"}}, nil, "h: line 3, column 1: this value has a line already"},
		{"two parents", [][]string{{"a", "x", "y", "*"}, {"b", "x", "z", "*"}}, nil, "h: line 2, column 3: this name has another parent"},
		{
			"a value and a group",
			[][]string{{"A", "B", "*"}, {"x", "A", "*"}, {"y", "A", "*"}},
			nil,
			"h: line 2, column 2: this name stands on line 1, column 1 too",
		},
		{
			"a value and its group",
			[][]string{{"A", "A", "*"}, {"x", "A", "*"}},
			[]int64{3, 8},
			"h: line 3, column 2: this name stands on line 3, column 1 too",
		},
		{
			"a group and the group above",
			[][]string{{"a", "N", "N", "*"}, {"b", "x", "N", "*"}, {"c", "y", "M", "*"}},
			nil,
			"h: line 1, column 3: this name stands on line 1, column 2 too",
		},
		{
			"two groups of one size",
			[][]string{{"a", "N", "x", "*"}, {"b", "N", "x", "*"}, {"c", "z", "N", "*"}, {"d", "w", "N", "*"}},
			nil,
			"h: line 3, column 3: this name stands on line 1, column 2 too",
		},
		{
			"the root is a value",
			[][]string{{"a", "g", "*"}, {"*", "g", "*"}},
			nil,
			"h: line 1, column 3: this name stands on line 2, column 1 too",
		},
		{
			"levels that are not neighbours",
			[][]string{{"a", "x", "u", "a", "*"}, {"b", "y", "v", "a", "*"}, {"c", "z", "w", "t", "*"}},
			nil,
			"h: line 1, column 4: this name stands on line 1, column 1 too",
		},
		{"two roots", [][]string{{"a", "x"}, {"b", "y"}}, nil, "h: the last level has 2 names, expected one root"},
	} {
		_, err := NewHierarchy("h", c.rows, c.lines)
		if noren.KindOf(err) != noren.BadData || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// A name at several levels is harmless where the same leaves lie below it.
func TestHierarchyRepeatsNames(t *testing.T) {
	for _, rows := range [][][]string{
		{{"a", "a", "*"}, {"b", "b", "*"}},
		{{"a", "g", "g", "*"}, {"b", "g", "g", "*"}, {"c", "c", "h", "*"}, {"d", "e", "h", "*"}},
		{{"a", "x", "a", "*"}, {"b", "y", "b", "*"}},
		{{"a", "*", "*"}, {"b", "*", "*"}},
		{{"*", "*"}},
	} {
		if _, err := NewHierarchy("h", rows, nil); err != nil {
			t.Errorf("%v: %v", rows, err)
		}
	}
}

// The sets of leaves of every name, by brute force: accepted where each name has one.
func TestHierarchyNamesHaveOneMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "leaves")
		name := rapid.SampledFrom([]string{"a", "b", "c", "d", "*"})
		rows := make([][]string, n)
		for i := range rows {
			rows[i] = []string{name.Draw(t, "leaf"), name.Draw(t, "group"), name.Draw(t, "region"), "*"}
		}
		if _, err := NewHierarchy("h", rows, nil); err != nil && !strings.Contains(err.Error(), "with other values below it") {
			t.Skip("no hierarchy for another reason")
		} else {
			one, meaning := true, map[string]string{}
			for level := range 4 {
				below := map[string]string{}
				for i, row := range rows {
					below[row[level]] += fmt.Sprint(i, ",")
				}
				for name, set := range below {
					one = one && (meaning[name] == "" || meaning[name] == set)
					meaning[name] = set
				}
			}
			if one != (err == nil) {
				t.Fatalf("%v: %v, and each name has one meaning: %v", rows, err, one)
			}
		}
	})
}

// The common ancestor holds all leaves, and no node of a lower level does.
func TestHierarchyCommon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "leaves")
		var rows [][]string
		for i := range n {
			rows = append(rows, []string{fmt.Sprint("l", i), fmt.Sprint("a", i/2), fmt.Sprint("b", i/6), "*"})
		}
		h, err := NewHierarchy("h", rows, nil)
		if err != nil {
			t.Fatal(err)
		}
		leaves := rapid.SliceOfN(rapid.Uint32Range(0, uint32(n-1)), 1, 5).Draw(t, "chosen")
		level, node := h.Common(leaves)
		apart := level == 0
		for _, leaf := range leaves {
			if h.Ancestor(leaf, level) != node {
				t.Fatalf("leaf %d is not below", leaf)
			}
			apart = apart || h.Ancestor(leaf, level-1) != h.Ancestor(leaves[0], level-1)
		}
		if !apart {
			t.Fatalf("a lower node than that of level %d holds all", level)
		}
	})
}
