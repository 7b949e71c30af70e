package correlated

import (
	"reflect"
	"testing"

	"github.com/noren-privacy/noren/table"
)

func textColumn(t *testing.T, values ...string) *table.Column {
	t.Helper()
	b, err := table.NewBuilder(table.Field{Name: "state", Type: table.Category}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if v == "" {
			b.AppendMissing()
		} else if err := b.Append([]byte(v)); err != nil {
			t.Fatal(err)
		}
	}
	return b.Column()
}

func TestReadStates(t *testing.T) {
	columns := []*table.Column{textColumn(t, "on", "off", ""), textColumn(t, "off", "broken", "on")}
	for _, c := range []struct {
		names, used []string
		want        [][]int
	}{
		{nil, []string{"broken", "off", "on"}, [][]int{{2, 1, -1}, {1, 0, 2}}},
		{[]string{"off", "on"}, []string{"off", "on"}, [][]int{{1, 0, -1}, {0, -1, 1}}},
		{[]string{"never"}, []string{"never"}, [][]int{{-1, -1, -1}, {-1, -1, -1}}},
	} {
		states, used := ReadStates(columns, c.names)
		if !reflect.DeepEqual(states, c.want) || !reflect.DeepEqual(used, c.used) {
			t.Errorf("names %q: %v of %q, want %v of %q", c.names, states, used, c.want, c.used)
		}
	}
}

func TestSequences(t *testing.T) {
	states := []int{0, 1, 2, 3, 4, 5}
	for _, c := range []struct {
		by   []string
		want [][]int
	}{
		{nil, [][]int{{0, 1, 2, 3, 4, 5}}},
		{[]string{"a", "a", "b", "b", "b", "b"}, [][]int{{0, 1}, {2, 3, 4, 5}}},
		{[]string{"a", "b", "a", "a", "c", "c"}, [][]int{{0}, {1}, {2, 3}, {4, 5}}},
		{[]string{"", "", "a", "", "", "a"}, [][]int{{0, 1}, {2}, {3, 4}, {5}}},
	} {
		var by *table.Column
		if c.by != nil {
			by = textColumn(t, c.by...)
		}
		if got := Sequences(states, by); !reflect.DeepEqual(got, c.want) {
			t.Errorf("by %q: %v, want %v", c.by, got, c.want)
		}
	}
}

func TestSamples(t *testing.T) {
	if got, want := Samples([][]int{{1, 2, 3}, {4, 5, 6}}, 3), [][]int{{1, 4}, {2, 5}, {3, 6}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
