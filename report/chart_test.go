package report_test

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report"
)

var update = flag.Bool("update", false, "write the golden pictures anew")

func charts() map[string]report.Chart {
	v := func(x float64) *float64 { return &x }
	return map[string]report.Chart{
		"bars": &report.Bars{
			Title: report.Verbatim("Records by class size"), Labels: report.Verbatims("1", "2", "3–4"), Axis: report.Verbatim("share"),
			Across: report.Verbatim("records in the class"), Format: report.Percent,
			Series: []report.Series{
				{Name: report.Verbatim("original"), Values: []float64{0.5, 0.3, 0.2}},
				{Name: report.Verbatim("release"), Values: []float64{0, 0, 1}},
			},
		},
		"horizontal": &report.Bars{
			Horizontal: true, Labels: report.Verbatims("plain", "<b>bold</b> & more", "外来"), Format: report.Percent,
			Series: []report.Series{{Name: report.Verbatim("only"), Values: []float64{1, 0.25, math.NaN()}}},
		},
		"whiskers": &report.Bars{
			Horizontal: true, Labels: report.Verbatims("a", "b", "c", "d"), Axis: report.Verbatim("share"),
			Series: []report.Series{{
				Name: report.Verbatim("estimate"), Values: []float64{0.4, 0.1, -0.02, 0.2}, Low: []float64{0.3, -0.1, 0},
				High: []float64{0.5, 0.2, math.Inf(1)},
			}},
		},
		"overlay": &report.Overlay{
			Title: report.Verbatim("Age"), Edges: []float64{0, 20, 40, 60}, Across: report.Verbatim("age"),
			First: report.Series{Name: report.Verbatim("original"), Values: []float64{1, 2, 1}}, Second: report.Series{
				Name: report.Verbatim("release"), Values: []float64{0, 4, 0},
			},
		},
		"dates": &report.Overlay{
			Edges: []float64{18262, 18628, 18993}, Layout: "YYYY-MM-DD",
			First: report.Series{Name: report.Verbatim("original"), Values: []float64{3, 1}}, Second: report.Series{
				Name: report.Verbatim("release"), Values: []float64{2, 2},
			},
		},
		"lines": &report.Lines{
			Title: report.Verbatim("Time"), Across: report.Verbatim("records"), Axis: report.Verbatim("seconds"), ScaleX: report.Log,
			ScaleY: report.Log,
			Curves: []report.Curve{
				{
					Name: report.Verbatim("ours"), X: []float64{100, 1000, 10000}, Y: []float64{0.01, 0.1, 2}, Low: []float64{0.008, 0.08, 1},
					High: []float64{0.012, 0.13, 3},
				},
				{Name: report.Verbatim("theirs"), X: []float64{100, 1000, 10000}, Y: []float64{0.2, 0, 90}},
			},
		},
		"heatmap": &report.HeatMap{
			Names:  []string{"age", "weight"},
			Panels: []report.Panel{{Name: report.Verbatim("original"), Values: [][]*float64{{v(1), v(-0.5)}, {v(-0.5), nil}}}},
		},
	}
}

// The pictures as they were looked at and found good. After a change that is
// meant, look at them again and run with -update.
func TestGoldenPictures(t *testing.T) {
	for name, c := range charts() {
		got := checkSVG(t, c)
		path := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s has changed:\n%s", name, got)
		}
	}
}

// Empty and odd charts are pictures all the same, without a coordinate that is
// no number.
func TestOddCharts(t *testing.T) {
	for _, c := range []report.Chart{
		&report.Bars{}, &report.Bars{Horizontal: true},
		&report.Bars{Labels: report.Verbatims("a", "b"), Series: []report.Series{{Values: []float64{0}}}},
		&report.Bars{Labels: report.Verbatims("a"), Series: []report.Series{{Values: []float64{-1}}, {Values: []float64{math.Inf(1)}}}},
		&report.Overlay{}, &report.Overlay{Edges: []float64{1}}, &report.Overlay{
			Edges: []float64{0, 1, 2}, First: report.Series{Values: []float64{0, 0}},
		},
		&report.Lines{}, &report.Lines{Curves: []report.Curve{{}}},
		&report.Lines{Curves: []report.Curve{{X: []float64{5}, Y: []float64{5}}}},
		&report.Lines{ScaleX: report.Log, ScaleY: report.Log, Curves: []report.Curve{{X: []float64{0, -1}, Y: []float64{1, 2}}}},
		&report.Lines{ScaleX: report.Log, ScaleY: report.Log, Curves: []report.Curve{{X: []float64{7}, Y: []float64{7}}}},
		&report.Lines{Curves: []report.Curve{{X: []float64{1, 2, 3}, Y: []float64{1, math.NaN(), 3}}}},
		&report.HeatMap{}, &report.HeatMap{Names: []string{"a"}, Panels: []report.Panel{{Values: [][]*float64{{nil}}}}},
	} {
		checkSVG(t, c)
	}
}

func TestLinesBreakWhereThereIsNoPoint(t *testing.T) {
	got := checkSVG(t,
		&report.Lines{Curves: []report.Curve{{Name: report.Verbatim("c"), X: []float64{1, 2, 3, 4}, Y: []float64{1, 2, math.NaN(), 4}}}})
	for _, line := range strings.Split(got, "\n") {
		if strings.Contains(line, "<path") && strings.Contains(line, `stroke-width="2"`) && strings.Count(line, "M") == 2 {
			return
		}
	}
	t.Errorf("no path of two pieces:\n%s", got)
}

// A band is drawn where its point is, and the axes span both of its ends.
func TestBandOfPointsThatAreNotShown(t *testing.T) {
	huge := []float64{1, 1e305}
	for _, c := range []report.Curve{
		{X: huge, Y: []float64{1, -1}, Low: []float64{1, 1}, High: huge},
		{X: []float64{1, 2}, Y: []float64{1, 2}, Low: []float64{1, -1}, High: []float64{2, 1e300}},
		{X: []float64{1}, Y: []float64{1}, Low: []float64{1e305}, High: []float64{1}},
	} {
		for _, s := range []report.Scale{report.Linear, report.Log} {
			if got := checkSVG(t, &report.Lines{ScaleY: s, Curves: []report.Curve{c}}); strings.Contains(got, "Inf") ||
				strings.Contains(got, "NaN") {
				t.Errorf("%+v: %s", c, got)
			}
		}
	}
}

func TestChartsOfAnyNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Float64(), 1, 8)
		scale := rapid.SampledFrom([]report.Scale{report.Linear, report.Log})
		x, y := numbers.Draw(t, "x"), numbers.Draw(t, "y")
		for _, c := range []report.Chart{
			&report.Lines{
				ScaleX: scale.Draw(t, "sx"), ScaleY: scale.Draw(t, "sy"),
				Curves: []report.Curve{{Name: report.Verbatim("c"), X: x, Y: y, Low: y, High: x}},
			},
			&report.Bars{Labels: make([]noren.Text, len(x)), Series: []report.Series{{Values: x}}},
			&report.Bars{Labels: make([]noren.Text, len(x)), Series: []report.Series{{Values: x, Low: x, High: x}}, Horizontal: true},
		} {
			var b strings.Builder
			if err := c.WriteSVG(&b, lang.English); err != nil {
				t.Fatal(err)
			}
			for _, no := range []string{"NaN", "Inf"} {
				if strings.Contains(b.String(), no) {
					t.Fatalf("%s in\n%s", no, b.String())
				}
			}
			if b.Len() > 100<<10 {
				t.Fatalf("%d bytes", b.Len())
			}
		}
	})
}
