package hierarchy

import (
	"fmt"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// dates gives the levels of days; an instant belongs to its day.
func dates(kind Kind, layout table.Layout) (path, noren.Texts) {
	if layout == "" {
		layout = table.ISODate
	}
	day := func(value string) (time.Time, bool) {
		v, err := layout.Parse(value)
		if err != nil {
			return time.Time{}, false
		}
		if !layout.HasTime() {
			v *= 24 * 60 * 60
		}
		return time.Unix(v, 0).UTC(), true
	}
	levels := map[Kind]noren.Texts{
		Month: noren.Sentences("month", "quarter", "year", "decade"), Week: noren.Sentences("week", "year of weeks"),
		Fiscal: noren.Sentences("month", "quarter of the fiscal year", "fiscal year from April"),
	}[kind]
	return func(value string) []string {
		t, ok := day(value)
		if !ok {
			return nil
		}
		year, month := t.Year(), int(t.Month())
		switch kind {
		case Week:
			y, w := t.ISOWeek()
			return []string{fmt.Sprintf("%04d-W%02d", y, w), fmt.Sprintf("%04d-W", y)}
		case Fiscal:
			quarter := (month+8)%12/3 + 1
			if month < 4 {
				year--
			}
			return []string{t.Format("2006-01"), fmt.Sprintf("FY%04d-Q%d", year, quarter), fmt.Sprintf("FY%04d", year)}
		}
		return []string{
			t.Format("2006-01"), fmt.Sprintf("%04d-Q%d", year, (month-1)/3+1), fmt.Sprintf("%04d", year),
			fmt.Sprintf("%03d0s", year/10),
		}
	}, levels
}
