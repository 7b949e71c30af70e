package kanon

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// The result of a release says of every mean to what it is rounded and how many sums that
// leaves, whichever way it is published and whatever --round says.
func TestRoundingSaysWhatItLeaves(t *testing.T) {
	date, number := table.Field{Type: table.Date}, table.Field{Type: table.Integer}
	months, tens := &publish.Grid{Unit: 1, Months: 1, Day: 1}, &publish.Grid{Unit: 10}
	const some, known = "sums of a class of 5 values are possible", "the sum of a class of 5 values can be computed from it"
	at := func(n int) *int { return &n }
	for _, c := range []struct {
		name  string
		field table.Field
		grid  *publish.Grid
		round *int
		want  string
	}{
		{"days of months", date, months, at(0), known},
		{"days of months, places of a date", date, months, at(2), known},
		{"tens of days of months", date, months, at(-1), known},
		{"hundreds of days of months", date, months, at(-2), "at least 16 " + some},
		{"months", date, months, nil, "at least 5 " + some},
		{"ones of tens", number, tens, at(0), known},
		{"tens of tens", number, tens, at(-1), "to multiples of 10: at least 5 " + some},
		{"thousandths of tens", number, tens, at(3), "the sum of a small class can be computed from it"},
		{"tens", number, tens, nil, "at least 5 sums"},
	} {
		for _, mode := range []publish.Mode{publish.Aggregate, publish.Shares} {
			f := c.field
			f.Round = c.round
			got := shown(&f, Rounded{Grid: c.grid}, &Options{K: 5, Publish: mode}, 10).String()
			if !strings.Contains(got, c.want) {
				t.Errorf("%s, %s: %q lacks %q", c.name, mode, got, c.want)
			}
		}
	}
}
