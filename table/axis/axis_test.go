package axis_test

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table/axis"
)

func TestParseScales(t *testing.T) {
	scales, err := axis.ParseScales("s.csv", [][]string{{"column", "low", "high", "scale"}, {"x", "0", "10", "2"}, {"y", "-1", "1", "0.5"}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := scales["y"], (axis.Scale{Low: -1, High: 1, Unit: 0.5, Bounded: true}); got != want {
		t.Errorf("y: %+v, want %+v", got, want)
	}
	if scales, err = axis.ParseScales("s.csv", [][]string{{"scale", "column"}, {"3", "x"}}, 0); err != nil ||
		scales["x"] != (axis.Scale{Unit: 3}) {
		t.Errorf("two columns: %+v, %v", scales, err)
	}
	for name, c := range map[string]struct {
		rows [][]string
		want string
	}{
		"empty":     {nil, "line 1"},
		"no column": {[][]string{{"scale"}, {"1"}}, "line 3: the header lacks"},
		"half box":  {[][]string{{"column", "low", "scale"}, {"x", "1", "1"}}, "the header lacks"},
		"text":      {[][]string{{"column", "scale"}, {"x", "1"}, {"y", "one"}}, "line 5: expected a number"},
		"nought":    {[][]string{{"column", "scale"}, {"x", "0"}}, "above 0"},
		"NaN":       {[][]string{{"column", "scale"}, {"x", "NaN"}}, "expected a number"},
		"no bound":  {[][]string{{"column", "low", "high", "scale"}, {"x", "NaN", "NaN", "1"}}, "expected a number"},
		"endless":   {[][]string{{"column", "scale"}, {"x", "1e999999999"}}, "expected a number"},
		"no name":   {[][]string{{"scale", "column"}, {"1"}}, "as many fields"},
		"a table":   {[][]string{{"Tanaka Hanako", "1951-03-02"}, {"x", "1"}}, "the header lacks"},
		"ragged":    {[][]string{{"column", "scale"}, {"x"}}, "as many fields"},
	} {
		_, err := axis.ParseScales("s.csv", c.rows, 2)
		if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want bad data with %q", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "Tanaka") {
			t.Errorf("%s: the error repeats what is in the file: %v", name, err)
		}
	}
}

func TestPoints(t *testing.T) {
	p := axis.NewPoints[int32](2, 3)
	p.Row(1)[2] = 7
	p.Unplaced = 4
	if p.Data[5] != 7 || p.Records() != 6 || cap(p.Row(0)) != 3 {
		t.Errorf("%+v", p)
	}
}
