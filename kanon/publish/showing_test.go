package publish_test

import (
	"testing"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

func TestShowing(t *testing.T) {
	number := table.Field{Type: table.Integer, Role: table.Quasi}
	decimal := table.Field{Type: table.Decimal, Role: table.Quasi}
	for _, c := range []struct {
		name    string
		field   table.Field
		texts   []string
		missing []string
		numeric bool
		want    int
	}{
		{"a mean that is a token", number, []string{"-10", "-8", "3", "5"}, []string{"-9"}, true, 1},
		{"two of them", number, []string{"-10", "-8", "3", "5"}, []string{"-9", "4"}, true, 2},
		{"no mean is", number, []string{"-10", "-8", "3", "5"}, []string{"-8", "NA"}, true, 0},
		{"no tokens", number, []string{"-10", "-8", "3", "5"}, nil, true, 0},
		{"the empty text is none", number, []string{"", "", "3", "5"}, []string{""}, true, 0},
		{"what is missing is not shown as a value", number, []string{"NA", "NA", "3", "5"}, []string{"NA"}, true, 0},
		{"written otherwise", decimal, []string{"-10.01", "-7.99", "3.00", "5.00"}, []string{"-9"}, true, 1},
		{"written otherwise, as a text", decimal, []string{"-10.01", "-7.99", "3.00", "5.00"}, []string{"-9"}, false, 0},
		{
			"a most frequent category",
			table.Field{Type: table.Category, Role: table.Quasi},
			[]string{"-9", "-9", "a", "b"},
			[]string{"-9"},
			false,
			1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := publishOne(t, column(t, c.field, c.texts...), []uint32{0, 0, 1, 1}, 2, publish.Aggregate)
			if got := out.Showing(c.missing, c.numeric); got != c.want {
				t.Errorf("%d, want %d: %q", got, c.want, shown(out, 0, 1))
			}
		})
	}
}
