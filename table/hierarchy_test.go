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
		{"two roots", [][]string{{"a", "x"}, {"b", "y"}}, nil, "h: the last level has 2 names, expected one root"},
	} {
		_, err := NewHierarchy("h", c.rows, c.lines)
		if noren.KindOf(err) != noren.BadData || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
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
