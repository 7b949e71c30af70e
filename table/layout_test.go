package table

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/meter/metertest"
)

func TestLayoutParse(t *testing.T) {
	for _, c := range []struct {
		layout Layout
		text   string
		want   string // RFC 3339; empty for an error
	}{
		{"", "2024-02-29", "2024-02-29T00:00:00Z"},
		{"YYYY-MM-DD", "1969-12-31", "1969-12-31T00:00:00Z"},
		{"YYYY-MM-DD", "0000-01-01", "0000-01-01T00:00:00Z"},
		{"YYYY-MM-DD", "2023-02-29", ""},
		{"YYYY-MM-DD", "1900-02-29", ""},
		{"YYYY-MM-DD", "2000-02-29", "2000-02-29T00:00:00Z"},
		{"YYYY-MM-DD", "2023-00-01", ""},
		{"YYYY-MM-DD", "2023-13-01", ""},
		{"YYYY-MM-DD", "2023-04-31", ""},
		{"YYYY-MM-DD", "2023-04-3", ""},
		{"YYYY-MM-DD", "2023-04-030", ""},
		{"YYYY-MM-DD", "2023-04-03 ", ""},
		{"YYYY-MM-DD", "2023/04/03", ""},
		{"YYYY-MM-DD", "2023-0４-03", ""},
		{"DD.MM.YYYY", "03.04.2023", "2023-04-03T00:00:00Z"},
		{"D.M.YYYY", "3.4.2023", "2023-04-03T00:00:00Z"},
		{"D.M.YYYY", "13.12.2023", "2023-12-13T00:00:00Z"},
		{"D.M.YYYY", "03.04.2023", "2023-04-03T00:00:00Z"},
		{"YYYYMMDD", "20230403", "2023-04-03T00:00:00Z"},
		{"YYYY年M月D日", "2023年4月3日", "2023-04-03T00:00:00Z"},
		{"YYYY年MM月DD日", "2023年04月03日", "2023-04-03T00:00:00Z"},
		{"YYYY", "2023", "2023-01-01T00:00:00Z"},
		{"YYYY-MM", "2023-04", "2023-04-01T00:00:00Z"},
		{"YYYY-MM-DD hh:mm:ss", "2023-04-03 23:59:58", "2023-04-03T23:59:58Z"},
		{"YYYY-MM-DDThh:mm:ssZ", "1960-04-03T00:00:01Z", "1960-04-03T00:00:01Z"},
		{"YYYY-MM-DD h:mm", "2023-04-03 7:05", "2023-04-03T07:05:00Z"},
		{"YYYY-MM-DD hh:mm", "2023-04-03 24:00", ""},
		{"YYYY-MM-DD hh:mm", "2023-04-03 23:60", ""},
		{"YYYY-MM-DD hh:mm:ss", "2023-04-03 23:59:60", ""},
		// Nothing of a text is passed over.
		{"YYYY-MM-DD hh:mm:ss", "2023-04-03 23:59:58.5", ""},
		{"YYYY-MM-DD", "", ""},
	} {
		v, err := c.layout.Parse(c.text)
		if c.want == "" {
			if err == nil {
				t.Errorf("%q by %q: got %d, want an error", c.text, c.layout, v)
			}
			continue
		}
		want, perr := time.Parse(time.RFC3339, c.want)
		if perr != nil {
			t.Fatal(perr)
		}
		got := time.Unix(v, 0).UTC()
		if !c.layout.HasTime() {
			got = time.Unix(0, 0).UTC().AddDate(0, 0, int(v))
		}
		if err != nil || !got.Equal(want) {
			t.Errorf("%q by %q: got %v, %v, want %v", c.text, c.layout, got, err, want)
		}
	}
}

func TestLayoutValidate(t *testing.T) {
	for _, l := range []Layout{
		"", "YYYY-MM-DD", "YYYY年MM月DD日", "DD.MM.YYYY hh:mm", "YYYY-MM-DDThh:mm:ssZ", "M/D/YYYY h:mm",
		"YYYYMMDDhhmmss",
	} {
		if err := l.Validate(); err != nil {
			t.Errorf("%q: %v", l, err)
		}
	}
	for _, l := range []Layout{
		"MM-DD", "yyyy-mm-dd", "YYYY-MM-DD-MM", "YYYY-M-MM", "YY-MM-DD", "YYYY-DD", "YYYY-MM hh", "YYYY-MM-DD mm", "YYYY-MM-DD hh:ss",
		"YYYY-MM-DD hh:mm:s", "YYYYMD", "DMMYYYY", "YYYY-MM-DD 12", "Jan YYYY",
	} {
		if err := l.Validate(); err == nil {
			t.Errorf("%q passes", l)
		}
		if _, err := l.Parse("2024-01-01"); err == nil {
			t.Errorf("%q parses", l)
		}
	}
}

// The calendar is that of package time, on every day of 800 years and far off.
func TestCalendarAgreesWithTime(t *testing.T) {
	check := func(days int64) {
		want := time.Unix(days*secondsPerDay, 0).UTC()
		year, month, day := dateOf(days)
		if int(year) != want.Year() || month != int(want.Month()) || day != want.Day() {
			t.Fatalf("day %d: got %d-%d-%d, want %v", days, year, month, day, want)
		}
		if back, ok := daysOf(int(year), month, day); !ok || back != days {
			t.Fatalf("day %d comes back as %d, %v", days, back, ok)
		}
	}
	for days := int64(-150000); days < 150000; days++ {
		check(days)
	}
	rapid.Check(t, func(t *rapid.T) { check(rapid.Int64Range(-1e8, 1e8).Draw(t, "days")) })
}

func TestLayoutFormat(t *testing.T) {
	at := time.Date(2023, 4, 3, 7, 5, 9, 0, time.UTC)
	for layout, want := range map[Layout]string{
		"YYYY-MM-DD hh:mm:ss": "2023-04-03 07:05:09",
		"D.M.YYYY h:mm":       "3.4.2023 7:05",
		"YYYY年M月D日 hh時":       "2023年4月3日 07時",
	} {
		if got := layout.Format(at.Unix()); got != want {
			t.Errorf("%q: got %q, want %q", layout, got, want)
		}
	}
	if got := Layout("").Format(-1); got != "1969-12-31" {
		t.Errorf("got %q", got)
	}
	if got := Layout("YYYY-MM-DD").Format(-719529); got != "-0001-12-31" {
		t.Errorf("a year before 0: got %q", got)
	}
}

func TestLayoutRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom([]Layout{"", "DD.MM.YYYY", "M/D/YYYY", "YYYYMMDD", "YYYY年MM月DD日", "YYYY-MM-DDThh:mm:ss", "D-M-YYYY h:mm:ss"}).
			Draw(t, "layout")
		first, last := int64(-719528), int64(2932896) // 0000-01-01 and 9999-12-31
		v := rapid.Int64Range(first, last).Draw(t, "days")
		if l.HasTime() {
			v = v*secondsPerDay + rapid.Int64Range(0, secondsPerDay-1).Draw(t, "seconds")
		}
		if got, err := l.Parse(l.Format(v)); err != nil || got != v {
			t.Fatalf("%q: %d is written %q and read %d, %v", l, v, l.Format(v), got, err)
		}
	})
}

func FuzzLayout(f *testing.F) {
	f.Add("YYYY-MM-DD", "2024-02-29")
	f.Add("D.M.YYYY h:mm", "1.2.2024 3:04")
	f.Add("YYYY年MM月DD日", "2024年02月29日")
	f.Add("", "\xff")
	f.Fuzz(func(t *testing.T, layout, text string) {
		metertest.Hold(t, len(layout)+len(text))
		l := Layout(layout)
		v, err := l.Parse(text)
		if err != nil {
			return
		}
		if l.Validate() != nil {
			t.Fatalf("%q is not valid and parses", layout)
		}
		// What parses is written in a form that parses to the same.
		if back, err := l.Parse(l.Format(v)); err != nil || back != v {
			t.Fatalf("%q: %q is %d, written %q, which is %d, %v", layout, text, v, l.Format(v), back, err)
		}
	})
}

func BenchmarkLayoutParse(b *testing.B) {
	for _, l := range []Layout{ISODate, "DD.MM.YYYY", "YYYY-MM-DD hh:mm:ss"} {
		text := []byte(l.Format(1_700_000_000 / 3))
		b.Run(string(l), func(b *testing.B) {
			for b.Loop() {
				parse(l, text)
			}
		})
	}
}
