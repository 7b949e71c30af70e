package table

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/meter/metertest"
)

func TestEra(t *testing.T) {
	for _, c := range []struct {
		layout Layout
		text   string
		want   string // by the Gregorian calendar; "" where it is no date
		back   string // as it is written; "" for text
	}{
		{"GE年M月D日", "令和6年4月1日", "2024-04-01", ""},
		{"GE年M月D日", "令和元年5月1日", "2019-05-01", ""},
		{"GE年M月D日", "令和1年5月1日", "2019-05-01", "令和元年5月1日"},
		{"GE年M月D日", "令和６年０４月１日", "2024-04-01", "令和6年4月1日"},
		{"GE年M月D日", "平成31年4月30日", "2019-04-30", ""},
		{"GE年M月D日", "平成31年5月1日", "", ""},
		{"GE年M月D日", "令和元年4月30日", "", ""},
		{"GE年M月D日", "昭和64年1月7日", "1989-01-07", ""},
		{"GE年M月D日", "平成元年1月8日", "1989-01-08", ""},
		{"GE年M月D日", "昭和元年12月25日", "1926-12-25", ""},
		{"GE年M月D日", "大正15年12月24日", "1926-12-24", ""},
		{"GE年M月D日", "大正元年7月30日", "1912-07-30", ""},
		{"GE年M月D日", "明治45年7月29日", "1912-07-29", ""},
		{"GE年M月D日", "明治6年1月1日", "1873-01-01", ""},
		{"GE年M月D日", "明治5年1月1日", "", ""},
		{"GE年M月D日", "令和6年2月30日", "", ""},
		{"GE年M月D日", "令和0年4月1日", "", ""},
		{"GE年M月D日", "慶応3年1月1日", "", ""},
		{"GE年M月D日", "令和6年4月1日x", "", ""},
		{"GE年M月D日", "令和", "", ""},
		{"gE.M.D", "R6.4.1", "2024-04-01", ""},
		{"gE.M.D", "r06.04.01", "2024-04-01", "R6.4.1"},
		{"gE.M.D", "S100.4.1", "", ""},
		{"gEE.MM.DD", "R06.04.01", "2024-04-01", ""},
		{"gEE.MM.DD", "R6.04.01", "", ""},
		{"gEEMMDD", "H010108", "1989-01-08", ""},
		{"GE年M月", "令和6年4月", "2024-04-01", ""},
		{"GE年M月", "平成元年1月", "1989-01-01", ""},
		{"GE年M月", "昭和64年1月", "1989-01-01", "平成元年1月"},
		{"GE年M月", "令和元年4月", "", ""},
		{"GE年", "令和元年", "2019-01-01", ""},
		{"GE年", "平成31年", "2019-01-01", "令和元年"},
		{"GE年", "平成32年", "", ""},
		{"YYYY年M月D日", "2024年4月1日", "2024-04-01", ""},
		{"YYYY年M月D日", "２０２４年4月1日", "", ""}, // as ever: existing definitions read what they read
		{"YYYY年", "2024年", "2024-01-01", ""},
	} {
		if err := c.layout.Validate(); err != nil {
			t.Fatal(c.layout, err)
		}
		v, ok := c.layout.Match([]byte(c.text))
		if ok != (c.want != "") {
			t.Errorf("%s: %q is read: %v", c.layout, c.text, ok)
			continue
		}
		if !ok {
			continue
		}
		if got := ISODate.Format(v); got != c.want {
			t.Errorf("%s: %q is read as %s, want %s", c.layout, c.text, got, c.want)
		}
		if c.back == "" {
			c.back = c.text
		}
		if got := c.layout.Format(v); got != c.back {
			t.Errorf("%s: %q is written as %q, want %q", c.layout, c.text, got, c.back)
		}
	}
	for _, bad := range []Layout{"G", "GE年D日", "E年M月", "G年M月D日", "GEM", "M月GE年", "GYYYY", "GgE", "GE年M月D日 hh", "GE年YYYY"} {
		if bad.Validate() == nil {
			t.Errorf("%s was taken for a layout", bad)
		}
	}
}

// Every day from Meiji 6 on is written and read back the same, and the eras of
// all days follow each other.
func TestEraRoundTrip(t *testing.T) {
	last := time.Date(2117, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay
	for _, l := range []Layout{"GE年M月D日", "gEE.MM.DD"} {
		for v := eras()[4].first; v <= last; v++ {
			text := l.AppendFormat(nil, v)
			if got, ok := l.Match(text); !ok || got != v {
				t.Fatalf("%s: day %d is written as %s and read as %d, %v", l, v, text, got, ok)
			}
		}
	}
}

// FuzzEra holds layouts of eras to this: reading is a function of the text alone,
// never panics, and what was read is read the same from what is written.
func FuzzEra(f *testing.F) {
	for _, text := range []string{"令和6年4月1日", "R6.4.1", "平成元年1月", "令和", "\xef\xbc", "昭和６４年１月"} {
		for i := range 6 {
			f.Add(text, uint8(i))
		}
	}
	layouts := []Layout{"GE年M月D日", "gE.M.D", "gEE.MM.DD", "GE年M月", "GE年", "gEEMMDD"}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		metertest.Hold(t, len(text))
		l := layouts[int(which)%len(layouts)]
		v, ok := l.Match([]byte(text))
		if again, err := l.Parse(text); ok != (err == nil) || ok && again != v {
			t.Fatalf("%q is read in two ways", text)
		}
		if !ok {
			return
		}
		if back, ok := l.Match([]byte(l.Format(v))); !ok || back != v {
			t.Fatalf("%q is %d, written %q", text, v, l.Format(v))
		}
	})
}

// A total builder has a value or none for every text, in layouts of eras too:
// definitions of data sets depend on it.
func TestEraIsTotal(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b, err := NewBuilder(Field{Type: Date, Layout: "GE年M月D日"}, nil)
		if err != nil {
			rt.Fatal(err)
		}
		b.Total()
		texts := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.StringMatching("(令和|平成|昭和)(元|[0-9]{1,3})年[0-9]{1,2}月[0-9]{1,2}日"))).
			Draw(rt, "texts")
		for _, text := range texts {
			if err := b.Append([]byte(text)); err != nil {
				rt.Fatalf("%q: %v", text, err)
			}
		}
		if c := b.Column(); c.Len() != len(texts) {
			rt.Fatalf("%d texts make %d records", len(texts), c.Len())
		}
	})
}
