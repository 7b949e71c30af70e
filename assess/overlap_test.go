package assess_test

import (
	"context"
	"slices"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/table"
)

func TestOverlap(t *testing.T) {
	now := assess.Placed{Who: []string{"a", "b", "c", "d", "e", ""}, Class: []uint32{0, 0, 0, 1, 1, 1}}
	before := assess.Placed{Who: []string{"a", "b", "d", "c", "z"}, Class: []uint32{5, 5, 5, 6, 6}}
	// a and b are together in both; c is alone, d is alone; e and z are in one.
	o, err := assess.NewOverlap(context.Background(), now, before, 2)
	if err != nil || o.Common != 4 || o.Min != 1 || o.Below != 2 || o.Alone != 2 || o.Mean != 1.5 {
		t.Errorf("%+v, %v", o, err)
	}
	// Of a person with several records those count that leave fewest.
	now.Who[5] = "c"
	o, _ = assess.NewOverlap(context.Background(), now, assess.Placed{Who: []string{"a", "b", "c", "d"}, Class: []uint32{0, 0, 0, 0}}, 3)
	if o.Common != 4 || o.Min != 2 || o.Below != 2 {
		t.Errorf("%+v: c is with a and b by one record, with d by the other", o)
	}
}

func textTable(t *testing.T, name string, texts ...string) *table.Table {
	t.Helper()
	return tableOf(column(t, table.Field{Name: name, Type: table.Category}, texts...))
}

func TestPairRows(t *testing.T) {
	source := textTable(t, "x", "1", "2", "3", "1")
	if row, err := assess.PairRows(source, textTable(t, "x", "1", "2", "3", "1")); err != nil || !slices.Equal(row, []uint32{0, 1, 2, 3}) {
		t.Errorf("same order: %v, %v", row, err)
	}
	different := textTable(t, "x", "1", "2", "3")
	if row, err := assess.PairRows(different, textTable(t, "x", "3", "1", "2")); err != nil || !slices.Equal(row, []uint32{1, 2, 0}) {
		t.Errorf("another order: %v, %v", row, err)
	}
	for name, release := range map[string]*table.Table{
		"equal values in another order": textTable(t, "x", "2", "1", "3", "1"),
		"other records":                 textTable(t, "x", "1", "2", "3", "4"),
		"fewer":                         textTable(t, "x", "1"),
		"nothing kept":                  {Rows: 4},
	} {
		if _, err := assess.PairRows(source, release); noren.KindOf(err) != noren.BadData {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A column that is the same everywhere does not show the order.
	if _, err := assess.PairRows(textTable(t, "x", "1", "1"), textTable(t, "x", "1", "1")); err == nil {
		t.Error("rows were paired by a column of one value")
	}
}

func TestIdentities(t *testing.T) {
	a := tableOf(column(t, table.Field{Name: "x", Type: table.Category}, "1", "1", ""),
		column(t, table.Field{Name: "y", Type: table.Category}, "p", "p", "q"))
	b := textTable(t, "x", "1", "", "2", "1")
	first, second := assess.Identities(a, b)
	if first[0] != second[0] || first[1] != second[3] || first[2] != second[1] || slices.Contains(first, second[2]) || first[0] == first[1] {
		t.Errorf("%q and %q", first, second)
	}
}
