package report_test

import (
	"html"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report"
)

// A Japanese page has a name that reads like a text of ours as often as one that does not.
func TestNamesAreNotTranslated(t *testing.T) {
	other := strings.NewReplacer("a", "e", "e", "o", "o", "a", "n", "r", "r", "s", "s", "n") // of the same width
	for _, name := range []string{
		"none", "of at least %d records", "analyst 7", "cannot be written", "missing", "original", "release", "Records", "3 records",
		"all other values", "age, original", "share of records",
	} {
		if got, want := timesInJapanese(t, name), timesInJapanese(t, other.Replace(name)); got != want || got < 30 {
			t.Errorf("%q stands %d times, want %d", name, got, want)
		}
	}
}

// timesInJapanese is how often a page has a name that is wherever names can be.
func timesInJapanese(t *testing.T, name string) int {
	t.Helper()
	risk, err := assess.NewRisk([]int{1, 1, 3, 5}, 0)
	if err != nil {
		t.Fatal(err)
	}
	named, values := report.Verbatim(name), []float64{1, 2}
	series := report.Series{Name: named, Values: values}
	table := &report.Table{Caption: named, Header: []noren.Text{named, noren.Textf("Records")}}
	table.Add(named, name)
	page := report.Assessment(&assess.Assessment{Schema: assess.Schema, Quasi: []string{name}, Original: risk},
		report.Facts{Original: noren.Place{noren.File(name)}})
	page.Sections = append(page.Sections, report.Section{Title: named, Blocks: []report.Block{
		{Picture: &report.Picture{Table: table, Caption: named, Chart: &report.Bars{
			Title: named, Labels: []noren.Text{named, named},
			Series: []report.Series{series}, Horizontal: true, Axis: named,
		}}},
		{Picture: &report.Picture{Chart: &report.Overlay{Title: named, Across: named, First: series, Second: series}}},
		{Picture: &report.Picture{Chart: &report.Lines{
			Title: named, Axis: named, Across: named,
			Curves: []report.Curve{{Name: named, X: values, Y: values}},
		}}},
		{Picture: &report.Picture{Chart: &report.HeatMap{Names: []string{name}, Panels: []report.Panel{{Name: named}}}}},
		{List: []noren.Text{named}},
		{Figures: []report.Figure{{Name: named, Value: named, Explain: named}}},
	}})
	var b strings.Builder
	if err := page.In(lang.Japanese).Write(&b); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(styled.ReplaceAllString(b.String(), ""), `="none"`, "")
	return strings.Count(html.UnescapeString(text), name)
}

// A name that is too long for a chart is whole in its title.
func TestCutNamesAreWhole(t *testing.T) {
	const name = "no such file or directory {row|rows}"
	x := 1.0
	one := report.HeatMap{
		Names:  []string{name, "b"},
		Panels: []report.Panel{{Name: report.Verbatim("original"), Values: [][]*float64{{&x, &x}, {&x, &x}}}},
	}
	for _, l := range lang.All() {
		var b strings.Builder
		if err := one.WriteSVG(&b, l); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); !strings.Contains(text, "…") || !strings.Contains(text, "<title>"+name+"</title>") {
			t.Errorf("%s: %s", l, text)
		}
	}
}
